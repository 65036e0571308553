"""Both sides compared: every pair decided, exact p by hand, fallout turned over."""

from __future__ import annotations

from itertools import combinations
from typing import TypeVar

import pytest

from analysis.compute.comparison import all_comparisons, compare
from analysis.enums import VARIABLE_OF, VARIABLES, Metric
from analysis.results.comparison import DecidedPairs
from analysis.results.rankings import Ranking, mean_ranks
from inference.pair_decisions import PairClass, PairDecision
from inference.partial_order import partial_order
from inference.results import Pair, PairwiseResult, Undefined

pytestmark = pytest.mark.unit
RECALL, FALLOUT = Metric("recall", 0, 5), Metric("fallout", 0, 5)


T = TypeVar("T")


def defined(result: T | Undefined | None) -> T:
    assert result is not None
    assert not isinstance(result, Undefined)
    return result


def ranking(values: dict[str, float], significant: tuple[str, ...] = (), higher_is_better: bool = True) -> Ranking:
    """A side with every pair tested; pairs like "AB" differ significantly."""
    pairs = tuple(
        Pair(a, b, values[a] - values[b], 0.01 if a + b in significant else 0.4, a + b in significant)
        for a, b in combinations(values, 2)
    )
    tests = PairwiseResult("A test", 0.05, pairs, values, dict.fromkeys(values, 10))
    return Ranking(values, tests, partial_order(values, pairs, higher_is_better), higher_is_better)


def test_pairs_fall_into_five_classes() -> None:
    perceived = ranking({"A": 5.0, "B": 4.0, "C": 3.0, "D": 2.0}, ("AB", "AC", "BC"))
    recall = ranking({"A": 0.3, "B": 0.2, "C": 0.4, "D": 0.1}, ("AB", "AC", "CD"))
    decided = defined(compare(VARIABLE_OF["accuracy"], RECALL, perceived, recall).decided)
    assert decided.pairs == (
        PairDecision("A", "B", PairClass.AGREE, "A", "A"),
        PairDecision("A", "C", PairClass.CONTRADICT, "A", "C"),
        PairDecision("A", "D", PairClass.UNDECIDED, None, None),
        PairDecision("B", "C", PairClass.PARTICIPANTS_ONLY, "B", None),
        PairDecision("B", "D", PairClass.UNDECIDED, None, None),
        PairDecision("C", "D", PairClass.OFFLINE_ONLY, None, "C"),
    )
    assert decided.participants_rank_sets.sets == {"A": (1, 2), "B": (2, 3), "C": (3, 4), "D": (1, 4)}
    assert decided.offline_rank_sets.sets["C"] == (1, 2)


def test_fallout_is_turned_over() -> None:
    perceived = ranking({"A": 3.0, "B": 2.0, "C": 1.0}, ("AC",))
    fallout = ranking({"A": 0.1, "B": 0.2, "C": 0.3}, ("AC",), higher_is_better=False)
    compared = compare(VARIABLE_OF["accuracy"], FALLOUT, perceived, fallout)
    assert defined(compared.tau).coefficient == 1
    assert defined(compared.tau).p == pytest.approx(2 / 6)
    assert compared.ranks.objective == {"A": 1, "B": 2, "C": 3}
    assert compared.pairs(PairClass.AGREE) == (PairDecision("A", "C", PairClass.AGREE, "A", "A"),)


def test_conditions_of_one_side_only_are_left_out() -> None:
    perceived = ranking({"A": 3.0, "C": 1.0}, ("AC",))
    recall = ranking({"A": 0.1, "B": 0.9, "C": 0.3}, ("AB", "AC", "BC"))
    compared = compare(VARIABLE_OF["accuracy"], RECALL, perceived, recall)
    assert compared.conditions == ("A", "C")
    assert compared.ranks.objective == {"A": 2, "C": 1}
    decided = defined(compared.decided)
    assert decided.pairs == (PairDecision("A", "C", PairClass.CONTRADICT, "A", "C"),)
    assert decided.offline_rank_sets.sets == {"A": (2, 2), "C": (1, 1)}


def test_a_side_without_tests_decides_no_pair() -> None:
    untested = Ranking({"A": 3.0, "B": 1.0}, Undefined("Nobody differs."), partial_order({"A": 3.0, "B": 1.0}, ()))
    tested, single = ranking({"A": 0.1, "B": 0.2}, ("AB",)), ranking({"A": 0.1, "C": 0.2})
    accuracy = VARIABLE_OF["accuracy"]
    for perceived, objective in ((untested, tested), (tested, untested)):
        assert compare(accuracy, RECALL, perceived, objective).decided == Undefined("Nobody differs.")
    assert isinstance(compare(accuracy, RECALL, tested, single).decided, Undefined)
    assert isinstance(compare(accuracy, RECALL, tested, tested).decided, DecidedPairs)


@pytest.mark.parametrize("is_tested", [True, False])
def test_the_primary_pair_is_first_and_alone_may_be_tested(is_tested: bool) -> None:
    values = {name: float(number) for number, name in enumerate("ABC")}
    perceived = {variable: ranking(values) for variable in VARIABLES}
    comparisons = all_comparisons(perceived, {RECALL: ranking(values)}, ("satisfaction", "recall"), is_tested=is_tested)
    assert [(each.variable_key, each.is_primary) for each in comparisons] == [
        ("satisfaction", True), ("accuracy", False), ("fon", False), ("son", False)
    ]  # fmt: skip
    assert comparisons[0].is_tested is is_tested


def test_ranks_of_ties_are_shared() -> None:
    assert mean_ranks({"A": 1.0, "B": 2.0, "C": 2.0}) == {"A": 3, "B": 1.5, "C": 1.5}
