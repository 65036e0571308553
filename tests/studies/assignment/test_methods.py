"""What each method draws, against what its definition says."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from core.errors import ParameterError
from studies.allocation.assignment.draws import Assignment, Draws, Seed
from studies.allocation.assignment.imbalance import expected_imbalance, of_every_method
from studies.allocation.assignment.ledger import Ledger
from studies.allocation.assignment.methods import METHODS, Method, Occupancy, assign, imbalances, ranking, weights
from studies.allocation.assignment.strata import Strata
from studies.settings import StratumGroup, StratumRule

pytestmark = pytest.mark.unit


def ranked(
    name: str, seed: Seed, counts: list[int], targets: Sequence[int | None], stratum: str = "all", place: int = 0
) -> tuple[int, ...]:
    here = Occupancy(targets, counts, [counts], frozenset(), place)
    return tuple(ranking(Method(name), Draws(seed, name.replace("_", " "), stratum, place), here))


def test_simple_gives_each_open_condition_the_same_chance() -> None:
    drawn = Counter(next(c for c in ranked("simple", seed, [0] * 4, [9] * 4) if c != 2) for seed in range(3000))
    assert set(drawn) == {0, 1, 3}
    assert stats.chisquare(list(drawn.values())).pvalue > 0.001


def test_least_filled_ranks_by_share_of_the_target_and_draws_among_equals() -> None:
    assert ranked("least_filled", 1, [3, 4, 1], [10, 20, 2])[-1] == 2
    assert ranked("least_filled", 1, [3, 4, 1], [10, 20, 2])[0] == 1
    first = Counter(ranked("least_filled", seed, [1, 0, 0], [5, 5, 5])[0] for seed in range(2000))
    assert set(first) == {1, 2}
    assert stats.binomtest(first[1], 2000).pvalue > 0.001
    assert ranked("least_filled", 1, [3, 0], [None, None]) == (1, 0)


@given(
    margins=st.lists(st.lists(st.integers(0, 20), min_size=4, max_size=4), min_size=1, max_size=4),
    targets=st.lists(st.integers(1, 30), min_size=4, max_size=4),
)
def test_the_imbalance_is_the_variance_of_the_counts_once_someone_has_joined(
    margins: list[list[int]], targets: list[int]
) -> None:
    unit = weights(targets)
    expected = []
    for joined in range(4):
        after = [[(n + (c == joined)) * unit[c] for c, n in enumerate(row)] for row in margins]
        expected.append(16 * sum(statistics.pvariance(row) for row in after))
    assert list(imbalances(margins, targets)) == pytest.approx(expected)


def minimised(
    seed: Seed, margins: list[list[int]], targets: list[int], counts: list[int], probability: float,
    stratum: str = "s", place: int = 0,
) -> Assignment:  # fmt: skip
    here = Occupancy(targets, counts, margins, frozenset(), place)
    found = assign(Method("minimisation", probability=probability), seed=seed, stratum=stratum, occupancy=here)
    assert found is not None
    return found


def _chosen(seed: int, probability: float, has_room: list[bool]) -> int:
    counts = [0 if is_open else 9 for is_open in has_room]
    return minimised(seed, [[3, 1, 2, 5], [4, 4, 4, 9]], [9] * 4, counts, probability, place=1).slot.condition


def test_minimisation_takes_the_best_open_condition_with_the_stated_probability() -> None:
    drawn = Counter(_chosen(seed, 0.7, [True] * 4) for seed in range(4000))
    assert stats.chisquare([drawn[c] for c in range(4)], [400, 2800, 400, 400]).pvalue > 0.001
    without = Counter(_chosen(seed, 0.7, [True, False, True, True]) for seed in range(4000))
    assert stats.chisquare([without[c] for c in (0, 2, 3)], [600, 2800, 600]).pvalue > 0.001


def test_minimisation_says_which_full_conditions_it_would_have_preferred() -> None:
    found = minimised(1, [[0, 1, 2]], [1, 3, 3], [1, 0, 0], 1.0)
    assert (found.slot.condition, [slot.condition for slot in found.passed_over]) == (1, [0])
    assert minimised(1, [[5, 5, 2]], [5, 5, 3], [5, 5, 0], 0.0).slot.condition == 2


def test_draws_written_down_once_stay_the_same() -> None:
    # Allocations of earlier versions are replayed from their seed: these digits may never change.
    secret, ones = "00112233445566778899aabbccddeeff", [2, 1, 1, 1, 1]
    assert ranked("simple", 1, [0] * 5, [5] * 5, "women, 20-34") == (2, 4, 3, 1, 0)
    assert ranked("simple", secret, [0] * 5, [5] * 5, "men, 35-50", 7) == (1, 3, 4, 0, 2)
    assert ranked("least_filled", 1, ones, [5] * 5, "women, 20-34") == (3, 1, 2, 4, 0)
    assert ranked("least_filled", secret, ones, [5] * 5, "men, 35-50", 7) == (1, 4, 3, 2, 0)
    assert [_chosen_of_equals(1, "women, 20-34", place) for place in range(8)] == [4, 1, 1, 2, 1, 3, 0, 1]
    assert [_chosen_of_equals(secret, "men, 35-50", place) for place in range(8)] == [0, 4, 1, 2, 1, 1, 1, 4]


def _chosen_of_equals(seed: int | str, stratum: str, place: int) -> int:
    return minimised(seed, [[0] * 5], [5] * 5, [0] * 5, 0.5, stratum, place).slot.condition


RULES = [
    StratumRule(question="gender", groups=(StratumGroup(name="women", values=("woman",)),)),
    StratumRule(question="age", bands=((20, 34), (35, 50))),
]
STRATA = Strata(RULES, {"gender": {"women": 90, "all others": 10}}, 0.08)


@pytest.mark.parametrize(("name", "weights"), [*((name, ()) for name in METHODS), ("permuted_blocks", (1, 1, 2))])
def test_the_simulation_agrees_with_the_assignment_that_studies_use(name: str, weights: tuple[int, ...]) -> None:
    """The fast simulation beside the real thing, over as many studies: means and distributions agree."""
    method, targets, repetitions = Method(name, (1, 2), 0.75, weights), [5, 5, 10], 400
    rng = np.random.default_rng(7)
    shares, merged = STRATA.expected(), STRATA.merged()
    halfway, within = [], []
    for seed in range(repetitions):
        ledger = Ledger(method, seed)
        drawn = rng.choice(list(shares), size=10, p=list(shares.values()))
        for person, stratum in enumerate(drawn):
            is_merged = name == "permuted_blocks"
            ledger.enrol(person, merged.get(stratum, stratum) if is_merged else str(stratum), targets)
        total = Counter(slot.condition for _s, slot in ledger.holding.values())
        halfway.append(max(total[c] for c in range(3)) - min(total[c] for c in range(3)))
        own = Counter((merged.get(s, s), slot.condition) for s, slot in ledger.holding.values())
        blocks = {merged.get(s, s) for s in shares}
        within.append(max(max(own[s, c] for c in range(3)) - min(own[s, c] for c in range(3)) for s in blocks))
    found = expected_imbalance(method, targets, shares, rng=np.random.default_rng(8), merged=merged, repetitions=4000)
    for real, simulated in ((halfway, found.halfway), (within, found.within_halfway)):
        error = statistics.stdev(real) / repetitions**0.5 if len(set(real)) > 1 else 0.05
        assert simulated.mean == pytest.approx(statistics.mean(real), abs=4 * error + 1e-9)


def test_what_the_methods_promise_shows_in_the_simulation() -> None:
    found = of_every_method([30] * 7, Method(), Strata(RULES, {}), seed=1)
    assert list(found) == list(METHODS)
    assert all(one.full.high == 0 for one in found.values())
    assert found["permuted_blocks"].within_halfway.high <= 1
    assert found["least_filled"].halfway.high <= 1
    assert found["minimisation"].halfway.mean < found["permuted_blocks"].halfway.mean < found["simple"].halfway.mean
    assert found["minimisation"].trait_halfway.mean < found["least_filled"].trait_halfway.mean
    assert found == of_every_method([30] * 7, Method(), Strata(RULES, {}), seed=1)


def test_fixed_blocks_are_guessed_best_and_a_plain_draw_hardly_better_than_by_chance() -> None:
    def guessed(method: Method, shares: dict[str, float]) -> float:
        return expected_imbalance(method, [20] * 4, shares, rng=np.random.default_rng(1)).guessed

    whole = {"all": 1.0}
    # The place j of a block of four leaves 5 - j conditions to guess among.
    fixed = (1 + 1 / 2 + 1 / 3 + 1 / 4) / 4
    assert guessed(Method(multiples=(1,)), whole) == pytest.approx(fixed, abs=0.01)
    assert guessed(Method(multiples=(1,)), {"women": 0.5, "men": 0.5}) == pytest.approx(fixed, abs=0.02)
    mixed, simple = guessed(Method(multiples=(1, 2, 3)), whole), guessed(Method("simple"), whole)
    assert 0.25 < simple < mixed < fixed


def test_blocks_in_the_ratio_of_the_targets_fill_all_conditions_together() -> None:
    proportional = Method(weights=(1, 1, 2))
    found = expected_imbalance(proportional, [6, 6, 12], {"all": 1.0}, rng=np.random.default_rng(1), repetitions=50)
    assert (found.halfway.mean, found.halfway.high) == (3.0, 3)


def test_one_repetition_is_enough_to_simulate() -> None:
    found = expected_imbalance(Method(), [4, 8], {"all": 1.0}, rng=np.random.default_rng(1), repetitions=1)
    assert found.full.mean == 4.0


def test_unequal_targets_are_the_whole_difference_at_the_end() -> None:
    found = of_every_method([4, 6, 12], Method(), Strata((), {}), seed=1, repetitions=50)
    assert {one.full.mean for one in found.values()} == {8.0}


NO_SHARES = "The simulation needs the expected share of each stratum and at least one repetition."


@pytest.mark.parametrize(
    ("targets", "shares", "repetitions", "message"),
    [
        ([30], {"all": 1.0}, 10, "The simulation needs two or more conditions, each with a target; got [30]."),
        ([0, 3], {"all": 1.0}, 10, "The simulation needs two or more conditions, each with a target; got [0, 3]."),
        ([3000, 3000], {"all": 1.0}, 10, "The imbalance is simulated for up to 3,000 participants; 6,000 are planned."),
        ([3, 3], {}, 10, NO_SHARES),
        ([3, 3], {"all": -1.0}, 10, NO_SHARES),
        ([3, 3], {"all": 0.0}, 10, NO_SHARES),
        ([3, 3], {"all": 1.0}, 0, NO_SHARES),
    ],
)
def test_a_simulation_that_cannot_be_made_is_refused(
    targets: list[int], shares: dict[str, float], repetitions: int, message: str
) -> None:
    with pytest.raises(ParameterError) as refused:
        expected_imbalance(Method(), targets, shares, rng=np.random.default_rng(1), repetitions=repetitions)
    assert str(refused.value) == message
