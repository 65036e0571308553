"""Perceived against objective: for every variable and metric, how far they order the conditions alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.enums import Metric, Variable, described_in_results
from analysis.services.rankings import ALPHA, Ranking, mean_ranks, rank_bounds, told
from inference.agreement import kendall, orders_compared, pair_directions, spearman
from inference.corrections import holm
from inference.order_bootstrap import rank_distribution, tau_distribution


def compare(
    variable: Variable, metric: Metric, perceived: Ranking, objective: Ranking, *, alpha: float = ALPHA
) -> dict[str, Any]:
    """Compare one variable with one metric over the conditions that have both.

    Both sides are taken with the larger value better: a metric where less is better is turned over.
    """
    names = [name for name in perceived.values if name in objective.values]
    sign = 1 if objective.higher_is_better else -1
    x = [perceived.values[name] for name in names]
    y = [sign * objective.values[name] for name in names]
    resampled = _aligned(names, perceived), _aligned(names, objective)
    directions = orders_compared(perceived.order, objective.order)
    return {
        "variable": variable.key,
        **described_in_results(variable),
        "metric": metric.key,
        "kind": metric.kind,
        "alpha": alpha,
        "profile_length": metric.length,
        "higher_is_better": objective.higher_is_better,
        "conditions": names,
        "ranks": {
            "perceived": mean_ranks(dict(zip(names, x, strict=True))),
            "objective": mean_ranks(dict(zip(names, y, strict=True))),
        },
        "ranks_resampled": {
            "perceived": _ranks_resampled(names, resampled[0], 1),
            "objective": _ranks_resampled(names, resampled[1], sign),
        },
        "tau": told(kendall(x, y, alpha)),
        "rho": told(spearman(x, y, alpha)),
        "directions": told(pair_directions(x, y)),
        "tau_bootstrap": _tau_bootstrap(resampled, sign),
        "orders": directions.as_dict(),
    }


def _aligned(names: list[str], ranking: Ranking) -> NDArray[np.float64] | None:
    if ranking.resampled is None:
        return None
    columns = list(ranking.values)
    return ranking.resampled[:, [columns.index(name) for name in names]]


def _ranks_resampled(names: list[str], resampled: NDArray[np.float64] | None, sign: int) -> dict[str, Any]:
    """Bounds and probability of each rank, and how often each condition comes first, among those compared."""
    if resampled is None or not names:
        return {"bounds": {}, "best": {}, "probabilities": {}}
    found = rank_distribution(sign * resampled, names)
    bounds = {name: list(rank_bounds(row)) for name, row in zip(names, found.probabilities, strict=True)}
    probabilities = {name: list(row) for name, row in zip(names, found.probabilities, strict=True)}
    return {"bounds": bounds, "best": found.best(), "probabilities": probabilities}


def _tau_bootstrap(
    resampled: tuple[NDArray[np.float64] | None, NDArray[np.float64] | None], sign: int
) -> dict[str, Any]:
    x, y = resampled
    if x is None or y is None or x.shape[1] < 2:
        return {"is_defined": False, "reason": "Fewer than two conditions have both measures."}
    rows = min(len(x), len(y))
    return told(tau_distribution(x[:rows], sign * y[:rows]))


def all_comparisons(
    perceived: Mapping[Variable, Ranking],
    objective: Mapping[Metric, Ranking],
    primary: tuple[str, str],
    *,
    alpha: float = ALPHA,
    is_tested: bool = True,
) -> list[dict[str, Any]]:
    """Every variable with every metric: the primary pair first, the others corrected as one family by Holm.

    Where another test is primary, `is_tested` is False, and the primary pair is one of the family.
    """
    found = [
        compare(variable, metric, of_people, of_run, alpha=alpha)
        for variable, of_people in perceived.items()
        for metric, of_run in objective.items()
    ]
    for one in found:
        one["is_primary"] = (one["variable"], one["metric"]) == primary
        one["p_holm"] = None
        if one["is_primary"] and not is_tested:
            one["is_tested"] = False
    family = [one for one in found if not (one["is_primary"] and is_tested) and one["tau"]["is_defined"]]
    for one, p in zip(family, holm([one["tau"]["p"] for one in family]), strict=True):
        one["p_holm"] = p
    return sorted(found, key=lambda one: not one["is_primary"])
