"""Everything that a report computed, and what it was computed from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from analysis.enums import ScaleVariable
from analysis.results.choices import ChoicesOfCondition
from analysis.results.codec import stored
from analysis.results.comparison import Advantage, Alternative, Comparison, Equivalence, Matrix, PlannedContrast
from analysis.results.covariates import CovariateAnalyses
from analysis.results.exclusions import Exclusions
from analysis.results.factorial import Factorial
from analysis.results.follow_up import CorrelatedVariables, Effects, NoveltyCorrelation, Power, VariableEffects
from analysis.results.lists_shown import Dose, ListsShown
from analysis.results.objective import ObjectiveSide, OfflineMetric, Repeats
from analysis.results.perceived import Constructs, ItemsOfCondition, Liking, PerceivedVariable, QuestionnaireScale
from analysis.results.plan import Planned, ReportPlan
from analysis.results.sample import DesignCheck, Flow, Sample
from analysis.results.side_by_side import Preference
from inference.average_advantage import AverageAdvantage, ExploratoryFamily
from inference.item_effects import ItemEffectsResult
from inference.results import Undefined


@dataclass(frozen=True, kw_only=True)
class ConditionDigest:
    """The digest of a condition's model."""

    condition: str
    digest: str


@dataclass(frozen=True, kw_only=True)
class RunDigest:
    """The digest of what the run measured of one model at one profile length."""

    profile_length: int
    condition: str
    digest: str


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """The inputs of a report; `repetitions` are digests of the inputs and the results of each repetition of its run,
    `metric_runs` the same of each run of another protocol whose metrics the report compares. `sample_digest` is of all
    that the description of the participants rests on.
    """

    design_hash: str
    dataset: str
    dataset_version: int
    dataset_hash: str
    is_dataset_synthetic: bool
    models: tuple[ConditionDigest, ...]
    answers_digest: str
    run_inputs_hash: str
    run_cases_digest: str
    run_results: tuple[RunDigest, ...]
    mode: str
    study_seed: int
    run_seed: int
    bootstrap_seeds: tuple[tuple[str, int], ...]
    versions: tuple[tuple[str, str], ...]
    pilot_design: str = field(default="", metadata=stored(is_omitted=True))
    repetitions: tuple[tuple[str, str], ...] = field(default=(), metadata=stored(is_omitted=True))
    sample_digest: str = field(default="", metadata=stored(is_omitted=True))
    metric_runs: tuple[tuple[str, str], ...] = field(default=(), metadata=stored(is_omitted=True))
    completers_digest: str = field(default="", metadata=stored("everybody_digest", is_omitted=True))


FORMAT = 5
SCHEMA_NAME = "report.schema.json"
FEWEST_ANALYSED = 5  # participants in a condition that is compared
LIVE = "live"


@dataclass(frozen=True, kw_only=True)
class ItemWords:
    """What participants do with items, in the forms that sentences need, and whether items have trailers.

    The defaults are the words of films: reports from before there were item types are read with them.
    """

    consumed: str = "watched"  # past participle, with its preposition: listened to
    consumed_items: str = "watched items"
    other_items: str = "unwatched items"
    has_trailers: bool = True

    @classmethod
    def of(cls, consumed: str, *, has_trailers: bool) -> ItemWords:
        """The words of a participle. It follows its noun, which every participle can, except for films.

        Examples
        --------
        >>> ItemWords.of("listened to", has_trailers=False).other_items
        'items not listened to'
        """
        if consumed == cls.consumed:
            return cls(has_trailers=has_trailers)
        return cls(
            consumed=consumed,
            consumed_items=f"items {consumed}",
            other_items=f"items not {consumed}",
            has_trailers=has_trailers,
        )


@dataclass(frozen=True, kw_only=True)
class StudyFacts:
    """The study, as far as sentences name it.

    `taken_from` is the lowest rating that counts as usage; `elicitation` is stored where items were chosen, not rated,
    and `elicitation_scale` where they were rated on another scale than 1 to 5. Where participants decided how many
    items they rated or chose, `ratings_asked` is the fewest, `ratings_most` the most, and `ratings_median` the median
    number of the analysed participants. `listed` says how many items lists have where that differs between conditions.
    `not_asked` are those of the four measures whose questions the study leaves out.
    """

    slug: str
    title: str
    list_length: int
    ratings_asked: int
    taken_from: float | None = field(default=None, metadata=stored(is_omitted=True))
    words: ItemWords = field(default_factory=ItemWords, metadata=stored(is_omitted=True))
    elicitation: str | None = field(default=None, metadata=stored(is_omitted=True))
    elicitation_scale: str | None = field(default=None, metadata=stored(is_omitted=True))
    ratings_most: int | None = field(default=None, metadata=stored(is_omitted=True))
    ratings_median: float | None = field(default=None, metadata=stored(is_omitted=True))
    listed: str | None = field(default=None, metadata=stored(is_omitted=True))
    not_asked: tuple[str, ...] = field(default=(), metadata=stored(is_omitted=True))


@dataclass(frozen=True, kw_only=True)
class ConditionFacts:
    """A condition, its algorithm and the number of analysed participants.

    `is_of_titles` is stored where the model has no content but the words of the items' titles, `reads_order` where
    lists depend on the order of a profile, and `recommender`, the name that the comparison gives the model, where
    several conditions share one.
    """

    label: str
    algorithm: str
    params: dict[str, Any]
    n: int
    is_of_titles: bool = field(default=False, metadata=stored(is_omitted=True))
    reads_order: bool = field(default=False, metadata=stored(is_omitted=True))
    recommender: str = field(default="", metadata=stored(is_omitted=True))


@dataclass(frozen=True, kw_only=True)
class AnswerCounts:
    """Numbers of answers; `n_incomplete` are completers without every answer."""

    n: int
    n_modelled: int
    n_true: int
    n_incomplete: int


@dataclass(frozen=True, kw_only=True)
class Results:
    """Every number of a report with its test.

    What has a default may be missing in reports of older versions; what is left out at its default is stored only
    where there is something to say, so that the results of all other reports stay the same bytes. `left_out` are
    conditions with fewer analysed participants than a comparison needs, which no figure and no test contains.
    """

    format: int = FORMAT
    study: StudyFacts
    mode: str
    is_pilot: bool = field(default=False, metadata=stored(is_omitted=True))
    planted_effects: dict[str, Any] = field(default_factory=dict, metadata=stored(is_omitted=True))
    conditions: tuple[ConditionFacts, ...]
    left_out: tuple[ConditionFacts, ...] = field(default=(), metadata=stored(is_omitted=True))
    plan: ReportPlan
    planned: Planned | None = None
    flow: Flow
    exclusions: Exclusions | None = None
    sample: Sample | None = field(default=None, metadata=stored(is_omitted=True))
    answers: AnswerCounts
    scale_variables: dict[str, ScaleVariable] = field(default_factory=dict, metadata=stored(is_omitted=True))
    variables: tuple[PerceivedVariable, ...]
    power: Power | Undefined | None = None
    items: tuple[ItemsOfCondition, ...]
    liking: tuple[Liking, ...]
    effects: tuple[VariableEffects, ...] = ()
    scale_effects: tuple[Effects, ...] = field(default=(), metadata=stored(is_omitted=True))
    correlations: tuple[CorrelatedVariables, ...] = ()
    novelty: NoveltyCorrelation | None = None
    nested: ItemEffectsResult | Undefined | None = field(default=None, metadata=stored(is_omitted=True))
    scales: tuple[QuestionnaireScale, ...] = field(default=(), metadata=stored(is_omitted=True))
    constructs: Constructs | None = field(default=None, metadata=stored(is_omitted=True))
    covariates: CovariateAnalyses | None = field(default=None, metadata=stored(is_omitted=True))
    lists_shown: ListsShown | None = field(default=None, metadata=stored(is_omitted=True))
    choices: tuple[ChoicesOfCondition, ...] = field(default=(), metadata=stored(is_omitted=True))
    doses: tuple[Dose, ...] = field(default=(), metadata=stored(is_omitted=True))
    objective: ObjectiveSide
    offline_effects: tuple[OfflineMetric, ...] = field(default=(), metadata=stored(is_omitted=True))
    repeats: Repeats | None = field(default=None, metadata=stored(is_omitted=True))
    comparisons: tuple[Comparison, ...]
    matrix: Matrix | None = field(default=None, metadata=stored(is_omitted=True))
    advantage: Advantage | None = field(default=None, metadata=stored(is_omitted=True))
    design_checks: tuple[DesignCheck, ...] | None = field(default=None, metadata=stored(is_omitted=True))
    alternatives: tuple[Alternative, ...] = field(default=(), metadata=stored(is_omitted=True))
    exploratory: ExploratoryFamily | None = field(default=None, metadata=stored(is_omitted=True))
    contrast: PlannedContrast | None = field(default=None, metadata=stored(is_omitted=True))
    factorial: Factorial | None = field(default=None, metadata=stored(is_omitted=True))
    equivalence: Equivalence | None = field(default=None, metadata=stored(is_omitted=True))
    preferences: tuple[Preference, ...] = field(default=(), metadata=stored(is_omitted=True))  # the primary one first

    @property
    def is_live(self) -> bool:
        """Whether it is about people, not simulated participants."""
        return self.mode == LIVE

    @property
    def defined_alternatives(self) -> list[tuple[str, AverageAdvantage]]:
        """The analyses of the specification curve that have a result, the largest average advantage first."""
        analyses = [(each.name, each.result) for each in self.alternatives if isinstance(each.result, AverageAdvantage)]
        return sorted(analyses, key=lambda analysis: -analysis[1].value)

    @property
    def recommenders(self) -> dict[str, str]:
        """The recommender of each condition; empty where no two conditions share one."""
        return {facts.label: facts.recommender for facts in self.conditions if facts.recommender}

    @property
    def is_compared(self) -> bool:
        """Whether at least two conditions have enough analysed participants."""
        return sum(condition.n >= FEWEST_ANALYSED for condition in self.conditions) >= 2

    @property
    def primary(self) -> Comparison | None:
        """The comparison that the plan names, if both its sides exist."""
        return next((comparison for comparison in self.comparisons if comparison.is_primary), None)

    def variable(self, key: str) -> PerceivedVariable | None:
        """The results of one variable, if it was tested."""
        return next((variable for variable in self.variables if variable.key == key), None)
