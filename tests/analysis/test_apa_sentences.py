"""Tests as strings in the style of APA."""

from __future__ import annotations

import pytest

from analysis.present import apa
from inference import anova
from inference.results import AnovaResult

pytestmark = pytest.mark.unit


def test_anova_prints_the_interval_of_its_own_result() -> None:
    result = anova.one_way({"A": [1, 2, 3, 2], "B": [3, 4, 5, 4], "C": [2, 2, 1, 4]})
    assert isinstance(result, AnovaResult)
    assert apa.anova(result).startswith("F(2, 9) = ")
    assert result.eta_squared_ci is not None
    assert f"95% CI [{result.eta_squared_ci.low:.2f}".replace("0.", ".") in apa.anova(result)


def test_anova_without_an_interval_ends_with_eta_squared() -> None:
    result = anova.one_way({"A": [0, 0.001], "B": [1e6, 1e6]})
    assert isinstance(result, AnovaResult)
    assert apa.anova(result).endswith("η² = 1.00")
