"""The settings of a study: every choice of its design that is not a question, a text or a condition.

A study stores them as JSON under `Study.settings`, which the design hash is over; `Study.design` gives them as
`StudySettings`. A setting that is not stored has the default below, so that studies from before a setting keep their
hash. Titles and descriptions are those of the console's forms.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Annotated, Any, Literal, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PlainSerializer,
    PlainValidator,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticKnownError

from catalog.item_types import DEFAULT, ITEM_TYPES, ItemType, item_type
from catalog.item_words import FORMS, GENDERS
from core.errors import ParameterError
from core.field_problems import FieldProblems, Path, Problem, problems_of
from evaluation.reported_kinds import ERRORS, HITS
from studies.flow_pages import FlowPages, read_flow
from studies.known_items import FIVE_STARS, MOST_ASKED, SCALES, ElicitationScale, ItemsAsked
from studies.presentation import Factor, Presentation, factor_problems

PERCEIVED = ("accuracy", "fon", "son", "satisfaction")
SCALE_PREFIX = "scale."  # prefix of scale variables, as in export columns
FLAGS = ("too_fast", "straight_lined", "all_ratings_alike", "attention_failed", "same_external_id", "contradictory")
FEWEST_IN_ONE_DIRECTION = 10  # fewer equal answers to statements keyed the same way may be honest
METRICS = (*HITS, *ERRORS)  # on whole profiles, or on so many ratings: recall@profile5
_METRIC = re.compile(rf"(?:{'|'.join(METRICS)})(?:@profile[1-9]\d{{0,3}})?")
LOWEST_ALPHA, HIGHEST_ALPHA = 0.0001, 0.2
MEDIUM = 0.25  # Cohen's convention, where a plan states no other effect
LONGEST_NOUN = 40
LONGEST_PREPARATION = 60  # seconds
REST = "all others"
USED = 1  # the stored value of a chosen item: the single point of usage data
DEFAULT_TAKEN_FROM = 4  # of five stars
# A design names these settings even where they have the default; the others came later or are optional.
REQUIRED = (
    "ratings_asked",
    "list_length",
    "item_order",
    "idle_minutes",
    "block_multiples",
    "strata",
    "primary",
    "languages",
)
TRIAL = ("simulated_per_condition", "planted_effects")  # of simulated participants: no part of the design

Elicitation = Literal["stars", "choice"]
Behaviour = Literal["opened", "played"]
OPENED, PLAYED = get_args(Behaviour)  # details of recommended items, and their samples
ItemOrder = Literal["random", "popularity", "title", "strata", "entropy0", "pop-entropy"]
MethodName = Literal["permuted_blocks", "minimisation", "least_filled", "simple"]
Interviewers = Literal["crossed", "nested"]
ELICITATIONS: tuple[str, ...] = get_args(Elicitation)
ITEM_ORDERS: tuple[str, ...] = get_args(ItemOrder)


def _number(value: Any, check: ValidatorFunctionWrapHandler) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise PydanticKnownError("float_type")
    check(value)
    return value


# A finite number. A whole one stays whole: it is stored and shown as it was given, and the design hash is over it.
Number = Annotated[float, Field(allow_inf_nan=False), WrapValidator(_number), PlainSerializer(lambda value: value)]
Whole = Annotated[int, Field(strict=True)]


def _distinct(values: tuple[str, ...]) -> tuple[str, ...]:
    if len(set(values)) < len(values):
        raise ParameterError(f"Each is named once; got {', '.join(values)}.")
    return values


_as_json = json.JSONEncoder(default=str).encode
Keys = Annotated[tuple[str, ...], AfterValidator(_distinct)]


class _Settings(BaseModel):
    """A group of settings: unknown names are refused, and nothing is converted."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    def stored(self) -> dict[str, Any]:
        """The settings as JSON values, without those that were not given."""
        return self.model_dump(mode="json", exclude_unset=True)


class Thresholds(_Settings):
    """Thresholds of the quality flags."""

    fastest_seconds: Number = Field(
        default=60.0,
        ge=0,
        title="Too fast below, seconds",
        description="From consent to the end; 0 for no such limit.",
    )
    fastest_share: Annotated[Number, Field(ge=0, le=1)] = 1 / 3  # of the study's median time; 0 for no limit
    alike_items: Whole = Field(
        default=3,
        ge=2,
        title="Straight-lining threshold (items)",
        description="At least this number of recommended items, all answered alike.",
    )
    alike_statements: Whole = Field(
        default=6,
        ge=2,
        title="Straight-lining threshold (statements)",
        description="At least this number of one block, all on the same point although some are reverse-scored; "
        f"without reverse-scored statements, at least {FEWEST_IN_ONE_DIRECTION}.",
    )
    alike_ratings: Whole = Field(
        default=6,
        ge=2,
        title="Identical ratings threshold",
        description="Ratings of known and of recommended items together; chosen items have no rating and do not count.",
    )

    def fewest_statements(self, *, is_mixed: bool) -> int:
        """Return the number of equal answers that counts as straight-lining.

        `is_mixed`: only some of the statements are reverse-scored.
        """
        return self.alike_statements if is_mixed else max(self.alike_statements, FEWEST_IN_ONE_DIRECTION)


class AnalysisPlan(_Settings):
    """The decisions about an analysis that precede data collection; variables and flags are in canonical order."""

    alpha: Annotated[Number, Field(ge=LOWEST_ALPHA, le=HIGHEST_ALPHA)] = Field(
        default=0.05, title="Level α", description="Of every test and order of the report. .05 by convention."
    )
    variables: Keys = Field(
        default=PERCEIVED,
        title="Variables that are tested",
        description="Each forms its own family of tests. The primary variable is one of them, or a planned scale or "
        "question. The questionnaire has to ask the questions that they are computed from.",
    )
    scales: Keys = Field(
        default=(),
        title="Planned scales of the questionnaire",
        description="Each is tested like the variables above. Other scales are exploratory.",
    )
    outcomes: Keys = Field(
        default=(),
        title="Planned questions of the questionnaire",
        description="Single questions after the list that are answered by a number, each tested like a planned scale. "
        "One about every item counts by the participant's mean over the items.",
    )
    exclude: Keys = Field(
        default=(),
        title="Exclude from the analysis participants with one of these flags",
        description="If nothing is ticked, only participants you exclude by hand are excluded, and the report lists "
        "that as a deviation from the plan.",
    )
    exclude_words: str = Field(
        default="",
        max_length=2000,
        title="Other exclusion rule, in your own words",
        description="For criteria no flag covers. Apply it by hand, without looking at conditions or outcomes.",
    )
    resamples: Whole = Field(
        default=20_000,
        ge=200,
        le=100_000,
        title="Bootstrap resamples",
        description="For the intervals of means and the stability of ranks and of the correlation.",
    )
    # Questions before assignment, beside the stratification factors.
    covariates: Keys = Field(
        default=(),
        title="Covariates",
        description="Answers before assignment that the adjusted comparisons use, beside the stratification factors. "
        "Choose those that predict the primary variable.",
    )

    @field_validator("variables", "exclude")
    @classmethod
    def _in_order(cls, names: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        what, known = {"variables": ("perceived variable", PERCEIVED), "exclude": ("quality flag", FLAGS)}[
            str(info.field_name)
        ]
        if unknown := [name for name in names if name not in known]:
            raise ParameterError(f"There is no {what} {unknown[0]!r}; they are {', '.join(known)}.")
        return tuple(name for name in known if name in names)

    @property
    def tested(self) -> tuple[str, ...]:
        return (*self.variables, *(f"{SCALE_PREFIX}{key}" for key in self.scales), *self.outcomes)

    @model_validator(mode="after")
    def _tests_something(self) -> AnalysisPlan:
        if not self.tested:
            raise ParameterError("The plan tests nothing. Name at least one variable, scale or question.")
        return self

    def in_full(self) -> dict[str, Any]:
        """The plan with its defaults, as a launch freezes it."""
        plain = self.model_dump(mode="json")
        plain["alpha"] = float(self.alpha)
        for later in ("covariates", "outcomes"):  # plans without them stay the same bytes as before they existed
            if not plain[later]:
                del plain[later]
        return plain


class Contrast(_Settings):
    """A planned contrast as the primary test: the primary variable in one set of conditions against another."""

    # `higher`, `lower`: labels of conditions; those of `higher` are expected to have the larger mean
    higher: tuple[str, ...] = Field(
        title="Planned contrast: conditions expected to be higher",
        description="Such as the conditions with the better offline metric. Several count alike, by the mean of their "
        "means.",
    )
    lower: tuple[str, ...] = Field(title="Planned contrast: conditions expected to be lower")
    # 1 for a one-sided test in that direction, 2 for a two-sided test
    sides: Literal[1, 2] = Field(default=2, title="Planned contrast: sides of the test")

    @model_validator(mode="after")
    def _names_each_once(self) -> Contrast:
        if not self.higher or not self.lower:
            raise ParameterError(
                "A planned contrast names at least one condition expected to be higher and one expected to be lower."
            )
        labels = (*self.higher, *self.lower)
        if twice := next((label for label in labels if labels.count(label) > 1), ""):
            raise ParameterError(f"A planned contrast names each condition once; got {twice!r} twice.")
        return self

    def check(self, labels: Sequence[str]) -> None:
        """Raise ParameterError for a condition that the study does not have."""
        if unknown := next((label for label in (*self.higher, *self.lower) if label not in labels), ""):
            raise ParameterError(
                f"The planned contrast names {unknown!r}, which is no condition of the study; they are "
                f"{', '.join(labels)}."
            )


class Effect(_Settings):
    """A planned effect as the primary test: of a factor, of two factors together, or of doses; one of the three."""

    factor: str = ""
    levels: tuple[str, ...] = ()  # of the factor, the first against the second; where it has two, may be left out
    interaction: tuple[str, ...] = ()
    trend: Literal["strength"] | None = None  # over the strengths of one re-ranking

    @model_validator(mode="after")
    def _is_one(self) -> Effect:
        if sum(map(bool, (self.factor, self.interaction, self.trend))) != 1:
            raise ParameterError("A planned effect has one of factor, interaction and trend.")
        if self.interaction and len(set(self.interaction)) != 2:
            raise ParameterError("A planned interaction names two different factors.")
        if self.levels and (not self.factor or len(set(self.levels)) != 2):
            raise ParameterError("A planned effect of a factor, and no other, states two different levels, or none.")
        return self

    @property
    def words(self) -> str:
        """The effect within a sentence."""
        if self.trend:
            return "the linear trend over the strength of the re-ranking"
        if self.interaction:
            return f"the interaction of {' and '.join(self.interaction)}"
        return f"the effect of {self.factor}{f', {self.levels[0]} against {self.levels[1]}' if self.levels else ''}"


class Primary(_Settings):
    """The one pair of a perceived variable and an offline metric that the study is about, and how it is tested."""

    perceived: str = Field(
        title="Primary perceived variable",
        description="With the offline metric it is the one pair that the study is about; every other is exploratory. A "
        "scale or question of the questionnaire can be primary where the plan names it.",
    )
    objective: str = Field(title="Primary offline metric")
    contrast: Contrast | None = None
    effect: Effect | None = None
    # In points of the variable.
    smallest_effect: Annotated[Number, Field(gt=0)] | None = Field(
        default=None,
        title="Smallest effect of interest, in points of the primary variable",
        description="An average advantage within it counts as no relevant relation. Differences below it count as "
        "practically the same: the report tests every pair for equivalence and for a minimum effect. Novelty is a "
        "share: 0.1 is 10 percentage points. Empty: no such tests.",
    )

    @field_validator("perceived")
    @classmethod
    def _is_measured(cls, perceived: str) -> str:
        if perceived not in PERCEIVED and "." not in perceived:
            raise ParameterError(
                f"The primary perceived variable is one of {', '.join(PERCEIVED)}, or a planned scale or question, "
                f"such as {SCALE_PREFIX}trust or overall.difficulty; got {perceived!r}."
            )
        return perceived

    @model_validator(mode="after")
    def _has_one_test(self) -> Primary:
        if self.contrast is not None and self.effect is not None:
            raise ParameterError("A plan has one primary test: leave out the contrast or the effect.")
        return self

    @field_validator("objective")
    @classmethod
    def _is_metric(cls, objective: str) -> str:
        if _METRIC.fullmatch(objective) is None:
            raise ParameterError(
                f"The primary objective metric is one of {', '.join(METRICS)}, or one of them on short profiles, such "
                f"as recall@profile5; got {objective!r}."
            )
        return objective


class StratumGroup(_Settings):
    """Answers that count as one level of a stratification factor."""

    name: str
    values: tuple[Any, ...]


class StratumRule(_Settings):
    """A stratification factor: a question whose answers are grouped, or whose whole numbers fall into bands.

    Values outside every group belong to the rest; a number outside every band belongs to the band below it, or to the
    first.
    """

    question: str
    groups: tuple[StratumGroup, ...] | None = None
    bands: tuple[tuple[Whole, Whole], ...] | None = None  # in ascending order, both ends included
    rest: str = REST

    @model_validator(mode="after")
    def _has_levels(self) -> StratumRule:
        if (self.groups is not None) == bool(self.bands):
            raise ParameterError(f"The stratum by {self.question!r} has either groups or bands.")
        ends = [end for band in self.bands or () for end in band]
        if ends != sorted(ends):
            raise ParameterError(f"The bands of the stratum by {self.question!r} do not rise: {self.bands}.")
        levels = self.levels
        if len(levels) != len(set(levels)) or any(not level or "," in level for level in levels):
            raise ParameterError(
                f"The strata by {self.question!r} need different names without commas; got {list(levels)}."
            )
        return self

    @property
    def levels(self) -> tuple[str, ...]:
        """The names of the groups or bands, in order; "not given" is no level of a design."""
        if self.groups is not None:
            return (*(group.name for group in self.groups), self.rest)
        return tuple(f"{low}-{high}" for low, high in self.bands or ())


class QuotaTest(_Settings):
    """A test on one answer: whether it is one of the values, or a whole number in the band, both ends included."""

    question: str = Field(min_length=1)
    values: tuple[Any, ...] = ()
    band: tuple[Whole, Whole] | None = None

    @model_validator(mode="after")
    def _has_one_kind(self) -> QuotaTest:
        if bool(self.values) == (self.band is not None) or (self.band is not None and self.band[0] > self.band[1]):
            raise ParameterError("A quota needs a question with values or a rising band.")
        return self

    def meets(self, value: Any) -> bool:
        """Whether an answer meets the test; a missing one meets none."""
        if value is None:
            return False
        if self.band is None:
            return value in self.values
        low, high = self.band
        return not isinstance(value, bool) and isinstance(value, int) and low <= value <= high


class Quota(_Settings):
    """A limit on the number of participants whose answers meet every test."""

    name: str = ""  # shown in the console
    most: Whole = Field(ge=0)  # maximum number of slots
    where: tuple[QuotaTest, ...] = Field(min_length=1)

    def counts(self, answers: Mapping[str, Any]) -> bool:
        """Return whether a participant with these answers counts towards the quota.

        Examples
        --------
        >>> women = QuotaTest(question="gender", values=("woman",))
        >>> Quota(name="women", most=105, where=(women,)).counts({"gender": "woman"})
        True
        """
        return all(test.meets(answers.get(test.question)) for test in self.where)


def _item_word(word: str) -> str:
    if "{" in word:
        raise ParameterError(f"A word of the item noun has no braces; got {word!r}.")
    return word


Word = Annotated[str, Field(max_length=LONGEST_NOUN), AfterValidator(_item_word)]


class StudySettings(_Settings):
    """All settings of a study."""

    ratings_asked: Whole = Field(default=5, ge=1, le=MOST_ASKED, title="Known items to rate or choose")
    ratings_most: Whole | None = Field(
        default=None,
        ge=1,
        le=MOST_ASKED,
        title="Known items at most",
        description="Empty: exactly the number above. With a higher one, participants can continue up to it.",
    )
    elicitation: Elicitation = Field(
        default="stars",
        title="What participants do with items they know",
        description="Choosing is for usage data: a chosen item enters the profile as used, and has no rating.",
    )
    elicitation_scale: str = Field(
        default=FIVE_STARS.key,
        title="Scale of their ratings",
        description="Of items that participants know. Each rating is mapped linearly to the scale of the dataset, end "
        "point to end point. Recommendations are always rated from 1 to 5.",
    )
    taken_from: Number | None = Field(
        default=None,
        title="Usage threshold",
        description="A rating on the scale above. The dataset holds usage data. Items rated this high or higher enter "
        "the profile as taken; items rated lower stay out of it, and are not recommended either. Without a taken item "
        "the list is filled by popularity.",
    )
    list_length: Whole = Field(default=5, ge=1, le=20, title="Recommendations")
    item_order: ItemOrder = Field(default="random", title="Order in which items are first shown")
    idle_minutes: Whole = Field(
        default=60,
        ge=1,
        le=60 * 24 * 30,
        title="Idle minutes",
        description="After these a participant's slot opens again.",
    )
    # Of every list, where one recommender is remote; None before a launch has measured the remote ones.
    preparation_seconds: Annotated[Number, Field(ge=0, le=LONGEST_PREPARATION)] | None = Field(
        default=None,
        title="Preparation of the lists, seconds",
        description="Where one recommender is remote, every participant waits at least so long for their list, so that "
        "waiting does not tell the conditions apart. Empty: as long as nine of ten answers at the launch, and 1 s.",
    )
    sent_answers: Keys = Field(
        default=(),
        title="Answers sent to remote recommenders",
        description="Of questions before the ratings, with each request for a list. The consent text has to quote the "
        "questions. Answers that identify a person or are in own words are never sent.",
    )
    # Assignment to conditions.
    method: MethodName = Field(default="permuted_blocks", title="Method of assignment")
    minimisation_probability: Annotated[Number, Field(ge=0, le=1)] = Field(
        default=0.8,
        title="Probability of the best condition",
        description="For minimisation, from 0 to 1. At 1, only ties are random.",
    )
    # Sizes of a block in multiples of the smallest block; one is drawn per block.
    block_multiples: tuple[Annotated[Whole, Field(ge=1, le=10)], ...] = Field(
        default=(1,),
        min_length=1,
        title="Repetitions of each condition per block",
        description="For permuted blocks, in proportion to its target. With several, such as 1, 2, 3, the size is "
        "drawn for each block, so that the end of a block cannot be predicted.",
    )
    # Slots of each condition in the smallest block; empty for one each.
    block_weights: tuple[Annotated[Whole, Field(ge=1)], ...] = ()
    strata: tuple[StratumRule, ...] = ()
    # For each question, the expected share of participants at each level; equally likely without.
    expected_shares: dict[str, dict[str, Annotated[Number, Field(ge=0)]]] = {}
    merge_below: Annotated[Number, Field(ge=0, le=0.5)] = 0.0  # strata with a smaller expected share are merged
    quotas: tuple[Quota, ...] = ()
    interviewers: Interviewers = Field(
        default="crossed",
        description="When they are nested, the effects of interviewer and condition are confounded.",
    )
    # The analysis.
    primary: Primary = Primary(perceived="accuracy", objective="recall")
    plan: AnalysisPlan = AnalysisPlan()
    refill_excluded: bool = Field(
        default=False,
        title="Refill the slots of participants excluded by these flags",
        description="They do not count towards the target: their slot reopens within about a minute of completion. "
        "Participants excluded by hand keep their slot.",
    )
    effect: Number = Field(  # Cohen's f that the study is to find, for its power
        default=MEDIUM,
        ge=0.01,
        le=10,
        title="Target effect size (Cohen's f)",
        description="By convention .10 is small, .25 medium, .40 large. The power page says what it takes.",
    )
    hypothesis: str = Field(
        default="",
        max_length=4000,
        title="Hypothesis",
        description="In your words, for the preregistration text. It is frozen with the design.",
    )
    quality: Thresholds = Thresholds()
    # What participants read.
    languages: tuple[str, ...] = Field(
        default=("en",),
        min_length=1,
        title="Languages the study is offered in",
        description="At least one. Each language offered needs words for every question, and every text below that may "
        "not be empty, before the launch: nothing is taken from another language then. Participants who ask for "
        "another language read English, or the one there is. Texts of a language that is not offered are kept.",
    )
    item_type: str = DEFAULT  # of studies from before there were item types: films
    item_noun: dict[str, dict[str, Word]] = {}  # the nouns and the verb, by language and form
    # The minutes that the texts stated at the launch; None where no text states them.
    stated_minutes: Whole | None = Field(default=None, ge=1)
    # Whether an item had a sample at the creation of the study; None for studies from before that was asked.
    samples: bool | None = None
    # The pages in order, as `studies.flow_pages` reads them; empty for the flow of 2011.
    flow: Annotated[FlowPages, PlainValidator(read_flow)] = FlowPages()
    recorded: Annotated[tuple[Behaviour, ...], AfterValidator(_distinct)] = Field(
        default=(),
        title="Recorded behaviour",
        description="What counts as behaviour beside the time on each page. A launch needs {recorded_behaviour} in the "
        "consent text, where participants read what is recorded.",
    )
    factors: tuple[Factor, ...] = ()  # their full product is the conditions; empty where each is a model alone
    # Of the simulated participants, no part of the design.
    simulated_per_condition: Whole | None = Field(default=None, ge=1)
    planted_effects: dict[str, dict[str, Number]] = {}  # shifts by condition and variable

    @field_validator("elicitation_scale")
    @classmethod
    def _is_scale(cls, key: str) -> str:
        if key not in SCALES:
            raise ParameterError(f"Expected one of {', '.join(SCALES)}; got {key!r}.")
        return key

    @field_validator("item_type")
    @classmethod
    def _is_item_type(cls, key: str) -> str:
        item_type(key)
        return key

    @field_validator("item_noun")
    @classmethod
    def _has_forms(cls, nouns: dict[str, dict[str, str]]) -> dict[str, dict[str, str]]:
        for language, own in nouns.items():
            if unknown := [name for name in own if name not in FORMS]:
                raise ParameterError(f"An item noun has the forms {', '.join(FORMS)}; got {unknown[0]!r}.")
            if own.get("gender", "") not in ("", *GENDERS):
                raise ParameterError(
                    f"The gender of the item noun in {language!r} is one of {', '.join(GENDERS)}; got "
                    f"{own['gender']!r}."
                )
        return nouns

    @field_validator("quotas")
    @classmethod
    def _have_names(cls, quotas: tuple[Quota, ...]) -> tuple[Quota, ...]:
        names = [quota.name for quota in quotas]
        if len(names) != len(set(names)):
            raise ParameterError(f"Two quotas have the same name; they are {', '.join(names)}.")
        return quotas

    @model_validator(mode="after")
    def _agree(self) -> StudySettings:
        crossing = (Problem(("factors", *each.path), each.message) for each in factor_problems(self.factors))
        problems = [*self._elicitation_problems(), *self._strata_problems(), *crossing]
        if problems:
            raise FieldProblems(problems)
        return self

    def _elicitation_problems(self) -> Iterator[Problem]:
        if self.ratings_most is not None and self.ratings_most < self.ratings_asked:
            yield Problem(
                ("ratings_most",),
                f"Expected a whole number from {self.ratings_asked} to {MOST_ASKED}; got {self.ratings_most}.",
            )
        if self.is_choice and "elicitation_scale" in self.model_fields_set:
            yield Problem(
                ("elicitation_scale",),
                "This is about ratings, and participants of this study choose items without rating them. Leave it "
                "out, or set the elicitation to stars.",
            )
        if self.taken_from is None:
            return
        if self.is_choice:
            yield Problem(
                ("taken_from",),
                "This is a number of stars, and participants of this study choose items without stars. Leave it out, "
                "or set the elicitation to stars.",
            )
        elif not self.scale.scale.holds(self.taken_from):
            yield Problem(("taken_from",), f"Expected a rating {self.scale.scale.words()}; got {self.taken_from!r}.")

    def _strata_problems(self) -> Iterator[Problem]:
        levels = {rule.question: rule.levels for rule in self.strata}
        if len(levels) < len(self.strata):
            questions = ", ".join(rule.question for rule in self.strata)
            yield Problem(("strata",), f"Each question can define strata only once; got {questions}.")
        for question, shares in self.expected_shares.items():
            path: Path = ("expected_shares", question)
            if question not in levels:
                yield Problem(path, f"There are expected shares for {question!r}, which defines no strata.")
            elif unknown := sorted(set(shares) - set(levels[question])):
                known = ", ".join(levels[question])
                yield Problem(path, f"There is no stratum {unknown[0]!r} by {question!r}; there are {known}.")
            elif shares and not sum(shares.values()) > 0:
                yield Problem(path, f"Expected shares by {question!r} cannot all be 0.")

    @property
    def is_choice(self) -> bool:
        return self.elicitation == "choice"

    @property
    def scale(self) -> ElicitationScale:
        return SCALES[self.elicitation_scale]

    @property
    def items_asked(self) -> ItemsAsked:
        """How many known items the study asks for; without a maximum exactly as many as its minimum."""
        return ItemsAsked(self.ratings_asked, self.ratings_most or self.ratings_asked)

    @property
    def lowest_taken(self) -> float:
        """The lowest rating of a known item that counts as taken, where the dataset holds usage data.

        It is on the study's elicitation scale; without the setting it is the point nearest to 4 of 5. Every chosen item
        is taken.

        Examples
        --------
        >>> StudySettings(taken_from=3).lowest_taken, StudySettings(elicitation="choice").lowest_taken
        (3, 1)
        >>> StudySettings(elicitation_scale="10-points").lowest_taken
        8
        """
        if self.is_choice:
            return USED
        default = self.scale.value(self.scale.nearest_point(DEFAULT_TAKEN_FROM, FIVE_STARS.scale))
        lowest = float(default if self.taken_from is None else self.taken_from)
        return int(lowest) if lowest.is_integer() else lowest

    def is_taken(self, point: int) -> bool:
        """Return whether a known item counts as taken, from its stored value.

        Examples
        --------
        >>> half_stars = StudySettings(elicitation_scale="half-stars", taken_from=3.5)
        >>> half_stars.is_taken(6), half_stars.is_taken(7)
        (False, True)
        """
        return self.scale.value(point) >= self.lowest_taken

    @property
    def kind_of_item(self) -> ItemType:
        return ITEM_TYPES[self.item_type]

    @property
    def _presentations(self) -> list[Presentation]:
        """The presentations of all levels."""
        levels = [level for factor in self.factors for level in factor.levels]
        return [level.presentation for level in levels if level.presentation is not None]

    @property
    def explains(self) -> bool:
        """Whether a condition explains its recommendations: then all of them reserve the space."""
        return any(shown.explains for shown in self._presentations)

    @property
    def explanations(self) -> set[str]:
        """The kinds of explanation that conditions show, the absence of one among them."""
        return {shown.explanation for shown in self._presentations}

    @property
    def carousel_kinds(self) -> set[str]:
        """The kinds of item features by which carousels have rows."""
        return {shown.carousel_by for shown in self._presentations} - {""}

    @property
    def shuffles(self) -> bool:
        """Whether a condition shuffles its list."""
        return any(shown.is_shuffled for shown in self._presentations)

    @property
    def list_lengths(self) -> tuple[int, ...]:
        """The lengths of the lists of all conditions, each once, the shortest first."""
        of_lengths = [factor for factor in self.factors if "length" in factor.fields]
        levels = [level.presentation for factor in of_lengths for level in factor.levels]
        lengths = {self.listed_in(shown) for shown in levels if shown is not None}
        return tuple(sorted(lengths)) or (self.list_length,)

    @property
    def longest_list(self) -> int:
        return self.list_lengths[-1]

    @property
    def listed(self) -> str:
        """How many items lists have: "5", or "5 or 10" where conditions differ."""
        return " or ".join(map(str, self.list_lengths))

    def listed_in(self, shown: Presentation) -> int:
        """How many items a list has in this presentation."""
        return shown.length or self.list_length

    @property
    def offers_samples(self) -> bool:
        """Whether pages offer samples of items; those of studies from before the setting offer trailers."""
        return self.kind_of_item.has_trailers if self.samples is None else self.samples


def read_settings(stored: Mapping[str, Any]) -> StudySettings:
    """The settings that a study stores; those that cannot be used are left out, so that its pages still open."""
    return _read(_as_json(stored))[0]


def settings_problems(stored: Mapping[str, Any]) -> list[Problem]:
    """Everything that is wrong with stored settings."""
    missing = [Problem((name,), "This is missing. Add it.") for name in REQUIRED if name not in stored]
    return [*missing, *_read(_as_json(stored))[1]]


@lru_cache(maxsize=512)
def _read(text: str) -> tuple[StudySettings, tuple[Problem, ...]]:
    # Every page of a participant reads the same settings.
    try:
        return StudySettings.model_validate_json(text), ()
    except ValidationError as error:
        document = json.loads(text)
        problems = tuple(problems_of(error, document))
    usable = document if isinstance(document, dict) else {}
    wrong = {problem.path[0] for problem in problems if problem.path}
    rest = {name: value for name, value in usable.items() if name not in wrong}
    if len(rest) == len(usable):
        return StudySettings(), problems
    settings, more = _read(json.dumps(rest))  # what settings say together is checked once each is right by itself
    return settings, (*problems, *more)
