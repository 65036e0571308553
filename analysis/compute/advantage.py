"""The average advantage of the primary pair, and of the exploratory family of all others."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping

from analysis.compute.perceived import LEAST_N, groups_of
from analysis.compute.rankings import ALPHA, Ranking
from analysis.enums import RATED, Metric, Variable
from analysis.read.inputs import Answers
from analysis.results.advantage import Advantage
from inference.average_advantage import (
    AverageAdvantage,
    ExploratoryFamily,
    MeanEstimates,
    average_advantage,
    exploratory_family,
    same_metrics,
    without_each,
)
from inference.groups import ExactGroups
from inference.results import Undefined

MOST_TESTS = 16  # of the exploratory family


def advantage_of(
    answers: Answers,
    variable: Variable,
    metric: Ranking,
    nested: MeanEstimates | Undefined,
    *,
    alpha: float = ALPHA,
    bound: float | None = None,
) -> Advantage:
    """The average advantage over the pairs that the metric separates among the conditions with answers.

    `nested` are the estimates of the model with items nested in conditions; `bound` is the smallest effect of interest.
    """
    means, separated = compared_means(groups_of(answers, variable), metric)
    if isinstance(means, Undefined):
        return Advantage(overall=means)
    other_items: AverageAdvantage | Undefined | None = None
    if variable.key == RATED:
        other_items = nested if isinstance(nested, Undefined) else average_advantage(nested, separated, alpha=alpha)
    return Advantage(
        overall=average_advantage(means, separated, alpha=alpha, bound=bound),
        other_items=other_items,
        without=without_each(means, separated, alpha=alpha),
    )


def exploratory_of(
    answers: Answers,
    variables: Iterable[Variable],
    metrics: Mapping[Metric, Ranking],
    primary: tuple[str, str],
    *,
    alpha: float = ALPHA,
) -> ExploratoryFamily:
    """The average advantage of every measure by every metric but the primary pair, corrected as one family.

    Metrics that order the algorithms alike are one test. Of more than 16 tests the first are kept, in the order of the
    plan.
    """
    by_key = {metric.key: ranking for metric, ranking in metrics.items()}
    groups = same_metrics({key: ranking.order for key, ranking in by_key.items()})
    advantages: dict[tuple[str, tuple[str, ...]], AverageAdvantage | Undefined] = {}
    for variable in variables:
        values = groups_of(answers, variable)
        for group in groups:
            if variable.key != primary[0] or primary[1] not in group:
                means, separated = compared_means(values, by_key[group[0]])
                advantages[variable.key, group] = (
                    means if isinstance(means, Undefined) else average_advantage(means, separated, alpha=alpha)
                )
    return exploratory_family(dict(itertools.islice(advantages.items(), MOST_TESTS)), alpha)


def compared_means(groups: ExactGroups, metric: Ranking) -> tuple[MeanEstimates | Undefined, list[tuple[str, str]]]:
    """The means of the conditions with answers, and the pairs of them that the metric separates."""
    names = [name for name, n in groups.sizes.items() if name in metric.values and n >= LEAST_N]
    if len(names) < 2:
        return Undefined("Fewer than two conditions have two participants."), []
    return MeanEstimates.of_groups(groups.among(names)), [
        pair for pair in metric.order.direct if set(pair) <= set(names)
    ]
