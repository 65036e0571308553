"""Counts compared by a quasi-Poisson model: against statsmodels, and data without an answer."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.genmod.families import Poisson
from statsmodels.genmod.generalized_linear_model import GLM

from core.errors import DataError
from inference.corrections import holm
from inference.counts import quasi_poisson
from inference.results import Undefined

pytestmark = pytest.mark.unit


def drawn(seed: int = 1) -> dict[str, list[int]]:
    rng = np.random.default_rng(seed)
    means = {"A": 2.0, "B": 4.0, "C": 4.5}
    return {
        name: rng.negative_binomial(1.5, 1.5 / (1.5 + mean), n).tolist()
        for (name, mean), n in zip(means.items(), (20, 25, 30), strict=True)
    }


def test_the_fit_is_that_of_statsmodels() -> None:
    counts = drawn()
    frame = pd.DataFrame([(name, value) for name, values in counts.items() for value in values], columns=["c", "y"])
    model = GLM.from_formula("y ~ 0 + C(c)", frame, family=Poisson()).fit(scale="X2", tol=1e-13)
    found = quasi_poisson(counts)
    assert found.dispersion == pytest.approx(model.scale)
    assert found.dispersion > 1.5
    f = (model.null_deviance - model.deviance) / 2 / model.scale
    assert (found.f, found.p) == pytest.approx((f, stats.f.sf(f, 2, 72)))
    half = stats.t.ppf(0.975, 72) * model.bse
    assert [mean.interval.low for mean in found.means] == pytest.approx(np.exp(model.params - half).tolist())
    assert [mean.interval.high for mean in found.means] == pytest.approx(np.exp(model.params + half).tolist())
    p = []
    for pair, contrast in zip(found.pairs, ([1, -1, 0], [1, 0, -1], [0, 1, -1]), strict=True):
        test = model.t_test(np.array(contrast, dtype=float))
        p.append(2 * stats.t.sf(abs(float(test.tvalue.item())), 72))
        assert pair.ratio == pytest.approx(np.exp(test.effect.item()))
        assert pair.p_unadjusted == pytest.approx(p[-1])
    assert [pair.p for pair in found.pairs] == pytest.approx(list(holm(p)))
    assert [pair.is_significant for pair in found.pairs] == [value < 0.05 for value in holm(p)]


def test_level_under_overdispersion() -> None:
    """Poisson's test would reject in about two of five of these studies."""
    rng = np.random.default_rng(2)
    n_studies, rejected = 600, 0
    for _ in range(n_studies):
        counts = {name: rng.negative_binomial(1.5, 1.5 / 5.5, 30).tolist() for name in "ABC"}
        rejected += quasi_poisson(counts).p < 0.05
    assert 0.03 < rejected / n_studies < 0.075


def test_a_condition_without_events_has_no_ratio() -> None:
    found = quasi_poisson({"A": [0, 0, 0], "B": [1, 4, 2], "C": [2, 0, 3]})
    assert found.means[0].interval is None
    assert [pair.ratio is None for pair in found.pairs] == [True, True, False]
    assert found.pairs[2].p == found.pairs[2].p_unadjusted
    without = quasi_poisson({"B": [1, 4, 2], "C": [2, 0, 3]})
    assert found.f > without.f


@pytest.mark.parametrize(
    "counts", [{"A": [1, 2]}, {"A": [0, 0], "B": [0]}, {"A": [1], "B": [2]}, {"A": [2, 2], "B": [3]}]
)
def test_undefined(counts: dict[str, list[int]]) -> None:
    assert isinstance(quasi_poisson(counts), Undefined)


def test_errors() -> None:
    for wrong in ({"A": [1, -1], "B": [1]}, {"A": [0.5], "B": [1]}, {"A": [], "B": [1, 2]}, {"A": [np.nan], "B": [1]}):
        with pytest.raises(DataError):
            quasi_poisson(wrong)
