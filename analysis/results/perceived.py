"""What participants perceived: every test of each variable, what the means are made of, and the constructs."""

from __future__ import annotations

from dataclasses import dataclass, field

from analysis.enums import ScaleVariable, Variable, variable_of
from analysis.results.codec import stored
from analysis.results.in_turn import InTurnTests
from analysis.results.rankings import ALPHA, Order
from inference import results as inferred
from inference.factor_analysis import FactorModel, OmegaResult
from inference.invariance import InvarianceResult
from inference.reliability import ReliabilityResult
from inference.results import Undefined
from inference.structural import StructuralModel


@dataclass(frozen=True, kw_only=True)
class PostHocTests:
    """Every pair of conditions, adjusted within each test."""

    tukey: inferred.PairwiseResult | Undefined
    games_howell: inferred.PairwiseResult | Undefined
    dunn_holm: inferred.PairwiseResult | Undefined


@dataclass(frozen=True, kw_only=True)
class Orders:
    """The partial order that each post hoc test supports."""

    tukey: Order
    games_howell: Order
    dunn_holm: Order


@dataclass(frozen=True, kw_only=True)
class PerceivedVariable:
    """One dependent variable: descriptions, tests and orders.

    `points` are whole numbers, sorted by size, each a participant's value times `points_per_unit`; they are empty once
    answers were erased. One of the four variables has its own key; a planned scale of the questionnaire has ``scale.``
    and its key there. `detectable_difference` are the least and the largest difference of means, over all pairs, that
    the deciding test detects with 80% power; None in reports of versions that stored those of Tukey's test. `in_turn`
    is there where each participant met all conditions: tests of independent people are then undefined.
    """

    key: str
    name: str
    scale_variables: dict[str, ScaleVariable] = field(default_factory=dict, metadata=stored(is_omitted=True))
    alpha: float = ALPHA
    low: float
    high: float
    conditions: tuple[str, ...]
    points: dict[str, tuple[int, ...]]
    points_per_unit: int
    described: dict[str, inferred.Description]
    empty: tuple[str, ...]
    anova: inferred.AnovaResult | Undefined
    welch: inferred.WelchResult | Undefined
    welch_without_constant: inferred.WelchResult | Undefined | None = None
    brown_forsythe: inferred.SpreadResult | Undefined
    shapiro_residuals: inferred.NormalityResult | Undefined
    kruskal: inferred.KruskalResult | Undefined
    tests: PostHocTests
    orders: Orders
    detectable_difference: tuple[float, float] | None = field(
        default=None, metadata=stored("detectable_by_games_howell")
    )
    in_turn: InTurnTests | None = field(default=None, metadata=stored(is_omitted=True))

    @property
    def variable(self) -> Variable:
        """What is measured."""
        return variable_of(self.key, self.scale_variables)

    @property
    def pairs(self) -> inferred.PairwiseResult | Undefined:
        """Every pair of conditions by the test that decides."""
        return self.tests.games_howell if self.in_turn is None else self.in_turn.pairs

    @property
    def order(self) -> Order:
        """The partial order that these pairs support."""
        return self.orders.games_howell if self.in_turn is None else self.in_turn.order

    @property
    def test_name(self) -> str:
        """The test that decides, within a sentence."""
        return "Games-Howell" if self.in_turn is None else "the mixed model"


@dataclass(frozen=True, kw_only=True)
class FrequentItem:
    """An item that a condition recommended often."""

    title: str
    n: int
    mean_rating: float | None  # None in a study that asks for no ratings


@dataclass(frozen=True, kw_only=True)
class ItemsOfCondition:
    """How many distinct items a condition recommended, and the most frequent of them.

    A few items dominate where as many of the most frequent items as one list holds make up half of all slots.
    """

    condition: str
    n_slots: int
    n_distinct: int
    share_of_most_shown: float | None
    is_dominated_by_few: bool = field(metadata=stored("is_carried_by_few"))
    n_filled: int
    top: tuple[FrequentItem, ...]


@dataclass(frozen=True, kw_only=True)
class Liking:
    """Ratings of watched items (liking) and of the others (expected interest) in one condition."""

    condition: str
    n_watched: int
    n_not_watched: int
    share_watched: float | None
    liking: float | None
    interest: float | None
    branches: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class QuestionnaireScale:
    """One scale of the questionnaire: reliability over all participants, means by condition, analysis of variance."""

    key: str
    is_planned: bool = False
    name: str
    low: float
    high: float
    questions: tuple[str, ...]
    n_scored: int
    n: int
    conditions: tuple[str, ...]
    reliability: ReliabilityResult | Undefined
    described: dict[str, inferred.Description]
    anova: inferred.AnovaResult | Undefined


@dataclass(frozen=True, kw_only=True)
class ScaleConstruct:
    """One scale of at least three questions; `across_languages` is None where all participants used one language."""

    key: str
    name: str
    omega: OmegaResult | Undefined
    across_conditions: InvarianceResult | Undefined
    across_languages: InvarianceResult | Undefined | None = None


@dataclass(frozen=True, kw_only=True)
class Constructs:
    """The scales of at least three questions, as factors of one model."""

    scales: tuple[ScaleConstruct, ...]
    factors: FactorModel | Undefined
    structural: StructuralModel | Undefined
