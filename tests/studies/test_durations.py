"""Assumed times: every kind of question, conditional ones by their share, and a study's steps worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from studies.design.services.design import change_design
from studies.instrument.questionnaires.durations import expected_seconds, shares_asked
from studies.instrument.questionnaires.schema import Questionnaire, questionnaire_from
from studies.monitoring.selectors.estimate import estimate_of
from tests.factories.questionnaires import make_study_asking, words
from tests.factories.studies import make_study

pytestmark = pytest.mark.unit

CHOICES = [{"value": value, "label": words(value)} for value in ("red", "green", "blue", "grey")]
ROWS = [{"key": f"row_{n}", "text": words(f"Row {n}")} for n in range(6)]
OF_KIND: dict[str, dict[str, Any]] = {
    "yes_no": {}, "number": {"minimum": 1, "maximum": 10}, "choice": {"choices": CHOICES}, "text": {},
    "likert": {"minimum": 1, "maximum": 5}, "multiple": {"choices": CHOICES}, "long_text": {},
    "slider": {"minimum": 0, "maximum": 100, "step": 10},
    "matrix": {"minimum": 1, "maximum": 5, "rows": ROWS}, "attention": {"choices": CHOICES, "expects": "red"},
    "preference": {},
}  # fmt: skip


def question(key: str, kind: str, **more: Any) -> dict[str, Any]:
    return {"key": key, "kind": kind, "text": words(key), **OF_KIND[kind], **more}


def asking(*questions: dict[str, Any], block: str = "after", **other: Any) -> Questionnaire:
    return questionnaire_from({block: list(questions), **other})


@pytest.mark.parametrize(
    ("kind", "seconds"),
    [("yes_no", 5), ("likert", 7), ("attention", 7), ("choice", 7), ("slider", 8), ("number", 8), ("multiple", 10),
     ("text", 15), ("long_text", 40), ("matrix", 6 * 7), ("preference", 7)],
)  # fmt: skip
def test_each_kind_has_its_seconds_and_a_matrix_those_of_its_rows(kind: str, seconds: float) -> None:
    asked = asking(question("one", kind))
    assert asked.block("after")[0].seconds_needed == seconds
    assert expected_seconds(asked, "after") == seconds
    assert expected_seconds(asked, "overall") == 0


def test_a_text_that_may_be_longer_than_a_line_counts_as_long() -> None:
    assert [asking(question("one", "text", max_length=n)).block("after")[0].seconds_needed for n in (200, 201)] == [
        15,
        40,
    ]


@pytest.mark.parametrize(
    ("first", "condition", "share"),
    [
        ("yes_no", {"equals": False}, 1 / 2),
        ("choice", {"equals": "red"}, 1 / 4),
        ("choice", {"differs": "red"}, 3 / 4),
        ("choice", {"one_of": ["red", "blue"]}, 1 / 2),
        ("likert", {"at_least": 4}, 2 / 5),
        ("likert", {"below": 2}, 1 / 5),
        ("number", {"above": 7}, 3 / 10),
        ("slider", {"at_most": 20}, 3 / 11),
        ("matrix", {"row": "row_2", "at_least": 5}, 1 / 5),
        ("multiple", {"includes": "red"}, 1 / 2),
        ("attention", {"equals": "red"}, 1 / 4),
        ("text", {"answered": True}, 1.0),
        ("text", {"answered": False}, 0.0),
    ],
)
def test_a_conditional_question_counts_by_the_share_of_answers_that_show_it(
    first: str, condition: dict[str, Any], share: float
) -> None:
    asked = asking(question("first", first), question("then", "yes_no", shown_if={"question": "first", **condition}))
    assert shares_asked(asked, "after")["then"] == pytest.approx(share)
    assert expected_seconds(asked, "after") == pytest.approx(asked.block("after")[0].seconds_needed + 5 * share)


def test_numbers_without_limits_or_of_too_many_values_count_half() -> None:
    for given in (
        {"minimum": 0, "maximum": None},
        {"minimum": 0, "maximum": 1000, "decimals": 3},
    ):
        asked = asking(question("first", "number", **given),
                       question("then", "text", shown_if={"question": "first", "above": 1}))  # fmt: skip
        assert shares_asked(asked, "after")["then"] == 0.5


def test_joined_conditions_multiply_and_what_depends_on_a_hidden_question_is_asked_less() -> None:
    yes, four = {"question": "a", "equals": True}, {"question": "b", "at_least": 4}
    asked = asking(
        question("a", "yes_no"),
        question("b", "likert"),
        question("both", "yes_no", shown_if={"all": [yes, four]}),
        question("either", "yes_no", shown_if={"any": [yes, four]}),
        question("neither", "yes_no", shown_if={"not": {"any": [yes, four]}}),
        question("after_both", "yes_no", shown_if={"question": "both", "equals": True}),
        question("not_both", "yes_no", shown_if={"question": "both", "answered": False}),
    )
    shares = shares_asked(asked, "after")
    assert shares == pytest.approx(
        {"a": 1, "b": 1, "both": 0.2, "either": 0.7, "neither": 0.3, "after_both": 0.1, "not_both": 0.8}
    )
    assert expected_seconds(asked, "after") == pytest.approx(5 + 7 + 5 * (0.2 + 0.7 + 0.3 + 0.1 + 0.8))


def test_other_is_one_of_the_answers_and_earlier_blocks_are_known() -> None:
    asked = asking(
        question("then", "likert", shown_if={"question": "colour", "equals": "other"}),
        overall=[question("colour", "choice", other=words("Another"))],
    )
    assert shares_asked(asked, "after")["then"] == pytest.approx(1 / 5)
    assert expected_seconds(asked, "overall") == 7


@pytest.mark.integration
@pytest.mark.django_db
def test_the_steps_of_a_study_worked_out_by_hand() -> None:
    study = make_study(status="draft", per_condition=20)
    change_design(study=study, settings={"list_length": 4})
    study.refresh_from_db()
    found = {step.step: step for step in estimate_of(study).steps}
    assert {step.timing for step in found.values()} == {None}
    # Two of screening, the age, the gender and by one answer of five its own words, education, nationality, films.
    assert found["about"].seconds == pytest.approx(5 + 5 + 8 + 7 + 15 / 5 + 7 + 15 + 7)
    # Each film: its details, watched, heard of and trailer seen after a no, and a rating.
    assert found["items"].seconds == pytest.approx(4 * (15 + 5 + 5 / 2 + 5 / 2 + 7))
    # Satisfaction and the comment, whose field grows.
    assert found["overall"].seconds == 7 + 40
    assert found["rate"].seconds == 25 * 5
    assert found["recommendations"].seconds == 4 * 4
    assert "after" not in found


@pytest.mark.integration
@pytest.mark.django_db
def test_a_matrix_and_questions_about_items_lengthen_their_steps() -> None:
    plain = make_study(status="draft")
    before = {step.step: step.seconds for step in estimate_of(plain).steps}
    whole = dict(plain.questionnaire)
    whole["items"] = [*whole["items"], question("why", "long_text", shown_if={"question": "rating", "at_least": 4})]
    whole["after"] = [question("views", "matrix"), question("word", "text")]
    study = make_study_asking(whole, status="draft", slug="longer", run=plain.run)
    after = {step.step: step.seconds for step in estimate_of(study).steps}
    assert after["items"] - before["items"] == pytest.approx(5 * 40 * 2 / 5)
    assert after["after"] == 6 * 7 + 15
    assert {step: after[step] for step in ("consent", "about", "rate", "overall")} == {
        step: before[step] for step in ("consent", "about", "rate", "overall")
    }
