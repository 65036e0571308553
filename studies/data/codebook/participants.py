"""Variables about a participant: ids and status, answers about the whole list, and measures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from catalog.item_types import FALLBACK_LANGUAGE
from studies.data.codebook.questions import Reader, order_variables, question_variables, scale_variable
from studies.data.codebook.variable import INDIRECTLY, YES, YES_NO, Variable
from studies.design.selectors.placeholders import asked_questions, item_words
from studies.enums import Entrance, Mode, ParticipantStatus
from studies.instrument import flags
from studies.instrument.flow import AFTER, STEPS
from studies.instrument.questionnaires import schema
from studies.instrument.scales import ScaleOfStudy, scales_of, score_of_participant
from studies.known_items import scale_rule
from studies.models import Study
from studies.monitoring.selectors.exclusions import planned_rule
from studies.participation.selectors.responses import Record
from studies.recruitment.selectors.recruitment import places_of
from studies.settings import USED
from studies.usage_data import is_usage, taken_rule

SPAN_1_5 = {"minimum": 1, "maximum": 5, "allowed": "1 to 5"}
SPAN_0_1 = {"minimum": 0, "maximum": 1, "allowed": "0 to 1"}


@dataclass(frozen=True)
class Person:
    """A participant's record with flags, exclusions and completeness."""

    record: Record
    number: int  # in order of entry, from 1, over all participants of the study
    flags: tuple[str, ...] = ()
    excluded: str | None = None  # the reason
    is_left_out_by_plan: bool = False
    incomplete: str | None = None  # the reason
    external_ids: tuple[tuple[str, str], ...] = ()


Of = Variable[Person]


def same_as(values: tuple[str, ...] | list[str]) -> tuple[tuple[str, str], ...]:
    """Values that are their own labels."""
    return tuple((value, value) for value in values)


def _field(name: str, meaning: str, kind: str, field: str, **facts: Any) -> Of:
    return Variable(name, meaning, kind, lambda p: getattr(p.record.participant, field), **facts)


def _measure(name: str, meaning: str, kind: str, field: str, derivation: str, **facts: Any) -> Of:
    def read(person: Person) -> Any:
        return getattr(person.record.measures, field) if person.record.measures else None

    return Variable(name, meaning, kind, read, derivation=derivation, **facts)


def _linked(row: str, field: str, default: Any = None) -> Callable[[Person], Any]:
    """Read a field of a row that belongs to the participant, where there is one."""

    def read(person: Person) -> Any:
        linked = getattr(person.record.participant, row, None)
        return (None if linked is None else getattr(linked, field)) or default

    return read


_condition = _linked("condition", "label")


def _external(person: Person) -> Any:
    return "; ".join(f"{name}={value}" for name, value in person.external_ids) or None


def _entrance_variables(study: Study) -> Iterator[Of]:
    """The participant's entrance and the interviewer's notes."""
    places = tuple((place.code, place.label) for place in places_of(study))
    yield _field("participant.entrance", "Entrance used by the participant", "category", "entrance",
                 values=tuple((value, str(label).lower()) for value, label in Entrance.choices))  # fmt: skip
    yield Variable("interview.interviewer", "Number of the interviewer who started the session", "integer",
                   _linked("interview", "number"), minimum=1, derivation="in order of first sessions")  # fmt: skip
    yield Variable("interview.place", "Where the session took place", "category" if places else "text",
                   _linked("interview", "place"), values=places, identifies=INDIRECTLY,
                   allowed="" if places else "free text")  # fmt: skip
    yield Variable("interview.label", "Label of the interviewee, as the interviewer noted", "text",
                   _linked("interview", "label"), allowed="free text", identifies=YES)  # fmt: skip
    for moment in ("before", "after"):
        yield Variable(f"interview.note_{moment}", f"The interviewer’s note {moment} the session", "text",
                       _linked("interview", f"note_{moment}"), allowed="free text", identifies=YES)  # fmt: skip
        yield Variable(f"interview.time_noted_{moment}_utc", f"When the note {moment} the session was last saved",
                       "datetime", _linked("interview", f"noted_{moment}_at"), allowed="ISO 8601, UTC")  # fmt: skip


def _evaluator_variables(questions: tuple[schema.Question, ...]) -> Iterator[Of]:
    """What the interviewer answered about the session."""

    def answers(person: Person) -> Mapping[str, Any]:
        interview = getattr(person.record.participant, "interview", None)
        return interview.evaluation if interview else {}

    keys = frozenset(question.key for question in questions)
    reader: Reader[Person] = Reader(
        answers=answers,
        not_asked=lambda person: frozenset() if answers(person) else keys,
        orders=lambda person: {},
        is_erased=lambda person: person.record.participant.erased_at is not None,
    )
    for question in questions:
        yield from question_variables(schema.EVALUATOR, f"{schema.EVALUATOR}.{question.key}", question, reader)
    if questions:
        yield Variable("evaluator.time_answered_utc", "When the evaluator’s answers were last saved", "datetime",
                       _linked("interview", "evaluated_at"), allowed="ISO 8601, UTC")  # fmt: skip


def identity_variables(study: Study) -> Iterator[Of]:
    """The participant's ids, status and condition."""
    yield Variable("participant.id", "Id of the participant for publication", "text", lambda p: p.record.public_id,
                   allowed="6 characters, A to Z and 2 to 7",
                   derivation="salted hash of the participant's code, with a salt of the study's own")  # fmt: skip
    yield _field("participant.code", "Code shown to the participant", "text", "code", allowed="6 characters",
                 identifies=YES)  # fmt: skip
    yield _field("participant.completion_code", "Code the participant can show to be paid", "text", "completion_code",
                 allowed="8 characters", identifies=YES, source="Thank you")  # fmt: skip
    yield Variable("participant.external_ids", "Ids of the participant at other sites", "text", _external,
                   allowed="NAME=VALUE; …", identifies=YES, source="The link")  # fmt: skip
    yield Variable("participant.id_in_session", "Number of the participant in order of entry", "integer",
                   lambda p: p.number, minimum=1)  # fmt: skip
    yield Variable("study.design_hash", "SHA-256 of the frozen design the participant met", "text",
                   _linked("version", "design_hash", ""), allowed="64 hexadecimal digits")  # fmt: skip
    yield _field("participant.mode", "Mode of the participant", "category", "mode", values=same_as(Mode.values))
    yield _field("participant.status", "Status of the participant", "category", "status",
                 values=same_as(ParticipantStatus.values))  # fmt: skip
    yield Variable("participant.is_complete", "Whether the study was completed with all answers",
                   "boolean", lambda p: p.incomplete is None, values=YES_NO)  # fmt: skip
    yield Variable("participant.why_incomplete", "Why the data are not complete", "text", lambda p: p.incomplete,
                   allowed="a sentence; empty where they are complete")  # fmt: skip
    yield Variable("participant.is_excluded", "Whether the researcher excluded the participant",
                   "boolean", lambda p: p.excluded is not None, values=YES_NO)  # fmt: skip
    yield Variable("participant.excluded_reason", "Why", "text", lambda p: p.excluded,
                   allowed="the researcher's words", identifies=INDIRECTLY)  # fmt: skip
    rule = planned_rule(study)
    yield Variable("participant.is_left_out_by_plan", "Whether the plan excludes the participant",
                   "boolean", lambda p: p.is_left_out_by_plan, values=YES_NO,
                   derivation=f"participant.flags has one of {', '.join(rule)}" if rule
                   else "the plan excludes no participant for a flag")  # fmt: skip
    yield Variable("participant.flags", "Quality flags", "text", lambda p: " ".join(p.flags) or None,
                   allowed=f"keys with spaces between: {', '.join(flags.KEYS)}",
                   derivation="by the study's thresholds; a flag excludes only if the plan says so")  # fmt: skip
    steps = [step for step in STEPS if step != AFTER or study.questionnaire.get("after")]
    yield _field("participant.step", "Step of the study the participant reached", "category", "step",
                 values=same_as(steps))  # fmt: skip
    labels = list(study.conditions.order_by("position").values_list("label", flat=True))
    yield Variable("participant.condition", "Condition (the recommender the participant met)", "category", _condition,
                   values=same_as(labels))  # fmt: skip
    yield _field("participant.stratum", "Stratum within which conditions were assigned", "category", "stratum",
                 allowed="as the design's rules name them", identifies=INDIRECTLY)  # fmt: skip
    yield _field("participant.language", "Language of the pages", "category", "language",
                 values=same_as(study.design.languages))  # fmt: skip
    yield Variable("participant.consent_version", "Number of the consent text the participant agreed to", "integer",
                   _linked("consent_version", "number"), minimum=1, source="Consent",
                   derivation="1 is the text of the launch; each later change of it has the next number")  # fmt: skip
    yield _field("participant.consent_language", "Language in which the consent text was read", "category",
                 "consent_language", values=same_as(study.design.languages), source="Consent")  # fmt: skip
    yield _field("participant.source_user", "User of the dataset whose ratings the simulated participant uses", "text",
                 "source_user", allowed="the dataset's own id")  # fmt: skip
    planted = study.design.planted_effects
    yield Variable("participant.planted_effects", "Effects planted in a simulated participant's answers", "text",
                   lambda p: planted.get(_condition(p)) if p.record.participant.mode == Mode.SIMULATED else None,
                   allowed="JSON object of variable and shift; empty where nothing was planted",
                   derivation="stated when the simulated participants were made")  # fmt: skip
    for name, meaning, field in (
        ("consented", "When consent was given", "consented_at"),
        ("assigned", "When a slot was taken", "assigned_at"),
        ("completed", "When the study was completed", "completed_at"),
    ):
        yield _field(f"participant.time_{name}_utc", meaning, "datetime", field, allowed="ISO 8601, UTC")
    yield from _entrance_variables(study)
    yield Variable("participant.share_modelled", "Share of answers and ratings made by the model of answers",
                   "number", lambda p: p.record.n_modelled / p.record.n_answers if p.record.n_answers else None,
                   **SPAN_0_1)  # type: ignore[arg-type]  # fmt: skip


def _measures(consumed: str) -> Iterator[Of]:
    more = {"direction": "high is better"}
    new = {"direction": "high is newer"}
    yield _measure("measure.accuracy", "Perceived accuracy", "number", "accuracy",
                   "mean of item.rating over the recommended items", **SPAN_1_5, **more)  # fmt: skip
    yield _measure("measure.fon", "First-order novelty", "number", "fon",
                   f"mean of item.fon: share of items not {consumed}", **SPAN_0_1, **new)  # fmt: skip
    yield _measure("measure.son", "Second-order novelty", "number", "son",
                   f"mean of item.son: share of items neither {consumed} nor heard of", **SPAN_0_1, **new)  # fmt: skip
    yield _measure("measure.satisfaction", "Global satisfaction with the list", "integer", "satisfaction",
                   "overall.satisfaction", **SPAN_1_5, **more)  # fmt: skip
    yield _measure("measure.liking", f"Mean rating of the items {consumed}", "number", "liking",
                   "mean of item.rating where item.watched is 1", **SPAN_1_5, **more)  # fmt: skip
    yield _measure("measure.interest", f"Mean rating of the items not {consumed}", "number", "interest",
                   "mean of item.rating where item.watched is 0", **SPAN_1_5, **more)  # fmt: skip
    yield _measure("measure.n_liking", f"Items {consumed}", "integer", "n_liking", "count", minimum=0)
    yield _measure("measure.n_interest", f"Items not {consumed}", "integer", "n_interest", "count", minimum=0)


def _lists(study: Study) -> Iterator[Of]:
    if is_usage(study.dataset_version):
        chosen = study.design.is_choice
        entered = f"{'Chosen' if chosen else 'Rated'} items that entered the profile as taken"
        derivation = taken_rule(study.design)
        yield Variable("list.n_taken", entered, "integer",
                       lambda p: sum(study.design.is_taken(rating.rating) for rating in p.record.profile)
                       if p.record.recommendations else None,
                       minimum=0, source=page_of_known_items(study),
                       derivation=derivation if chosen else f"{derivation} With 0 the list was made without a profile",
                       )  # fmt: skip
    yield Variable("list.model", "SHA-256 of the model that made the list", "text",
                   lambda p: p.record.recommendations.model_digest if p.record.recommendations else None,
                   allowed="64 hexadecimal digits")  # fmt: skip
    yield Variable("list.seconds", "Time the model took", "number",
                   lambda p: p.record.recommendations.seconds if p.record.recommendations else None,
                   allowed="seconds", minimum=0)  # fmt: skip


def _reader(block: str) -> Reader[Person]:
    return Reader(
        answers=lambda person: person.record.answers,
        not_asked=lambda person: person.record.not_asked,
        orders=lambda person: person.record.participant.shown_orders.get(block, {}),
        is_erased=lambda person: person.record.participant.erased_at is not None,
    )


def _scored(scale: ScaleOfStudy) -> Of:
    def score(person: Person) -> float | None:
        value = score_of_participant(scale, person.record.answers, [item.answers for item in person.record.items])
        return None if value is None else float(value)

    suffix = " (mean over the recommended items)" if scale.is_about_items else ""
    return scale_variable(f"scale.{scale.key}", scale, score, suffix)


def participant_variables(study: Study) -> tuple[Of, ...]:
    """Variables of each participant, in both long and wide files."""
    questionnaire = asked_questions(study)
    questions: list[Of] = []
    for block in (schema.ABOUT, schema.OVERALL, schema.AFTER):
        reader = _reader(block)
        for question in questionnaire.block(block):
            questions += question_variables(block, f"{block}.{question.key}", question, reader)
        questions += order_variables(block, block, questionnaire.block(block), reader)
    return (
        *identity_variables(study),
        *questions,
        *_evaluator_variables(questionnaire.evaluator),
        *(_scored(scale) for scale in scales_of(questionnaire)),
        *_measures(item_words(study.design, FALLBACK_LANGUAGE).consumed),
        *_lists(study),
    )


def page_of_known_items(study: Study) -> str:
    """The page on which participants rate or choose items they know."""
    return "Choose what you know" if study.design.is_choice else "Rate what you know"


def known_values(study: Study) -> dict[str, Any]:
    """Type and values of known items: those of the elicitation scale, or the one of a chosen item."""
    if study.design.is_choice:
        return {"type": "integer", "values": ((str(USED), "chosen"),), "minimum": USED, "maximum": USED}
    elicitation = study.design.scale
    low, high = elicitation.value(1), elicitation.value(elicitation.n_points)
    return {
        "type": "integer" if elicitation.is_whole else "number",
        "minimum": low,
        "maximum": high,
        "allowed": f"{low:g} to {high:g}"
        + ("" if elicitation.is_whole else f" in steps of {elicitation.scale.step:g}"),
        "derivation": "" if is_usage(study.dataset_version) else scale_rule(study.design.scale),
        "direction": "high is better",
    }


def rated_variables(study: Study, position: int) -> Iterator[Of]:
    """The item rated or chosen as number `position`, from 1, and its rating."""
    chosen, source = study.design.is_choice, page_of_known_items(study)

    def rating(person: Person) -> Any:
        profile = person.record.profile
        return profile[position - 1] if len(profile) >= position else None

    yield Variable(f"profile.{position}.item", f"Item {'chosen' if chosen else 'rated'} as number {position}", "text",
                   lambda p: rating(p).item.external_id if rating(p) else None, allowed="the dataset's own id",
                   source=source)  # fmt: skip
    meaning = f"Choice number {position}" if chosen else f"Rating given as number {position}"
    scale = study.design.scale
    yield Variable(f"profile.{position}.rating", meaning,
                   read=lambda p: scale.value(rating(p).rating) if rating(p) else None, source=source,
                   **known_values(study))  # fmt: skip
