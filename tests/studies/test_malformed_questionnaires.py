"""Every way in which a questionnaire can be wrong: what the message says, and the path it names."""

from __future__ import annotations

from typing import Any

import pytest

from studies.instrument.questionnaires.core import core_problems
from studies.instrument.questionnaires.document import DEEPEST, DocumentProblems, read_document
from studies.instrument.questionnaires.problems import QuestionnaireProblems
from studies.instrument.questionnaires.schema import questionnaire_from

pytestmark = pytest.mark.unit
TEXT = {"en": "What?"}
YES = {"value": "a", "label": {"en": "A"}}
NO = {"value": "b", "label": {"en": "B"}}


def asked(kind: str = "text", **fields: Any) -> dict[str, Any]:
    return {"key": "q", "kind": kind, "text": TEXT, **fields}


def likert(**fields: Any) -> dict[str, Any]:
    return asked("likert", minimum=1, maximum=5, **fields)


def matrix(*rows: Any, **fields: Any) -> dict[str, Any]:
    return asked("matrix", minimum=1, maximum=5, rows=list(rows), **fields)


def problems_of(data: Any) -> list[str]:
    with pytest.raises(QuestionnaireProblems) as caught:
        questionnaire_from(data)
    return [str(problem) for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("not a mapping", "A question has a key, a kind and a text; got 'not a mapping'"),
        ({"kind": "text", "text": TEXT}, "This question has no key. Add one."),
        ({"key": "q", "text": TEXT}, "'q' has no kind"),
        ({"key": "q", "kind": "text"}, "'q' has no text"),
        (asked("colour"), "unknown kind 'colour'"),
        ({**asked(), "key": "Not a key"}, "'Not a key' is not a valid key"),
        ({**asked(), "key": "order"}, "The key 'order' is reserved"),
        (asked(colour="red"), "has no field 'colour'"),
        (asked("yes_no", colour="red"), "it has no fields of its own"),
        (asked(required="yes"), "required of 'q' is true or false; got 'yes'"),
        (asked(random_group="A group"), "'A group' is not a valid random_group of 'q'"),
        (asked("number", decimals=9), "decimals of 'q' is a whole number from 0 to"),
        (asked(max_length=0), "The longest text of the question 'q' is 1 to"),
        ({**asked(), "text": "What?"}, "The text of 'q' is a text for each language"),
        ({**asked(), "text": {"en": " "}}, "The text of 'q' is a text for each language"),
        (likert(ends=["low", "high"]), "The ends of 'q' are lists by language"),
        (likert(ends={"en": ["low"]}), "The ends of 'q' are a label for each of its two ends; got ['low'] for 'en'"),
        (likert(labels={"en": ["a", "b"]}), "a label for each of its 5 points"),
        (asked(wordings=["one"]), "The wordings of 'q' are texts by branch"),
        (asked(wordings={"watched": "one"}), "The wording of 'q' is a text for each language"),
        (asked(admits=["one"]), "admits of 'q' has values, or minimum and maximum"),
        (asked(admits={"least": 1}), "admits of 'q' has values, or minimum and maximum"),
        (asked(admits={"values": "one"}), "The values that 'q' admits are a list"),
        (asked("likert", maximum=5), "The question 'q' has no minimum. Add its lowest and highest point."),
        (asked("slider", minimum=0), "The question 'q' has no maximum. Add its lowest and highest point."),
        (asked("number", minimum=1.5), "The minimum of the question 'q' is not a whole number"),
        (asked("slider", minimum=0, maximum="ten"), "The maximum of the question 'q' is not a number"),
        (asked("likert", minimum=1, maximum=1), "needs 2 to 11 points"),
        (asked("number", minimum=9, maximum=1), "The minimum 9 of the question 'q' is not below its maximum 1"),
        (asked("slider", minimum=3, maximum=3), "The minimum 3 of the question 'q' is not below its maximum 3"),
        (asked("slider", minimum=0, maximum=9, step=0), "The step of the slider 'q' is a number above 0; got 0"),
        (asked("slider", minimum=0, maximum=9, step=2), "does not go from 0 to 9 in steps of 2"),
        (asked("choice"), "'q' is a choice without options"),
        (asked("choice", choices="ab"), "The choices of 'q' are a list of {value, label}"),
        (asked("choice", choices=[YES, "b"]), "A choice of 'q' has a value and a label; got 'b'"),
        (asked("choice", choices=[YES, {**NO, "colour": 1}]), "a value, a label and exclusive; got colour"),
        (asked("choice", choices=[YES, {**NO, "value": True}]), "put yes, no, on and off in quotes"),
        (asked("choice", choices=[YES, YES]), "'q' offers 'a' twice"),
        (asked("choice", choices=[YES, {**NO, "value": "other"}], other=TEXT), "The value 'other' is reserved in 'q'"),
        (asked("choice", choices=[YES, {**NO, "exclusive": True}]), "exclusive is true or false, of a choice in a"),
        (asked("multiple", choices=[YES, NO], maximum=3), "'q' offers 2 choices; at most 1 to 2 can be chosen"),
        (asked("multiple", choices=[YES, NO], minimum=3), "'q' offers 2 choices; at least 3 cannot be required"),
        (asked("matrix", minimum=1, maximum=5), "The matrix 'q' has no rows"),
        (matrix("one"), "A row of 'q' has a key and a text; got 'one'"),
        (matrix({"key": "r", "text": TEXT, "colour": 1}), "A row has a key, a text and reversed; got colour"),
        (matrix({"key": "A row", "text": TEXT}), "'A row' is not a valid key of a row"),
        (matrix({"key": "r", "text": TEXT}, {"key": "r", "text": TEXT}), "The matrix 'q' has the row 'r' twice"),
        (asked("attention", minimum=1, maximum=5), "The attention check 'q' has no expected answer. Add expects."),
        (asked("attention", minimum=1, maximum=5, expects=9), "The expected answer is not an option of the question"),
        (asked("attention", minimum=1, maximum=5, expects=2, identifies=True), "cannot identify a person"),
        (likert(scale="trust", identifies=True), "identifies a person, and the score of a scale would reveal it"),
        (asked(shown_if={"question": "p", "one_of": []}), "one_of needs a list of answers; got []"),
        (asked(shown_if={"question": "p", "answered": 1}), "answered is true or false; got 1"),
        (asked(shown_if={"question": "p", "above": "x"}), "above needs a number; got 'x'"),
        (asked(shown_if={"question": "p", "equals": None}), "equals needs a single answer; got None"),
        (asked(shown_if={"all": []}), "all needs a list of conditions, all of which must hold"),
        (asked(shown_if={"any": []}), "any needs a list of conditions, any of which must hold"),
        (asked(shown_if={"not": {}, "all": []}), "must be the only key; move the other conditions into it"),
    ],
)
def test_a_malformed_question_is_named_with_its_fault(question: Any, words: str) -> None:
    found = problems_of({"about": [question]})
    assert any(words in problem for problem in found), found


CHOICES = {"choices": [YES, NO]}


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (["about"], "A questionnaire is a mapping of blocks; got ['about']"),
        ({"before": []}, "overall, after, scales, attention, evaluator; got 'before'"),
        ({"about": "what?"}, "The block 'about' is a list of questions; got 'what?'"),
        ({"about": [asked(expects={1})]}, "may contain only texts, numbers, true and false"),
        ({"about": [asked(), asked()]}, "The key 'q' is used twice in the block 'about'"),
        ({"about": [asked()], "after": [asked()]}, "The key 'q' is already used in the block 'about'"),
        ({"items": [{**asked(), "key": "rank"}]}, "The key 'rank' is the name of another column about items"),
        ({"scales": "trust"}, "The scales are a list of {key, name}; got 'trust'"),
        ({"scales": [{"key": "trust", "name": "Trust"}]}, "A scale has a key and a name by language"),
        (
            {"scales": [{"key": "t", "name": TEXT, "colour": 1}]},
            "A scale has key, name, least_answered and score_range; got colour",
        ),
        *(
            ({"scales": [{"key": "t", "name": TEXT, "score_range": value}]}, "has the lowest and the highest score")
            for value in (100, [0], [100, 0], [0, "100"], [False, True])
        ),
        ({"scales": [{"key": "A scale", "name": TEXT}]}, "'A scale' is not a valid key"),
        ({"scales": [{"key": "t", "name": TEXT}, {"key": "t", "name": TEXT}]}, "The scale 't' is defined twice"),
        ({"scales": [{"key": "t", "name": TEXT, "least_answered": 2}]}, "least_answered must be above 0 and at most 1"),
        ({"attention": {"after": 1}}, "attention has ends_after, the number of failed checks"),
        ({"attention": {"ends_after": -1}}, "attention has ends_after, the number of failed checks"),
        ({"about": [likert(scale="trust")]}, "There is no scale 'trust'. Declare it under scales, with a name."),
        (
            {"about": [asked("choice", **CHOICES, scale="t")], "scales": [{"key": "t", "name": TEXT}]},
            "has no field 'scale'",
        ),
        (
            {"about": [asked("matrix", rows=[{"key": "r", "text": TEXT}], scale="t", **CHOICES)],
             "scales": [{"key": "t", "name": TEXT}]},
            "The answers to 'q' are not numbers and cannot be scored",
        ),
        (
            {"about": [likert(scale="t"), {**asked("likert", minimum=1, maximum=7, scale="t"), "key": "p"}],
             "scales": [{"key": "t", "name": TEXT}]},
            "The questions of the scale 't' have different ranges",
        ),
        (
            {"about": [asked(random_group="g"), {**asked(), "key": "p"}, {**asked(random_group="g"), "key": "r"}]},
            "The questions of the random group 'g' are not adjacent",
        ),
        (
            {"about": [asked(random_group="g"),
                       {**asked(random_group="g", shown_if={"question": "q", "answered": True}), "key": "p"}]},
            "depends on a question of its own random group",
        ),
        (
            {"about": [matrix({"key": "r", "text": TEXT}),
                       {**asked(shown_if={"question": "q", "row": "s", "equals": 1}), "key": "p"}]},
            "depends on the row 's' of 'q', which has no such row",
        ),
        (
            {"about": [asked("choice", **CHOICES),
                       {**asked(shown_if={"question": "q", "equals": "c"}), "key": "p"}]},
            "expects 'c', which is not an answer to 'q'",
        ),
        (
            {"about": [asked(), {**asked(shown_if={"question": "q", "equals": "c"}), "key": "p"}]},
            "compares the text of 'q'. Ask whether it was answered.",
        ),
        (
            {"about": [asked(), {**asked(shown_if={"question": "q", "above": 1}), "key": "p"}]},
            "compares 'q' by above, but its answers are not numbers",
        ),
    ],
)  # fmt: skip
def test_a_malformed_questionnaire_is_named_with_its_fault(data: Any, words: str) -> None:
    found = problems_of(data)
    assert any(words in problem for problem in found), found


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


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("schema: 1\nafter: [a: {", "line 2: This is not valid YAML"),
        ("schema: 1\nafter:\n- &q {key: a}\n- *q\n", "line 4: Aliases (*name) are not supported"),
        ("schema: 1\nabout: []\nabout: []\n", "line 3, about: This key occurs twice"),
        ("schema: 1\nabout: 2026-99-99\n", "A value is invalid"),
        ("- 1\n- 2\n", "this document has none of them"),
        ("about: []\n", "This document has no schema. Begin it with schema: 1."),
        ("schema: 2\nabout: []\n", "line 1: This document has the schema 2"),
        ("", "The document is empty"),
        ("schema: 1\nafter: !!python/object:os.system {}\n", "This is not valid YAML"),
        ("[" * (DEEPEST + 1), f"nested at most {DEEPEST} levels deep"),
        ("schema: 1\nabout:\n- key: q\n  kind: colour\n  text: {en: What}\n", "line 4, about[0].kind"),
        ("schema: 1\nabout:\n- {key: q, kind: likert, maximum: 5, text: {en: What}}\n", "line 3, about[0].minimum"),
        ("x" * 500_001, "at most 500,000 characters"),
        ("after:\n" + "- {key: a}\n" * 7_000, "line 6667: A questionnaire has at most 20,000 values"),
    ],
)
def test_a_malformed_document_is_named_with_its_line(text: str, words: str) -> None:
    with pytest.raises(DocumentProblems) as caught:
        read_document(text)
    assert words in str(caught.value)


@pytest.mark.parametrize("begin", ["[", "{a: ", "- ", "? ", "[a,", "!"])
def test_a_document_nested_without_end_is_refused(begin: str) -> None:
    with pytest.raises(DocumentProblems, match=r"at most \d+ levels deep|not valid YAML"):
        read_document(begin * (400_000 // len(begin)))
