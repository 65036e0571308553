"""Structural model: conditions act on an outcome directly and through perceived qualities."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from inference.covariance_fit import (
    FitIndices,
    FreeParameters,
    NormalLikelihood,
    Sample,
    Structure,
    derivatives,
    log_likelihood,
    minimum_of,
    normal_fit,
    sample_of,
)
from inference.factor_analysis import LEAST_ITEMS
from inference.indicators import LEAST_N, Indicators, why_degenerate, why_too_few
from inference.results import Floats, Undefined
from inference.t_tests import t_test

N_DRAWS = 100_000  # of the Monte Carlo intervals
LEAST_OF_CONDITION = 10  # participants


@dataclass(frozen=True)
class Outcome:
    """The observed outcome of each participant, with the condition."""

    name: str
    values: Floats  # shape (participants,)
    conditions: tuple[str, ...]  # of each participant


@dataclass(frozen=True)
class StructuralPath:
    """A path with its 95% interval, in standard deviations of its end and of its start unless that is a condition."""

    start: str
    end: str
    estimate: float
    se: float
    z: float  # Wald's statistic, with its `p`
    p: float
    ci_low: float
    ci_high: float


@dataclass(frozen=True)
class IndirectEffect:
    """The effect of a condition, beside the reference, on the outcome through one quality."""

    condition: str
    quality: str
    estimate: float  # in standard deviations of the outcome
    se: float  # by the delta method
    # `ci_low`, `ci_high`: Monte Carlo interval, simultaneous over all indirect effects (Bonferroni)
    ci_low: float
    ci_high: float


@dataclass(frozen=True)
class ConditionTest:
    """Wald's test that all conditions have the same mean of a quality."""

    quality: str
    chi_square: float
    df: int
    p: float


@dataclass(frozen=True)
class StructuralModel:
    """Conditions → qualities → outcome."""

    reference: str  # the condition with which the others are compared
    conditions: tuple[str, ...]  # the others
    qualities: tuple[str, ...]
    outcome: str
    n: int
    n_left_out: int  # participants excluded for a missing answer
    on_qualities: tuple[StructuralPath, ...]  # of every condition on every quality
    on_outcome: tuple[StructuralPath, ...]  # of every quality
    direct: tuple[StructuralPath, ...]  # of every condition on the outcome
    indirect: tuple[IndirectEffect, ...]
    tests: tuple[ConditionTest, ...]
    r_squared: float  # share of the outcome's variance that the model explains
    fit: FitIndices
    log_likelihood: float  # of the items and the outcome, conditions being fixed
    improper: tuple[str, ...]  # items, qualities and outcomes with a negative residual variance


@dataclass(frozen=True)
class _Parts:
    """Positions among the latents (and the observed variables) and among the parameters."""

    n_items: int
    n_qualities: int
    n_conditions: int  # without the reference

    @property
    def effects(self) -> int:
        return self.n_qualities * self.n_conditions


def structural_model(data: Indicators, outcome: Outcome, rng: np.random.Generator) -> StructuralModel | Undefined:
    """Fit the model by maximum likelihood; the first condition of `outcome` is the reference.

    Qualities are the factors of `data`, whose disturbances are correlated; conditions are dummies with fixed values.
    Undefined for fewer than two conditions of `LEAST_OF_CONDITION` participants, fewer than three items per quality,
    too few participants, degenerate items, and estimates that do not converge. Sources: Knijnenburg, Willemsen,
    Gantner, Soncu & Newell (2012), User Modeling and User-Adapted Interaction 22(4):441-504; intervals: MacKinnon,
    Lockwood & Williams (2004), Multivariate Behavioral Research 39(1):99-128.

    Examples
    --------
    >>> data = Indicators(np.eye(4, 3), ("calm", "sure", "safe"), ("Trust",) * 3, 0)
    >>> outcome = Outcome("Satisfaction", np.array([1.0, 2.0, 4.0, 5.0]), ("LSA",) * 4)
    >>> structural_model(data, outcome, np.random.default_rng(1)).reason
    'A structural model needs at least two conditions.'
    """
    from scipy import stats

    names = tuple(dict.fromkeys(outcome.conditions))
    if (reason := _why_not(data, outcome, names)) is not None:
        return reason
    dummies = np.array([[float(label == name) for name in names[1:]] for label in outcome.conditions])
    observed = np.column_stack([data.answers, outcome.values])
    sd = observed.std(axis=0)
    sample = sample_of(np.column_stack([(observed - observed.mean(axis=0)) / sd, dummies - dummies.mean(axis=0)]))
    parts = _Parts(len(data.items), len(data.factor_names), len(names) - 1)
    structure, start = _structure(data, parts, sample.covariance)
    minimum = minimum_of(NormalLikelihood([sample], [structure]), start)
    if isinstance(minimum, Undefined):
        return minimum
    variances = np.diag(structure.at(minimum.parameters).latent_covariance())[: parts.n_qualities]
    if negative := [name for name, value in zip(data.factor_names, variances, strict=True) if value <= 0]:
        return Undefined(f"The model has a negative variance of {', '.join(negative)}.")
    qualities, scale = data.factor_names, float(np.log(sd).sum())
    change = derivatives(lambda parameters: _standardised(structure, parts, parameters), minimum.parameters)
    covariance = change @ np.linalg.inv(minimum.information) @ change.T / data.n
    values = _standardised(structure, parts, minimum.parameters)
    ends = [(condition, quality) for quality in qualities for condition in names[1:]]
    ends += [(quality, outcome.name) for quality in qualities]
    ends += [(condition, outcome.name) for condition in names[1:]]
    paths = []
    for end, value, se in zip(ends, values.tolist(), np.sqrt(np.diag(covariance)).tolist(), strict=True):
        p, interval = t_test(value, se, math.inf)
        paths.append(StructuralPath(*end, value, se, value / se, p, interval.low, interval.high))
    tests, df = [], parts.n_conditions
    for index, quality in enumerate(qualities):
        own = slice(index * df, (index + 1) * df)
        statistic = float(values[own] @ np.linalg.solve(covariance[own, own], values[own]))
        tests.append(ConditionTest(quality, statistic, df, float(stats.chi2.sf(statistic, df))))
    at = structure.at(minimum.parameters)
    last, own = parts.n_qualities, slice(-parts.n_conditions, None)
    conditions = Sample(sample.n, sample.covariance[own, own], sample.mean[own])
    return StructuralModel(
        reference=names[0],
        conditions=names[1:],
        qualities=qualities,
        outcome=outcome.name,
        n=data.n,
        n_left_out=data.n_left_out,
        on_qualities=tuple(paths[: parts.effects]),
        on_outcome=tuple(paths[parts.effects : parts.effects + last]),
        direct=tuple(paths[parts.effects + last :]),
        indirect=_indirect(paths, parts, values, covariance, rng),
        tests=tuple(tests),
        r_squared=float(1 - at.covariances[last, last] / at.latent_covariance()[last, last]),
        fit=normal_fit([sample], [structure], minimum, n_fixed=parts.n_conditions),
        # Of all variables without that of the conditions, which are fixed.
        log_likelihood=log_likelihood([sample], minimum.value) - log_likelihood([conditions], 0.0) - data.n * scale,
        improper=(
            *(data.items[index] for index in np.flatnonzero(at.residuals[: parts.n_items] < 0)),
            *((*qualities, outcome.name)[index] for index in np.flatnonzero(np.diag(at.covariances)[: last + 1] < 0)),
        ),
    )


def _why_not(data: Indicators, outcome: Outcome, names: tuple[str, ...]) -> Undefined | None:
    if len(names) < 2:
        return Undefined("A structural model needs at least two conditions.")
    for name in names:
        if (n := outcome.conditions.count(name)) < LEAST_OF_CONDITION:
            return Undefined(
                f"A structural model needs at least {LEAST_OF_CONDITION} participants with complete answers in each "
                f"condition; {name} has {n}."
            )
    small = [name for name in data.factor_names if len(data.of(name)) < LEAST_ITEMS]
    if small or not data.items:
        return Undefined(f"A quality needs at least {LEAST_ITEMS} items: {', '.join(small) or 'none'}.")
    k, contrasts, n_items = len(data.factor_names), len(names) - 1, len(data.items)
    n_parameters = 2 * n_items + k * (k - 1) // 2 + k * contrasts + k + contrasts + 1
    whole = replace(data, answers=np.column_stack([data.answers, outcome.values]), items=(*data.items, outcome.name))
    return why_degenerate(whole) or why_too_few(data.n, n_parameters, LEAST_N)


def _structure(data: Indicators, parts: _Parts, observed: Floats) -> tuple[Structure, Floats]:
    """The matrices: latents are the qualities, the outcome and the conditions, in this order; paths come first."""
    k, n_items, n_conditions = parts.n_qualities, parts.n_items, parts.n_conditions
    base = Structure.of_zeros(n_items + 1 + n_conditions, k + 1 + n_conditions)
    loadings, covariances = base.loadings.copy(), base.covariances.copy()
    free = FreeParameters()
    conditions = range(k + 1, k + 1 + n_conditions)
    entries = [free.entry("paths", quality, condition, 0.0) for quality in range(k) for condition in conditions]
    entries += [free.entry("paths", k, quality, 0.3) for quality in range(k)]
    entries += [free.entry("paths", k, condition, 0.0) for condition in conditions]
    for quality, name in enumerate(data.factor_names):
        marker, *further = data.of(name)
        loadings[marker, quality] = 1
        entries += [free.entry("loadings", row, quality, 1.0) for row in further]
    entries += [free.entry("residuals", row, 0, 0.5) for row in range(n_items)]
    entries += [free.entry("covariances", latent, latent, 0.5) for latent in range(k + 1)]
    entries += [free.entry("covariances", a, b, 0.1) for a, b in combinations(range(k), 2)]
    loadings[n_items:, k:] = np.eye(1 + n_conditions)
    covariances[k + 1 :, k + 1 :] = observed[n_items + 1 :, n_items + 1 :]
    return replace(base, loadings=loadings, covariances=covariances, entries=tuple(entries)), free.start


def _standardised(structure: Structure, parts: _Parts, parameters: Floats) -> Floats:
    """The paths in standard deviations of qualities and outcome; conditions remain differences of 0 and 1."""
    sd = np.sqrt(np.diag(structure.at(parameters).latent_covariance()))[: parts.n_qualities + 1]
    values = parameters[: parts.effects + parts.n_qualities + parts.n_conditions].copy()
    values[: parts.effects] /= np.repeat(sd[:-1], parts.n_conditions)
    values[parts.effects : parts.effects + parts.n_qualities] *= sd[:-1]
    values[parts.effects :] /= sd[-1]
    return values


def _indirect(
    paths: Sequence[StructuralPath], parts: _Parts, values: Floats, covariance: Floats, rng: np.random.Generator
) -> tuple[IndirectEffect, ...]:
    draws = rng.multivariate_normal(values, covariance, N_DRAWS, method="eigh")
    tail = 0.05 / parts.effects / 2
    effects = []
    for first in range(parts.effects):
        second = parts.effects + first // parts.n_conditions
        gradient = np.zeros(len(values))
        gradient[first], gradient[second] = values[second], values[first]
        low, high = np.quantile(draws[:, first] * draws[:, second], (tail, 1 - tail))
        effects.append(
            IndirectEffect(
                paths[first].start,
                paths[first].end,
                float(values[first] * values[second]),
                math.sqrt(gradient @ covariance @ gradient),
                float(low),
                float(high),
            )
        )
    return tuple(effects)
