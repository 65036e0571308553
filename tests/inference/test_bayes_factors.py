"""JZS Bayes factors: published values, an independent integral, identities."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate, stats

from inference.bayes_factors import (
    SCALE_ANOVA,
    SCALE_T,
    BayesFactor,
    jzs_anova,
    jzs_contrast,
    jzs_t,
)
from inference.contrasts import ContrastResult, planned_contrast
from inference.results import Undefined

# Datasets of R (package datasets).
SPRAYS = {
    "A": [10, 7, 20, 14, 14, 12, 10, 23, 17, 20, 14, 13],
    "B": [11, 17, 21, 11, 16, 14, 17, 17, 19, 21, 7, 13],
    "C": [0, 1, 7, 2, 3, 1, 2, 1, 3, 0, 1, 4],
    "D": [3, 5, 12, 6, 4, 3, 5, 5, 5, 5, 2, 4],
    "E": [3, 5, 3, 5, 3, 6, 1, 1, 3, 2, 6, 4],
    "F": [11, 9, 15, 22, 15, 16, 13, 10, 26, 26, 24, 13],
}
CHICKS = {
    "casein": [368, 390, 379, 260, 404, 318, 352, 359, 216, 222, 283, 332],
    "horsebean": [179, 160, 136, 227, 217, 168, 108, 124, 143, 140],
    "linseed": [309, 229, 181, 141, 260, 203, 148, 169, 213, 257, 244, 271],
    "meatmeal": [325, 257, 303, 315, 380, 153, 263, 242, 206, 344, 258],
    "soybean": [243, 230, 248, 327, 329, 250, 193, 271, 316, 267, 199, 171, 158, 248],
    "sunflower": [423, 340, 392, 339, 341, 226, 320, 295, 334, 322, 297, 318],
}
SLEEP = [-1.2, -2.4, -1.3, -1.3, 0.0, -1.0, -1.8, -0.8, -4.6, -1.4]  # differences of the two drugs


def found(result: BayesFactor | Undefined) -> BayesFactor:
    assert isinstance(result, BayesFactor)
    return result


@pytest.mark.reference
@pytest.mark.parametrize(("t", "printed"), [(2.24, 1.02), (2.03, 1.56)])
def test_values_of_rouder_et_al_2009(t: float, printed: float) -> None:
    """Page 233: the experiments of Grider and Malmberg (2008), 80 participants, r = 1, in favour of the null."""
    assert jzs_t(t, 79, 80, scale=1.0).null == pytest.approx(printed, abs=0.005)


@pytest.mark.reference
def test_values_of_the_r_package_bayesfactor() -> None:
    """As its manual prints them: ttestBF(sleep), anovaBF(spray), anovaBF(feed)."""
    t = float(stats.ttest_1samp(SLEEP, 0).statistic)
    assert jzs_t(t, 9, 10).alternative == pytest.approx(17.25888, abs=5e-5)
    assert found(jzs_anova(SPRAYS)).alternative == pytest.approx(1.506706e14, rel=1e-6)
    assert found(jzs_anova(CHICKS)).alternative == pytest.approx(14067867, rel=1e-7)


@pytest.mark.reference
def test_values_of_pingouin() -> None:
    """bayesfactor_ttest(3.5, 20, 20) and bayesfactor_ttest(3.5, 20) in its documentation."""
    assert jzs_t(3.5, 38, 10).alternative == pytest.approx(26.743, abs=1e-3)
    assert jzs_t(3.5, 19, 20).alternative == pytest.approx(17.185, abs=1e-3)


@pytest.mark.reference
@pytest.mark.parametrize(
    ("t", "df", "n", "scale"), [(0.0, 10, 6, 1.0), (-2.5, 30, 8, 0.5), (1.3, 200, 50.5, 0.7), (5, 20.5, 5, 1.4)]
)
def test_t_is_the_ratio_of_densities_of_t(t: float, df: float, n: float, scale: float) -> None:
    """Independent: the noncentral t density averaged over the Cauchy prior, in place of the integral over g."""

    noncentral = np.linspace(-25, 25, 4001)  # beyond, the density at these t is 0
    delta = noncentral / math.sqrt(n)
    # SciPy's density is NaN where it underflows.
    density = np.nan_to_num(stats.nct.pdf(t, df, noncentral)) * stats.cauchy.pdf(delta, scale=scale)
    marginal = float(integrate.simpson(density, x=delta))
    assert jzs_t(t, df, n, scale).alternative == pytest.approx(marginal / stats.t.pdf(t, df), rel=1e-6)


@pytest.mark.reference
def test_anova_is_the_integral_over_matrices() -> None:
    """Independent: determinants and quadratic forms of the whole data, integrated by SciPy's adaptive quadrature."""
    groups = {"A": [4, 5, 5, 3, 2, 4], "B": [1, 2, 2], "C": [2, 3, 2, 4]}
    y = np.concatenate([np.array(values, dtype=float) for values in groups.values()])
    x = np.repeat(np.eye(3), [len(values) for values in groups.values()], axis=0)
    x, y = x - x.mean(axis=0), y - y.mean()
    basis = np.linalg.svd(np.eye(3) - 1 / 3)[0][:, :2]

    def weighted(g: float) -> float:
        cover = np.eye(len(y)) + g * x @ basis @ basis.T @ x.T
        ratio = y @ np.linalg.solve(cover, y) / (y @ y)
        prior = stats.invgamma.pdf(g, 0.5, scale=SCALE_ANOVA**2 / 2)
        return float(np.linalg.det(cover) ** -0.5 * ratio ** (-(len(y) - 1) / 2) * prior)

    edges = [0, 0.05, 1, 20, np.inf]
    whole = sum(integrate.quad(weighted, *ends, limit=200)[0] for ends in pairwise(edges))
    assert found(jzs_anova(groups)).alternative == pytest.approx(whole, rel=1e-7)


@pytest.mark.unit
@pytest.mark.parametrize("sizes", [(8, 8), (5, 17)])
def test_two_conditions_are_a_t_test(sizes: tuple[int, int]) -> None:
    rng = np.random.default_rng(4)
    groups = {"A": rng.integers(1, 6, sizes[0]).tolist(), "B": rng.integers(2, 7, sizes[1]).tolist()}
    contrast = planned_contrast(groups, ["A"], ["B"])
    assert isinstance(contrast, ContrastResult)
    assert found(jzs_anova(groups)).log == pytest.approx(jzs_contrast(contrast, sizes).log, abs=1e-10)
    assert math.sqrt(2) * SCALE_ANOVA == pytest.approx(SCALE_T)


@pytest.mark.unit
def test_evidence_grows_with_t_and_is_the_same_for_both_signs() -> None:
    logs = [jzs_t(t, 40, 20).log for t in (0, 1, 2, 4, 8)]
    assert logs == sorted(logs)
    assert logs[0] < 0 < logs[-1]
    assert jzs_t(-3, 40, 20) == jzs_t(3, 40, 20)
    assert jzs_t(3, 40, 20).null == pytest.approx(1 / jzs_t(3, 40, 20).alternative)


@pytest.mark.unit
def test_factors_beyond_floats_are_infinite_and_their_logarithms_are_not() -> None:
    huge = jzs_t(1e6, 100, 50)
    assert math.isfinite(huge.log)
    assert huge.alternative == math.inf
    assert BayesFactor(-800.0, 1.0).null == math.inf


@pytest.mark.unit
def test_contrast_of_sets_counts_by_its_weights() -> None:
    groups = {"A": [4, 5, 5, 3], "B": [1, 2, 2], "C": [2, 3, 2, 4, 4]}
    contrast = planned_contrast(groups, ["A"], ["B", "C"])
    assert isinstance(contrast, ContrastResult)
    n_effective = 1 / (1 / 4 + 1 / 4 / 3 + 1 / 4 / 5)
    assert jzs_contrast(contrast, [4, 3, 5]) == jzs_t(contrast.pooled.t, 9, n_effective)


@pytest.mark.unit
def test_nothing_to_compare() -> None:
    assert isinstance(jzs_anova({"A": [1, 2]}), Undefined)
    assert isinstance(jzs_anova({"A": [1, 1], "B": [2, 2]}), Undefined)
