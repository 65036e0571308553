"""Rankings of the conditions and the orders that tests support, on either side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from analysis.enums import ScaleVariable, Variable, variable_of
from analysis.results.codec import stored
from inference.partial_order import PartialOrder, compact_letters
from inference.results import PairwiseResult, Undefined
from studies.settings import AnalysisPlan


@dataclass(frozen=True, kw_only=True)
class Order(PartialOrder):
    """The partial order that a test supports, with the rows of the printed table and letters that agree with it.

    A condition dominates another where its location is better and the adjusted p is below the level of the test.
    """

    letters: dict[str, str]

    @property
    def pairs(self) -> set[tuple[str, str]]:
        """Every pair in order, the dominating condition first."""
        return {(above, below) for above, lower in self.dominates.items() for below in lower}

    def sorted_pairs(self, pairs: set[tuple[str, str]]) -> list[tuple[str, str]]:
        """Pairs in the order of the conditions."""
        position = {name: index for index, name in enumerate(self.names)}
        return sorted(pairs, key=lambda pair: (position.get(pair[0], 0), position.get(pair[1], 0)))

    @property
    def n_possible(self) -> int:
        """Number of pairs of conditions."""
        return len(self.names) * (len(self.names) - 1) // 2


@dataclass(frozen=True, kw_only=True)
class OfVariable:
    """A result about one variable, with the description of the scale that it may be."""

    variable_key: str = field(metadata=stored("variable"))
    scale_variables: dict[str, ScaleVariable] = field(default_factory=dict, metadata=stored(is_omitted=True))

    @property
    def variable(self) -> Variable:
        """The perceived side."""
        return variable_of(self.variable_key, self.scale_variables)


RESAMPLES = AnalysisPlan().resamples  # by default
ALPHA = AnalysisPlan().alpha  # also of results that are older than plans


@dataclass(frozen=True)
class Ranking:
    """One measure of the conditions: its values, the comparisons of every two, and the order that these support."""

    values: Mapping[str, float]
    pairs: PairwiseResult | Undefined
    order: PartialOrder
    higher_is_better: bool = True


def order_result(order: PartialOrder, pairs: PairwiseResult | Undefined) -> Order:
    """A partial order with the letters that agree with it."""
    tested = () if isinstance(pairs, Undefined) else pairs.pairs
    return Order(**vars(order), letters=compact_letters(order.locations, tested, order.higher_is_better))


def mean_ranks(values: Mapping[str, float]) -> dict[str, float]:
    """Rank of each condition, 1 the highest; equal values share the mean of their ranks."""
    from scipy.stats import rankdata

    return dict(zip(values, rankdata([-value for value in values.values()]).tolist(), strict=True))
