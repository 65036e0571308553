"""The two sides compared: every variable with every metric, every pair decided, the average advantage, the contrast."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from analysis.enums import Metric, Variable
from analysis.results.codec import stored
from analysis.results.perceived import ALPHA
from analysis.results.variables import ScaleVariable, variable_of
from evaluation.reported_kinds import kind_word
from inference.average_advantage import AverageAdvantage, rests_on
from inference.contrasts import ContrastResult
from inference.equivalence import BoundTest, EquivalenceResult
from inference.pair_decisions import PairClass, PairDecision
from inference.rank_sets import RankSets
from inference.results import AgreementResult, Undefined


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


Half = Literal["perceived", "objective"]
HALVES: tuple[Half, Half] = ("perceived", "objective")


@dataclass(frozen=True, kw_only=True)
class Ranks:
    """Rank of each condition on either side, 1 the best."""

    perceived: dict[str, float]
    objective: dict[str, float]

    def of(self, half: Half) -> dict[str, float]:
        """The ranks of one side."""
        return self.perceived if half == "perceived" else self.objective


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """One variable with one metric over the conditions that have both, the larger value better on either side.

    `is_tested` is True for the primary pair where the rank correlation is the primary test. `decided` is
    None in reports of versions that decided pairs by other tests.
    """

    variable_key: str = field(metadata=stored("variable"))
    scale_variables: dict[str, ScaleVariable] = field(default_factory=dict, metadata=stored(is_omitted=True))
    metric_key: str = field(metadata=stored("metric"))
    kind: str
    alpha: float = ALPHA
    profile_length: int
    higher_is_better: bool
    conditions: tuple[str, ...]
    ranks: Ranks
    tau: AgreementResult | Undefined
    rho: AgreementResult | Undefined
    decided: DecidedPairs | Undefined | None = field(default=None, metadata=stored(is_omitted=True))
    is_primary: bool
    is_tested: bool = field(default=True, metadata=stored(is_omitted=True))

    @property
    def variable(self) -> Variable:
        """The perceived side."""
        return variable_of(self.variable_key, self.scale_variables)

    def metric(self, n: int) -> Metric:
        """The objective side, in lists of `n`."""
        return Metric(self.kind, self.profile_length, n)

    @property
    def metric_word(self) -> str:
        """The metric without its list length, within a sentence."""
        return kind_word(self.kind)

    def pairs(self, decision: PairClass) -> tuple[PairDecision, ...]:
        """The pairs of algorithms in this class; none in reports of versions that did not decide them."""
        return self.decided.of(decision) if isinstance(self.decided, DecidedPairs) else ()


@dataclass(frozen=True, kw_only=True)
class TestedContrast:
    """The planned contrast over some answers, or the reason why it has no result."""

    higher: tuple[str, ...]
    lower: tuple[str, ...]
    sides: int
    alpha: float
    result: ContrastResult | Undefined = field(metadata=stored(is_flat=True))

    @property
    def is_significant(self) -> bool:
        """Whether the planned test is below its level."""
        return not isinstance(self.result, Undefined) and self.result.pooled.p < self.alpha


@dataclass(frozen=True, kw_only=True)
class ContrastedMetric:
    """The primary metric over the same two sets of conditions; it is described and not tested."""

    metric_key: str = field(metadata=stored("metric"))
    kind: str
    profile_length: int
    higher_mean: float
    lower_mean: float
    is_better: bool | None


@dataclass(frozen=True, kw_only=True)
class Equivalence:
    """Every pair of conditions, and the planned contrast, against the smallest effect of interest.

    The contrast is tested with Welch's standard error; None where none is planned or it has no such error.
    """

    variable_key: str = field(metadata=stored("variable"))
    scale_variables: dict[str, ScaleVariable] = field(default_factory=dict, metadata=stored(is_omitted=True))
    alpha: float
    bound: float
    result: EquivalenceResult | Undefined
    contrast: BoundTest | None = None

    @property
    def variable(self) -> Variable:
        """The perceived side."""
        return variable_of(self.variable_key, self.scale_variables)


@dataclass(frozen=True, kw_only=True)
class PlannedContrast:
    """The planned contrast of the primary variable, where it is the primary test."""

    variable_key: str = field(metadata=stored("variable"))
    scale_variables: dict[str, ScaleVariable] = field(default_factory=dict, metadata=stored(is_omitted=True))
    test: TestedContrast = field(metadata=stored(is_flat=True))
    objective: ContrastedMetric | None = None

    @property
    def variable(self) -> Variable:
        """The perceived side."""
        return variable_of(self.variable_key, self.scale_variables)
