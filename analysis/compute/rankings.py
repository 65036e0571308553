"""Rankings of the conditions and the orders that tests support, on either side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from analysis.results.rankings import Order
from inference.partial_order import PartialOrder, compact_letters
from inference.results import PairwiseResult, Undefined
from studies.settings import AnalysisPlan

RESAMPLES = AnalysisPlan().resamples  # by default
ALPHA = AnalysisPlan().alpha


@dataclass(frozen=True)
class Ranking:
    """One measure of the conditions: its values, the comparisons of every two, and the order that these support."""

    values: Mapping[str, float]
    pairs: PairwiseResult | Undefined
    order: PartialOrder
    higher_is_better: bool = True


def order_result(order: PartialOrder, pairs: PairwiseResult | Undefined) -> Order:
    """A partial order with the rows of the printed table and the letters that agree with it."""
    tested = () if isinstance(pairs, Undefined) else pairs.pairs
    return Order(
        **vars(order),
        rows=order.rows(),
        best_first=order.best_first,
        letters=compact_letters(order.locations, tested, order.higher_is_better),
    )


def mean_ranks(values: Mapping[str, float], higher_is_better: bool = True) -> dict[str, float]:
    """Rank of each condition, 1 the best; equal values share the mean of their ranks."""
    from scipy.stats import rankdata

    sign = -1 if higher_is_better else 1
    return dict(zip(values, rankdata([sign * value for value in values.values()]).tolist(), strict=True))
