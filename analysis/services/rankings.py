"""Rankings with their uncertainty: what both sides of a report have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inference.bootstrap import percentile_intervals
from inference.order_bootstrap import rank_distribution
from inference.partial_order import PartialOrder, compact_letters
from inference.results import PairwiseResult, Result, Undefined
from studies.plans import AnalysisPlan

RESAMPLES = AnalysisPlan().resamples  # where a plan says nothing else
ALPHA = AnalysisPlan().alpha
TAIL = 0.025
ROUNDING = 1e-9


@dataclass(frozen=True)
class Ranking:
    """One measure of the conditions: its values, what is told apart, and its resampled values.

    `resampled` has shape (resamples, n_conditions), columns in the order of `values`; None where there is
    nothing to resample.
    """

    values: Mapping[str, float]
    order: PartialOrder
    higher_is_better: bool
    resampled: NDArray[np.float64] | None


def told(result: Result) -> dict[str, Any]:
    """A result for the report's data; one that does not exist says `"is_defined": false` and why."""
    return {"is_defined": not isinstance(result, Undefined), **result.as_dict()}


def told_order(order: PartialOrder, pairs: PairwiseResult | Undefined) -> dict[str, Any]:
    """A partial order with the rows of the printed table and the letters that agree with it."""
    tested = () if isinstance(pairs, Undefined) else pairs.pairs
    return {
        **order.as_dict(),
        "rows": [row.as_dict() for row in order.rows()],
        "best_first": list(order.best_first),
        "letters": compact_letters(order.locations, tested, order.higher_is_better),
    }


def mean_ranks(values: Mapping[str, float], higher_is_better: bool = True) -> dict[str, float]:
    """Rank of each condition, 1 the best; equal values share the mean of their ranks."""
    signed = {name: value if higher_is_better else -value for name, value in values.items()}
    return {
        name: 1.0
        + sum(other > value for other in signed.values())
        + (sum(other == value for other in signed.values()) - 1) / 2
        for name, value in signed.items()
    }


def rank_bounds(probabilities: Sequence[float]) -> tuple[int, int]:
    """The ranks between which 95 % of resamples lie, of one condition's probabilities of the ranks 1, 2, …"""
    reached = np.cumsum(probabilities)
    low = int(np.argmax(reached >= TAIL - ROUNDING)) + 1
    high = int(np.argmax(reached >= 1 - TAIL - ROUNDING)) + 1
    return low, high


def uncertainty(ranking: Ranking) -> dict[str, Any]:
    """Bootstrap intervals of the values, ranks with the bounds of 95 % of resamples, and each rank's probability."""
    ranks = mean_ranks(ranking.values, ranking.higher_is_better)
    if ranking.resampled is None:
        return {"is_defined": False, "reason": "There is nothing to resample.", "ranks": ranks}
    names = tuple(ranking.values)
    intervals = percentile_intervals(ranking.resampled)
    found = rank_distribution(ranking.resampled, names, ranking.higher_is_better)
    bounds = {name: rank_bounds(row) for name, row in zip(names, found.probabilities, strict=True)}
    return {
        "is_defined": True,
        "resamples": found.resamples,
        "intervals": {name: [one.low, one.high] for name, one in zip(names, intervals, strict=True)},
        "ranks": ranks,
        "rank_bounds": {name: list(bound) for name, bound in bounds.items()},
        "rank_probabilities": {name: list(row) for name, row in zip(names, found.probabilities, strict=True)},
        "best": found.best(),
    }
