"""Every exported variable, declared once: the declaration makes the columns and the codebook alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from studies.enums import Mode, ParticipantStatus, Provenance
from studies.flow import BRANCHES
from studies.models import Study
from studies.questionnaires import schema
from studies.questionnaires.schema import Question, questionnaire_from
from studies.selectors.responses import Recommended, Record

MISSING = ""  # the missing code of every variable: an empty cell
NO = "no"
INDIRECTLY = "indirectly"  # alone it names nobody; together with others it might
YES = "yes"
YES_NO_VALUES = "1 = yes, 0 = no"
TYPES = {
    schema.YES_NO: "boolean",
    schema.NUMBER: "integer",
    schema.LIKERT: "integer",
    schema.CHOICE: "category",
    schema.TEXT: "text",
}
INDIRECT_QUESTIONS = frozenset({"age", "gender", "gender_text", "education", "nationality", "comment"})


@dataclass(frozen=True)
class Variable:
    """A variable about a participant: its name in files, what it means, and where it is read."""

    name: str
    meaning: str
    type: str
    values: str
    read: Callable[[Record], Any]
    identifies: str = NO
    missing: str = MISSING


@dataclass(frozen=True)
class ItemVariable:
    """A variable about a recommended item: one column in long files, one for each rank in wide ones."""

    name: str
    meaning: str
    type: str
    values: str
    read: Callable[[Recommended], Any]
    identifies: str = NO
    missing: str = MISSING

    def at(self, rank: int) -> Variable:
        """The variable of wide files for one rank."""
        name = self.name.replace("item.", f"item.{rank}.", 1)

        def read(record: Record) -> Any:
            return self.read(record.items[rank - 1]) if len(record.items) >= rank else None

        return Variable(
            name, f"{self.meaning} (item {rank})", self.type, self.values, read, self.identifies, self.missing
        )


def _time(name: str, meaning: str, field: str) -> Variable:
    return Variable(name, meaning, "datetime", "ISO 8601, UTC", lambda record: getattr(record.participant, field))


def _measure(name: str, meaning: str, kind: str, values: str, field: str) -> Variable:
    def read(record: Record) -> Any:
        return getattr(record.measures, field) if record.measures else None

    return Variable(name, meaning, kind, values, read)


def _hash(record: Record) -> str:
    return record.participant.version.design_hash if record.participant.version else ""


def _model(record: Record) -> str:
    return record.recommendations.model_digest if record.recommendations else ""


def _people(study: Study) -> Iterator[Variable]:
    labels = ", ".join(study.conditions.order_by("position").values_list("label", flat=True))
    yield Variable("participant.id", "Salted hash of the participant, for publication", "text", "10 characters",
                   lambda r: r.public_id)  # fmt: skip
    yield Variable("participant.code", "Code shown to the participant", "text", "6 characters",
                   lambda r: r.participant.code, YES)  # fmt: skip
    yield Variable("participant.completion_code", "Code the participant can show to be paid", "text", "8 characters",
                   lambda r: r.participant.completion_code, YES)  # fmt: skip
    yield Variable("study.design_hash", "SHA-256 of the frozen design the participant met", "text",
                   "64 hexadecimal digits", _hash)  # fmt: skip
    yield Variable("participant.mode", "Whose data the row is", "category", ", ".join(Mode.values),
                   lambda r: r.participant.mode)  # fmt: skip
    yield Variable("participant.status", "Where the participant stands", "category",
                   ", ".join(ParticipantStatus.values), lambda r: r.participant.status)  # fmt: skip
    yield Variable("participant.is_complete", "Whether every question was answered and the study completed",
                   "boolean", YES_NO_VALUES,
                   lambda r: r.measures is not None and r.participant.status == ParticipantStatus.COMPLETED
                   )  # fmt: skip
    yield Variable("participant.step", "Step of the study the participant reached", "category",
                   "about, rate, recommendations, items, overall, thanks", lambda r: r.participant.step)  # fmt: skip
    yield Variable("participant.condition", "Condition (the recommender the participant met)", "category", labels,
                   lambda r: r.participant.condition.label if r.participant.condition else None)  # fmt: skip
    yield Variable("participant.stratum", "Stratum within which conditions were assigned", "category",
                   "as the design's rules name them", lambda r: r.participant.stratum, INDIRECTLY)  # fmt: skip
    yield Variable("participant.language", "Language of the pages", "category",
                   ", ".join(study.settings.get("languages", ())), lambda r: r.participant.language)  # fmt: skip
    yield Variable("participant.source_user", "User of the dataset a simulated participant stands on", "text",
                   "the dataset's own id", lambda r: r.participant.source_user)  # fmt: skip
    yield _time("participant.time_consented_utc", "When consent was given", "consented_at")
    yield _time("participant.time_assigned_utc", "When a slot was taken", "assigned_at")
    yield _time("participant.time_completed_utc", "When the study was completed", "completed_at")
    yield Variable("participant.share_modelled", "Share of answers and ratings made by the model of answers", "number",
                   "0 to 1", lambda r: r.n_modelled / r.n_answers if r.n_answers else None)  # fmt: skip


def _question(block: str, question: Question) -> Variable:
    return Variable(
        f"{block}.{question.key}",
        next(iter(question.text.values())),
        TYPES[question.kind],
        _values(question),
        lambda record: record.answers.get(question.key),
        INDIRECTLY if question.key in INDIRECT_QUESTIONS else NO,
    )


def _values(question: Question) -> str:
    if question.kind == schema.YES_NO:
        return YES_NO_VALUES
    if question.kind == schema.CHOICE:
        return ", ".join(choice.value for choice in question.choices)
    if question.kind == schema.TEXT:
        return f"text of at most {question.max_length} characters"
    ends = next(iter(question.ends.values()), None)
    span = f"{question.minimum} to {question.maximum}"
    return f"{span} ({question.minimum} = {ends[0]}, {question.maximum} = {ends[1]})" if ends else span


def _measures() -> Iterator[Variable]:
    yield _measure(
        "measure.accuracy", "Perceived accuracy: mean rating of the recommended items", "number", "1 to 5", "accuracy"
    )
    yield _measure("measure.fon", "First-order novelty: share of items not watched", "number", "0 to 1", "fon")
    yield _measure(
        "measure.son", "Second-order novelty: share of items neither watched nor heard of", "number", "0 to 1", "son"
    )
    yield _measure("measure.satisfaction", "Global satisfaction with the list", "integer", "1 to 5", "satisfaction")
    yield _measure("measure.liking", "Mean rating of the items watched", "number", "1 to 5", "liking")
    yield _measure("measure.interest", "Mean rating of the items not watched", "number", "1 to 5", "interest")
    yield _measure("measure.n_liking", "Items watched", "integer", "0 or more", "n_liking")
    yield _measure("measure.n_interest", "Items not watched", "integer", "0 or more", "n_interest")


def _rated(position: int) -> Iterator[Variable]:
    def rating(record: Record) -> Any:
        return record.profile[position - 1] if len(record.profile) >= position else None

    yield Variable(f"profile.{position}.item", f"Item rated as number {position}, by the dataset's own id", "text",
                   "id", lambda r: rating(r).item.external_id if rating(r) else None)  # fmt: skip
    yield Variable(f"profile.{position}.rating", f"Rating given as number {position}", "integer", "1 to 5",
                   lambda r: rating(r).rating if rating(r) else None)  # fmt: skip


def _lists() -> Iterator[Variable]:
    yield Variable("list.model", "SHA-256 of the model that made the list", "text", "64 hexadecimal digits", _model)
    yield Variable("list.seconds", "Time the model took", "number", "seconds",
                   lambda r: r.recommendations.seconds if r.recommendations else None)  # fmt: skip


def item_variables(study: Study) -> tuple[ItemVariable, ...]:
    """What is exported of each recommended item."""
    questions = questionnaire_from(study.questionnaire).items
    asked = [
        ItemVariable(
            f"item.{question.key}",
            next(iter(question.text.values())),
            TYPES[question.kind],
            _values(question) + ("; empty where it was not asked" if question.shown_if else ""),
            lambda item, key=question.key: item.answers.get(key),  # type: ignore[misc]
        )
        for question in questions
    ]
    provenances = ", ".join(Provenance.values)
    return (
        ItemVariable("item.id", "Recommended item, by the dataset's own id", "text", "id",
                     lambda i: i.slot.item.external_id),
        ItemVariable("item.title", "Its title and year", "text", "text", lambda i: str(i.slot.item)),
        ItemVariable("item.score", "Score the model gave it", "number", "empty where popularity filled the slot",
                     lambda i: i.slot.score),
        ItemVariable("item.is_filled", "Whether popularity filled the slot", "boolean", YES_NO_VALUES,
                     lambda i: i.slot.is_filled),
        *asked,
        ItemVariable("item.branch", "Wording in which the rating was asked", "category", ", ".join(BRANCHES),
                     lambda i: i.measures.branch if i.measures else None),
        ItemVariable("item.fon", "First-order novelty", "integer", "1 = not watched, 0 = watched",
                     lambda i: i.measures.fon if i.measures else None),
        ItemVariable("item.son", "Second-order novelty", "integer", "1 = neither watched nor heard of, 0 = else",
                     lambda i: i.measures.son if i.measures else None),
        ItemVariable("item.details_opened", "Whether its details were opened", "boolean", YES_NO_VALUES,
                     lambda i: "details_opened" in i.looked_at),
        ItemVariable("item.trailer_opened", "Whether its trailer was opened", "boolean", YES_NO_VALUES,
                     lambda i: "trailer_opened" in i.looked_at),
        ItemVariable("item.rating_provenance", "Where the rating comes from", "category", provenances,
                     lambda i: i.provenance.get("rating")),
    )  # fmt: skip


def participant_variables(study: Study) -> tuple[Variable, ...]:
    """What is exported of each participant, in long and wide files alike."""
    asked = questionnaire_from(study.questionnaire)
    return (
        *_people(study),
        *(_question(schema.ABOUT, question) for question in asked.about),
        *(_question(schema.OVERALL, question) for question in asked.overall),
        *_measures(),
        *_lists(),
    )


def wide_variables(study: Study, *, with_identifying: bool = False) -> tuple[Variable, ...]:
    """Columns of the file with one row a participant."""
    rated = [v for n in range(1, study.settings["ratings_asked"] + 1) for v in _rated(n)]
    items = [v.at(rank) for rank in range(1, study.settings["list_length"] + 1) for v in item_variables(study)]
    every = (*participant_variables(study), *rated, *items)
    return tuple(v for v in every if with_identifying or v.identifies != YES)


def cell(value: Any) -> str:
    """A value as it stands in a file.

    Booleans are 1 and 0, times ISO 8601 in UTC, nothing an empty cell, line breaks spaces. Text that a
    spreadsheet would run as a formula gets an apostrophe before it; numbers are never touched.
    """
    if value is None:
        return MISSING
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    if isinstance(value, int | float):
        return repr(value)
    text = " ".join(str(value).split("\n")).replace("\r", "").replace("\x00", "")
    # Spreadsheets pass over leading spaces; a tab or a line break can also start a formula.
    return f"'{text}" if text.lstrip(" \t").startswith(("=", "+", "-", "@", "|", "%")) or text[:1] == "\t" else text
