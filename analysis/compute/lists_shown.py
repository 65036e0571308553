"""Metrics of the lists that participants saw: means by condition, and correlations with every measure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.compute.perceived import groups_among, values_of
from analysis.enums import Variable, scale_variables
from analysis.read.inputs import Answers
from analysis.read.lists import DECIMALS, Floats, ShownLists
from analysis.results.lists_shown import (
    DOSE_METRICS,
    LIST_METRICS,
    CorrelatedLists,
    Dose,
    ListChange,
    ListMean,
    ListsShown,
    MeasuredLists,
)
from analysis.results.rankings import ALPHA, Ranking
from analysis.results.report import ConditionFacts
from core.provenance import canonical_json
from inference.agreement import kendall
from inference.corrections import holm
from inference.correlation import within_conditions
from inference.descriptive import describe
from inference.groups import ExactGroups
from inference.results import AgreementResult, Undefined
from studies.effects import Recipe

GRID = 10**DECIMALS  # parts of a unit in which values are whole numbers, so that sums are exact
FEWEST_CONDITIONS = 3
Flags = NDArray[np.bool_]


def lists_shown(
    answers: Answers,
    lists: ShownLists,
    perceived: Mapping[Variable, Ranking],
    *,
    alpha: float = ALPHA,
) -> ListsShown:
    """Describe every metric and correlate it with every measure; `lists` are those of `answers.people` in their order.

    All correlations that have a p, within and between conditions, are one exploratory family with Holm's correction;
    none where each participant met all conditions, so that rows are not independent.
    """
    columns = {metric.key: lists.column(metric.key) for metric in LIST_METRICS}
    measures = {
        variable.key: np.array([np.nan if value is None else value for value in values_of(answers, variable)])
        for variable in perceived
    }
    described = {key: _described(answers, key, column) for key, column in columns.items()}
    pairs = []
    for metric, column in () if answers.occasions else columns.items():
        means = {row.condition: row.mean for row in described[metric].conditions if row.mean is not None}
        for variable, ranking in perceived.items():
            has_both = ~np.isnan(column) & ~np.isnan(measures[variable.key])
            names = [name for name in means if name in ranking.values]
            x, y = _on_grid(answers, column, has_both), groups_among(answers, variable, has_both.tolist())
            pair = CorrelatedLists(
                metric=metric,
                variable_key=variable.key,
                within=within_conditions(x, y),
                p_holm_within=None,
                between=_between([means[name] for name in names], [ranking.values[name] for name in names], alpha),
                p_holm_between=None,
            )
            pairs.append(pair)
    corrected, n_family = _corrected(pairs)
    return ListsShown(
        alpha=alpha,
        n=len(answers.people),
        n_family=n_family,
        diversity_by=lists.diversity_by,
        unscored=dict(lists.unscored),
        variable_keys=tuple(variable.key for variable in perceived),
        scale_variables=scale_variables(perceived),
        metrics=tuple(described.values()),
        correlations=corrected,
    )


def doses(
    lists: ListsShown, conditions: Sequence[ConditionFacts], presentations: Mapping[str, Mapping[str, Any]]
) -> tuple[Dose, ...]:
    """Compare the lists of each re-ranked condition with those of the model it re-ranks, in the same presentation.

    `presentations` are by condition; one that is missing has the study's own.
    """

    recipes = {each.label: Recipe.of(each.algorithm, each.params) for each in conditions}
    presented = {label: canonical_json(presentations.get(label, {})) for label in recipes}
    plain = {(recipe.base, presented[label]): label for label, recipe in recipes.items() if not recipe.method}
    changed = []
    for label, recipe in recipes.items():
        if recipe.method:
            base = plain.get((recipe.base, presented[label]), "")
            changes = tuple(_change(lists, key, base, label) for key in DOSE_METRICS) if base else ()
            changed.append(Dose(condition=label, base=base, strength=recipe.strength, changes=changes))
    return tuple(changed)


def _change(lists: ListsShown, metric: str, base: str, condition: str) -> ListChange:
    (measured,) = (each for each in lists.metrics if each.metric == metric)
    rows = {row.condition: row for row in measured.conditions}
    before, after = rows[base], rows[condition]
    in_sd = None
    if before.mean is not None and after.mean is not None and before.sd is not None and after.sd is not None:
        squares = (before.n - 1) * before.sd**2 + (after.n - 1) * after.sd**2
        sd = math.sqrt(squares / (before.n + after.n - 2))
        difference = after.mean - before.mean
        if sd > 0 or difference == 0:
            in_sd = difference / (sd or 1.0)
    return ListChange(metric=metric, base_mean=before.mean, mean=after.mean, in_sd=in_sd)


def _on_grid(answers: Answers, column: Floats, is_included: Flags) -> ExactGroups:
    """The values of a metric by condition, those of some participants, rounded to the grid."""
    groups: dict[str, list[int]] = {name: [] for name in answers.conditions}
    points = np.rint(column[is_included] * GRID).astype(np.int64).tolist()
    for person, point in zip(compress(answers.people, is_included), points, strict=True):
        groups[person.condition].append(point)
    return ExactGroups(groups, GRID)


def _described(answers: Answers, metric: str, column: Floats) -> MeasuredLists:
    has_value = ~np.isnan(column)
    described = describe(_on_grid(answers, column, has_value))
    return MeasuredLists(
        metric=metric,
        n_without=int(np.count_nonzero(~has_value)),
        conditions=tuple(
            ListMean(condition=name, n=row.n, mean=row.mean, sd=row.sd, ci_low=row.ci_low, ci_high=row.ci_high)
            if (row := described.get(name)) is not None
            else ListMean(condition=name, n=0)
            for name in answers.conditions
        ),
    )


def _between(x: Sequence[float], y: Sequence[float], alpha: float) -> AgreementResult | Undefined:
    """τ_b of the means of the conditions that have both; that of two conditions is 1 or -1 whatever the data."""
    if len(x) < FEWEST_CONDITIONS:
        return Undefined("Fewer than three conditions have both values.")
    if len(set(x)) == 1:
        return Undefined("All conditions have the same mean of the list metric.")
    if len(set(y)) == 1:
        return Undefined("All conditions have the same mean of the measure.")
    return kendall(x, y, alpha)


def _corrected(pairs: Sequence[CorrelatedLists]) -> tuple[tuple[CorrelatedLists, ...], int]:
    family = [result.p for pair in pairs for result in (pair.within, pair.between) if not isinstance(result, Undefined)]
    p = iter(holm(family))
    corrected = tuple(
        replace(
            pair,
            p_holm_within=None if isinstance(pair.within, Undefined) else next(p),
            p_holm_between=None if isinstance(pair.between, Undefined) else next(p),
        )
        for pair in pairs
    )
    return corrected, len(family)
