"""Rankings of the conditions with their uncertainty, on either side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.results.rankings import Order, RankBootstrap, RankDraws
from inference.bootstrap import percentile_intervals
from inference.order_bootstrap import rank_distribution
from inference.partial_order import PartialOrder, compact_letters
from inference.results import PairwiseResult, Undefined
from studies.plans import AnalysisPlan

RESAMPLES = AnalysisPlan().resamples  # by default
ALPHA = AnalysisPlan().alpha
TAIL = 0.025
ROUNDING = 1e-9


@dataclass(frozen=True)
class Ranking:
    """One measure of the conditions: its values, its significant order, and its resampled values.

    `resampled` has shape (resamples, n_conditions), columns in the order of `values`; None where there is
    nothing to resample.
    """

    values: Mapping[str, float]
    order: PartialOrder
    higher_is_better: bool
    resampled: NDArray[np.float64] | None


def order_result(order: PartialOrder, pairs: PairwiseResult | Undefined) -> Order:
    """A partial order with the rows of the printed table and the letters that agree with it."""
    tested = () if isinstance(pairs, Undefined) else pairs.pairs
    return Order(
        names=order.names,
        tiers=order.tiers,
        dominates=order.dominates,
        dominated_by=order.dominated_by,
        covers=order.covers,
        incomparable=order.incomparable,
        depth=order.depth,
        locations=order.locations,
        is_transitive=order.is_transitive,
        cycle=order.cycle,
        is_empty=order.is_empty,
        higher_is_better=order.higher_is_better,
        rows=order.rows(),
        best_first=order.best_first,
        letters=compact_letters(order.locations, tested, order.higher_is_better),
    )


def mean_ranks(values: Mapping[str, float], higher_is_better: bool = True) -> dict[str, float]:
    """Rank of each condition, 1 the best; equal values share the mean of their ranks."""
    signed = {name: value if higher_is_better else -value for name, value in values.items()}
    return {
        name: 1.0
        + sum(rival > value for rival in signed.values())
        + (sum(rival == value for rival in signed.values()) - 1) / 2
        for name, value in signed.items()
    }


def rank_bounds(probabilities: Sequence[float]) -> tuple[int, int]:
    """The 95% bounds of one condition's rank, from its probabilities of the ranks 1, 2, …"""
    reached = np.cumsum(probabilities)
    low = int(np.argmax(reached >= TAIL - ROUNDING)) + 1
    high = int(np.argmax(reached >= 1 - TAIL - ROUNDING)) + 1
    return low, high


def rank_bootstrap(ranking: Ranking) -> RankBootstrap:
    """Bootstrap intervals of the values, 95% bounds of the ranks, and each rank's probability."""
    ranks = mean_ranks(ranking.values, ranking.higher_is_better)
    if ranking.resampled is None:
        return RankBootstrap(ranks=ranks, draws=Undefined("There is nothing to resample."))
    names = tuple(ranking.values)
    intervals = percentile_intervals(ranking.resampled)
    distribution = rank_distribution(ranking.resampled, names, ranking.higher_is_better)
    rows = dict(zip(names, distribution.probabilities, strict=True))
    draws = RankDraws(
        resamples=distribution.resamples,
        intervals={name: (limits.low, limits.high) for name, limits in zip(names, intervals, strict=True)},
        rank_bounds={name: rank_bounds(row) for name, row in rows.items()},
        rank_probabilities=rows,
        best=distribution.best(),
    )
    return RankBootstrap(ranks=ranks, draws=draws)
