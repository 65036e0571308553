"""Question kinds: unanswered, answered, and with a problem."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml

from parallax.design.components import Section, State
from parallax.reference.question_entries import EXAMPLES
from studies.instrument.questionnaires.schema import questionnaire_from
from studies.participation.selectors.question_presenter import Asked, page_of, wanting_text

ANSWERS: Mapping[str, Any] = {
    "yes_no": True, "number": 12, "choice": {"other": "A reader with a screen of electronic paper"}, "text": "Turin",
    "likert": 4, "multiple": ["friends", "press"], "long_text": "Nothing, thank you.", "slider": 65,
    "matrix": {"varied": 4, "boring": 2}, "attention": 2,
}  # fmt: skip
LONG = "A long question wraps, also where it has a word such as Rindfleischetikettierungsüberwachungsaufgabe in it."
# Fields that a kind has beyond its example.
VARIANTS: Mapping[str, Mapping[str, Any]] = {
    "yes_no": {"may_decline": True, "text": {"en": "May the person decline to answer?"}},
    "number": {"may_decline": True, "help": {"en": "Estimate, if you do not know."}},
    "likert": {"ends": None, "labels": {"en": ["Never", "Rarely", "Sometimes", "Often", "Always"]}},
    "text": {"required": True, "max_length": 500, "text": {"en": LONG}},
    "choice": {"random_order": True, "text": {"en": LONG}},
    "matrix": {
        "minimum": None, "maximum": None, "ends": None,
        "choices": [{"value": "less", "label": {"en": "Less"}}, {"value": "more", "label": {"en": "More"}}],
    },
}  # fmt: skip


def unanswered() -> tuple[Section, ...]:
    """Every kind as it is first shown, and with fields that its example lacks."""
    return (
        Section("kinds", "Every kind", tuple(_state(kind, question) for kind, question in _questions("").items())),
        Section("variants", "Variants", tuple(_state(k, a) for k, a in _questions("other", variants=VARIANTS).items())),
    )


def answered() -> tuple[Section, ...]:
    """Kinds with an answer, and without a required one."""
    answers = {kind: value for kind, value in ANSWERS.items() if kind not in ("attention", "yes_no")}
    lacking = ("yes_no", "number", "choice", "likert", "slider", "matrix")
    return (
        Section("answered", "Answered", tuple(_state(k, a) for k, a in _questions("given", answers=answers).items())),
        Section("problems", "Problems", tuple(_state(k, a) for k, a in _questions("lacking", lacking=lacking).items())),
    )


def _state(kind: str, question: Asked) -> State:
    controls = f"participant/questions/{question.layout}.html"
    return State(
        kind, "participant/parts/question.html", {"question": question, "controls": controls}, wide=kind == "matrix"
    )


def _questions(
    suffix: str,
    *,
    answers: Mapping[str, Any] | None = None,
    lacking: tuple[str, ...] = (),
    variants: Mapping[str, Mapping[str, Any]] | None = None,
) -> dict[str, Asked]:
    """Questions by kind as their page shows them; keys end in `suffix`, as a page has each key only once."""
    kinds = answers or lacking or variants or EXAMPLES
    questions = {kind: {**yaml.safe_load(EXAMPLES[kind]), **(variants or {}).get(kind, {})} for kind in kinds}
    for question in questions.values():
        question["key"] = "_".join(filter(None, (question["key"], suffix)))
    document = {"overall": [{k: v for k, v in each.items() if v is not None} for each in questions.values()]}
    questionnaire = questionnaire_from(document)
    values = {questions[kind]["key"]: value for kind, value in (answers or {}).items()}
    problems = {each.key: wanting_text(each, None) for each in questionnaire.block("overall") if lacking}
    page = page_of(questionnaire, "overall", values, language="en", problems=problems)
    return dict(zip(questions, page, strict=True))
