"""Inference on the offline side: effect sizes by user, and repetitions with other splits and seeds."""

from __future__ import annotations

from dataclasses import dataclass, field

from analysis.enums import Metric
from analysis.results.codec import stored
from inference.paired import SignEffect
from inference.rank_sets import RankSets
from inference.repeats import RepeatedValue
from inference.results import Interval, SignTests, Undefined


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
