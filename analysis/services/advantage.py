"""The average advantage of the primary pair: overall, for other items, and without each algorithm."""

from __future__ import annotations

from analysis.enums import RATED, Variable
from analysis.results.advantage import Advantage
from analysis.selectors.inputs import Answers
from analysis.services.perceived import LEAST_N, groups_of
from analysis.services.rankings import ALPHA, Ranking
from inference.average_advantage import AverageAdvantage, MeanEstimates, average_advantage, without_each
from inference.groups import ExactGroups
from inference.results import Undefined


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
    groups = groups_of(answers, variable)
    names = [name for name in groups if name in metric.values and len(groups[name]) >= LEAST_N]
    separated = [pair for pair in metric.order.direct if set(pair) <= set(names)]
    if len(names) < 2:
        return Advantage(overall=Undefined("Fewer than two conditions have two participants."))
    means = MeanEstimates.of_groups(ExactGroups({name: groups.points(name) for name in names}, groups.scale))
    other_items: AverageAdvantage | Undefined | None = None
    if variable.key == RATED:
        other_items = nested if isinstance(nested, Undefined) else average_advantage(nested, separated, alpha=alpha)
    return Advantage(
        overall=average_advantage(means, separated, alpha=alpha, bound=bound),
        other_items=other_items,
        without=without_each(means, separated, alpha=alpha),
    )
