"""The verdict's numbers: the average advantage of the primary pair, and the decision of every pair of algorithms."""

from __future__ import annotations

from dataclasses import dataclass, field

from inference.average_advantage import AverageAdvantage, rests_on
from inference.pair_decisions import PairClass, PairDecision
from inference.rank_sets import RankSets
from inference.results import Undefined


@dataclass(frozen=True, kw_only=True)
class DecidedPairs:
    """Every pair of algorithms, decided on both sides, with the rank sets that follow.

    `implied` are pairs, the better one first, that only a chain of significant Games-Howell pairs implies.
    """

    pairs: tuple[PairDecision, ...]
    participants_rank_sets: RankSets
    offline_rank_sets: RankSets
    implied: tuple[tuple[str, str], ...] = ()

    def of(self, decision: PairClass) -> tuple[PairDecision, ...]:
        """The pairs of one class."""
        return tuple(pair for pair in self.pairs if pair.decision is decision)


@dataclass(frozen=True, kw_only=True)
class Advantage:
    """The average advantage of the primary metric's better algorithms in the primary measure.

    `other_items` has the standard errors of the nested model; None where the measure is no mean of ratings of items.
    `without` leaves out one algorithm at a time.
    """

    overall: AverageAdvantage | Undefined
    other_items: AverageAdvantage | Undefined | None = None
    without: dict[str, AverageAdvantage | Undefined] = field(default_factory=dict)

    @property
    def rests_on(self) -> tuple[str, ...]:
        """The algorithms without which the verdict is no longer shown, the most influential first."""
        return () if isinstance(self.overall, Undefined) else rests_on(self.overall, self.without)


@dataclass(frozen=True, kw_only=True)
class Alternative:
    """One analysis of the specification curve: what it does differently from the plan, in words, and its result."""

    name: str
    result: AverageAdvantage | Undefined
