"""Dispersion of counts within conditions: against statsmodels, and data without an answer."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.genmod.families import Poisson
from statsmodels.genmod.generalized_linear_model import GLM

from inference.counts import overdispersion
from inference.results import Undefined

pytestmark = pytest.mark.unit


def drawn(seed: int = 1) -> dict[str, list[int]]:
    rng = np.random.default_rng(seed)
    means = {"A": 2.0, "B": 4.0, "C": 4.5}
    return {
        name: rng.negative_binomial(1.5, 1.5 / (1.5 + mean), n).tolist()
        for (name, mean), n in zip(means.items(), (20, 25, 30), strict=True)
    }


def test_the_dispersion_is_that_of_statsmodels() -> None:
    counts = drawn()
    frame = pd.DataFrame([(name, value) for name, values in counts.items() for value in values], columns=["c", "y"])
    model = GLM.from_formula("y ~ 0 + C(c)", frame, family=Poisson()).fit(scale="X2", tol=1e-13)
    found = overdispersion(counts)
    assert found.dispersion == pytest.approx(model.scale)
    assert found.dispersion > 1.5
    assert found.p == pytest.approx(stats.chi2.sf(model.pearson_chi2, 72))


def test_a_condition_without_events_adds_no_variance() -> None:
    with_zeros = overdispersion({"A": [0, 0, 0], "B": [1, 4, 2], "C": [2, 0, 3]})
    without = overdispersion({"B": [1, 4, 2], "C": [2, 0, 3]})
    assert with_zeros.dispersion == pytest.approx(without.dispersion * 4 / 6)


@pytest.mark.parametrize(
    "counts", [{"A": [1, 2]}, {"A": [0, 0], "B": [0]}, {"A": [1], "B": [2]}, {"A": [2, 2], "B": [3]}]
)
def test_undefined(counts: dict[str, list[int]]) -> None:
    assert isinstance(overdispersion(counts), Undefined)
