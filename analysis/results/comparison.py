"""The two sides compared: every variable with every metric, pairs decided, average advantage, contrast, matrix."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from analysis.enums import Metric, ScaleVariable, Variable, variable_of
from analysis.results.codec import stored
from analysis.results.rankings import ALPHA, OfVariable
from evaluation.reported_kinds import kind_word
from inference.average_advantage import AverageAdvantage, influential_algorithms
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
    def influential_algorithms(self) -> tuple[str, ...]:
        """The algorithms without which the verdict is no longer shown, the most influential first."""
        return () if isinstance(self.overall, Undefined) else influential_algorithms(self.overall, self.without)


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
class Comparison(OfVariable):
    """One variable with one metric over the conditions that have both, the larger value better on either side.

    `is_tested` is True for the primary pair where the rank correlation is the primary test. `decided` is
    None in reports of versions that decided pairs by other tests.
    """

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
class Equivalence(OfVariable):
    """Every pair of conditions, and the planned contrast, against the smallest effect of interest.

    The contrast is tested with Welch's standard error; None where none is planned or it has no such error.
    """

    alpha: float
    bound: float
    result: EquivalenceResult | Undefined
    contrast: BoundTest | None = None


@dataclass(frozen=True, kw_only=True)
class PlannedContrast(OfVariable):
    """The planned contrast of the primary variable, where it is the primary test."""

    test: TestedContrast = field(metadata=stored(is_flat=True))
    objective: ContrastedMetric | None = None


Direction = Literal["higher", "lower", "neither"]
KNOWN_USERS = "known users"  # the test users of a run that are not strangers to its models


@dataclass(frozen=True, kw_only=True)
class MatrixMetric:
    """One metric as a run stored it: a row of the matrix.

    `name` is the stored name, `label` the name within a sentence. `protocol` is empty for the run of the report; it
    names the protocol of another run of the same models, or the test users of another run of the same algorithms.
    `direction` says which values are better.
    """

    key: str
    name: str
    label: str
    protocol: str = ""
    profile_length: int
    direction: Direction
    values: dict[str, float | None]

    @property
    def sign(self) -> int:
        """-1 where lower values are better, so that larger is better on both sides; else 1."""
        return -1 if self.direction == "lower" else 1

    @property
    def in_text(self) -> str:
        """The whole name within a sentence."""
        protocol = f" ({self.protocol})" if self.protocol else ""
        profiles = f" with profiles of {self.profile_length} ratings" if self.profile_length else ""
        return f"{self.label}{protocol}{profiles}"

    @property
    def title(self) -> str:
        """The name as the head of a row."""
        label = f"{self.label[0].upper()}{self.label[1:]}"
        profiles = f"profiles of {self.profile_length} ratings" if self.profile_length else ""
        return ", ".join(part for part in (label, self.protocol, profiles) if part)


@dataclass(frozen=True, kw_only=True)
class MatrixCell:
    """One metric with one measure: a description without a test."""

    metric: str
    variable_key: str = field(metadata=stored("variable"))
    tau: AgreementResult | Undefined
    is_primary: bool = False


@dataclass(frozen=True, kw_only=True)
class Matrix:
    """All metrics by all measures; `cells` go through the measures of the first metric, then of the next."""

    variable_keys: tuple[str, ...] = field(metadata=stored("variables"))
    scale_variables: dict[str, ScaleVariable] = field(default_factory=dict, metadata=stored(is_omitted=True))
    metrics: tuple[MatrixMetric, ...]
    cells: tuple[MatrixCell, ...]

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The measures, in the order of the columns."""
        return tuple(variable_of(key, self.scale_variables) for key in self.variable_keys)

    def metric(self, cell: MatrixCell) -> MatrixMetric:
        """The metric of a cell."""
        return next(metric for metric in self.metrics if metric.key == cell.metric)

    def variable(self, cell: MatrixCell) -> Variable:
        """The measure of a cell."""
        return variable_of(cell.variable_key, self.scale_variables)
