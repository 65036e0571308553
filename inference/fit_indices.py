"""Indices of how well a covariance structure fits: χ², CFI, TLI, RMSEA and SRMR."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from inference.covariance_fit import Minimum, Sample
from inference.covariance_models import Structure, covariance_of
from inference.results import Floats

CONFIDENCE = 0.90  # of RMSEA, by convention
SMALLEST = 1e-300


@dataclass(frozen=True)
class FitIndices:
    """Test and indices of one model."""

    chi_square: float  # of the model against the saturated model
    df: int
    p: float | None  # None without degrees of freedom, where the model reproduces the data
    cfi: float
    tli: float
    rmsea: float
    # `rmsea_low`, `rmsea_high`: 90% confidence interval
    rmsea_low: float
    rmsea_high: float
    srmr: float
    is_scaled: bool  # whether χ² is scaled and shifted, as least squares of polychoric correlations need


@dataclass(frozen=True)
class ChiSquare:
    """A χ² statistic with its degrees of freedom."""

    statistic: float
    df: int


def indices(
    model: ChiSquare, baseline: ChiSquare, srmr: float, size: tuple[int, int], *, is_scaled: bool = False
) -> FitIndices:
    r"""Indices from the tests of the model and of the baseline, in which the items are uncorrelated.

    .. math::
        \mathrm{CFI} = 1 - \frac{\max(\chi^2 - df, 0)}{\max(\chi^2 - df, \chi^2_0 - df_0, 0)}, \quad
        \mathrm{RMSEA} = \sqrt{G \max\left(\frac{\chi^2 - df}{n\,df}, 0\right)}

    `size` is n and the number of groups G. Sources: Bentler (1990), Psychological Bulletin 107(2):238-246; Steiger
    (1998), Structural Equation Modeling 5(4):411-419.

    Examples
    --------
    >>> round(indices(ChiSquare(5.0, 4), ChiSquare(100.0, 6), 0.03, (200, 1)).cfi, 3)
    0.989
    """
    from scipy import special, stats

    n, groups = size
    excess, of_baseline = model.statistic - model.df, baseline.statistic - baseline.df
    worst = max(excess, of_baseline, 0.0)
    ratio = excess / model.df * baseline.df / of_baseline if model.df and of_baseline else 0.0
    tails = (1 + CONFIDENCE) / 2, (1 - CONFIDENCE) / 2
    limits = special.chndtrinc(model.statistic, max(model.df, 1), tails)
    # Where the statistic is too small for any noncentrality to have this tail, scipy gives NaN or next to nothing.
    low, high = np.where(limits > SMALLEST, limits, 0.0).tolist()
    rmsea = [math.sqrt(groups * max(value, 0.0) / (n * max(model.df, 1))) for value in (excess, low, high)]
    if not model.df:
        rmsea = [0.0] * 3
    return FitIndices(
        chi_square=model.statistic,
        df=model.df,
        p=float(stats.chi2.sf(model.statistic, model.df)) if model.df else None,
        cfi=1 - max(excess, 0.0) / worst if worst and model.df else 1.0,
        tli=1 - ratio,
        rmsea=rmsea[0],
        rmsea_low=rmsea[1],
        rmsea_high=rmsea[2],
        srmr=srmr,
        is_scaled=is_scaled,
    )


def normal_fit(
    samples: Sequence[Sample],
    structures: Sequence[Structure],
    minimum: Minimum,
    *,
    n_fixed: int = 0,
    with_means: bool = False,
) -> FitIndices:
    """Indices of a model by maximum likelihood, against the one in which the variables are uncorrelated.

    The last `n_fixed` variables, such as conditions, are fixed; means count if the model restricts them.
    """
    p, n = len(samples[0].mean), sum(sample.n for sample in samples)
    n_own, independence = p - n_fixed, 0.0
    for sample in samples:
        variances = np.log(np.diag(sample.covariance)[:n_own]).sum()
        fixed, whole = (np.linalg.slogdet(sample.covariance[at:, at:])[1] for at in (n_own, 0))
        independence += sample.n * float(variances + fixed - whole)
    n_moments = (p * (p + 1) - n_fixed * (n_fixed + 1)) // 2 + with_means * p
    model = ChiSquare(n * minimum.value, len(samples) * n_moments - len(minimum.parameters))
    baseline = ChiSquare(independence, len(samples) * (n_moments - n_own * (1 + with_means)))
    implied = [covariance_of(structure, minimum.parameters) for structure in structures]
    return indices(model, baseline, srmr_of(samples, implied, with_means=with_means), (n, len(samples)))


def srmr_of(samples: Sequence[Sample], implied: Sequence[tuple[Floats, Floats]], *, with_means: bool = False) -> float:
    """Standardised root mean square residual of covariances (and means), averaged over groups by their n.

    Source: Bentler (1995), EQS Structural Equations Program Manual.
    """
    total, n = 0.0, sum(sample.n for sample in samples)
    for sample, (covariance, mean) in zip(samples, implied, strict=True):
        sd = np.sqrt(np.diag(sample.covariance))
        residuals = ((sample.covariance - covariance) / np.outer(sd, sd))[np.tril_indices(len(sd))]
        if with_means:
            residuals = np.concatenate([residuals, (sample.mean - mean) / sd])
        total += sample.n / n * math.sqrt((residuals**2).mean())
    return total
