from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from core.errors import DataError
from inference import correlation
from inference.groups import ExactGroups
from inference.results import Undefined

pairs = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=4, max_size=30)


@given(pairs)
def test_pearson_is_scipys(values: list[tuple[int, int]]) -> None:
    x, y = zip(*values, strict=True)
    assume(len(set(x)) > 1 and len(set(y)) > 1)
    found, expected = correlation.pearson(x, y), stats.pearsonr(x, y)
    assert found.coefficient == pytest.approx(expected.statistic, abs=1e-12)
    if found.interval is None:
        return
    assert found.p == pytest.approx(expected.pvalue, rel=1e-8, abs=1e-12)
    interval = expected.confidence_interval(0.95)
    assert (found.interval.low, found.interval.high) == pytest.approx((interval.low, interval.high), abs=1e-9)


@given(st.lists(pairs, min_size=1, max_size=4))
def test_correlation_within_is_that_of_the_residuals(groups: list[list[tuple[int, int]]]) -> None:
    x = {str(place): [a for a, _ in values] for place, values in enumerate(groups)}
    y = {str(place): [b for _, b in values] for place, values in enumerate(groups)}
    found = correlation.within_conditions(x, y)
    deviations = [np.concatenate([np.array(one) - np.mean(one) for one in side.values()]) for side in (x, y)]
    if isinstance(found, Undefined):
        assert min(np.abs(one).max() for one in deviations) < 1e-12
        return
    assert found.coefficient == pytest.approx(np.corrcoef(*deviations)[0, 1], abs=1e-9)
    assert found.df == len(deviations[0]) - len(groups) - 1


def test_adding_a_constant_to_a_condition_changes_what_is_between_not_within() -> None:
    x = {"A": [1, 2, 3, 5], "B": [2, 2, 4, 4], "C": [1, 1, 1, 2]}
    y = {"A": [2, 2, 3, 4], "B": [1, 3, 3, 5], "C": [2, 3, 2, 3]}
    moved = {**y, "B": [value + 10 for value in y["B"]]}
    assert correlation.within_conditions(x, moved) == correlation.within_conditions(x, y)
    assert correlation.between_conditions(x, moved) != correlation.between_conditions(x, y)
    assert correlation.over_all(x, moved).coefficient != correlation.over_all(x, y).coefficient


def test_exact_groups_give_what_fractions_give() -> None:
    fifths = ExactGroups({"A": [3, 1, 2], "B": [5, 4, 5]}, 5)
    floats = {"A": [0.6, 0.2, 0.4], "B": [1.0, 0.8, 1.0]}
    other = {"A": [1, 2, 2], "B": [3, 5, 4]}
    for procedure in (correlation.within_conditions, correlation.between_conditions, correlation.over_all):
        assert procedure(fifths, other) == procedure(floats, other)


@pytest.mark.parametrize(
    ("x", "y", "reason"),
    [
        ({"A": [1], "B": [2]}, {"A": [1], "B": [2]}, "No condition has two participants."),
        ({"A": [1, 1]}, {"A": [1, 2]}, "Within every condition all values of the first measurement are equal."),
        ({"A": [1, 2]}, {"A": [3, 3]}, "Within every condition all values of the second measurement are equal."),
        ({"A": [1, 2]}, {"A": [1, 2]}, "With 2 participants in 1 conditions no degrees of freedom are left"),
    ],
)
def test_nothing_within_is_said(x: dict[str, list[int]], y: dict[str, list[int]], reason: str) -> None:
    assert correlation.within_conditions(x, y).reason.startswith(reason)


def test_other_reasons_are_said() -> None:
    assert correlation.pearson([1, 2], [1, 2]).reason.endswith("there are 2.")
    assert "second measurement" in correlation.pearson([1, 2, 3], [4, 4, 4]).reason
    few = correlation.between_conditions({"A": [1], "B": [2]}, {"A": [1], "B": [2]})
    assert few.reason == "A correlation needs three conditions with participants; there are 2."
    same = correlation.between_conditions({"A": [1], "B": [1], "C": [1]}, {"A": [1], "B": [2], "C": [4]})
    assert same.reason == "All conditions have the same mean on the first measurement."
    assert correlation.over_all({"A": []}, {"A": []}).reason == "There are no participants."
    assert correlation.within_each({"A": []}, {"A": []})["A"].reason == "There are no participants."


def test_a_perfect_correlation_has_no_interval() -> None:
    found = correlation.pearson([1, 2, 3, 4], [-2, -4, -6, -8])
    assert (found.coefficient, found.p, found.t, found.interval) == (-1.0, 0.0, None, None)
    assert correlation.pearson([1, 2, 3], [1, 3, 2]).interval is None  # one degree of freedom


def test_measurements_of_different_participants_are_refused() -> None:
    with pytest.raises(DataError, match="same conditions"):
        correlation.over_all({"A": [1]}, {"B": [1]})
    with pytest.raises(DataError, match="A: the measurements"):
        correlation.over_all({"A": [1, 2]}, {"A": [1]})
