"""Both sides compared: exact p by hand, fallout turned over, contradictions found."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import pytest

from analysis.enums import VARIABLE_OF, VARIABLES, Metric
from analysis.services.agreement import all_comparisons, compare
from analysis.services.rankings import Ranking, mean_ranks, rank_bounds
from inference.partial_order import partial_order
from inference.results import Pair, Undefined

pytestmark = pytest.mark.unit
RECALL, FALLOUT = Metric("recall", 0, 5), Metric("fallout", 0, 5)


T = TypeVar("T")


def defined(result: T | Undefined) -> T:
    assert not isinstance(result, Undefined)
    return result


def ranking(values: dict[str, float], pairs: tuple[Pair, ...] = (), higher_is_better: bool = True) -> Ranking:
    drawn = np.tile(np.array(list(values.values())), (10, 1))
    return Ranking(values, partial_order(values, pairs, higher_is_better), higher_is_better, drawn)


def test_opposite_significant_pairs_are_contradictions() -> None:
    people = ranking({"A": 4.0, "B": 3.0}, (Pair("A", "B", 1.0, 0.01, True),))
    recall = ranking({"A": 0.1, "B": 0.2}, (Pair("A", "B", -0.1, 0.02, True),))
    found = compare(VARIABLE_OF["accuracy"], RECALL, people, recall)
    assert found.orders.counts["contradicted"] == 1
    assert found.orders.pairs[0].a == "A"
    assert defined(found.tau).coefficient == -1


def test_fallout_is_turned_over() -> None:
    people = ranking({"A": 3.0, "B": 2.0, "C": 1.0})
    fallout = ranking({"A": 0.1, "B": 0.2, "C": 0.3}, higher_is_better=False)
    found = compare(VARIABLE_OF["accuracy"], FALLOUT, people, fallout)
    assert defined(found.tau).coefficient == 1
    assert defined(found.tau).p == pytest.approx(2 / 6)
    assert found.ranks.objective == {"A": 1, "B": 2, "C": 3}
    assert found.ranks_resampled.objective.best["A"] == 1
    assert defined(found.tau_bootstrap).ci_low == defined(found.tau_bootstrap).ci_high == 1


def test_conditions_of_one_side_only_are_left_out() -> None:
    people = ranking({"A": 3.0, "C": 1.0})
    recall = ranking({"A": 0.1, "B": 0.9, "C": 0.3})
    found = compare(VARIABLE_OF["accuracy"], RECALL, people, recall)
    assert found.conditions == ("A", "C")
    assert found.ranks.objective == {"A": 2, "C": 1}
    assert found.ranks_resampled.objective.bounds == {"A": (2, 2), "C": (1, 1)}


def test_holm_is_over_all_but_the_primary_pair() -> None:
    values = {name: float(place) for place, name in enumerate("ABCDEFG")}
    perceived = {variable: ranking(values) for variable in VARIABLES}
    found = all_comparisons(perceived, {RECALL: ranking(values)}, ("satisfaction", "recall"))
    assert (found[0].variable_key, found[0].p_holm) == ("satisfaction", None)
    assert [one.p_holm for one in found[1:]] == pytest.approx([3 * 2 / 5040] * 3)


def test_ranks_of_ties_are_shared() -> None:
    assert mean_ranks({"A": 1.0, "B": 2.0, "C": 2.0}) == {"A": 3, "B": 1.5, "C": 1.5}
    assert mean_ranks({"A": 0.1, "B": 0.2}, higher_is_better=False) == {"A": 1, "B": 2}


@pytest.mark.parametrize(
    ("probabilities", "bounds"),
    [
        ([1, 0, 0], (1, 1)),
        ([0.5, 0.5, 0], (1, 2)),
        ([0.02, 0.96, 0.02], (2, 2)),
        ([0.025, 0.95, 0.025], (1, 2)),
        ([0.1, 0.8, 0.1], (1, 3)),
    ],
)
def test_rank_bounds_leave_a_fortieth_on_either_side(probabilities: list[float], bounds: tuple[int, int]) -> None:
    assert rank_bounds(probabilities) == bounds
