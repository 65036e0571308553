"""Metrics of the lists that participants saw, by condition, and how they go together with the measures."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType

from analysis.enums import ScaleVariable, Variable, variable_of
from analysis.results.codec import stored
from inference.correlation import CorrelationResult
from inference.results import AgreementResult, Undefined


@dataclass(frozen=True)
class ListMetric:
    """A metric of one list: its name, its name within a sentence, and its unit; `digits` are the decimals printed."""

    key: str
    name: str
    in_text: str
    unit: str = ""
    digits: int = 2
    is_share: bool = False

    @property
    def title(self) -> str:
        """The name with its unit, as a heading."""
        return f"{self.name} ({self.unit})" if self.unit else self.name


LIST_METRICS = (
    ListMetric("popularity", "Popularity", "list popularity", "% of training users", digits=1),
    ListMetric("diversity", "Diversity", "list diversity", is_share=True),
    ListMetric("novelty", "Novelty", "list novelty", "bits"),
    ListMetric("predicted_rating", "Predicted rating", "predicted rating", "rating scale of the dataset"),
    ListMetric("overlap_within", "Overlap within", "overlap within the condition", "same condition", is_share=True),
    ListMetric("overlap_between", "Overlap between", "overlap between conditions", "other conditions", is_share=True),
)
LIST_METRIC_OF = MappingProxyType({metric.key: metric for metric in LIST_METRICS})


@dataclass(frozen=True, kw_only=True)
class ListMean:
    """A metric over the lists of one condition, with the 95% limits of its mean; `n` are the lists with a value."""

    condition: str
    n: int
    mean: float | None = None
    sd: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None


@dataclass(frozen=True, kw_only=True)
class MeasuredLists:
    """One metric of all lists, by condition; `n_without` are the lists that have no value of it."""

    metric: str
    n_without: int
    conditions: tuple[ListMean, ...]


@dataclass(frozen=True, kw_only=True)
class CorrelatedLists:
    """A metric of the lists with one measure.

    `within` pools the deviations of participants from the mean of their condition, `between` is Kendall's τ_b of the
    means of the conditions.
    """

    metric: str
    variable_key: str = field(metadata=stored("variable"))
    within: CorrelationResult | Undefined
    p_holm_within: float | None
    between: AgreementResult | Undefined
    p_holm_between: float | None


DOSE_METRICS = ("diversity", "popularity", "novelty")
SMALLEST_DOSE = 0.2  # standard deviations of a list metric, below which lists count as unchanged


@dataclass(frozen=True, kw_only=True)
class ListChange:
    """How the lists of a re-ranked condition differ from those of its base in one metric; `in_sd` is in standard
    deviations within both conditions, None where these are unknown, or 0 and the means differ.
    """

    metric: str
    base_mean: float | None
    mean: float | None
    in_sd: float | None


@dataclass(frozen=True, kw_only=True)
class Dose:
    """A re-ranked condition with its planned dose λ and what it did to the lists; `base` is the condition with the same
    model and no re-ranking, empty where there is none.
    """

    condition: str
    base: str
    strength: float
    changes: tuple[ListChange, ...] = ()

    @property
    def is_unchanged(self) -> bool:
        """Whether every difference is below the smallest that counts; metrics without a value do not count."""
        measured = [each for each in self.changes if each.mean is not None and each.base_mean is not None]
        return bool(measured) and all(
            change.in_sd is not None and abs(change.in_sd) < SMALLEST_DOSE for change in measured
        )


@dataclass(frozen=True, kw_only=True)
class ListsShown:
    """All metrics by condition, and their correlations with all measures: one exploratory family corrected by Holm.

    `n_family` counts the correlations that have a p. `diversity_by` is "features" or "co-rating". `unscored` says of
    each condition without predicted ratings why it has none.
    """

    alpha: float
    n: int
    n_family: int
    diversity_by: str
    unscored: dict[str, str]
    variable_keys: tuple[str, ...] = field(metadata=stored("variables"))
    scale_variables: dict[str, ScaleVariable] = field(default_factory=dict, metadata=stored(is_omitted=True))
    metrics: tuple[MeasuredLists, ...]
    correlations: tuple[CorrelatedLists, ...]

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The measures, in their order."""
        return tuple(variable_of(key, self.scale_variables) for key in self.variable_keys)

    def variable(self, pair: CorrelatedLists) -> Variable:
        """The measure of a pair."""
        return variable_of(pair.variable_key, self.scale_variables)

    def is_significant(self, p_holm: float | None) -> bool:
        """Whether a corrected p is below the level."""
        return p_holm is not None and p_holm < self.alpha

    @property
    def significant_within(self) -> tuple[CorrelatedLists, ...]:
        """The pairs that are significantly correlated within conditions, the smallest p first."""
        pairs = [pair for pair in self.correlations if self.is_significant(pair.p_holm_within)]
        return tuple(sorted(pairs, key=lambda pair: pair.p_holm_within or 0.0))

    @property
    def significant_between(self) -> tuple[CorrelatedLists, ...]:
        """The pairs whose condition means are significantly correlated, the smallest p first."""
        pairs = [pair for pair in self.correlations if self.is_significant(pair.p_holm_between)]
        return tuple(sorted(pairs, key=lambda pair: pair.p_holm_between or 0.0))
