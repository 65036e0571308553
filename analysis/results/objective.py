"""What a run measured of the same models at every profile length, effects by user, and repetitions of the run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from analysis.enums import Metric
from analysis.results.codec import stored
from analysis.results.rankings import ALPHA, Order
from evaluation.reported_kinds import ERRORS, HITS, tested_kinds
from evaluation.tables import POOLED
from inference.pair_decisions import OfflinePairs
from inference.paired import SignEffect
from inference.rank_sets import RankSets
from inference.repeats import RepeatedValue
from inference.results import Interval, SignTests, Undefined

KINDS = (*HITS, "precision", "f")
MEANS = "means over users"
FULL_RANKING = "full-ranking"
Bounds = tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class MetricValues:
    """The metrics of one condition, None where there is no value, with 95% bootstrap intervals over users.

    `errors` holds those of predicted ratings; it is empty with other protocols.
    """

    condition: str
    recall: float | None
    fallout: float | None
    precision: float | None
    f: float | None
    errors: dict[str, float | None] = field(default_factory=dict, metadata=stored(is_omitted=True))
    intervals: dict[str, Bounds | None]

    def value(self, kind: str) -> float | None:
        """One metric."""
        values: Mapping[str, float | None] = self.errors if kind in ERRORS else vars(self)
        return values[kind]


@dataclass(frozen=True, kw_only=True)
class MetricTests:
    """The comparisons of every two algorithms by one metric, and the order that they support.

    `pairs` is None in reports of versions that ordered the algorithms by sign tests alone.
    """

    n_users: int
    n_cases: int
    sign_tests: SignTests | Undefined
    pairs: OfflinePairs | Undefined | None = field(default=None, metadata=stored(is_omitted=True))
    order: Order


@dataclass(frozen=True, kw_only=True)
class PopularityThird:
    """Recall by condition among the hidden items of one third of the training ratings."""

    third: int  # 0 for the most popular items
    n_cases: int
    recall: dict[str, float]


@dataclass(frozen=True, kw_only=True)
class Coverage:
    """The shares of a run's test profiles, of its cases and of the items that a condition's lists cover."""

    profiles: float
    cases: float
    items: float


@dataclass(frozen=True, kw_only=True)
class ProfileLength:
    """What the run measured with profiles of this many ratings; 0 means whole profiles.

    `by_n` holds recall and fallout at N = 1, 2, 3, …; `served` holds recall and fallout of the lists as participants
    saw them, and the share of slots filled by popularity, where the run has them. With `is_by_user` values are means
    over users, and each user with a value counts as one case; else they pool the cases of all users. `errors` holds the
    tests of errors of predicted ratings; recall and fallout then have none. `rare` names the conditions whose recall or
    fallout rests on fewer than 10 events or non-events. `coverage` and `bounds` are of conditions that serve lists made
    elsewhere; `bounds` holds the lowest and the highest value of a metric by condition, whatever follows its lists.
    """

    profile_length: int
    alpha: float = ALPHA
    conditions: tuple[str, ...]
    table: tuple[MetricValues, ...]
    served: dict[str, dict[str, float]] = field(default_factory=dict)
    by_n: dict[str, dict[str, tuple[float | None, ...]]]
    recall: MetricTests
    fallout: MetricTests
    errors: dict[str, MetricTests] = field(default_factory=dict, metadata=stored(is_omitted=True))
    is_by_user: bool = field(default=False, metadata=stored(is_omitted=True))
    rare: dict[str, tuple[str, ...]] = field(default_factory=dict, metadata=stored(is_omitted=True))
    # From the most to the least popular items; empty where values are means over users, and in older reports.
    by_popularity: tuple[PopularityThird, ...] = field(default=(), metadata=stored(is_omitted=True))
    coverage: dict[str, Coverage] = field(default_factory=dict, metadata=stored(is_omitted=True))
    bounds: dict[str, dict[str, Bounds]] = field(default_factory=dict, metadata=stored(is_omitted=True))

    @property
    def averaged(self) -> str:
        """What the values are, as column headers say it."""
        return "mean" if self.is_by_user else "pooled"

    @property
    def aggregation(self) -> str:
        """How the values of single users are aggregated."""
        return MEANS if self.is_by_user else POOLED

    def tests(self, kind: str) -> MetricTests:
        """The tests of one metric."""
        return self.errors[kind] if kind in ERRORS else self.fallout if kind == "fallout" else self.recall

    def curves(self, kind: str) -> dict[str, list[float]]:
        """The lines over N of the conditions that have a value at every N."""
        lines = {name: self.by_n.get(kind, {}).get(name, ()) for name in self.conditions}
        return {
            name: [value for value in line if value is not None]
            for name, line in lines.items()
            if line and None not in line
        }

    def values(self, kind: str) -> dict[str, float | None]:
        """One metric by condition."""
        return {row.condition: row.value(kind) for row in self.table}

    def defined_values(self, kind: str) -> dict[str, float]:
        """The same, of the conditions that have a value."""
        return {name: value for name, value in self.values(kind).items() if value is not None}


@dataclass(frozen=True, kw_only=True)
class Candidates:
    """Unrated items beside each hidden rating: the fewest, the most, and the number that the protocol asks for."""

    fewest: int
    most: int
    target: int = field(metadata=stored("asked"))


@dataclass(frozen=True, kw_only=True)
class ObjectiveSide:
    """The run: its protocol, its cases, and its results at every profile length, whole profiles first."""

    n: int
    protocol: dict[str, Any]
    split: dict[str, Any]
    reserve: Any = None
    generality: float | None = None
    n_relevant: int | None = None
    n_irrelevant: int | None = None
    candidates: Candidates | None = field(default=None, metadata=stored(is_omitted=True))
    lengths: tuple[ProfileLength, ...]
    warnings: tuple[str, ...] = field(default=(), metadata=stored(is_omitted=True))  # on where models were learned

    @property
    def is_by_user(self) -> bool:
        """Whether values are means over users."""
        return any(length.is_by_user for length in self.lengths)

    @property
    def tested(self) -> tuple[str, ...]:
        """The metrics with tests, the main one first."""
        return tested_kinds(self.protocol)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The metrics of the tables."""
        return ERRORS if self.tested == ERRORS else KINDS

    def at(self, profile_length: int) -> ProfileLength:
        """The results at one profile length."""
        return next(length for length in self.lengths if length.profile_length == profile_length)


@dataclass(frozen=True, kw_only=True)
class OfflineEffect:
    """Two algorithms: the effect size of their sign test, and the difference of their values with its interval."""

    a: str
    b: str
    effect: SignEffect | Undefined
    difference: float
    interval: Interval | None


@dataclass(frozen=True, kw_only=True)
class OfflineMetric:
    """Effect sizes of every pair by one metric; differences have simultaneous intervals."""

    kind: str
    profile_length: int
    effects: tuple[OfflineEffect, ...]

    def metric(self, n: int) -> Metric:
        """The metric in lists of `n`."""
        return Metric(self.kind, self.profile_length, n)


@dataclass(frozen=True, kw_only=True)
class RepeatedCondition:
    """A condition's algorithm over the repetitions; `by_repetition` begins with the run of the report."""

    condition: str
    pooled: RepeatedValue
    by_repetition: tuple[float, ...]
    sd: float
    ranks: tuple[int, int]  # best and worst rank in any repetition


@dataclass(frozen=True, kw_only=True)
class PooledMetric:
    """One metric over all repetitions, with users as clusters.

    Sign tests compare each user's values over all repetitions; `same_ranking` counts the repetitions with the ranking
    of the run of the report, itself included.
    """

    n_users: int
    rows: tuple[RepeatedCondition, ...]
    sign_tests: SignTests | Undefined
    effects: tuple[OfflineEffect, ...]
    rank_sets: RankSets | Undefined
    same_ranking: int


@dataclass(frozen=True, kw_only=True)
class RepeatedMetric:
    """One metric at one profile length, or the reason why it is not pooled."""

    kind: str
    profile_length: int
    result: PooledMetric | Undefined = field(metadata=stored(is_flat=True))

    def metric(self, n: int) -> Metric:
        """The metric in lists of `n`."""
        return Metric(self.kind, self.profile_length, n)


@dataclass(frozen=True, kw_only=True)
class Repeats:
    """The run of the report, repeated with other splits and training seeds; `seeds` begin with its own."""

    seeds: tuple[int, ...]
    metrics: tuple[RepeatedMetric, ...]

    @property
    def n(self) -> int:
        """Number of repetitions, with the run of the report."""
        return len(self.seeds)
