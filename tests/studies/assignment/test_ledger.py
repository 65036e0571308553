"""Every method under people who come, leave and return: targets, balance, replay."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import DataError, ParameterError
from studies.allocation.assignment.draws import Slot
from studies.allocation.assignment.ledger import Ledger, Line, replay
from studies.allocation.assignment.methods import METHODS, Method, Occupancy, assign, method_from, own_slot
from studies.allocation.assignment.permuted_blocks import block_weights, first_open, slots
from studies.settings import StudySettings

pytestmark = pytest.mark.unit

STRATA = ("women, 20-34", "women, 35-50", "men, 20-34", "all others, 35-50")
METHOD = st.builds(
    Method, st.sampled_from(METHODS), st.sampled_from([(1,), (2,), (1, 2)]), st.sampled_from([0.0, 0.5, 0.8, 1.0])
)


def counts(ledger: Ledger, n_conditions: int, stratum: str | None = None) -> list[int]:
    found = Counter(slot.condition for name, slot in ledger.holding.values() if stratum in (None, name))
    return [found[condition] for condition in range(n_conditions)]


def assert_even(ledger: Ledger, targets: list[int]) -> None:
    """What the method promises as long as nobody has left, full conditions apart."""
    totals = counts(ledger, len(targets))
    is_open = [n < target for n, target in zip(totals, targets, strict=True)]
    if ledger.method.name == "permuted_blocks":
        for stratum in STRATA:
            each = ledger.method.weights or (1,) * len(targets)
            held = zip(counts(ledger, len(targets), stratum), each, is_open, strict=True)
            own = [Fraction(n, weight) for n, weight, room in held if room]
            assert not own or max(own) - min(own) <= max(ledger.method.multiples)
    if ledger.method.name == "least_filled" and len(set(targets)) == 1:
        assert max(totals) - min(totals) <= 1


@settings(max_examples=100)
@given(
    method=METHOD,
    seed=st.one_of(st.integers(0, 2**62), st.binary(min_size=16, max_size=16).map(bytes.hex)),
    targets=st.lists(st.integers(1, 8), min_size=2, max_size=7),
    is_proportional=st.booleans(),
    arrivals=st.lists(st.sampled_from(STRATA), min_size=57, max_size=70),
)
def test_a_study_that_fills_keeps_every_invariant(
    method: Method, seed: int | str, targets: list[int], is_proportional: bool, arrivals: list[str]
) -> None:
    if is_proportional:
        method = replace(method, weights=block_weights(targets))
    ledger, log = Ledger(method, seed), []
    n = sum(targets)
    for person, stratum in enumerate(arrivals):
        lines = ledger.enrol(person, stratum, targets)
        assert bool(lines) == (person < n)
        log += lines
        totals = counts(ledger, len(targets))
        assert all(count <= target for count, target in zip(totals, targets, strict=True))
        for line in lines[:-1]:  # each skip is of a condition that was full
            assert line.kind == "skipped"
            assert totals[line.condition] == targets[line.condition]
        assert_even(ledger, targets)
    assert counts(ledger, len(targets)) == targets
    used = [(line.stratum, line.place) for line in log if line.kind in ("assigned", "skipped")]
    assert len(used) == len(set(used))
    again = Ledger(method, seed)
    assert [line for person, s in enumerate(arrivals) for line in again.enrol(person, s, targets)] == log
    assert replay(method, seed, log).difference is None


@settings(max_examples=100)
@given(data=st.data(), method=METHOD, seed=st.integers(0, 2**62), n_conditions=st.integers(2, 5))
def test_people_who_leave_and_return_break_no_target_and_the_log_replays(
    data: st.DataObject, method: Method, seed: int, n_conditions: int
) -> None:
    targets = [5] * n_conditions
    ledger, log, newcomer = Ledger(method, seed), [], 0
    for _ in range(data.draw(st.integers(10, 60))):
        event = data.draw(st.sampled_from(["arrive", "arrive", "leave", "come back", "raise"]))
        if event == "arrive":
            log += ledger.enrol(newcomer, data.draw(st.sampled_from(STRATA)), targets)
            newcomer += 1
        elif event == "leave" and ledger.holding:
            log.append(ledger.leave(data.draw(st.sampled_from(sorted(ledger.holding))), targets))
        elif event == "come back" and ledger.left:
            person = data.draw(st.sampled_from(sorted(ledger.left)))
            own = ledger.left[person][1].condition
            had_room = counts(ledger, n_conditions)[own] < targets[own]
            line = ledger.reassign(person, targets)
            assert (line is not None) == had_room
            assert line is None or line.condition == own
            log += [line] if line else []
        elif event == "raise":
            targets = [*targets[:-1], targets[-1] + 1]
        held = [(stratum, slot.place) for stratum, slot in ledger.holding.values()]
        assert len(held) == len(set(held))
        assert all(n <= target for n, target in zip(counts(ledger, n_conditions), targets, strict=True))
    while lines := ledger.enrol(newcomer, data.draw(st.sampled_from(STRATA)), targets):
        log += lines
        newcomer += 1
    assert counts(ledger, n_conditions) == targets
    found = replay(method, seed, log)
    assert found.difference is None
    assert found.n_lines == len(log)
    assert found.holding == ledger.holding
    kinds = Counter(line.kind for line in log)
    assert kinds["assigned"] + kinds["retaken"] - kinds["released"] == sum(targets)


def full_log(method: Method) -> list[Line]:
    ledger, log = Ledger(method, 4), []
    for person in range(12):
        log += ledger.enrol(person, STRATA[person % 2], (4, 4, 4))
    return [*log, ledger.leave(3, (4, 4, 4)), *filter(None, [ledger.reassign(3, (4, 4, 4))])]


@pytest.mark.parametrize("name", METHODS)
def test_a_replay_finds_the_line_that_was_changed(name: str) -> None:
    log = full_log(Method(name))
    assert replay(Method(name), 4, log).difference is None
    for number in (0, 5, len(log) - 1):
        wrong = replace(log[number], condition=(log[number].condition + 1) % 3)
        found = replay(Method(name), 4, [*log[:number], wrong, *log[number + 1 :]]).difference
        assert found is not None
        assert (found.number, found.logged, found.expected) == (number + 1, wrong, log[number])


@pytest.mark.parametrize("name", METHODS)
def test_a_replay_with_another_seed_or_method_differs(name: str) -> None:
    log = full_log(Method(name))
    assert replay(Method(name), 5, log).difference is not None
    other = METHODS[(METHODS.index(name) + 1) % len(METHODS)]
    assert replay(Method(other), 4, log).difference is not None


def test_a_replay_says_where_a_line_lacks_or_is_too_many() -> None:
    log = full_log(Method("simple"))
    without = replay(Method("simple"), 4, [*log[:2], *log[3:]]).difference
    assert without is not None
    assert without.number <= 3 + len(STRATA)
    twice = replay(Method("simple"), 4, [log[0], log[0]]).difference
    assert twice is not None
    assert (twice.number, twice.logged, twice.expected) == (2, log[0], None)
    released = replay(Method("simple"), 4, [replace(log[0], kind="released")]).difference
    assert released is not None
    assert released.expected is None
    alone = replay(Method("simple"), 4, [replace(log[0], kind="skipped", person=None)]).difference
    assert alone is not None


def test_a_return_without_room_is_a_difference() -> None:
    ledger = Ledger(Method("simple"), 1)
    log = [*ledger.enrol(0, "all", (1, 1)), ledger.leave(0, (1, 1))]
    condition = log[0].condition
    back = ledger.reassign(0, (1, 1))
    assert back is not None
    shut = tuple(0 if index == condition else 1 for index in range(2))
    found = replay(Method("simple"), 1, [*log, replace(back, targets=shut)]).difference
    assert found is not None
    assert found.expected is None


def test_assigning_hands_each_method_its_own_settings() -> None:
    here = Occupancy([3, 3, 3], [1, 1, 0], [[1, 1, 0]], frozenset({0, 1}), 2)
    for seed in range(20):
        blocks = assign(Method(multiples=(1, 2)), seed=seed, stratum="s", occupancy=here)
        assert blocks == first_open(slots(seed, "s", 3, (1, 2)), {0, 1}, [True] * 3)
        best = assign(Method("minimisation", probability=1.0), seed=seed, stratum="s", occupancy=here)
        other = assign(Method("minimisation", probability=0.0), seed=seed, stratum="s", occupancy=here)
        assert best is not None
        assert other is not None
        assert best.slot == Slot(2, 0, 2)
        assert other.slot.condition in (0, 1)


def test_a_returner_retakes_the_old_place_or_is_assigned_a_new_one() -> None:
    ledger = Ledger(Method("simple"), 1)
    (first,) = ledger.enrol(0, "all", (2, 2))
    ledger.leave(0, (2, 2))
    back = ledger.reassign(0, (2, 2))
    assert back is not None
    assert (back.kind, back.place) == ("retaken", first.place)


def test_a_line_of_an_unknown_kind_is_refused() -> None:
    with pytest.raises(DataError, match="Line 1"):
        replay(Method(), 1, [Line("lost", "all", 0, 0, 0, 1)])


def test_people_of_a_target_of_none_always_find_room() -> None:
    for name in METHODS:
        ledger = Ledger(Method(name), 1)
        for person in range(30):
            assert ledger.enrol(person, "all", (None, None))
        assert sum(counts(ledger, 2)) == 30


def test_someone_who_comes_back_without_an_old_place_gets_the_next_one() -> None:
    here = Occupancy([2, 2], [1, 1], [[1, 1]], frozenset({0, 1}), 2)
    found = own_slot(Method("simple"), seed=1, stratum="all", occupancy=here, condition=1, before=None)
    assert found == Slot(2, 0, 1)
    with pytest.raises(ParameterError, match="got 2"):
        own_slot(Method("simple"), seed=1, stratum="all", occupancy=here, condition=2, before=None)


def test_nobody_is_assigned_to_a_full_study() -> None:
    full = Occupancy([1, 1], [1, 1], [[1, 1]], frozenset({0, 1}), 2)
    for name in METHODS:
        assert assign(Method(name), seed=1, stratum="all", occupancy=full) is None


def test_a_design_without_a_method_has_permuted_blocks() -> None:
    assert method_from(StudySettings()) == Method("permuted_blocks", (1,), 0.8)
