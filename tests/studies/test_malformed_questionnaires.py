"""Every way in which a questionnaire can be wrong: what the message says, and the path it names."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from studies.instrument.questionnaires.core import core_problems
from studies.instrument.questionnaires.document import DEEPEST, DocumentProblems, read_document
from studies.instrument.questionnaires.schema import questionnaire_from
from tests.sentences import assert_refused_as_approved

pytestmark = pytest.mark.unit
TEXT = {"en": "What?"}
YES = {"value": "a", "label": {"en": "A"}}
NO = {"value": "b", "label": {"en": "B"}}


def asked(kind: str = "text", **fields: Any) -> dict[str, Any]:
    return {"key": "q", "kind": kind, "text": TEXT, **fields}


def second(kind: str = "text", **fields: Any) -> dict[str, Any]:
    return {**asked(kind, **fields), "key": "p"}


def likert(**fields: Any) -> dict[str, Any]:
    return asked("likert", minimum=1, maximum=5, **fields)


def matrix(*rows: Any, **fields: Any) -> dict[str, Any]:
    return asked("matrix", minimum=1, maximum=5, rows=list(rows), **fields)


QUESTIONS: tuple[Any, ...] = (
    "not a mapping",
    {"kind": "text", "text": TEXT},
    {"key": "q", "text": TEXT},
    {"key": "q", "kind": "text"},
    asked("colour"),
    {**asked(), "key": "Not a key"},
    {**asked(), "key": "order"},
    asked(colour="red"),
    asked("yes_no", colour="red"),
    asked(required="yes"),
    asked(random_group="A group"),
    asked("number", decimals=9),
    asked(max_length=0),
    {**asked(), "text": "What?"},
    {**asked(), "text": {"en": " "}},
    likert(ends=["low", "high"]),
    likert(ends={"en": ["low"]}),
    likert(labels={"en": ["a", "b"]}),
    asked(wordings=["one"]),
    asked(wordings={"watched": "one"}),
    asked(admits=["one"]),
    asked(admits={"least": 1}),
    asked(admits={"values": "one"}),
    asked("likert", maximum=5),
    asked("slider", minimum=0),
    asked("number", minimum=1.5),
    asked("slider", minimum=0, maximum="ten"),
    asked("likert", minimum=1, maximum=1),
    asked("number", minimum=9, maximum=1),
    asked("slider", minimum=3, maximum=3),
    asked("slider", minimum=0, maximum=9, step=0),
    asked("slider", minimum=0, maximum=9, step=2),
    asked("choice"),
    asked("choice", choices="ab"),
    asked("choice", choices=[YES, "b"]),
    asked("choice", choices=[YES, {**NO, "colour": 1}]),
    asked("choice", choices=[YES, {**NO, "value": True}]),
    asked("choice", choices=[YES, YES]),
    asked("choice", choices=[YES, {**NO, "value": "other"}], other=TEXT),
    asked("choice", choices=[YES, {**NO, "exclusive": True}]),
    asked("multiple", choices=[YES, NO], maximum=3),
    asked("multiple", choices=[YES, NO], minimum=3),
    asked("matrix", minimum=1, maximum=5),
    matrix("one"),
    matrix({"key": "r", "text": TEXT, "colour": 1}),
    matrix({"key": "A row", "text": TEXT}),
    matrix({"key": "r", "text": TEXT}, {"key": "r", "text": TEXT}),
    asked("attention", minimum=1, maximum=5),
    asked("attention", minimum=1, maximum=5, expects=9),
    asked("attention", minimum=1, maximum=5, expects=2, identifies=True),
    likert(scale="trust", identifies=True),
    asked(shown_if={"question": "p", "one_of": []}),
    asked(shown_if={"question": "p", "answered": 1}),
    asked(shown_if={"question": "p", "above": "x"}),
    asked(shown_if={"question": "p", "equals": None}),
    asked(shown_if={"all": []}),
    asked(shown_if={"any": []}),
    asked(shown_if={"not": {}, "all": []}),
)
CHOICES = {"choices": [YES, NO]}
SCALES = [{"key": "t", "name": TEXT}]
QUESTIONNAIRES: tuple[Any, ...] = (
    ["about"],
    {"before": []},
    {"about": "what?"},
    {"about": [asked(expects={1})]},
    {"about": [asked(), asked()]},
    {"about": [asked()], "after": [asked()]},
    {"items": [{**asked(), "key": "rank"}]},
    {"scales": "trust"},
    {"scales": [{"key": "trust", "name": "Trust"}]},
    {"scales": [{"key": "t", "name": TEXT, "colour": 1}]},
    *(
        {"scales": [{"key": "t", "name": TEXT, "score_range": value}]}
        for value in (100, [0], [100, 0], [0, "100"], [False, True])
    ),
    {"scales": [{"key": "A scale", "name": TEXT}]},
    {"scales": [{"key": "t", "name": TEXT}, {"key": "t", "name": TEXT}]},
    {"scales": [{"key": "t", "name": TEXT, "least_answered": 2}]},
    {"attention": {"after": 1}},
    {"attention": {"ends_after": -1}},
    {"about": [likert(scale="trust")]},
    {"about": [asked("choice", **CHOICES, scale="t")], "scales": SCALES},
    {
        "about": [asked("matrix", rows=[{"key": "r", "text": TEXT}], scale="t", **CHOICES)],
        "scales": [{"key": "t", "name": TEXT}],
    },
    {
        "about": [likert(scale="t"), second("likert", minimum=1, maximum=7, scale="t")],
        "scales": [{"key": "t", "name": TEXT}],
    },
    {"about": [asked(random_group="g"), second(), {**asked(random_group="g"), "key": "r"}]},
    {
        "about": [
            asked(random_group="g"),
            second(random_group="g", shown_if={"question": "q", "answered": True}),
        ]
    },
    {
        "about": [
            matrix({"key": "r", "text": TEXT}),
            second(shown_if={"question": "q", "row": "s", "equals": 1}),
        ]
    },
    {"about": [asked("choice", **CHOICES), second(shown_if={"question": "q", "equals": "c"})]},
    {"about": [asked(), second(shown_if={"question": "q", "equals": "c"})]},
    {"about": [asked(), second(shown_if={"question": "q", "above": 1})]},
)
# Documents that are too long or too deep have a name; the others show what they hold.
DOCUMENTS = {
    text if len(text) < 200 else f"{text[:20]} … of {len(text):,} characters": text
    for text in (
        "schema: 1\nafter: [a: {",
        "schema: 1\nafter:\n- &q {key: a}\n- *q\n",
        "schema: 1\nabout: []\nabout: []\n",
        "- 1\n- 2\n",
        "about: []\n",
        "schema: 2\nabout: []\n",
        "",
        "schema: 1\nafter: !!python/object:os.system {}\n",
        "[" * (DEEPEST + 1),
        "schema: 1\nabout:\n- key: q\n  kind: colour\n  text: {en: What}\n",
        "schema: 1\nabout:\n- {key: q, kind: likert, maximum: 5, text: {en: What}}\n",
        "x" * 500_001,
        "after:\n" + "- {key: a}\n" * 7_000,
    )
}


def test_malformed_questionnaires_are_refused() -> None:
    cases = {shown(question): partial(questionnaire_from, {"about": [question]}) for question in QUESTIONS}
    cases |= {shown(data): partial(questionnaire_from, data) for data in QUESTIONNAIRES}
    assert len(cases) == len(QUESTIONS) + len(QUESTIONNAIRES)
    assert_refused_as_approved("questionnaires", cases)


def shown(data: object) -> str:
    """Data as a line, without the texts and choices that every question has."""
    return str(data).replace(str(YES), "YES").replace(str(NO), "NO").replace(str(TEXT), "TEXT")


def test_malformed_documents_are_refused() -> None:
    cases = {name: partial(read_document, text) for name, text in DOCUMENTS.items()}
    assert_refused_as_approved("questionnaire-documents", cases)
    with pytest.raises(DocumentProblems, match="value is invalid"):  # in the words of the interpreter
        read_document("schema: 1\nabout: 2026-99-99\n")


CORE = {
    "items": [
        {"key": "watched", "kind": "yes_no", "text": TEXT},
        {"key": "heard", "kind": "yes_no", "text": TEXT},
        {"key": "trailer_seen", "kind": "yes_no", "text": TEXT},
        {"key": "rating", "kind": "likert", "minimum": 1, "maximum": 5, "text": TEXT},
    ],
    "overall": [{"key": "satisfaction", "kind": "likert", "minimum": 1, "maximum": 5, "text": TEXT}],
}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"kind": "text", "minimum": None, "maximum": None}, "must be of the kind likert"),
        ({"maximum": 7}, "must have a scale from 1 to 5"),
        ({"required": False}, "must be required and must not allow declining"),
        ({"may_decline": True}, "must be required and must not allow declining"),
        ({"identifies": True}, "must not identify a person"),
    ],
)
def test_a_question_behind_a_measure_keeps_its_form(change: dict[str, Any], words: str) -> None:
    assert core_problems(questionnaire_from(CORE)) == []
    changed = {name: value for name, value in {**CORE["overall"][0], **change}.items() if value is not None}
    (problem,) = core_problems(questionnaire_from({**CORE, "overall": [changed]}))
    assert words in str(problem)
    assert problem.path == ("overall", 0)


def test_a_missing_question_behind_a_measure_is_named() -> None:
    (problem,) = core_problems(questionnaire_from({"items": CORE["items"]}))
    assert "'satisfaction' is missing" in str(problem)


@pytest.mark.parametrize("begin", ["[", "{a: ", "- ", "? ", "[a,", "!"])
def test_a_document_nested_without_end_is_refused(begin: str) -> None:
    with pytest.raises(DocumentProblems, match=r"levels deep|not valid YAML"):
        read_document(begin * (400_000 // len(begin)))
