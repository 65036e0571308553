"""The comparison: for every variable and metric, how well their rankings of the conditions agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from analysis.enums import Metric, Variable
from analysis.results.comparison import Comparison, Ranks, RanksResampled, ResampledRanks
from analysis.results.variables import scale_variables
from analysis.services.rankings import ALPHA, Ranking, mean_ranks, rank_bounds
from inference.agreement import kendall, orders_compared, pair_directions, spearman
from inference.corrections import holm
from inference.order_bootstrap import TauDistribution, rank_distribution, tau_distribution
from inference.results import Undefined

Floats = NDArray[np.float64]


def compare(
    variable: Variable, metric: Metric, perceived: Ranking, objective: Ranking, *, alpha: float = ALPHA
) -> Comparison:
    """Compare one variable with one metric over the conditions that have both.

    The larger value is better on both sides: a metric whose smaller value is better changes its sign.
    """
    names = [name for name in perceived.values if name in objective.values]
    sign = 1 if objective.higher_is_better else -1
    x = [perceived.values[name] for name in names]
    y = [sign * objective.values[name] for name in names]
    x_draws, y_draws = aligned(names, perceived), aligned(names, objective)
    return Comparison(
        variable_key=variable.key,
        scale_variables=scale_variables([variable]),
        metric_key=metric.key,
        kind=metric.kind,
        alpha=alpha,
        profile_length=metric.length,
        higher_is_better=objective.higher_is_better,
        conditions=tuple(names),
        ranks=Ranks(
            perceived=mean_ranks(dict(zip(names, x, strict=True))),
            objective=mean_ranks(dict(zip(names, y, strict=True))),
        ),
        ranks_resampled=RanksResampled(
            perceived=_ranks_resampled(names, x_draws), objective=_ranks_resampled(names, y_draws)
        ),
        tau=kendall(x, y, alpha),
        rho=spearman(x, y, alpha),
        directions=pair_directions(x, y),
        tau_bootstrap=tau_bootstrap(x_draws, y_draws),
        orders=orders_compared(perceived.order, objective.order),
        is_primary=False,
        p_holm=None,
    )


def aligned(names: Sequence[str], ranking: Ranking) -> Floats | None:
    """Resampled values of these conditions, the larger better: shape (resamples, n_names)."""
    if ranking.resampled is None:
        return None
    columns, sign = list(ranking.values), 1 if ranking.higher_is_better else -1
    return sign * ranking.resampled[:, [columns.index(name) for name in names]]


def _ranks_resampled(names: list[str], draws: Floats | None) -> ResampledRanks:
    """Bounds and probability of each rank, and how often each condition ranks first, among those compared."""
    if draws is None or not names:
        return ResampledRanks(bounds={}, best={})
    distribution = rank_distribution(draws, names)
    rows = dict(zip(names, distribution.probabilities, strict=True))
    return ResampledRanks(
        bounds={name: rank_bounds(row) for name, row in rows.items()},
        best=distribution.best(),
        probabilities=rows,
    )


def tau_bootstrap(x: Floats | None, y: Floats | None) -> TauDistribution | Undefined:
    """Kendall's τ_b of resampled values of both sides, resample by resample; as many as both have."""
    if x is None or y is None or x.shape[1] < 2:
        return Undefined("Fewer than two conditions have both measures.")
    n = min(len(x), len(y))
    return tau_distribution(x[:n], y[:n])


def all_comparisons(
    perceived: Mapping[Variable, Ranking],
    objective: Mapping[Metric, Ranking],
    primary: tuple[str, str],
    *,
    alpha: float = ALPHA,
    is_tested: bool = True,
) -> tuple[Comparison, ...]:
    """Every variable with every metric: the primary pair first, the others corrected as one family by Holm.

    Where another test is primary, `is_tested` is False, and the primary pair is one of the family.
    """
    comparisons = [
        compare(variable, metric, by_participants, by_metric, alpha=alpha)
        for variable, by_participants in perceived.items()
        for metric, by_metric in objective.items()
    ]
    comparisons = [
        replace(comparison, is_primary=True, is_tested=is_tested)
        if (comparison.variable_key, comparison.metric_key) == primary
        else comparison
        for comparison in comparisons
    ]
    family = {
        index: comparison.tau.p
        for index, comparison in enumerate(comparisons)
        if not (comparison.is_primary and is_tested) and not isinstance(comparison.tau, Undefined)
    }
    for index, p in zip(family, holm(list(family.values())), strict=True):
        comparisons[index] = replace(comparisons[index], p_holm=p)
    return tuple(sorted(comparisons, key=lambda comparison: not comparison.is_primary))
