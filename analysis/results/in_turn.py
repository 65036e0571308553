"""What is computed where each participant met all conditions in turn."""

from __future__ import annotations

from dataclasses import dataclass

from analysis.results.rankings import Order
from inference.paired import FriedmanResult
from inference.results import PairwiseResult, Undefined
from inference.sequences import CarryOver, RepeatedMeasures, WithinResult


@dataclass(frozen=True, kw_only=True)
class InTurnTests:
    """One measure within participants: the mixed model, whose pairs decide, and the tests beside it.

    `n_missing` of the participants' occasions have no value; `completers` is the model of completed participants with a
    value of every condition, None where it is of all. `first` compares first occasions alone, of independent people, by
    Games-Howell.
    """

    n_missing: int
    model: WithinResult | Undefined
    completers: WithinResult | Undefined | None = None
    repeated: RepeatedMeasures | Undefined
    friedman: FriedmanResult | Undefined
    nemenyi: PairwiseResult | Undefined
    first: PairwiseResult | Undefined
    carry_over: CarryOver | Undefined
    order: Order

    @property
    def pairs(self) -> PairwiseResult | Undefined:
        """Every pair of conditions in the mixed model."""
        return self.model if isinstance(self.model, Undefined) else self.model.pairs
