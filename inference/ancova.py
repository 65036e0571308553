r"""Analysis of covariance: means of conditions compared at equal values of baseline covariates.

.. math:: y_i = \mu_{c(i)} + x_i' \beta + e_i

A design that balances conditions within strata makes their means correlated; an analysis that ignores the strata has
intervals that are too wide and tests that reject too rarely (Kahan & Morris, 2012, Statistics in Medicine
31(4):328-340). So the strata, and covariates that were declared in advance, enter the model.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from inference.average_advantage import MeanEstimates
from inference.corrections import holm
from inference.covariates import Blocks, Covariate, UnusedCovariate, blocks_of, independent
from inference.groups import finite
from inference.results import Floats, Integers, Interval, Undefined
from inference.t_tests import Contrast, t_test


@dataclass(frozen=True)
class ParticipantValues:
    """One value per participant with its condition and covariates; sequences of shape (n,)."""

    values: Sequence[float]  # finite
    conditions: Sequence[str]
    covariates: Sequence[Covariate]
    names: Sequence[str] = ()  # conditions in the wished order; those of the data in order of appearance unless given


@dataclass(frozen=True)
class FTest:
    """An F test of nested linear models."""

    f: float
    df: int
    df_within: float
    p: float

    @property
    def df_between(self) -> int:
        """The same as `df`, as other F tests name it."""
        return self.df


@dataclass(frozen=True)
class CovariateTest:
    """A covariate beside the conditions and the other covariates (type II)."""

    name: str
    test: FTest
    n_missing: int  # participants with the mean, or with the level "not given", in its stead


@dataclass(frozen=True)
class Estimate:
    """A difference with the 95% interval of this one alone; `p` is corrected by Holm over all pairs."""

    difference: float
    se: float
    interval: Interval
    df: float
    p_unadjusted: float
    p: float
    is_significant: bool


@dataclass(frozen=True)
class AdjustedPair:
    """The difference of two conditions, `a` minus `b`, without and with the covariates."""

    a: str
    b: str
    unadjusted: Estimate
    adjusted: Estimate


@dataclass(frozen=True)
class AdjustedMean:
    """The mean of a condition as observed, and at the mean of all covariates."""

    condition: str
    n: int
    mean: float
    adjusted: float
    se: float  # of the adjusted mean
    interval: Interval


@dataclass(frozen=True)
class AncovaResult:
    """Conditions compared without and with covariates, over the same participants."""

    n: int
    unadjusted: FTest
    adjusted: FTest
    partial_eta_squared: float  # of the conditions, with the covariates
    sd_unadjusted: float  # residual standard deviations
    sd_adjusted: float
    covariates: tuple[CovariateTest, ...]
    unused: tuple[UnusedCovariate, ...]
    slopes: FTest | None  # whether slopes differ between conditions; None without degrees of freedom to test it
    means: tuple[AdjustedMean, ...]
    pairs: tuple[AdjustedPair, ...]
    left_out: tuple[str, ...]  # conditions without participants


def ancova(data: ParticipantValues, *, alpha: float = 0.05) -> AncovaResult | Undefined:
    """Compare conditions with pooled variance, without and with covariates.

    As R's ``drop1(lm(value ~ condition + covariates), test = "F")``, with adjusted means averaged over the observed
    covariates. Undefined with fewer than two conditions, without a usable covariate, without residual degrees of
    freedom or residual variance. Raises DataError for values that are not finite. Source: Maxwell, Delaney & Kelley
    (2018), Designing Experiments and Analyzing Data, chapter 9.

    Examples
    --------
    >>> age = Covariate("age", [20, 30, 40, 20, 30, 40])
    >>> data = ParticipantValues([1, 2.5, 3, 2, 2.5, 4], ["A", "A", "A", "B", "B", "B"], [age])
    >>> result = ancova(data)
    >>> result.adjusted.df_within, round(result.pairs[0].adjusted.difference, 3)
    (3, -0.667)
    """
    names, condition, values, left_out = read_conditions(data)
    k, n = len(names), len(values)
    if k < 2:
        return Undefined(f"A comparison needs two conditions with participants; there are {k}.")
    blocks = blocks_of(data.covariates, condition)
    if not blocks.used:
        reasons = " ".join(f"{unused.name}: {unused.reason}" for unused in blocks.unused)
        return Undefined(f"There is no covariate to adjust for. {reasons}".strip())
    # Over the same participants as the adjusted model, or the comparison would be one of samples.
    plain = LinearModel(np.eye(k)[condition], values, k)
    full = LinearModel(np.hstack([np.eye(k)[condition], blocks.columns(n)]), values, k)
    if full.df < 1:
        return Undefined(f"{n} participants leave no residual degrees of freedom beside the covariates.")
    # In proportion to the total: what rounding leaves of a perfect fit depends on the unit.
    if full.rss <= 1e-12 * max(float(((values - values.mean()) ** 2).sum()), 1e-300):
        return Undefined("Conditions and covariates reproduce every value: there is no residual variance.")
    adjusted = full.against(np.hstack([np.ones((n, 1)), blocks.columns(n)]))
    return AncovaResult(
        n=n,
        unadjusted=plain.against(np.ones((n, 1))),
        adjusted=adjusted,
        partial_eta_squared=adjusted.f * (k - 1) / (adjusted.f * (k - 1) + full.df),
        sd_unadjusted=math.sqrt(plain.variance),
        sd_adjusted=math.sqrt(full.variance),
        covariates=tuple(
            CovariateTest(
                block.name,
                full.against(np.hstack([np.eye(k)[condition], blocks.columns(n, block.name)])),
                block.n_missing,
            )
            for block in blocks.used
        ),
        unused=blocks.unused,
        slopes=_slopes(full, blocks, condition),
        means=tuple(
            AdjustedMean(name, int(n_own), float(mean), adjusted.value, adjusted.se, adjusted.interval)
            for name, n_own, mean, adjusted in zip(
                names, plain.columns.sum(axis=0), plain.coefficients, map(full.estimate, np.eye(k)), strict=True
            )
        ),
        pairs=_pairs(names, plain, full, alpha),
        left_out=left_out,
    )


def adjusted_means(data: ParticipantValues) -> MeanEstimates | Undefined:
    """The conditions' means at the mean of all covariates, with their covariance; undefined and errors as `ancova`.

    Examples
    --------
    >>> age = Covariate("age", [20, 30, 40, 20, 30, 40])
    >>> data = ParticipantValues([1, 2.5, 3, 2, 2.5, 4], ["A", "A", "A", "B", "B", "B"], [age])
    >>> adjusted_means(data).means.round(2).tolist()
    [2.17, 2.83]
    """
    names, condition, values, _left_out = read_conditions(data)
    blocks = blocks_of(data.covariates, condition)
    if len(names) < 2 or not blocks.used:
        return Undefined("There are no two conditions, or no covariate to adjust for.")
    k = len(names)
    model = LinearModel(np.hstack([np.eye(k)[condition], blocks.columns(len(values))]), values, k)
    if model.df < 1 or not model.variance:
        return Undefined("There is no residual variance beside the covariates.")
    covariance = model.variance * model.unscaled[:k, :k]
    return MeanEstimates(names, model.coefficients[:k], covariance, lambda _contrast: float(model.df))


def read_conditions(data: ParticipantValues) -> tuple[tuple[str, ...], Integers, Floats, tuple[str, ...]]:
    """Names of the conditions with participants, their numbers, the values, and the conditions without participants.

    Raises DataError as `ancova` does.
    """
    values = finite(data.values, "A value is not a finite number: exclude missing values first.")
    labels = [str(label) for label in data.conditions]
    wished, occurring = list(data.names) or list(dict.fromkeys(labels)), set(labels)
    names = tuple(name for name in wished if name in occurring)
    number = {name: index for index, name in enumerate(names)}
    condition = np.array([number[label] for label in labels], dtype=np.int64)
    return names, condition, values, tuple(name for name in wished if name not in occurring)


class LinearModel:
    """Least squares with `k` indicators of conditions in front; shape (n, p)."""

    def __init__(self, columns: Floats, values: Floats, k: int) -> None:
        self.columns, self.values, self.k = columns, values, k
        q, r = np.linalg.qr(columns)
        inverse = np.linalg.inv(r)
        self.coefficients = inverse @ (q.T @ values)
        self.unscaled = inverse @ inverse.T
        rest = values - q @ (q.T @ values)
        self.rss = float(rest @ rest)
        self.df = len(values) - columns.shape[1]
        self.variance = self.rss / self.df if self.df > 0 else 0.0

    def against(self, smaller: Floats) -> FTest:
        """The F test of this model against one with fewer columns."""
        from scipy import special

        df = self.columns.shape[1] - smaller.shape[1]
        f = max(LinearModel(smaller, self.values, 0).rss - self.rss, 0.0) / df / (self.rss / self.df)
        return FTest(f, df, self.df, float(special.fdtrc(df, self.df, f)))

    def estimate(self, contrast: Floats) -> Contrast:
        """A contrast of the conditions."""
        value = float(contrast @ self.coefficients[: self.k])
        se = math.sqrt(self.variance * float(contrast @ self.unscaled[: self.k, : self.k] @ contrast))
        return Contrast(value, se, self.df, *t_test(value, se, self.df))


def _slopes(full: LinearModel, blocks: Blocks, condition: Integers) -> FTest | None:
    covariates, indicators = blocks.columns(len(condition)), np.eye(full.k)[condition][:, 1:]
    products = np.hstack([indicators * column[:, np.newaxis] for column in covariates.T])
    added = independent(full.columns, products)
    if not 0 < added.shape[1] < full.df:
        return None
    larger = LinearModel(np.hstack([full.columns, added]), full.values, full.k)
    return larger.against(full.columns) if larger.rss > 1e-12 * full.rss else None


def _pairs(names: Sequence[str], plain: LinearModel, full: LinearModel, alpha: float) -> tuple[AdjustedPair, ...]:
    indexes = list(combinations(range(len(names)), 2))
    unadjusted, adjusted = (
        estimates_of([model.estimate(np.eye(model.k)[a] - np.eye(model.k)[b]) for a, b in indexes], alpha)
        for model in (plain, full)
    )
    return tuple(
        AdjustedPair(names[a], names[b], before, after)
        for (a, b), before, after in zip(indexes, unadjusted, adjusted, strict=True)
    )


def estimates_of(contrasts: Sequence[Contrast], alpha: float) -> list[Estimate]:
    """Differences corrected together by Holm."""
    corrected = holm([contrast.p for contrast in contrasts])
    return [
        Estimate(own.value, own.se, own.interval, own.df, own.p, p, p < alpha)
        for own, p in zip(contrasts, corrected, strict=True)
    ]
