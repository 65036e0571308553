"""The allocation log, kept and replayed: every line follows from the seed, the method and the order of arrival."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from core.errors import DataError
from studies.assignment.draws import Seed, Slot
from studies.assignment.methods import Method, Standing, assign, own_slot
from studies.assignment.traits import margins_of

ASSIGNED = "assigned"
SKIPPED = "skipped"
RELEASED = "released"
RETAKEN = "retaken"


@dataclass(frozen=True)
class Line:
    """One line of the log.

    Parameters
    ----------
    kind : str
        "assigned" and "skipped" use a place up; "released" gives one back; "retaken" is a place that was used
        before, taken again by the same participant or another.
    stratum : str
        Its stratum.
    place, block, condition : int
        The slot.
    person : hashable or None
        Who; None in skipped lines.
    targets : tuple of int or None
        The targets of all conditions when the line was written.
    """

    kind: str
    stratum: str
    place: int
    block: int
    condition: int
    person: Hashable
    targets: tuple[int | None, ...] = ()


class Ledger:
    """Who holds which slot, and the lines that each event adds to the log.

    Parameters
    ----------
    method : Method
        How newcomers are assigned.
    seed : int or str
        Seed of the assignment.

    Examples
    --------
    >>> ledger = Ledger(Method(), seed=1)
    >>> [line.kind for line in ledger.arrive("ann", "women", (1, 1))]
    ['assigned']
    >>> ledger.leave("ann").kind
    'released'
    """

    def __init__(self, method: Method, seed: Seed) -> None:
        self.method, self.seed = method, seed
        self.holding: dict[Hashable, tuple[str, Slot]] = {}
        self.left: dict[Hashable, tuple[str, Slot]] = {}
        self.used: dict[str, set[int]] = {}
        self._held: Counter[tuple[str, int]] = Counter()
        self._taken: dict[str, set[int]] = {}

    def standing(self, stratum: str, targets: Sequence[int | None]) -> Standing:
        """What is known when somebody of that stratum arrives.

        Parameters
        ----------
        stratum : str
            Their stratum.
        targets : sequence of int or None
            Of all conditions.

        Returns
        -------
        Standing
        """
        margins = margins_of(stratum, self._held, len(targets))
        taken = frozenset(self._taken.get(stratum, ()))
        next_place = max(self.used.get(stratum, ()), default=-1) + 1
        return Standing(tuple(targets), margins[-1], margins, taken, next_place)

    def arrive(self, person: Hashable, stratum: str, targets: Sequence[int | None]) -> tuple[Line, ...]:
        """Assign a newcomer.

        Parameters
        ----------
        person : hashable
            Somebody who holds no slot.
        stratum, targets
            As in `standing`.

        Returns
        -------
        tuple of Line
            The skips and then the assignment; empty where the study is full.
        """
        found = assign(self.method, seed=self.seed, stratum=stratum, standing=self.standing(stratum, targets))
        if found is None:
            return ()
        used = self.used.get(stratum, set())
        skips = [slot for slot in found.passed_over if slot.place not in used]
        kind = RETAKEN if found.slot.place in used else ASSIGNED
        lines = [self._line(SKIPPED, stratum, slot, None, targets) for slot in skips]
        return (*lines, self._take(kind, stratum, found.slot, person, targets))

    def come_back(self, person: Hashable, targets: Sequence[int | None]) -> Line | None:
        """Give someone who left a slot in their own condition again; None where it has no room.

        Parameters
        ----------
        person : hashable
            Somebody who left.
        targets : sequence of int or None
            Of all conditions.

        Returns
        -------
        Line or None
        """
        stratum, before = self.left[person]
        slot = own_slot(
            self.method,
            seed=self.seed,
            stratum=stratum,
            standing=self.standing(stratum, targets),
            condition=before.condition,
            before=before.place,
        )
        if slot is None:
            return None
        kind = RETAKEN if slot.place in self.used.get(stratum, set()) else ASSIGNED
        return self._take(kind, stratum, slot, person, targets)

    def leave(self, person: Hashable, targets: Sequence[int | None] = ()) -> Line:
        """Open somebody's slot again.

        Parameters
        ----------
        person : hashable
            Somebody who holds a slot.
        targets : sequence of int or None
            Of all conditions; for the log alone.

        Returns
        -------
        Line
        """
        stratum, slot = self.left[person] = self.holding.pop(person)
        self._held[stratum, slot.condition] -= 1
        self._taken[stratum].discard(slot.place)
        return self._line(RELEASED, stratum, slot, person, targets)

    def _take(self, kind: str, stratum: str, slot: Slot, person: Hashable, targets: Sequence[int | None]) -> Line:
        self.holding[person] = (stratum, slot)
        self._held[stratum, slot.condition] += 1
        self._taken.setdefault(stratum, set()).add(slot.place)
        self.left.pop(person, None)
        return self._line(kind, stratum, slot, person, targets)

    def _line(self, kind: str, stratum: str, slot: Slot, person: Hashable, targets: Sequence[int | None]) -> Line:
        if kind in (ASSIGNED, SKIPPED):
            self.used.setdefault(stratum, set()).add(slot.place)
        return Line(kind, stratum, slot.place, slot.block, slot.condition, person, tuple(targets))


@dataclass(frozen=True)
class Difference:
    """Where a log is not what the design gives.

    Parameters
    ----------
    number : int
        The line, from 1, at which they part.
    logged, expected : Line or None
        What the log says and what the design gives; None where there is nothing.
    """

    number: int
    logged: Line | None
    expected: Line | None


@dataclass(frozen=True)
class Replay:
    """What became of a replay.

    Parameters
    ----------
    n_lines : int
        Lines replayed.
    difference : Difference or None
        The first one: after it nothing else can be said.
    holding : dict of hashable to (str, Slot)
        Who holds which slot after the last line that agreed.
    """

    n_lines: int
    difference: Difference | None
    holding: dict[Hashable, tuple[str, Slot]]


def replay(
    method: Method, seed: Seed, lines: Iterable[Line], *, later_seeds: Mapping[int, Seed] | None = None
) -> Replay:
    """Make every assignment of a log again, and say where it differs.

    Only who came, left and returned, of which stratum and under which targets, is read from the log; places and
    conditions are decided anew.

    Parameters
    ----------
    method : Method
        The study's method.
    seed : int or str
        Its seed.
    lines : iterable of Line
        The log, in order. Each line of an arrival bears the same targets.
    later_seeds : mapping of int to int or str, optional
        The seeds of later waves, each by the number of lines before its wave.

    Returns
    -------
    Replay

    Raises
    ------
    DataError
        A line of a kind that is not known.

    Examples
    --------
    >>> ledger = Ledger(Method("simple"), seed=3)
    >>> log = [*ledger.arrive("ann", "women", (1, 1)), *ledger.arrive("eva", "women", (1, 1))]
    >>> replay(Method("simple"), 3, log).difference is None
    True
    """
    ledger = Ledger(method, seed)
    logged = list(lines)
    at = 0
    while at < len(logged):
        ledger.seed = (later_seeds or {}).get(at, ledger.seed)
        head = logged[at]
        if head.kind not in (ASSIGNED, SKIPPED, RELEASED, RETAKEN):
            raise DataError(f"Line {at + 1} of the allocation log is of the unknown kind {head.kind!r}.")
        end = at
        while end + 1 < len(logged) and logged[end].kind == SKIPPED:  # skips belong to the arrival after them
            end += 1
        made = _made_again(ledger, logged[end])
        wanted = logged[at : end + 1]
        for offset in range(max(len(made), len(wanted))):
            is_line = made[offset] if offset < len(made) else None
            was_line = wanted[offset] if offset < len(wanted) else None
            if is_line != was_line:
                return Replay(at, Difference(at + offset + 1, was_line, is_line), ledger.holding)
        at = end + 1
    return Replay(len(logged), None, ledger.holding)


def _made_again(ledger: Ledger, line: Line) -> tuple[Line, ...]:
    """The lines that the event behind a line gives; none where no such event could happen."""
    if line.kind == RELEASED:
        return (ledger.leave(line.person, line.targets),) if line.person in ledger.holding else ()
    if line.kind == SKIPPED or line.person in ledger.holding:
        return ()
    if line.person in ledger.left:
        made = ledger.come_back(line.person, line.targets)
        return () if made is None else (made,)
    return ledger.arrive(line.person, line.stratum, line.targets)
