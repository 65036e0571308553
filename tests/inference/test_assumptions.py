from __future__ import annotations

import pytest

from inference import anova
from inference.results import Undefined


def test_spread_is_not_compared_where_distances_do_not_vary() -> None:
    found = anova.brown_forsythe({"A": [1, 2], "B": [5, 9]})
    assert isinstance(found, Undefined)
    assert "equally distant from the median" in found.reason


def test_spread_needs_two_conditions() -> None:
    found = anova.brown_forsythe({"A": [1, 2, 3], "B": []})
    assert "two conditions" in found.reason


def test_spread_names_the_empty_condition() -> None:
    found = anova.brown_forsythe({"A": [1, 2, 4], "B": [], "C": [5, 9, 20]})
    assert found.left_out == ("B",)
    assert (found.test, found.df_between, found.df_within) == ("Brown-Forsythe", 1, 4)


def test_residuals_leave_single_observations_out_by_name() -> None:
    found = anova.shapiro_residuals({"A": [1, 2, 4], "B": [7], "C": [3, 3.5, 9]})
    assert (found.n, found.left_out) == (6, ("B",))


@pytest.mark.parametrize(
    ("values", "reason"),
    [([1, 2], "there are 2"), ([3, 3, 3], "All residuals are 0"), (range(5001), "there are 5,001")],
)
def test_normality_names_the_reason_when_it_is_undefined(values: list[int], reason: str) -> None:
    found = anova.shapiro_residuals({"A": values})
    assert isinstance(found, Undefined)
    assert reason in found.reason


def test_normality_knows_no_unit() -> None:
    values = [0.1, 0.4, 0.5, 1.9, 2.2]
    small = anova.shapiro_residuals({"A": [value * 1e-55 for value in values]})
    plain = anova.shapiro_residuals({"A": values})
    assert small.w == pytest.approx(plain.w, rel=1e-9)
