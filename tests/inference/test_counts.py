"""Overdispersion of counts: against statsmodels, and data without an answer."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.genmod.families import Poisson
from statsmodels.genmod.generalized_linear_model import GLM

from core.errors import DataError
from inference.counts import overdispersion
from inference.results import Undefined

pytestmark = pytest.mark.unit


def test_the_dispersion_is_that_of_statsmodels() -> None:
    rng = np.random.default_rng(1)
    means = {"A": 2.0, "B": 4.0, "C": 4.5}
    counts = {
        name: rng.negative_binomial(1.5, 1.5 / (1.5 + mean), n).tolist()
        for (name, mean), n in zip(means.items(), (20, 25, 30), strict=True)
    }
    frame = pd.DataFrame([(name, value) for name, values in counts.items() for value in values], columns=["c", "y"])
    model = GLM.from_formula("y ~ 0 + C(c)", frame, family=Poisson()).fit(scale="X2", tol=1e-13)
    found = overdispersion(counts)
    assert found.dispersion == pytest.approx(model.scale)
    assert found.dispersion > 1.5
    assert found.p == pytest.approx(stats.chi2.sf(72 * model.scale, 72))


def test_counts_of_poisson_are_seldom_overdispersed() -> None:
    rng = np.random.default_rng(2)
    p = [overdispersion({name: rng.poisson(4, 30).tolist() for name in "ABC"}).p for _study in range(600)]
    assert 0.03 < np.mean(np.array(p) < 0.05) < 0.075


def test_a_condition_without_events_counts_towards_the_degrees_of_freedom_alone() -> None:
    found = overdispersion({"A": [0, 0, 0], "B": [1, 4, 2], "C": [2, 0, 3]})
    without = overdispersion({"B": [1, 4, 2], "C": [2, 0, 3]})
    assert found.dispersion * 6 == pytest.approx(without.dispersion * 4)


@pytest.mark.parametrize(
    "counts", [{"A": [1, 2]}, {"A": [0, 0], "B": [0]}, {"A": [1], "B": [2]}, {"A": [2, 2], "B": [3]}]
)
def test_undefined(counts: dict[str, list[int]]) -> None:
    assert isinstance(overdispersion(counts), Undefined)


def test_errors() -> None:
    for wrong in ({"A": [1, -1], "B": [1]}, {"A": [0.5], "B": [1]}, {"A": [], "B": [1, 2]}, {"A": [np.nan], "B": [1]}):
        with pytest.raises(DataError):
            overdispersion(wrong)
