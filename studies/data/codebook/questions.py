"""Variables of a questionnaire's questions and scales."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Generic

from studies.data.codebook.cells import cell
from studies.data.codebook.variable import INDIRECTLY, NO, YES, YES_NO, Row, Variable
from studies.instrument.questionnaires import schema
from studies.instrument.questionnaires.schema import Question
from studies.instrument.scales import ScaleOfStudy

INDIRECT = frozenset({"age", "gender", "gender_text", "education", "nationality", "comment"})
SCREENS = {
    schema.ABOUT: "About you",
    schema.ITEMS: "Each recommended item",
    schema.OVERALL: "Overall",
    schema.AFTER: "Some more questions",
    schema.EVALUATOR: "The interviewer’s page after a session",
}
NOT_ASKED, NOT_ANSWERED, WAS_DECLINED, ERASED = "not_asked", "not_answered", "declined", "erased"
WHY_MISSING = (
    (NOT_ASKED, "earlier answers or the item (without a trailer) hid the question, or its page was not reached"),
    (NOT_ANSWERED, "asked and not answered"),
    (WAS_DECLINED, "asked, and the participant preferred not to say"),
    (ERASED, "erased with the participant's answers, or alone since it named a person"),
)


@dataclass(frozen=True)
class Reader(Generic[Row]):
    """Access to a row's answers: values by key, questions not asked, orders shown, and erasure."""

    answers: Callable[[Row], Mapping[str, Any]]
    not_asked: Callable[[Row], AbstractSet[str]]
    orders: Callable[[Row], Mapping[str, Any]]
    is_erased: Callable[[Row], bool]

    def value(self, row: Row, key: str) -> Any:
        """An answer; None where there is none, or it was declined or erased."""
        answer = self.answers(row).get(key)
        return None if schema.is_declined(answer) or schema.is_erased(answer) else answer

    def why_missing(self, row: Row, key: str) -> str | None:
        """Why there is no answer; None where there is one."""
        answer = self.answers(row).get(key)
        if schema.is_erased(answer):
            return ERASED
        if answer is not None:
            return WAS_DECLINED if schema.is_declined(answer) else None
        if self.is_erased(row):
            return ERASED
        return NOT_ASKED if key in self.not_asked(row) else NOT_ANSWERED

    def own_words(self, row: Row, key: str) -> str | None:
        """The text of a free-text option."""
        return schema.own_words(self.answers(row).get(key)) or None

    def passed(self, row: Row, question: Question) -> bool | None:
        """Whether an attention check was passed."""
        answer = self.value(row, question.key)
        return None if answer is None else bool(answer == question.expects)

    def order(self, row: Row) -> str | None:
        """The order in which the questions were shown."""
        return _spaced(self.orders(row).get("questions"))

    def order_within(self, row: Row, key: str) -> str | None:
        """The order in which the choices or rows of a question were shown."""
        return _spaced(self.orders(row).get("within", {}).get(key))


def question_variables(block: str, name: str, question: Question, reader: Reader[Row]) -> Iterator[Variable[Row]]:
    """The variables of a question; free text may identify a person in combination with other data.

    A multiple choice has a column per choice, a matrix one per row, and a free-text option one for its text. Where an
    answer can be missing for several reasons, ``.missing`` gives the reason; ``.order`` gives the order in which
    choices or rows were shown. All variables of an identifying question are identifying, so that an export
    holds all or none.
    """
    for variable in _question_variables(block, name, question, reader):
        yield replace(variable, identifies=YES) if question.is_identifying else variable


def _question_variables(block: str, name: str, question: Question, reader: Reader[Row]) -> Iterator[Variable[Row]]:
    key, wording, source = question.key, next(iter(question.text.values())), SCREENS.get(block, f"The page of {block}")

    def variable_beside(end: str, meaning: str, kind: str, read: Callable[[Row], Any], **facts: Any) -> Variable[Row]:
        return Variable(f"{name}.{end}", meaning, kind, read, source=source, **facts)

    if question.takes_several or question.rows:
        yield from _parts(name, question, reader, source)
    else:
        yield _answer(name, question, reader, source)
    if question.other:
        words: dict[str, Any] = {"allowed": "text of at most 200 characters", "identifies": INDIRECTLY}
        yield variable_beside(
            "other", f"{wording} (own words)", "text", lambda row: reader.own_words(row, key), **words
        )
    if question.is_check:
        check: dict[str, Any] = {"values": YES_NO, "derivation": f"{name} is {question.expects}"}
        passed = f"Whether the attention check {key} was passed"
        yield variable_beside("passed", passed, "boolean", lambda row: reader.passed(row, question), **check)
    may_be_missing = question.shown_if is not None or not question.required or question.may_decline
    if may_be_missing or question.is_identifying:
        reasons: dict[str, Any] = {"values": WHY_MISSING, "allowed": "empty where it has one"}
        why = f"Why {key} has no answer"
        yield variable_beside("missing", why, "category", lambda row: reader.why_missing(row, key), **reasons)
    if question.random_order:
        order = f"Order in which the {'rows' if question.rows else 'choices'} of {key} were shown"
        allowed = "values with spaces between; empty where it was not shown"
        yield variable_beside("order", order, "text", lambda row: reader.order_within(row, key), allowed=allowed)


def order_variables(
    block: str, name: str, questions: tuple[Question, ...], reader: Reader[Row]
) -> Iterator[Variable[Row]]:
    """The order of a block's questions, where some come in a random one."""
    if any(question.random_group for question in questions):
        order = "Order in which the questions were shown"
        allowed = "keys with spaces between; empty where they were not shown"
        yield Variable(
            f"{name}.order",
            order,
            "text",
            reader.order,
            allowed=allowed,
            source=SCREENS.get(block, f"The page of {block}"),
        )


def scale_variable(name: str, scale: ScaleOfStudy, score: Callable[[Row], Any], suffix: str = "") -> Variable[Row]:
    """The score of a scale."""
    members = ", ".join(f"{member.name}{' (reversed)' if member.is_reversed else ''}" for member in scale.members)
    low, high = scale.members[0].minimum, scale.members[0].maximum
    mapped = "" if scale.score_range is None else f"; mapped from {low}–{high} to {scale.minimum}–{scale.maximum}"

    def read(row: Row) -> float | None:
        value = score(row)
        return None if value is None else float(value)

    return Variable(
        name=name,
        meaning=f"{next(iter(scale.name.values()))}{suffix}",
        type="number",
        read=read,
        allowed=f"{scale.minimum} to {scale.maximum}; empty where too few were answered",
        derivation=f"mean of {members}; a reversed answer x counts as {low} + {high} - x; at least "
        f"{scale.least_answered:.0%} of them answered{mapped}",
        direction="high means more of it",
        minimum=scale.minimum,
        maximum=scale.maximum,
    )


def _answer(name: str, question: Question, reader: Reader[Row], source: str) -> Variable[Row]:
    key = question.key
    return Variable(
        name=name,
        meaning=next(iter(question.text.values())),
        type=question.column_type,
        read=lambda row: schema.plain_answer(reader.value(row, key)),
        allowed=_allowed(question),
        values=_labels(question),
        identifies=INDIRECTLY if key in INDIRECT or question.is_in_words else NO,
        source=source,
        direction=_direction(question.is_reversed),
        is_reversed=question.is_reversed,
        minimum=question.minimum if question.is_numeric else None,
        maximum=question.maximum if question.is_numeric else None,
    )


def _direction(is_reversed: bool) -> str:
    return "low means more of what the scale measures" if is_reversed else ""


def _parts(name: str, question: Question, reader: Reader[Row], source: str) -> Iterator[Variable[Row]]:
    """A variable for each choice, or for each row."""
    wording, identifies = next(iter(question.text.values())), INDIRECTLY if question.key in INDIRECT else NO

    def variable(part: str, words: Mapping[str, str], kind: str, **facts: Any) -> Variable[Row]:
        meaning, read = f"{wording}: {next(iter(words.values()))}", partial(_part, question, reader, part)
        return Variable(f"{name}.{part}", meaning, kind, read, source=source, identifies=identifies, **facts)

    for choice in question.choices if question.takes_several else ():
        yield variable(choice.value, choice.label, "boolean", values=YES_NO)
    for line in question.rows:
        yield variable(
            line.key,
            line.text,
            question.column_type,
            allowed=_allowed(question),
            values=_labels(question),
            is_reversed=line.is_reversed,
            direction=_direction(line.is_reversed),
            minimum=question.minimum,
            maximum=question.maximum,
        )


def _part(question: Question, reader: Reader[Row], part: str, row: Row) -> Any:
    answer = reader.value(row, question.key)
    if answer is None:
        return None
    return answer.get(part) if question.rows else part in answer


def _spaced(values: Any) -> str | None:
    return " ".join(values) if values else None


def _labels(question: Question) -> tuple[tuple[str, str], ...]:
    if question.fixed_answers:
        return tuple((cell(value), label.lower()) for value, label in question.fixed_answers)
    own = ((schema.OTHER, next(iter(question.other.values()))),) if question.other else ()
    return (*((choice.value, next(iter(choice.label.values()))) for choice in question.choices), *own)


def _allowed(question: Question) -> str:
    text = ""
    if question.is_in_words:
        text = f"text of at most {question.max_length} characters"
    elif question.minimum is not None and question.maximum is not None and not question.takes_several:
        text = f"{question.minimum} to {question.maximum}"
        if labels := next(iter(question.labels.values()), None):
            text += f" ({', '.join(f'{question.minimum + at} = {label}' for at, label in enumerate(labels))})"
        elif ends := next(iter(question.ends.values()), None):
            text += f" ({question.minimum} = {ends[0]}, {question.maximum} = {ends[1]})"
    if question.unit:
        text = f"{text}, in {next(iter(question.unit.values()))}".lstrip(", ")
    if question.shown_if is not None:
        text = f"{text}; empty where it was not asked" if text else "empty where it was not asked"
    return text
