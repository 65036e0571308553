"""A paper's printed values as evidence for its own statements."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import permutations, product

from inference.claims import Pairs, Weights
from inference.results import Interval
from parallax.replication.published import Published


@dataclass(frozen=True)
class Constant:
    """A number as printed, or the range in which a paper says that it lies, at every confidence."""

    low: float
    high: float

    @property
    def value(self) -> float:
        """The middle of the range."""
        return (self.low + self.high) / 2

    def interval(self, confidence: float) -> Interval:
        """The range."""
        return Interval(self.low, self.high)


POSITIVE = Constant(math.nextafter(0, math.inf), math.inf)  # a difference of which the paper prints no size
TABLE_1_OF: Mapping[str, str] = {
    "perceived accuracy": "accuracy",
    "first-order novelty": "novelty",
    "second-order novelty": "novelty",
    "global satisfaction": "satisfaction",
}


class PaperEvidence:
    """A paper's printed values and its own separated pairs, as `inference.claims.Evidence`.

    A column of Table 1 has every maximal algorithm above every minimal one. This follows by transitivity where the
    column has one maximal algorithm, and is the reading of the others. By a metric of Table 2 every two different
    values are separated: they rest on tens of thousands of cases.
    """

    alpha = 0.05

    def __init__(self, paper: Published) -> None:
        self._paper = paper

    def value(self, quantity: str, name: str) -> float | None:
        """A printed value."""
        estimate = self.contrast(quantity, {name: 1.0})
        return None if estimate is None else estimate.value

    def contrast(self, quantity: str, weights: Weights) -> Constant | None:
        """A printed value or range, a difference of printed values, or a difference that the paper calls positive."""
        values = [self._paper.table_2.get(name, {}).get(quantity) for name in weights]
        known = [value for value in values if value is not None]
        if len(known) == len(weights):
            total = sum(weight * value for weight, value in zip(weights.values(), known, strict=True))
            return Constant(total, total)
        if len(weights) > 1:
            tiers = self._paper.table_1.get(TABLE_1_OF.get(quantity, ""), {})
            higher, lower = ({name for name, weight in weights.items() if sign * weight > 0} for sign in (1, -1))
            return POSITIVE if tiers and (higher, lower) == (set(tiers["maximal"]), set(tiers["minimal"])) else None
        (name,) = weights
        of_names = self._paper.printed.get(quantity, {})
        printed = of_names.get(name, of_names.get("all"))
        if printed is None or printed == "positive":
            return POSITIVE if printed else None
        return Constant(*printed) if isinstance(printed, list) else Constant(printed, printed)

    def pairs(self, quantity: str) -> Pairs | None:
        """The pairs that the paper separates."""
        if quantity in self._paper.pairs:
            return {(a, b) for a, rest in self._paper.pairs[quantity].items() for b in rest}
        if quantity in TABLE_1_OF:
            tiers = self._paper.table_1[TABLE_1_OF[quantity]]
            return set(product(tiers["maximal"], tiers["minimal"]))
        values = {name: row[quantity] for name, row in self._paper.table_2.items() if quantity in row}
        return {(a, b) for a, b in permutations(values, 2) if values[a] > values[b]} or None

    def is_lower_better(self, quantity: str) -> bool:
        """Whether it is fallout."""
        return quantity == "fallout"
