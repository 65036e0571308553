"""What covariates, losses, items and lists add to the comparison of the conditions."""

from __future__ import annotations

from dataclasses import dataclass

from inference.aggregation import AggregationResult
from inference.ancova import AncovaResult
from inference.attrition import AttritionResult
from inference.attrition_bounds import Bounds
from inference.clusters import ClusterResult
from inference.correlation import CorrelationResult
from inference.item_effects import AdjustedItems
from inference.mediation import MediationResult
from inference.results import Undefined


@dataclass(frozen=True, kw_only=True)
class AdjustedVariable:
    """A variable compared without and with the covariates; `interviewers` is None in a study without any."""

    key: str
    name: str
    ancova: AncovaResult | Undefined
    interviewers: ClusterResult | Undefined | None = None


@dataclass(frozen=True, kw_only=True)
class Adjustment:
    """The comparisons adjusted for stratification factors and declared covariates, of which there may be none."""

    factors: tuple[str, ...]
    covariates: tuple[str, ...]
    variables: tuple[AdjustedVariable, ...]
    ratings: AdjustedItems | Undefined | None  # None in a study that asks for no ratings of items


@dataclass(frozen=True, kw_only=True)
class AttritionPair:
    """The observed difference of two conditions in the primary variable, and what the losses leave possible."""

    a: str
    b: str
    observed: float
    worst_case: Bounds | Undefined
    lee: Bounds | Undefined


@dataclass(frozen=True, kw_only=True)
class Attrition:
    """Participants lost after assignment: who left, withdrew or was excluded; `pairs` are of the primary variable."""

    test: AttritionResult | Undefined
    variable: str
    low: float
    high: float
    pairs: tuple[AttritionPair, ...]


@dataclass(frozen=True, kw_only=True)
class ItemView:
    """Ratings of single items by whether the participant knows the item."""

    model: AdjustedItems | Undefined
    watched: AggregationResult | Undefined
    known: AggregationResult | Undefined


@dataclass(frozen=True, kw_only=True)
class ListCorrelation:
    """A characteristic of lists with one variable: among participants of a condition, and between conditions."""

    characteristic: str
    variable: str
    within: CorrelationResult | Undefined
    between: CorrelationResult | Undefined


@dataclass(frozen=True, kw_only=True)
class ListsOfCondition:
    """Means over the participants of a condition; None where there is no value."""

    condition: str
    n: int
    popularity: float | None
    diversity: float | None


@dataclass(frozen=True, kw_only=True)
class ListEffects:
    """Popularity and diversity of the lists that participants saw, and what goes along with them.

    `diversity_by` is "features" or "co-rating"; `n_without` are participants whose list has no diversity.
    """

    diversity_by: str
    n_without: int
    variable: str
    conditions: tuple[ListsOfCondition, ...]
    correlations: tuple[ListCorrelation, ...]
    mediation: MediationResult | Undefined


@dataclass(frozen=True, kw_only=True)
class CovariateAnalyses:
    """All of them; None where a study has nothing to analyse."""

    adjustment: Adjustment
    attrition: Attrition | None
    items: ItemView | None  # None in a study that does not ask for ratings and novelty of items
    lists: ListEffects | Undefined
