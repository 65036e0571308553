"""Permuted blocks within strata: balance, room, slots given back, replay."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import ParameterError
from studies.allocation.assignment.permuted_blocks import block_order, block_weights, first_open, own_slot, slots

pytestmark = pytest.mark.unit

STRATA = ("women, 20-34", "women, 35-50", "men, 20-34", "all others, 35-50")


class Sequence:
    """A whole study's assignment in memory: who holds which place of which stratum."""

    def __init__(
        self, seed: int | str, targets: list[int], multiples: tuple[int, ...] = (1,), weights: tuple[int, ...] = ()
    ) -> None:
        self.seed, self.targets, self.multiples, self.weights = seed, targets, multiples, weights
        self.held: dict[tuple[str, int], int] = {}
        self.skips: list[tuple[str, int, int]] = []

    def counts(self, stratum: str | None = None) -> Counter[int]:
        return Counter(c for (s, _place), c in self.held.items() if stratum in (None, s))

    def rooms(self) -> list[bool]:
        counts = self.counts()
        return [counts[c] < target for c, target in enumerate(self.targets)]

    def taken(self, stratum: str) -> set[int]:
        return {place for s, place in self.held if s == stratum}

    def enrol(self, stratum: str) -> int | None:
        if not any(self.rooms()):
            return None
        sequence = slots(self.seed, stratum, len(self.targets), self.multiples, self.weights)
        found = first_open(sequence, self.taken(stratum), self.rooms())
        assert (stratum, found.slot.place) not in self.held
        self.skips += [(stratum, slot.place, slot.condition) for slot in found.passed_over]
        self.held[stratum, found.slot.place] = found.slot.condition
        return found.slot.condition

    def spread(self, stratum: str) -> Fraction:
        """How far open conditions are apart, in blocks of multiple 1."""
        rooms, counts = self.rooms(), self.counts(stratum)
        weights = self.weights or (1,) * len(rooms)
        open_ones = [Fraction(counts[c], weights[c]) for c, has_room in enumerate(rooms) if has_room]
        return max(open_ones) - min(open_ones) if open_ones else Fraction(0)


def test_block_order_holds_each_condition_once() -> None:
    assert sorted(block_order(7, "women", 3, 7)) == list(range(7))


def test_block_order_holds_each_condition_as_often_as_one_of_the_multiples() -> None:
    sizes = {len(block_order(7, "women", block, 3, (1, 2))) for block in range(40)}
    assert sizes == {3, 6}
    for block in range(40):
        counts = Counter(block_order(7, "women", block, 3, (1, 2)))
        assert set(counts) == {0, 1, 2}
        assert len(set(counts.values())) == 1


def test_block_order_depends_on_seed_stratum_and_block_alone() -> None:
    same = [block_order(1, "men", 0, 7) for _ in range(3)]
    assert len(set(same)) == 1
    others = {block_order(2, "men", 0, 7), block_order(1, "women", 0, 7), block_order(1, "men", 1, 7)}
    assert same[0] not in others


def test_block_order_written_down_once_stays_the_same() -> None:
    # A study under way must meet the same sequence after any upgrade: these digits may never change.
    assert block_order(1, "women, 20-34", 0, 7) == (0, 1, 5, 4, 6, 2, 3)
    assert block_order(2011, "men, 35-50", 5, 3, (1, 2)) == (0, 0, 1, 2, 1, 2)

    secret = "00112233445566778899aabbccddeeff"
    assert block_order(secret, "women, 20-34", 0, 3, (1, 2, 3), weights=(1, 1, 2)) == (2, 2, 0, 2, 1, 1, 0, 2)


@pytest.mark.parametrize(
    ("targets", "weights"),
    [
        ([30, 30, 30], (1, 1, 1)),
        ([30, 30, 60], (1, 1, 2)),
        ([20, 30], (2, 3)),
        ([40, 30, 30], (4, 3, 3)),
        ([30, 31, 60], (1, 1, 2)),
        ([1, 7], (1, 7)),
        ([7], (1,)),
    ],
)
def test_the_smallest_block_has_the_ratio_of_the_targets(targets: list[int], weights: tuple[int, ...]) -> None:
    assert block_weights(targets) == weights


@settings(max_examples=100, deadline=None)
@given(targets=st.lists(st.integers(1, 60), min_size=1, max_size=7))
def test_a_block_is_within_a_twentieth_of_the_targets_and_no_larger_than_their_ratio(targets: list[int]) -> None:
    weights = block_weights(targets)
    assert sum(weights) <= sum(targets)
    for weight, target in zip(weights, targets, strict=True):
        wanted = Fraction(target, sum(targets))
        assert abs(Fraction(weight, sum(weights)) - wanted) <= wanted / 20


@pytest.mark.parametrize("targets", [[], [3, 0]])
def test_block_weights_refuse_a_condition_without_a_target(targets: list[int]) -> None:
    with pytest.raises(ParameterError) as refused:
        block_weights(targets)
    assert str(targets) in str(refused.value)


@pytest.mark.parametrize("weights", [(1, 1), (1, 1, 0)])
def test_block_order_refuses_weights_of_other_conditions(weights: tuple[int, ...]) -> None:
    with pytest.raises(ParameterError) as refused:
        block_order(1, "s", 0, 3, (1,), weights=weights)
    assert str(weights) in str(refused.value)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**62), multiples=st.sampled_from([(1,), (1, 2), (1, 2, 3)]))
def test_a_study_with_unequal_targets_does_not_end_in_one_condition(seed: int, multiples: tuple[int, ...]) -> None:
    targets = [30, 30, 60]
    study = Sequence(seed, targets, multiples, block_weights(targets))
    given_out = [study.enrol("women") for _ in range(120)]
    assert Counter(given_out) == {0: 30, 1: 30, 2: 60}
    # What is left for the last block is in the targets' ratio too: at most six of the largest condition in a row.
    assert len(set(given_out[-7:])) > 1


def test_block_orders_are_equally_likely() -> None:
    drawn = Counter(block_order(seed, "s", 0, 3) for seed in range(6000))
    assert len(drawn) == 6
    # Five standard deviations of a binomial count with n = 6000, p = 1/6.
    assert all(abs(count - 1000) < 145 for count in drawn.values())


@pytest.mark.parametrize(
    ("n_conditions", "multiples", "message"),
    [
        (0, (1,), "A study needs at least one condition to assign participants to."),
        (3, (), "A block holds each condition at least once; got [] times."),
        (3, (0,), "A block holds each condition at least once; got [0] times."),
    ],
)
def test_block_order_refuses_an_empty_block(n_conditions: int, multiples: tuple[int, ...], message: str) -> None:
    with pytest.raises(ParameterError) as refused:
        block_order(1, "s", 0, n_conditions, multiples)
    assert str(refused.value) == message


def test_slots_number_places_and_blocks() -> None:
    first = list(islice(slots(1, "s", 3), 7))
    assert [slot.place for slot in first] == list(range(7))
    assert [slot.block for slot in first] == [0, 0, 0, 1, 1, 1, 2]


@settings(max_examples=60, deadline=None)
@given(
    seed=st.one_of(st.integers(0, 2**62), st.binary(min_size=16, max_size=16).map(bytes.hex)),
    targets=st.lists(st.integers(1, 8), min_size=2, max_size=7),
    multiples=st.sampled_from([(1,), (2,), (1, 2), (1, 2, 3)]),
    is_proportional=st.booleans(),
    arrivals=st.lists(st.sampled_from(STRATA), min_size=60, max_size=120),
)
def test_a_study_that_fills_keeps_every_invariant(
    seed: int | str, targets: list[int], multiples: tuple[int, ...], is_proportional: bool, arrivals: list[str]
) -> None:
    weights = block_weights(targets) if is_proportional else ()
    study = Sequence(seed, targets, multiples, weights)
    given_out = []
    for stratum in arrivals:
        given_out.append(study.enrol(stratum))
        assert all(count <= targets[c] for c, count in study.counts().items())
        for name in STRATA:
            assert study.spread(name) <= max(multiples)
    n = sum(targets)
    assert [c is None for c in given_out] == [False] * n + [True] * (len(arrivals) - n)
    assert study.counts() == Counter(dict(enumerate(targets)))
    replayed = Sequence(seed, targets, multiples, weights)
    assert [replayed.enrol(stratum) for stratum in arrivals] == given_out


def test_the_first_nine_of_six_strata_are_seldom_uneven_overall_and_never_within_a_stratum() -> None:
    groups = [f"{gender}, {age}" for gender in ("women", "men", "all others") for age in ("20-34", "35-50")]
    uneven = 0
    for seed in range(1000):
        study = Sequence(f"study {seed}", [30, 30, 30], multiples=(1, 2, 3))
        for stratum in random.Random(seed).choices(groups, [24, 24, 24, 24, 2, 2], k=9):
            study.enrol(stratum)
        counts = sorted(study.counts()[condition] for condition in range(3))
        uneven += counts[2] - counts[0] >= 5  # 6, 2 and 1, or worse
        assert all(study.spread(stratum) <= 3 for stratum in groups)
    assert 0.02 < uneven / 1000 < 0.06  # as docs/explanation/assignment.md says


@settings(max_examples=60, deadline=None)
@given(data=st.data(), seed=st.integers(0, 2**62), n_conditions=st.integers(2, 5))
def test_slots_given_back_are_filled_first_and_balance_returns(
    data: st.DataObject, seed: int, n_conditions: int
) -> None:
    study = Sequence(seed, [6] * n_conditions)
    for _ in range(data.draw(st.integers(5, 6 * n_conditions))):
        study.enrol(data.draw(st.sampled_from(STRATA)))
    gone = data.draw(st.lists(st.sampled_from(sorted(study.held)), unique=True, max_size=6))
    for key in gone:
        del study.held[key]
    for stratum in {stratum for stratum, _place in gone}:
        for _ in [s for s, _place in gone if s == stratum]:
            study.enrol(stratum)
        assert study.spread(stratum) <= 1
    while study.enrol(data.draw(st.sampled_from(STRATA))) is not None:
        assert all(count <= 6 for count in study.counts().values())
    assert study.counts() == Counter(dict.fromkeys(range(n_conditions), 6))


def test_first_open_passes_over_full_conditions_and_says_so() -> None:
    order = block_order(5, "s", 0, 3)
    full = order[0]
    found = first_open(slots(5, "s", 3), occupied=(), has_room=[c != full for c in range(3)])
    assert found.slot.place == 1
    assert [(slot.place, slot.condition) for slot in found.passed_over] == [(0, full)]


def test_own_slot_prefers_the_old_place_while_it_is_free() -> None:
    old = next(slot for slot in slots(5, "s", 3) if slot.condition == 2 and slot.block == 1)
    assert own_slot(slots(5, "s", 3), {0}, 2, preferred=old.place) == old


def test_own_slot_prefers_the_old_place_to_a_free_one_before_it() -> None:
    earlier, old = [slot for slot in islice(slots(5, "s", 3), 6) if slot.condition == 2]
    assert earlier.place < old.place
    assert own_slot(slots(5, "s", 3), (), 2, preferred=old.place) == old


def test_own_slot_looks_ahead_where_the_old_place_was_taken() -> None:
    old = next(slot for slot in slots(5, "s", 3) if slot.condition == 2)
    found = own_slot(slots(5, "s", 3), {0, 1, 2}, 2, preferred=old.place)
    assert (found.condition, found.block) == (2, 1)


def test_own_slot_is_the_first_free_slot_of_the_condition_where_the_old_place_was_taken() -> None:
    first, _second, old = [slot for slot in islice(slots(5, "s", 3), 9) if slot.condition == 2]
    found = own_slot(slots(5, "s", 3), {old.place}, 2, preferred=old.place)
    assert found == first
