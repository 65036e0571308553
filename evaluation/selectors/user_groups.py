"""Metrics of a run by group of users: by the length of their profiles, the popularity of their items, and what the data
set says of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from catalog.selectors.ratings import user_attributes_of
from core.errors import DataError
from core.provenance import rng_for
from evaluation.enums import RunStatus
from evaluation.metrics.registry import metric as named_metric
from evaluation.metrics.user_groups import frequent_groups, popular_shares, quantile_groups
from evaluation.models import EvaluationRun
from evaluation.selectors.cases import cases_of, training_rows
from evaluation.selectors.paired_tests import RESAMPLES
from evaluation.selectors.results import metrics_by_user, no_results, no_user_values, user_values
from inference.bootstrap import UserInterval, pooled_interval

Floats = NDArray[np.float64]
ATTRIBUTE_UNIT = "attribute of the data set’s users"
LENGTH, POPULARITY = "profile-length", "popularity"
# Title, unit of the limits, names of the groups, and the shares of users at which they are divided.
GROUPINGS = {
    LENGTH: ("Length of the profile", "number of ratings in the profile", ("short", "medium", "long"), (1 / 3, 2 / 3)),
    POPULARITY: (
        "Popular items in the profile",
        "share of the profile’s items that are among the 20% with most training ratings",
        ("niche", "diverse", "blockbuster"),
        (0.2, 0.8),
    ),
}


@dataclass(frozen=True)
class GroupLine:
    """An algorithm's mean over the users of each group, and the largest gap between two groups.

    `gap` is the difference of the highest and the lowest mean, `ratio` the lowest divided by the highest; both have an
    interval by bootstrap over users. None where there is no value.
    """

    label: str
    means: tuple[float | None, ...]
    highest: str
    lowest: str
    gap: UserInterval | None
    ratio: UserInterval | None


@dataclass(frozen=True)
class GroupTable:
    """A metric by group; `n_users` are the test users of each group, `limits` the highest value of all but the last.

    `reason` says why users cannot be divided; there are no lines then.
    """

    key: str
    title: str
    unit: str
    names: tuple[str, ...]
    metric: str
    n_users: tuple[int, ...] = ()
    limits: tuple[float, ...] = ()
    lines: tuple[GroupLine, ...] = ()
    reason: str = ""


def grouped_metrics(run: EvaluationRun) -> list[str]:
    """Return the metrics that can be compared between groups; empty if the run trained several models, which knew
    different profiles, or has not succeeded.
    """
    return metrics_by_user(run) if run.status == RunStatus.SUCCEEDED and not run.folds else []


def group_tables(run: EvaluationRun, metric: str) -> tuple[GroupTable, ...]:
    """Compare a metric between groups of the test users whose values the run reports, at whole profiles.

    Profiles are the ratings by which users are scored, popularity is that of the training ratings. Raises ParallaxError
    with code ``run.no_results``: the run has no results; ``run.no_user_values``: the metric has no values by user;
    ``run.many_models``: the run trained several models, which knew different profiles.
    """
    if run.status != RunStatus.SUCCEEDED:
        raise no_results(run)
    cases_of(run)
    if metric not in metrics_by_user(run):
        raise no_user_values(metric, metrics_by_user(run))
    return _cached_tables(run.pk, run.inputs_hash, metric)


@lru_cache(maxsize=64)
def _cached_tables(run_id: int, inputs_hash: str, metric: str) -> tuple[GroupTable, ...]:
    # The results of a succeeded run do not change.
    run = EvaluationRun.objects.select_related("version").get(pk=run_id)
    run_cases = cases_of(run)
    by_user = user_values(run, metric)
    profiles = training_rows(run_cases.profiles_digest).user_items
    profiles = profiles[np.searchsorted(run_cases.profiled, by_user.user_ids)]
    values = {
        LENGTH: np.diff(profiles.indptr).astype(np.float64),
        POPULARITY: popular_shares(profiles, training_rows(run_cases.training_digest).item_counts),
    }
    tables = []

    def add(table: GroupTable, groups: NDArray[np.int64], limits: tuple[float, ...]) -> None:
        members = [groups == at for at in range(len(table.names))]
        lines = [
            _line(run, label, by_user.values[:, column], members, table) for column, label in enumerate(by_user.labels)
        ]
        sizes = tuple(int(of_group.sum()) for of_group in members)
        tables.append(replace(table, n_users=sizes, limits=limits, lines=tuple(lines)))

    for key, (title, unit, names, shares) in GROUPINGS.items():
        table = GroupTable(key, title, unit, names, metric)
        try:
            add(table, *quantile_groups(values[key], shares))
        except DataError as refusal:
            tables.append(replace(table, reason=str(refusal)))
    for kind, of_users in user_attributes_of(run.version).items():
        frequent, groups = frequent_groups(of_users[by_user.user_ids])
        if len(frequent) > 1:
            add(GroupTable(f"attribute-{kind}", kind.capitalize(), ATTRIBUTE_UNIT, frequent, metric), groups, ())
    return tuple(tables)


def _line(
    run: EvaluationRun, label: str, values: Floats, members: list[NDArray[np.bool_]], table: GroupTable
) -> GroupLine:
    known = ~np.isnan(values)
    means = tuple(float(values[of_group & known].mean()) if (of_group & known).any() else None for of_group in members)
    measured = {at: mean for at, mean in enumerate(means) if mean is not None}
    if len(measured) < len(members):
        return GroupLine(label, means, "", "", None, None)
    highest, lowest = (choose(measured, key=lambda at: measured[at]) for choose in (max, min))
    parts = np.column_stack(
        [column for at in (highest, lowest) for column in (np.where(members[at], values, 0.0), members[at])]
    )[known].astype(np.float64)
    gap = pooled_interval(parts, _difference, RESAMPLES, rng_for(run.seed, "groups", table.key))
    # Recall and fallout of one plus random are stored without a list length, which a name needs.
    full_name = f"{table.metric}@5" if table.metric in ("recall", "fallout") else table.metric
    has_ratio = named_metric(full_name).definition.low >= 0
    ratio = pooled_interval(parts, _ratio, RESAMPLES, rng_for(run.seed, "groups", table.key)) if has_ratio else None
    return GroupLine(
        label,
        means,
        table.names[highest],
        table.names[lowest],
        gap if isinstance(gap, UserInterval) else None,
        ratio if isinstance(ratio, UserInterval) else None,
    )


def _means(sums: Floats) -> tuple[Floats, Floats]:
    """Return the means of the higher and of the lower group; NaN for a resample without one of the groups."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return sums[:, 0] / sums[:, 1], sums[:, 2] / sums[:, 3]


def _difference(sums: Floats) -> Floats:
    high, low = _means(sums)
    difference: Floats = high - low
    return difference


def _ratio(sums: Floats) -> Floats:
    high, low = _means(sums)
    return np.where(high > 0, low / np.where(high > 0, high, 1.0), np.nan)
