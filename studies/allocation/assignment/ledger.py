"""The allocation log and its replay: seed, method and order of arrival determine every line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from core.errors import DataError
from studies.allocation.assignment.draws import Seed, Slot
from studies.allocation.assignment.methods import Method, Occupancy, assign, own_slot
from studies.allocation.assignment.strata import margins_of

ASSIGNED = "assigned"
SKIPPED = "skipped"
RELEASED = "released"
RETAKEN = "retaken"


@dataclass(frozen=True)
class Line:
    """One line of the log."""

    # "assigned" and "skipped" use up a place; "released" frees one; "retaken" assigns a previously used place to the
    # same or another participant
    kind: str
    stratum: str  # stratum of the slot
    # `place`, `block`, `condition`: the slot
    place: int
    block: int
    condition: int
    person: Hashable  # the participant; None in skipped lines
    targets: tuple[int | None, ...] = ()  # the targets of all conditions when the line was written


class Ledger:
    """Current slot assignments, and the log lines that each event adds.

    Examples
    --------
    >>> ledger = Ledger(Method(), seed=1)
    >>> [line.kind for line in ledger.enrol("ann", "women", (1, 1))]
    ['assigned']
    >>> ledger.leave("ann").kind
    'released'
    """

    def __init__(self, method: Method, seed: Seed) -> None:
        self.method, self.seed = method, seed
        self.holding: dict[Hashable, tuple[str, Slot]] = {}
        self.left: dict[Hashable, tuple[str, Slot]] = {}
        self.used: dict[str, set[int]] = {}
        self._counts: Counter[tuple[str, int]] = Counter()
        self._occupied: dict[str, set[int]] = {}

    def occupancy(self, stratum: str, targets: Sequence[int | None]) -> Occupancy:
        margins = margins_of(stratum, self._counts, len(targets))
        occupied = frozenset(self._occupied.get(stratum, ()))
        # After the highest place ever used, not the number held: a released place must not name another's draws.
        next_place = max(self.used.get(stratum, ()), default=-1) + 1
        return Occupancy(tuple(targets), margins[-1], margins, occupied, next_place)

    def enrol(self, person: Hashable, stratum: str, targets: Sequence[int | None]) -> tuple[Line, ...]:
        """Assign a slot to a new participant.

        Returns the skipped slots, then the assignment; nothing when the study is full.
        """
        assignment = assign(self.method, seed=self.seed, stratum=stratum, occupancy=self.occupancy(stratum, targets))
        if assignment is None:
            return ()
        used = self.used.get(stratum, set())
        # A slot that was released and refilled was logged when it was first passed; a line states one event.
        skips = [slot for slot in assignment.passed_over if slot.place not in used]
        kind = RETAKEN if assignment.slot.place in used else ASSIGNED
        lines = [self._line(SKIPPED, stratum, slot, None, targets) for slot in skips]
        return (*lines, self._take(kind, stratum, assignment.slot, person, targets))

    def reassign(self, person: Hashable, targets: Sequence[int | None]) -> Line | None:
        """Assign a returning participant a slot in their own condition; None when it is full."""
        # The stratum of their earlier slot, as that slot belongs to its sequence.
        stratum, before = self.left[person]
        slot = own_slot(
            self.method,
            seed=self.seed,
            stratum=stratum,
            occupancy=self.occupancy(stratum, targets),
            condition=before.condition,
            before=before.place,
        )
        if slot is None:
            return None
        kind = RETAKEN if slot.place in self.used.get(stratum, set()) else ASSIGNED
        return self._take(kind, stratum, slot, person, targets)

    def leave(self, person: Hashable, targets: Sequence[int | None] = ()) -> Line:
        """Release a participant's slot. The targets are for the log only."""
        stratum, slot = self.left[person] = self.holding.pop(person)
        self._counts[stratum, slot.condition] -= 1
        self._occupied[stratum].discard(slot.place)
        return self._line(RELEASED, stratum, slot, person, targets)

    def _take(self, kind: str, stratum: str, slot: Slot, person: Hashable, targets: Sequence[int | None]) -> Line:
        self.holding[person] = (stratum, slot)
        self._counts[stratum, slot.condition] += 1
        self._occupied.setdefault(stratum, set()).add(slot.place)
        self.left.pop(person, None)
        return self._line(kind, stratum, slot, person, targets)

    def _line(self, kind: str, stratum: str, slot: Slot, person: Hashable, targets: Sequence[int | None]) -> Line:
        if kind in (ASSIGNED, SKIPPED):
            self.used.setdefault(stratum, set()).add(slot.place)
        return Line(kind, stratum, slot.place, slot.block, slot.condition, person, tuple(targets))


@dataclass(frozen=True)
class Difference:
    """The first line at which a log and its replay differ."""

    number: int  # number of the line, from 1
    # `logged`, `expected`: the logged line and the replayed line; None where there is no such line
    logged: Line | None
    expected: Line | None


@dataclass(frozen=True)
class Replay:
    """Result of a replay."""

    n_lines: int  # lines replayed
    difference: Difference | None  # the first difference; the replay stops there. None when log and replay agree.
    holding: dict[Hashable, tuple[str, Slot]]  # stratum and slot of each participant after the last line that agreed


def replay(
    method: Method, seed: Seed, lines: Iterable[Line], *, later_seeds: Mapping[int, Seed] | None = None
) -> Replay:
    """Recompute every assignment of a log, and return the first difference.

    Arrivals, releases and returns with their strata and targets are read from the log; places and conditions are
    recomputed. All lines of one arrival have the same targets. `later_seeds` has the seeds of later waves, by the
    number of log lines before the wave. Raises DataError when a line has an unknown kind.

    Examples
    --------
    >>> ledger = Ledger(Method("simple"), seed=3)
    >>> log = [*ledger.enrol("ann", "women", (1, 1)), *ledger.enrol("eva", "women", (1, 1))]
    >>> replay(Method("simple"), 3, log).difference is None
    True
    """
    ledger = Ledger(method, seed)
    logged = list(lines)
    at = 0
    while at < len(logged):
        # A second wave has a new secret seed, because closing the study revealed that of the first.
        ledger.seed = (later_seeds or {}).get(at, ledger.seed)
        head = logged[at]
        if head.kind not in (ASSIGNED, SKIPPED, RELEASED, RETAKEN):
            raise DataError(f"Line {at + 1} of the allocation log has the unknown kind {head.kind!r}.")
        end = at
        while end + 1 < len(logged) and logged[end].kind == SKIPPED:  # skipped slots precede their arrival
            end += 1
        replayed = _replayed_lines(ledger, logged[end])
        original = logged[at : end + 1]
        for offset in range(max(len(replayed), len(original))):
            new_line = replayed[offset] if offset < len(replayed) else None
            old_line = original[offset] if offset < len(original) else None
            if new_line != old_line:
                return Replay(at, Difference(at + offset + 1, old_line, new_line), ledger.holding)
        at = end + 1
    return Replay(len(logged), None, ledger.holding)


def _replayed_lines(ledger: Ledger, line: Line) -> tuple[Line, ...]:
    """Replay the event of a logged line, and return its lines; none when the event is impossible."""
    if line.kind == RELEASED:
        return (ledger.leave(line.person, line.targets),) if line.person in ledger.holding else ()
    if line.kind == SKIPPED or line.person in ledger.holding:
        return ()
    if line.person in ledger.left:
        returned = ledger.reassign(line.person, line.targets)
        # No line where the replay has no room: the difference to the logged line is then reported.
        return () if returned is None else (returned,)
    return ledger.enrol(line.person, line.stratum, line.targets)
