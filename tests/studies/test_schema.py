"""Questions as data: what a questionnaire may hold, and which values answer a question."""

from __future__ import annotations

from typing import Any

import pytest

from core.errors import ParameterError
from studies.instrument.questionnaires.questions import Choice
from studies.instrument.questionnaires.schema import KINDS, Question, questionnaire_from
from studies.instrument.questionnaires.wording import other_than_wording

pytestmark = pytest.mark.unit
TEXT = {"en": "What?"}


def _question(kind: str, **kwargs: Any) -> Question:
    choices = (Choice("a", {"en": "A"}), Choice("b", {"en": "B"})) if kind == "choice" else ()
    return KINDS[kind]("q", TEXT, choices=choices, **kwargs)


@pytest.mark.parametrize(
    ("question", "value", "kept"),
    [
        (_question("yes_no"), False, False),
        (_question("number", minimum=1, maximum=9), 9, 9),
        (_question("likert", minimum=1, maximum=5), 1, 1),
        (_question("choice"), "b", "b"),
        (_question("text"), "  a  ", "a"),
        (_question("text", required=False), "   ", None),
        (_question("yes_no", required=False), None, None),
    ],
)
def test_check_returns_the_value_as_it_is_stored(question: Question, value: object, kept: object) -> None:
    assert question.check(value) == kept


@pytest.mark.parametrize(
    ("question", "value"),
    [
        (_question("yes_no"), 1),
        (_question("yes_no"), None),
        (_question("number", minimum=1, maximum=9), 10),
        (_question("number", minimum=1, maximum=9), 0),
        (_question("number"), True),
        (_question("likert", minimum=1, maximum=5), 2.0),
        (_question("choice"), "c"),
        (_question("text", max_length=3), "abcd"),
        (_question("text"), 3),
        (_question("text"), "a\x00b"),
        (_question("text"), {"declined": True}),
        (_question("number", decimals=1), "1.5"),
        (_question("number", decimals=1), float("nan")),
        (_question("number", decimals=1), 1.25),
        (_question("slider", minimum=0, maximum=1, step=0.1), "0.5"),
        (_question("matrix", minimum=1, maximum=5), {"row": 3}),
        (_question("matrix", minimum=1, maximum=5), [3]),
    ],
)
def test_check_refuses_what_does_not_answer_the_question(question: Question, value: object) -> None:
    with pytest.raises(ParameterError, match="'q'"):
        question.check(value)


def test_a_preference_is_one_of_five_steps_from_the_left_list_to_the_right() -> None:
    asked = questionnaire_from({"overall": [{"key": "q", "kind": "preference", "text": TEXT}]}).block("overall")[0]
    assert [asked.check(asked.parsed(raw)) for raw in ("-2", "-1", "0", "1", "2")] == [-2, -1, 0, 1, 2]
    assert asked.possible_answers() == asked.countable_answers() == (-2, -1, 0, 1, 2)
    assert asked.is_numeric
    assert {language: labels[2] for language, labels in asked.labels.items()} == {
        "en": "No difference", "de": "Kein Unterschied", "it": "Nessuna differenza",
    }  # fmt: skip
    for value in (-3, 3, 1.0, True, "1", None):
        with pytest.raises(ParameterError, match="'q'"):
            asked.check(value)


def test_labels_of_a_preference_may_be_own_and_in_other_languages() -> None:
    own = {"fr": ["A", "plutôt A", "les deux", "plutôt B", "B"], "en": ["A", "rather A", "both", "rather B", "B"]}
    question = {"key": "q", "kind": "preference", "text": TEXT, "labels": own}
    asked = questionnaire_from({"overall": [question]}).block("overall")[0]
    assert (asked.labels["fr"][1], asked.labels["en"][2], asked.labels["it"][2]) == (
        "plutôt A", "both", "Nessuna differenza",
    )  # fmt: skip
    with pytest.raises(ParameterError, match="a label for each of its 5 points"):
        questionnaire_from({"overall": [{**question, "labels": {"en": ["A", "B"]}}]})
    with pytest.raises(ParameterError, match="has no field 'minimum'"):
        questionnaire_from({"overall": [{**question, "minimum": 1}]})


def test_admits_value_knows_values_and_limits() -> None:
    assert _question("yes_no", admits=(True,)).admits_value(True)
    assert not _question("yes_no", admits=(True,)).admits_value(False)
    between = _question("number", admits_minimum=20, admits_maximum=50)
    assert [between.admits_value(age) for age in (19, 20, 50, 51, None)] == [False, True, True, False, False]


@pytest.mark.parametrize(
    "block",
    [
        [{"key": "a", "kind": "text"}],
        [{"key": "a", "kind": "colour", "text": TEXT}],
        [{"key": "a", "kind": "choice", "text": TEXT}],
        [{"key": "a", "kind": "likert", "text": TEXT, "minimum": 1, "maximum": 12}],
        [{"key": "a", "kind": "number", "text": TEXT, "minimum": "one"}],
        [{"key": "a", "kind": "text", "text": TEXT, "max_length": 10**6}],
        [{"key": "a", "kind": "text", "text": TEXT, "colour": "red"}],
        [{"key": "a", "kind": "text", "text": TEXT}, {"key": "a", "kind": "text", "text": TEXT}],
        [{"key": "a", "kind": "text", "text": TEXT, "shown_if": {"question": "b", "equals": 1}}],
    ],
)
def test_questionnaire_refuses_questions_that_could_not_be_asked(block: list[dict[str, Any]]) -> None:
    with pytest.raises(ParameterError):
        questionnaire_from({"about": block})


def test_questionnaire_refuses_an_unknown_block() -> None:
    with pytest.raises(ParameterError):
        questionnaire_from({"before": []})


def test_the_number_of_labels_is_more_than_wording() -> None:
    def asking(*labels: str) -> dict[str, Any]:
        likert = {"key": "q", "kind": "likert", "text": TEXT, "minimum": 1, "maximum": len(labels)}
        return {"about": [{**likert, "labels": {"en": list(labels)}}]}

    assert other_than_wording(asking("low", "high"), asking("little", "much")) == []
    assert other_than_wording(asking("low", "high"), asking("low", "middle", "high"))
