"""Variables about a participant: ids and status, answers about the whole list, and measures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter
from typing import Any

from catalog.item_types import FALLBACK_LANGUAGE
from evaluation.enums import ModelOrigin
from studies.data.codebook.questions import Reader, order_variables, question_variables, scale_variable
from studies.data.codebook.variable import INDIRECTLY, YES, YES_NO, Variable, lifted
from studies.design.selectors.placeholders import asked_questions, item_words
from studies.enums import Entrance, Mode, ParticipantStatus, Provenance
from studies.flow_pages import CHOSEN, NONE
from studies.instrument import flags
from studies.instrument.flow import flow_of, whole_flow
from studies.instrument.outcomes import is_opened, is_played
from studies.instrument.questionnaires import schema
from studies.instrument.questionnaires.core import measures_of
from studies.instrument.questionnaires.kinds import Preference
from studies.instrument.questionnaires.questions import Question, whole_number
from studies.instrument.scales import ScaleOfStudy, scales_of, score_of_participant
from studies.known_items import scale_rule
from studies.models import Study
from studies.monitoring.selectors.exclusions import planned_rule
from studies.participation.selectors.responses import OccasionRecord, Recommended, Record
from studies.recruitment.selectors.recruitment import places_of
from studies.settings import OPENED, PLAYED, USED
from studies.usage_data import is_usage, taken_rule

UTC_TIME = "ISO 8601, UTC"
SHA_256 = "64 hexadecimal digits"
NO_RULE = "the plan excludes no participant for a flag"
SHARE: dict[str, Any] = {"minimum": 0, "maximum": 1, "allowed": "0 to 1"}
NEWER: dict[str, Any] = {**SHARE, "direction": "high is newer"}
BETTER: dict[str, Any] = {"minimum": 1, "maximum": 5, "allowed": "1 to 5", "direction": "high is better"}


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

    def lists(self) -> Iterator[Person]:
        """The same with the record of each list by itself; without those before a list was made."""
        return (replace(self, record=record) for record in self.record.by_occasion() if record.items)


Of = Variable[Person]


def same_as(values: tuple[str, ...] | list[str]) -> tuple[tuple[str, str], ...]:
    """Values that are their own labels."""
    return tuple((value, value) for value in values)


def _own(name: str, meaning: str, kind: str, read: Callable[[Person], Any], **facts: Any) -> Of:
    return Variable(f"participant.{name}", meaning, kind, read, **facts)


def _field(field: str, meaning: str, kind: str = "text", **facts: Any) -> Of:
    return _own(field, meaning, kind, lambda p: getattr(p.record.participant, field), **facts)


def _time(moment: str, meaning: str) -> Of:
    read = attrgetter(f"record.participant.{moment}_at")
    return _own(f"time_{moment}_utc", meaning, "datetime", read, allowed=UTC_TIME)


def _measure(field: str, meaning: str, derivation: str, kind: str = "number", **facts: Any) -> Of:
    def read(person: Person) -> Any:
        return getattr(person.record.measures, field) if person.record.measures else None

    return Variable(f"measure.{field}", meaning, kind, read, derivation=derivation, **facts)


def _list(name: str, field: str, meaning: str, kind: str, **facts: Any) -> Of:
    # Without a list there is no field to read either
    return Variable(f"list.{name}", meaning, kind, lambda p: getattr(p.record.recommendations, field, None), **facts)


def _interview(name: str, field: str, meaning: str, kind: str = "text", **facts: Any) -> Of:
    return Variable(f"interview.{name}", meaning, kind, _linked("interview", field), **facts)


def _linked(row: str, field: str, default: Any = None) -> Callable[[Person], Any]:
    """Read a field of a row that belongs to the participant, where there is one."""

    def read(person: Person) -> Any:
        linked = getattr(person.record.participant, row, None)
        return (None if linked is None else getattr(linked, field)) or default

    return read


_condition = _linked("condition", "label")


def _factors(study: Study) -> Iterator[Of]:
    """The participant's level of each factor of the design."""
    for factor in study.design.factors:
        yield Variable(
            f"factor.{factor.key}",
            f"Level of the factor {factor.key}",
            "category",
            partial(_level, key=factor.key),
            values=same_as([level.label for level in factor.levels]),
        )


def _condition_variables(study: Study) -> Iterator[Of]:
    """The condition, with its levels of factors: of the participant, or of each of several lists."""
    where, meaning = "participant", "Condition (the recommender the participant met)"
    if whole_flow(study.design).lists.is_several:
        where, meaning = "list", "Condition of the list"
    labels = list(study.conditions.order_by("position").values_list("label", flat=True))
    yield Variable(f"{where}.condition", meaning, "category", _condition, values=same_as(labels))
    yield from _factors(study)


def _sequence(study: Study) -> Iterator[Of]:
    """The order in which the participant met the conditions, where each person has several lists."""
    labels = list(study.sequences.order_by("position").values_list("label", flat=True))
    if labels:
        meaning = "Sequence (the conditions in the order in which the participant met them)"
        yield _own("sequence", meaning, "category", _linked("sequence", "label"), values=same_as(labels))


def _level(person: Person, key: str) -> Any:
    condition = person.record.participant.condition
    return None if condition is None else condition.levels.get(key)


def _entrance_variables(study: Study) -> Iterator[Of]:
    """The participant's entrance and the interviewer's notes."""
    entrances = tuple((value, str(label).lower()) for value, label in Entrance.choices)
    yield _field("entrance", "Entrance used by the participant", "category", values=entrances)
    number, rule = "Number of the interviewer who started the session", "in order of first sessions"
    yield _interview("interviewer", "number", number, "integer", minimum=1, derivation=rule)
    places = tuple((place.code, place.label) for place in places_of(study))
    where: dict[str, Any] = {"kind": "category", "values": places} if places else {"allowed": "free text"}
    yield _interview("place", "place", "Where the session took place", identifies=INDIRECTLY, **where)
    words: dict[str, Any] = {"allowed": "free text", "identifies": YES}
    yield _interview("label", "label", "Label of the interviewee, as the interviewer noted", **words)
    for moment in ("before", "after"):
        name = f"note_{moment}"
        yield _interview(name, name, f"The interviewer’s note {moment} the session", **words)
        saved = f"When the note {moment} the session was last saved"
        yield _interview(f"time_noted_{moment}_utc", f"noted_{moment}_at", saved, "datetime", allowed=UTC_TIME)


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
        saved, read = "When the evaluator’s answers were last saved", _linked("interview", "evaluated_at")
        yield Variable("evaluator.time_answered_utc", saved, "datetime", read, allowed=UTC_TIME)


def _identity_variables(study: Study) -> tuple[Of, ...]:
    """The participant's ids, status and condition."""
    rule, planted = planned_rule(study), study.design.planted_effects
    left_out_by = f"participant.flags has one of {', '.join(rule)}" if rule else NO_RULE
    is_several = whole_flow(study.design).lists.is_several
    languages = same_as(study.design.languages)
    return (
        _own("id", "Id of the participant for publication", "text", lambda p: p.record.public_id,
             allowed="6 characters, A to Z and 2 to 7",
             derivation="salted hash of the participant's code, with a salt of the study's own"),
        _field("code", "Code shown to the participant", allowed="6 characters", identifies=YES),
        _field("completion_code", "Code the participant can show to be paid", allowed="8 characters", identifies=YES,
               source="Thank you"),
        _own("external_ids", "Ids of the participant at other sites", "text",
             lambda p: "; ".join(f"{name}={value}" for name, value in p.external_ids) or None,
             allowed="NAME=VALUE; …", identifies=YES, source="The link"),
        _own("id_in_session", "Number of the participant in order of entry", "integer", lambda p: p.number, minimum=1),
        Variable("study.design_hash", "SHA-256 of the frozen design the participant met", "text",
                 _linked("version", "design_hash", ""), allowed=SHA_256),
        _field("mode", "Mode of the participant", "category", values=same_as(Mode.values)),
        _field("status", "Status of the participant", "category", values=same_as(ParticipantStatus.values)),
        _own("is_complete", "Whether the study was completed with all answers", "boolean",
             lambda p: p.incomplete is None, values=YES_NO),
        _own("why_incomplete", "Why the data are not complete", "text", lambda p: p.incomplete,
             allowed="a sentence; empty where they are complete"),
        _own("is_excluded", "Whether the researcher excluded the participant", "boolean",
             lambda p: p.excluded is not None, values=YES_NO),
        _own("excluded_reason", "Why", "text", lambda p: p.excluded, allowed="the researcher's words",
             identifies=INDIRECTLY),
        _own("is_left_out_by_plan", "Whether the plan excludes the participant", "boolean",
             lambda p: p.is_left_out_by_plan, values=YES_NO, derivation=left_out_by),
        _own("flags", "Quality flags", "text", lambda p: " ".join(p.flags) or None,
             allowed=f"keys with spaces between: {', '.join(flags.KEYS)}",
             derivation="by the study's thresholds; a flag excludes only if the plan says so"),
        _field("step", "Step of the study the participant reached", "category", values=same_as(flow_of(study).keys)),
        *(() if is_several else _condition_variables(study)),
        *_sequence(study),
        _field("stratum", "Stratum within which conditions were assigned", "category",
               allowed="as the design's rules name them", identifies=INDIRECTLY),
        _field("language", "Language of the pages", "category", values=languages),
        _own("consent_version", "Number of the consent text the participant agreed to", "integer",
             _linked("consent_version", "number"), minimum=1, source="Consent",
             derivation="1 is the text of the launch; each later change of it has the next number"),
        _field("consent_language", "Language in which the consent text was read", "category", values=languages,
               source="Consent"),
        _field("source_user", "User of the dataset whose ratings the simulated participant uses",
               allowed="the dataset's own id"),
        _own("planted_effects", "Effects planted in a simulated participant's answers", "text",
             lambda p: planted.get(_condition(p)) if p.record.participant.mode == Mode.SIMULATED else None,
             allowed="JSON object of variable and shift; empty where nothing was planted",
             derivation="stated when the simulated participants were made"),
        _time("consented", "When consent was given"),
        _time("assigned", "When a slot was taken"),
        _time("completed", "When the study was completed"),
        *_entrance_variables(study),
        _own("share_modelled", "Share of answers and ratings made by the model of answers", "number",
             lambda p: p.record.n_modelled / p.record.n_answers if p.record.n_answers else None, **SHARE),
    )  # fmt: skip


def _measures(consumed: str, measures: frozenset[str]) -> Iterator[Of]:
    """The study's own measures, those that it asks for."""
    if "accuracy" in measures:
        yield _measure("accuracy", "Perceived accuracy", "mean of item.rating over the recommended items", **BETTER)
    if "fon" in measures:
        yield _measure("fon", "First-order novelty", f"mean of item.fon: share of items not {consumed}", **NEWER)
    if "son" in measures:
        unknown = f"mean of item.son: share of items neither {consumed} nor heard of"
        yield _measure("son", "Second-order novelty", unknown, **NEWER)
    if "satisfaction" in measures:
        yield _measure("satisfaction", "Global satisfaction with the list", "overall.satisfaction", "integer", **BETTER)
    if {"accuracy", "fon"} <= measures:
        for field, is_consumed, items in (("liking", 1, consumed), ("interest", 0, f"not {consumed}")):
            rule = f"mean of item.rating where item.watched is {is_consumed}"
            yield _measure(field, f"Mean rating of the items {items}", rule, **BETTER)
    if "fon" in measures:
        yield _measure("n_liking", f"Items {consumed}", "count", "integer", minimum=0)
        yield _measure("n_interest", f"Items not {consumed}", "count", "integer", minimum=0)


def _lists(study: Study) -> Iterator[Of]:
    if is_usage(study.dataset_version):

        def n_taken(person: Person) -> int | None:
            if not person.record.recommendations:
                return None
            return sum(study.design.is_taken(rating.rating) for rating in person.record.profile)

        chosen, rule = study.design.is_choice, taken_rule(study.design)
        entered = f"{'Chosen' if chosen else 'Rated'} items that entered the profile as taken"
        derivation = rule if chosen else f"{rule} With 0 the list was made without a profile"
        source = page_of_known_items(study)
        yield Variable("list.n_taken", entered, "integer", n_taken, minimum=0, source=source, derivation=derivation)
    yield _list("model", "model_digest", "SHA-256 of the model that made the list", "text", allowed=SHA_256)
    yield _list("seconds", "seconds", "Time the model took", "number", allowed="seconds", minimum=0)
    origins = dict(study.conditions.values_list("pk", "model__origin"))
    if ModelOrigin.REMOTE not in origins.values():
        return
    facts: dict[str, Any] = {"source": "Preparing your list", "minimum": 0}
    yield Variable(
        "list.origin",
        "What the recommender was made from",
        "category",
        lambda p: origins.get(p.record.participant.condition_id or 0),
        values=same_as(ModelOrigin.values),
    )
    yield Variable("list.version", "Version of the remote recommender", "text", _linked("list_request", "version"))
    yield Variable(
        "list.waited_seconds",
        "Time from the last rating to the list",
        "number",
        _linked("list_request", "waited_seconds"),
        allowed="seconds",
        **facts,
    )
    yield Variable(
        "list.attempts",
        "How often the remote recommender was asked",
        "integer",
        _linked("list_request", "attempts", 0),
        **facts,
    )


def _reader(block: str) -> Reader[Person]:
    return Reader(
        answers=lambda person: person.record.answers,
        not_asked=lambda person: person.record.not_asked,
        orders=lambda person: person.record.participant.shown_orders.get(block, {}),
        is_erased=lambda person: person.record.participant.erased_at is not None,
    )


def chosen_item(person: Person) -> Recommended | None:
    """The item that a participant picked of their list; None before that, and where they picked none."""
    rank = whole_number(str(_reader("").value(person, CHOSEN)))
    return next((item for item in person.record.items if item.slot.rank == rank), None)


def _of_chosen(read: Callable[[Recommended], Any], without: str | None = None) -> Callable[[Person], Any]:
    """Read the picked item; `without` is the value where none was picked."""

    def read_person(person: Person) -> Any:
        item = chosen_item(person)
        is_none = item is None and person.record.answers.get(CHOSEN) == NONE
        return (without if is_none else None) if item is None else read(item)

    return read_person


def _behaviour_variables(study: Study) -> Iterator[Of]:
    """Counts over the recommended items, in studies that say they record them."""
    for kind, is_so, done in ((OPENED, is_opened, "details were opened"), (PLAYED, is_played, "sample was played")):

        def count(person: Person, is_so: Callable[[Recommended], bool] = is_so) -> int | None:
            return sum(map(is_so, person.record.items)) if person.record.items else None

        if kind in study.design.recorded:
            meaning, derivation = f"Recommended items whose {done}", "from the events since the list was there"
            yield Variable(f"behaviour.{kind}", meaning, "integer", count, minimum=0, derivation=derivation)


def _choice_variables(block: str, question: Question) -> tuple[Of, ...]:
    wording, source = next(iter(question.text.values())), f"The page of {block}"
    return (
        Variable(f"{block}.{CHOSEN}", wording, "text", _of_chosen(lambda i: i.slot.item.external_id, NONE),
                 allowed="the dataset's own id of the item; none where no item was picked", source=source),
        Variable(f"{block}.{CHOSEN}_rank", "Rank of the item that was picked", "integer",
                 _of_chosen(lambda i: i.slot.rank), minimum=1, allowed="empty where no item was picked", source=source),
    )  # fmt: skip


def key_variables() -> Iterator[Of]:
    """Which participant a row is about."""
    yield Variable("participant.id", "Id of the participant for publication", "text", lambda p: p.record.public_id)
    yield _field("mode", "Mode of the participant", "category", values=same_as(Mode.values))


def _occasion_variables(study: Study) -> Iterator[Of]:
    """Which of several lists a row is about, and its condition."""
    if not whole_flow(study.design).lists.is_several:
        return
    yield Variable("list.occasion", "Occasion of the list, in the order in which the participant met them", "integer",
                   lambda p: p.record.occasion, minimum=1)  # fmt: skip
    yield Variable("list.side", "Side of the list: 1 for the leftmost of those beside one another, else 1", "integer",
                   lambda p: p.record.side, minimum=1)  # fmt: skip
    yield from _condition_variables(study)


def choices_variables(study: Study) -> tuple[Of, ...]:
    """Columns of the file with one row per list of which a choice was made."""
    return (
        *key_variables(),
        *_occasion_variables(study),
        Variable("choice.item", "Item that was picked", "text", _of_chosen(lambda i: i.slot.item.external_id, NONE),
                 allowed="the dataset's own id; none where no item was picked"),
        Variable("choice.title", "Its title and year", "text", _of_chosen(lambda i: str(i.slot.item))),
        Variable("choice.rank", "Its rank in the list", "integer", _of_chosen(lambda i: i.slot.rank), minimum=1),
        Variable("choice.popularity", "Its ratings in the dataset", "integer",
                 _of_chosen(lambda i: i.slot.item.n_ratings), minimum=0),
        Variable("choice.provenance", "Where the choice comes from", "category",
                 lambda p: p.record.provenance.get(CHOSEN), values=same_as(Provenance.values)),
    )  # fmt: skip


def _scored(scale: ScaleOfStudy) -> Of:
    def score(person: Person) -> Any:
        return score_of_participant(scale, person.record.answers, [item.answers for item in person.record.items])

    suffix = " (mean over the recommended items)" if scale.is_about_items else ""
    return scale_variable(f"scale.{scale.key}", scale, score, suffix)


def _answers(study: Study, *, in_lists: bool) -> tuple[list[Of], list[Of]]:
    """Answers and scales that are about each of several lists, or the others: those of studies with one list."""
    questionnaire, flow = asked_questions(study), whole_flow(study.design)
    blocks = [block for block in questionnaire.whole if (block in flow.repeated_blocks) == in_lists]
    questions: list[Of] = []
    for block in blocks:
        if flow.choice is not None and block == flow.choice.block:
            questions += _choice_variables(block, *questionnaire.block(block))
            continue
        reader = _reader(block)
        for question in questionnaire.block(block):
            if not isinstance(question, Preference):  # of a table of their own
                questions += question_variables(block, f"{block}.{question.key}", question, reader)
        questions += order_variables(block, block, questionnaire.block(block), reader)
    repeated = {question.key for block in flow.repeated_blocks for question in questionnaire.block(block)}
    scales = [
        _scored(scale)
        for scale in scales_of(questionnaire)
        if any(member.question in repeated for member in scale.members) == in_lists
    ]
    return questions, scales


def _measures_of_list(study: Study) -> tuple[Of, ...]:
    return (
        *_measures(item_words(study.design, FALLBACK_LANGUAGE).consumed, measures_of(asked_questions(study))),
        *_lists(study),
        *_behaviour_variables(study),
    )


def participant_variables(study: Study) -> tuple[Of, ...]:
    """Variables of each participant, in both long and wide files; those of several lists are `list_variables`."""
    questions, scales = _answers(study, in_lists=False)
    evaluator = _evaluator_variables(asked_questions(study).evaluator)
    of_list = () if whole_flow(study.design).lists.is_several else _measures_of_list(study)
    return (*_identity_variables(study), *questions, *evaluator, *scales, *of_list)


@dataclass(frozen=True)
class Comparison:
    """A participant's answer to a question of which of two lists they prefer."""

    person: Person
    occasion: OccasionRecord
    question: str


def comparison_variables(study: Study) -> tuple[Variable[Comparison], ...]:
    """Columns of the file with one row per question of preference, in studies with lists side by side."""
    labels = same_as([*study.conditions.order_by("position").values_list("label", flat=True)])
    block = whole_flow(study.design).compared
    keys = tuple(
        (question.key, next(iter(question.text.values())))
        for question in asked_questions(study).block(block)
        if isinstance(question, Preference)
    )
    return (
        *(lifted(variable, lambda row: row.person) for variable in key_variables()),
        Variable("list.occasion", "Occasion on which the lists were compared", "integer",
                 lambda row: row.occasion.occasion, minimum=1),
        Variable("comparison.left", "Condition of the list on the left", "category",
                 lambda row: row.occasion.conditions[0].label, values=labels),
        Variable("comparison.right", "Condition of the list on the right", "category",
                 lambda row: row.occasion.conditions[1].label, values=labels),
        Variable("comparison.question", "Question", "category", lambda row: row.question, values=keys),
        Variable("comparison.preference", "Which list is preferred", "integer",
                 lambda row: row.occasion.answers[row.question], minimum=-2, maximum=2, source=f"The page of {block}",
                 direction="above 0 prefers the list on the right, below 0 that on the left"),
    )  # fmt: skip


def list_variables(study: Study) -> tuple[Of, ...]:
    """Variables of each of several lists; none in studies with one."""
    if not whole_flow(study.design).lists.is_several:
        return ()
    questions, scales = _answers(study, in_lists=True)
    return (*_occasion_variables(study), *questions, *scales, *_measures_of_list(study))


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

    def id_of_item(person: Person) -> str | None:
        own = rating(person)
        return own.item.external_id if own else None

    def rating_on_scale(person: Person) -> float | None:
        own = rating(person)
        return study.design.scale.value(own.rating) if own else None

    item, answer = ("Item chosen", "Choice") if chosen else ("Item rated", "Rating given as")
    own_id: dict[str, Any] = {"allowed": "the dataset's own id", "source": source}
    yield Variable(f"profile.{position}.item", f"{item} as number {position}", "text", id_of_item, **own_id)
    meaning = f"{answer} number {position}"
    yield Variable(f"profile.{position}.rating", meaning, read=rating_on_scale, source=source, **known_values(study))
