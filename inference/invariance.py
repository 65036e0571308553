"""Measurement invariance of one scale across groups: configural, metric and scalar models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from inference.covariance_fit import (
    FitIndices,
    FreeParameters,
    NormalLikelihood,
    Sample,
    Structure,
    log_likelihood,
    minimum_of,
    normal_fit,
    sample_of,
)
from inference.factor_analysis import LEAST_ITEMS
from inference.indicators import PER_PARAMETER, Indicators, why_degenerate
from inference.results import Floats, Undefined

Level = Literal["configural", "metric", "scalar"]
LEVELS: tuple[Level, ...] = ("configural", "metric", "scalar")
EQUAL: Mapping[Level, tuple[str, ...]] = {
    "configural": (),
    "metric": ("loadings",),
    "scalar": ("loadings", "intercepts"),
}
# Chen (2007), Structural Equation Modeling 14(3):464-504: a constraint is rejected when both change by more.
MOST_CFI_LOST = 0.010
MOST_RMSEA_GAINED = 0.015


@dataclass(frozen=True)
class Change:
    """A model beside the one with fewer constraints."""

    chi_square: float  # likelihood ratio
    df: int
    p: float
    cfi: float
    rmsea: float

    @property
    def is_supported(self) -> bool:
        """Whether neither Chen's criteria nor the likelihood ratio test at .05 reject the added constraints."""
        return self.p >= 0.05 and self.is_within_criteria

    @property
    def is_within_criteria(self) -> bool:
        """Whether CFI falls by at most .010 and RMSEA rises by at most .015."""
        return self.cfi >= -MOST_CFI_LOST and self.rmsea <= MOST_RMSEA_GAINED


@dataclass(frozen=True)
class InvarianceModel:
    """One level of invariance."""

    level: str  # "configural", "metric" (equal loadings) or "scalar" (equal loadings and intercepts)
    fit: FitIndices
    log_likelihood: float
    change: Change | None  # None for the configural model


@dataclass(frozen=True)
class InvarianceResult:
    """The three models of one scale."""

    groups: tuple[str, ...]
    counts: tuple[int, ...]  # participants of each group
    models: tuple[InvarianceModel, ...]
    improper: tuple[str, ...]  # items with a negative residual variance in a group, with the group


def measurement_invariance(data: Indicators, labels: Sequence[str]) -> InvarianceResult | Undefined:
    """Fit one factor in every group: without constraints, with equal loadings, with equal intercepts too.

    By maximum likelihood for continuous answers; `labels` holds each participant's group. Undefined for fewer than two
    groups or three items, for a group with too few participants, degenerate items, and estimates that do not converge.
    Source: Meredith (1993), Psychometrika 58(4):525-543.

    Examples
    --------
    >>> data = Indicators(np.eye(4, 3), ("calm", "sure", "safe"), ("Trust",) * 3, 0)
    >>> measurement_invariance(data, ["LSA"] * 4).reason
    'Invariance needs at least two groups with complete answers.'
    """
    from scipy import stats

    groups, k = tuple(dict.fromkeys(labels)), len(data.items)
    if len(groups) < 2:
        return Undefined("Invariance needs at least two groups with complete answers.")
    if k < LEAST_ITEMS:
        return Undefined(f"Invariance needs at least {LEAST_ITEMS} items; there are {k}.")
    members = [data.answers[[label == group for label in labels]] for group in groups]
    if reason := _why_not(data, groups, members):
        return reason
    center, sd = data.answers.mean(axis=0), data.answers.std(axis=0)
    samples = [sample_of((rows - center) / sd) for rows in members]
    models: list[InvarianceModel] = []
    improper: dict[str, None] = {}
    for level in LEVELS:
        structures, start = _structures(samples, level)
        minimum = minimum_of(NormalLikelihood(samples, structures), start)
        if isinstance(minimum, Undefined):
            return replace(minimum, reason=f"{level.capitalize()} model: {minimum.reason}")
        fit, change = normal_fit(samples, structures, minimum, with_means=True), None
        if models:
            last = models[-1].fit
            ratio, df = fit.chi_square - last.chi_square, fit.df - last.df
            p = float(stats.chi2.sf(max(ratio, 0.0), df))
            change = Change(ratio, df, p, fit.cfi - last.cfi, fit.rmsea - last.rmsea)
        likelihood = log_likelihood(samples, minimum.value) - data.n * float(np.log(sd).sum())
        models.append(InvarianceModel(level, fit, likelihood, change))
        for group, structure in zip(groups, structures, strict=True):
            residuals = structure.at(minimum.parameters).residuals
            improper |= {f"{data.items[index]} ({group})": None for index in np.flatnonzero(residuals < 0)}
    return InvarianceResult(groups, tuple(map(len, members)), tuple(models), tuple(improper))


def _why_not(data: Indicators, groups: Sequence[str], members: Sequence[Floats]) -> Undefined | None:
    k = len(data.items)
    needed = PER_PARAMETER * 2 * k
    smallest = min(range(len(groups)), key=lambda index: len(members[index]))
    if len(members[smallest]) < needed:
        return Undefined(
            f"A model of {k} items has {2 * k} loadings and variances and needs at least {needed} participants in "
            f"each group ({PER_PARAMETER} for each parameter); {groups[smallest]} has {len(members[smallest])}."
        )
    for group, rows in zip(groups, members, strict=True):
        if (reason := why_degenerate(replace(data, answers=rows))) is not None:
            return replace(reason, reason=f"{group}: {reason.reason}")
    return None


def _structures(samples: Sequence[Sample], level: Level) -> tuple[list[Structure], Floats]:
    """One factor per group, whose first loading is 1; groups share what the level makes equal."""
    k, free = len(samples[0].mean), FreeParameters()
    base = Structure.of_zeros(k, 1)
    loadings = np.eye(k, 1)
    structures: list[Structure] = []
    for sample in samples:
        first = structures[0].entries if structures else ()
        shared = [entry for entry in first if entry.matrix in EQUAL[level]]
        entries = list(shared)
        if not any(entry.matrix == "loadings" for entry in shared):
            entries += [free.entry("loadings", row, 0, 1.0) for row in range(1, k)]
        if any(entry.matrix == "intercepts" for entry in shared):
            entries.append(free.entry("means", 0, 0, float(sample.mean.mean())))
        else:
            entries += [free.entry("intercepts", row, 0, float(sample.mean[row])) for row in range(k)]
        variances = np.diag(sample.covariance) / 2
        entries += [free.entry("residuals", row, 0, float(variances[row])) for row in range(k)]
        entries.append(free.entry("covariances", 0, 0, float(variances[0])))
        structures.append(replace(base, loadings=loadings, entries=tuple(entries)))
    return structures, free.start
