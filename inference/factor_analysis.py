"""Confirmatory factor analysis of scales, and McDonald's omega."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from inference.covariance_fit import (
    ChiSquare,
    FitIndices,
    FreeParameters,
    Minimum,
    NormalLikelihood,
    Sample,
    Structure,
    WeightedCorrelations,
    covariance_of,
    derivatives,
    indices,
    log_likelihood,
    minimum_of,
    normal_fit,
    sample_of,
    srmr_of,
)
from inference.indicators import LEAST_N, Indicators, why_degenerate, why_too_few
from inference.polychoric import polychorics
from inference.results import Floats, Undefined

LEAST_ITEMS = 3  # of a factor that is identified by itself
Z = 1.959963984540054


@dataclass(frozen=True)
class Loading:
    """A standardised loading with its 95% interval."""

    item: str
    factor: str
    estimate: float
    se: float
    ci_low: float
    ci_high: float


@dataclass(frozen=True)
class Factor:
    """One factor and its convergent validity."""

    name: str
    n_items: int
    ave: float  # average variance extracted: mean squared standardised loading (Fornell & Larcker, 1981)


@dataclass(frozen=True)
class FactorPair:
    """Two factors and their discriminant validity."""

    a: str
    b: str
    correlation: float
    se: float
    htmt: float | None  # heterotrait-monotrait ratio; None where the items of a factor correlate negatively on average


@dataclass(frozen=True)
class FactorModel:
    """A factor model in which every item loads on its own factor alone, and all factors are correlated."""

    estimator: str  # "ML", or "WLSMV" for polychoric correlations
    n: int
    n_left_out: int  # participants excluded for a missing answer
    loadings: tuple[Loading, ...]
    factors: tuple[Factor, ...]
    pairs: tuple[FactorPair, ...]
    fit: FitIndices
    log_likelihood: float | None  # None for WLSMV
    improper: tuple[str, ...]  # items with a negative residual variance, and pairs of factors correlated beyond ±1


@dataclass(frozen=True)
class OmegaResult:
    """McDonald's omega of one scale."""

    omega: float
    se: float
    # `ci_low`, `ci_high`: 95% interval by the delta method on the logit scale
    ci_low: float
    ci_high: float
    n: int
    k: int  # items


def confirmatory_factors(data: Indicators, *, is_ordinal: bool | None = None) -> FactorModel | Undefined:
    """Fit the factor model by maximum likelihood, or by WLSMV from polychoric correlations if answers are ordinal.

    WLSMV is diagonally weighted least squares with standard errors and a scaled and shifted χ² that account for the
    covariances of the correlations. Ordinal by default: every item has at most `indicators.MOST_CATEGORIES` answers.
    Undefined for fewer than three items per factor, too few participants, degenerate items, and estimates that do not
    converge. Sources: Jöreskog (1969), Psychometrika 34(2):183-202; Muthén, du Toit & Spisic (1997); Asparouhov &
    Muthén (2010), Simple second order chi-square correction; HTMT: Henseler, Ringle & Sarstedt (2015), Journal of the
    Academy of Marketing Science 43(1):115-135.
    """
    k = len(data.factor_names)
    small = [name for name in data.factor_names if len(data.of(name)) < LEAST_ITEMS]
    if small or not k:
        return Undefined(f"A factor needs at least {LEAST_ITEMS} items: {', '.join(small) or 'none'}.")
    reason = why_degenerate(data) or why_too_few(data.n, 2 * len(data.items) + k * (k - 1) // 2, LEAST_N)
    if reason is not None:
        return reason
    if data.is_ordinal if is_ordinal is None else is_ordinal:
        return _ordinal(data)
    return _continuous(data)


def mcdonald_omega(data: Indicators) -> OmegaResult | Undefined:
    r"""Reliability of the sum of the items of one factor, from their one-factor model by maximum likelihood.

    .. math:: \omega = \frac{(\sum_j \lambda_j)^2}{(\sum_j \lambda_j)^2 + \sum_j \theta_j}

    Undefined for fewer than three items, too few participants, and improper solutions. Sources: McDonald (1999), Test
    Theory; interval: Raykov (2002), Structural Equation Modeling 9(4):517-534.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> answers = rng.normal(size=(400, 1)) + rng.normal(size=(400, 3))  # ω = .75 of all
    >>> data = Indicators(answers, ("calm", "sure", "safe"), ("Trust",) * 3, 0)
    >>> round(mcdonald_omega(data).omega, 2)
    0.72
    """
    k = len(data.items)
    if k < LEAST_ITEMS:
        return Undefined(f"Omega needs at least {LEAST_ITEMS} items; there are {k}.")
    reason = why_degenerate(data) or why_too_few(data.n, 2 * k, 0)
    if reason is not None:
        return reason
    sample, sd = _standardised(data)
    structure, start = _structure(replace(data, factors=("",) * k), with_residuals=True)
    minimum = minimum_of(NormalLikelihood([sample], [structure]), start)
    if isinstance(minimum, Undefined):
        return minimum
    if improper := [name for name, value in zip(data.items, minimum.parameters[k:], strict=True) if value < 0]:
        return Undefined(f"The one-factor model has a negative residual variance of {', '.join(improper)}.")

    def logit(parameters: Floats) -> Floats:
        common = (sd @ parameters[:k]) ** 2
        return np.array([math.log(common) - math.log(sd**2 @ parameters[k:])])

    value = float(logit(minimum.parameters)[0])
    gradient = derivatives(logit, minimum.parameters)[0]
    se = math.sqrt(gradient @ np.linalg.solve(minimum.information, gradient) / data.n)
    omega, low, high = (1 / (1 + math.exp(-limit)) for limit in (value, value - Z * se, value + Z * se))
    return OmegaResult(omega, se * omega * (1 - omega), low, high, data.n, k)


def _standardised(data: Indicators) -> tuple[Sample, Floats]:
    sd = data.answers.std(axis=0)
    return sample_of((data.answers - data.answers.mean(axis=0)) / sd), sd


def _structure(data: Indicators, *, with_residuals: bool) -> tuple[Structure, Floats]:
    """Factors with variance 1, and starting values."""
    k, names, free = len(data.items), data.factor_names, FreeParameters()
    entries = [free.entry("loadings", row, names.index(name), 0.7) for row, name in enumerate(data.factors)]
    entries += [free.entry("residuals", row, 0, 0.5) for row in range(k) if with_residuals]
    entries += [free.entry("covariances", a, b, 0.3) for a, b in combinations(range(len(names)), 2)]
    structure = Structure.of_zeros(k, len(names))
    return replace(structure, covariances=np.eye(len(names)), entries=tuple(entries)), free.start


def _continuous(data: Indicators) -> FactorModel | Undefined:
    sample, sd = _standardised(data)
    structure, start = _structure(data, with_residuals=True)
    minimum = minimum_of(NormalLikelihood([sample], [structure]), start)
    if isinstance(minimum, Undefined):
        return minimum
    covariance = np.linalg.inv(minimum.information) / data.n
    raw = replace(sample, covariance=sample.covariance * np.outer(sd, sd))
    fit = normal_fit([sample], [structure], minimum)
    return _result(data, minimum, covariance, sample.covariance, fit, log_likelihood([raw], minimum.value))


def _ordinal(data: Indicators) -> FactorModel | Undefined:
    observed = polychorics(data.answers, data.items)
    if isinstance(observed, Undefined):
        return observed
    structure, start = _structure(data, with_residuals=False)
    k = len(data.items)
    below = observed.correlations[np.tril_indices(k, -1)]
    discrepancy = WeightedCorrelations(below, 1 / np.diag(observed.covariance), structure)
    minimum = minimum_of(discrepancy, start)
    if isinstance(minimum, Undefined):
        return minimum
    weights, gamma = discrepancy.weights, observed.covariance
    whitened = np.sqrt(np.outer(weights, weights)) * gamma
    bread = np.linalg.solve(minimum.information, minimum.jacobian.T)
    covariance = bread @ whitened @ bread.T / (data.n - 1)
    projection = np.eye(len(below)) - minimum.jacobian @ bread
    model = _scaled((data.n - 1) * minimum.value, projection, whitened, len(below) - len(start))
    baseline = _scaled((data.n - 1) * float(weights @ below**2), np.eye(len(below)), whitened, len(below))
    implied, mean = covariance_of(structure, minimum.parameters)
    np.fill_diagonal(implied, 1)
    sample = Sample(data.n, observed.correlations, mean)
    fit = indices(model, baseline, srmr_of([sample], [(implied, mean)]), (data.n - 1, 1), is_scaled=True)
    return _result(data, minimum, covariance, observed.correlations, fit, None)


def _scaled(statistic: float, projection: Floats, whitened: Floats, df: int) -> ChiSquare:
    """A statistic of weighted least squares, scaled and shifted to the mean and variance of χ²."""
    if not df:
        return ChiSquare(statistic, df)
    product = projection @ whitened
    trace, squared = float(np.trace(product)), float((product * product.T).sum())
    scale = math.sqrt(df / squared)
    return ChiSquare(statistic * scale + df - math.sqrt(df * trace**2 / squared), df)


def _result(
    data: Indicators,
    minimum: Minimum,
    covariance: Floats,
    correlations: Floats,
    fit: FitIndices,
    likelihood: float | None,
) -> FactorModel:
    k, names = len(data.items), data.factor_names
    is_ordinal = fit.is_scaled
    start_of_pairs = k if is_ordinal else 2 * k

    def standardised(parameters: Floats) -> Floats:
        if is_ordinal:
            return parameters[:k]
        return parameters[:k] / np.sqrt(parameters[:k] ** 2 + parameters[k : 2 * k])

    loadings = standardised(minimum.parameters)
    change = derivatives(standardised, minimum.parameters)
    ses = np.sqrt(np.diag(change @ covariance @ change.T))
    pair_values, pair_ses = minimum.parameters[start_of_pairs:], np.sqrt(np.diag(covariance))[start_of_pairs:]
    pairs = tuple(
        FactorPair(a, b, float(value), float(se), _htmt(correlations, data.of(a), data.of(b)))
        for (a, b), value, se in zip(combinations(names, 2), pair_values, pair_ses, strict=True)
    )
    improper = [item for item, value in zip(data.items, loadings, strict=True) if abs(value) > 1]
    improper += [f"{pair.a} with {pair.b}" for pair in pairs if abs(pair.correlation) > 1]
    return FactorModel(
        estimator="WLSMV" if is_ordinal else "ML",
        n=data.n,
        n_left_out=data.n_left_out,
        loadings=tuple(
            Loading(item, factor, float(value), float(se), float(value - Z * se), float(value + Z * se))
            for item, factor, value, se in zip(data.items, data.factors, loadings, ses, strict=True)
        ),
        factors=tuple(Factor(name, len(data.of(name)), float((loadings[data.of(name)] ** 2).mean())) for name in names),
        pairs=pairs,
        fit=fit,
        log_likelihood=likelihood,
        improper=tuple(improper),
    )


def _htmt(correlations: Floats, first: list[int], second: list[int]) -> float | None:
    """Mean correlation between two factors over the geometric mean of those within them."""

    def within(items: list[int]) -> float:
        block = correlations[np.ix_(items, items)]
        return float(block[np.tril_indices(len(items), -1)].mean())

    own = within(first), within(second)
    if min(own) <= 0:
        return None
    return float(correlations[np.ix_(first, second)].mean() / math.sqrt(own[0] * own[1]))
