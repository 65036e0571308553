"""Variables that a questionnaire's own questions make, whatever they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from studies.codebook.variable import INDIRECTLY, NO, YES_NO, Row, Variable
from studies.questionnaires import schema
from studies.questionnaires.schema import Question

TYPES = {
    "yes_no": "boolean", "number": "integer", "likert": "integer", "slider": "number", "choice": "category",
    "multiple": "text", "matrix": "text", "attention": "text", "text": "text", "long_text": "text",
}  # fmt: skip
IN_JSON = {"multiple": "a JSON list of the values chosen", "matrix": "a JSON object, row to value"}
INDIRECT = frozenset({"age", "gender", "gender_text", "education", "nationality", "comment"})
FREE = ("text", "long_text")
SCREENS = {schema.ABOUT: "About you", schema.ITEMS: "Each recommended item", schema.OVERALL: "Overall"}


def question_variable(block: str, name: str, question: Question, read: Callable[[Row], Any]) -> Variable[Row]:
    """The variable of a question; free text may name somebody together with other things."""
    reversed_ = bool(getattr(question, "is_reversed", False))
    numeric = question.kind in ("number", "likert", "slider")
    return Variable(
        name=name,
        meaning=next(iter(question.text.values())),
        type=TYPES[question.kind],
        read=read,
        allowed=_allowed(question),
        values=_labels(question),
        identifies=INDIRECTLY if question.key in INDIRECT or question.kind in FREE else NO,
        source=SCREENS.get(block, block.capitalize()),
        direction="low means more of what the scale measures" if reversed_ else "",
        is_reversed=reversed_,
        minimum=question.minimum if numeric else None,
        maximum=question.maximum if numeric else None,
    )


def _labels(question: Question) -> tuple[tuple[str, str], ...]:
    if question.kind == "yes_no":
        return YES_NO
    return tuple((choice.value, next(iter(choice.label.values()))) for choice in question.choices)


def _allowed(question: Question) -> str:
    said = IN_JSON.get(question.kind, "")
    if question.kind in FREE:
        said = f"text of at most {question.max_length} characters"
    elif question.minimum is not None and question.maximum is not None:
        ends = next(iter(question.ends.values()), None)
        said = f"{question.minimum} to {question.maximum}"
        if ends:
            said += f" ({question.minimum} = {ends[0]}, {question.maximum} = {ends[1]})"
    if question.shown_if:
        said = f"{said}; empty where it was not asked" if said else "empty where it was not asked"
    return said
