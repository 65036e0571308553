"""Presentations, factors and their product, without a database."""

from __future__ import annotations

import json
from typing import Any

import pytest

from core.errors import ParameterError
from core.field_problems import FieldProblems
from studies.design.presets.loader import load_preset
from studies.presentation import PLAIN, Presentation, cells_of, presentation_from
from studies.settings import StudySettings, read_settings, settings_problems

RECOMMENDERS = {"key": "recommender", "levels": [{"recommender": "LSA"}, {"recommender": "TopPop"}]}
TEXTS = {
    "key": "text",
    "levels": [
        {"name": "plain", "presentation": {}},
        {"name": "explained", "presentation": {"explanation": "model"}},
    ],
}


def problems(*factors: dict[str, Any]) -> list[str]:
    return [str(each) for each in settings_problems({**load_preset("cremonesi-2011").settings, "factors": factors})]


def test_a_presentation_stores_what_differs_from_the_default() -> None:
    assert presentation_from({}) == PLAIN == Presentation()
    assert not PLAIN.explains
    assert PLAIN.stored() == {}
    stated = presentation_from({"explanation": "model", "order": "ranked", "fallback": {"en": "Many people like it."}})
    assert stated.stored() == {"explanation": "model", "fallback": {"en": "Many people like it."}}


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"explanation": "written"}, "one of 'none', 'model', 'stored' or 'remote'"),
        ({"colour": "red"}, "There is no such field"),
        ({"layout": "carousel"}, "states the kind of features"),
        ({"carousel_by": "genre"}, "states the kind of features"),
        ({"length": 21}, "a number of at most 20"),
        ({"fallback": {"en": "Many people like it."}}, "go with an explanation"),
        ({"explanation": "model", "wording": {"en": "Because of your ratings"}}, r"the one in 'en' does not"),
    ],
)
def test_an_unknown_presentation_is_refused(wrong: dict[str, Any], words: str) -> None:
    levels = [{"name": "plain", "presentation": {}}, {"name": "other", "presentation": wrong}]
    (problem,) = problems(RECOMMENDERS, {"key": "text", "levels": levels})
    assert problem.startswith("factors[1].levels[1].presentation")
    assert words in problem


def test_factors_are_crossed_and_the_last_changes_fastest() -> None:
    design = read_settings({"factors": [TEXTS, RECOMMENDERS]})
    cells = cells_of(design.factors)
    assert [cell.label for cell in cells] == [
        "plain · LSA", "plain · TopPop", "explained · LSA", "explained · TopPop",
    ]  # fmt: skip
    assert [cell.levels for cell in cells][2] == {"text": "explained", "recommender": "LSA"}
    assert [cell.presentation.stored() for cell in cells] == [{}, {}, *[{"explanation": "model"}] * 2]


def test_a_factor_of_one_level_is_in_no_label() -> None:
    everywhere = {"key": "text", "levels": [{"name": "explained", "presentation": {"explanation": "model"}}]}
    cells = cells_of(read_settings({"factors": [RECOMMENDERS, everywhere]}).factors)
    assert [cell.label for cell in cells] == ["LSA", "TopPop"]
    assert all(cell.levels["text"] == "explained" and cell.presentation.explains for cell in cells)


def test_factors_are_stored_as_they_were_given() -> None:
    given = {"factors": [RECOMMENDERS, TEXTS]}
    assert read_settings(given).stored() == json.loads(json.dumps(given))
    assert "factors" not in StudySettings().stored()


@pytest.mark.parametrize(
    ("factors", "words"),
    [
        ([TEXTS], "factors: Exactly one factor has recommenders"),
        ([RECOMMENDERS, {**RECOMMENDERS, "key": "second"}], "factors: Exactly one factor has recommenders"),
        ([RECOMMENDERS, TEXTS, TEXTS], "Each factor needs its own key; got recommender, text, text."),
        ([RECOMMENDERS, TEXTS, {**TEXTS, "key": "again"}], "factors[2]: Both 'text' and 'again' state the explanat"),
        ([{"key": "recommender", "levels": [{"recommender": "LSA"}]}], "The factors make one condition"),
        ([RECOMMENDERS, {"key": "text", "levels": [
            {"name": "a", "presentation": {}}, {"name": "b", "presentation": {"explanation": "none"}},
        ]}], "LSA · a and LSA · b are the same condition."),
        ([RECOMMENDERS, {"key": "text", "levels": [{"name": "a", "presentation": {}}] * 2}], "need different names"),
        ([RECOMMENDERS, {"key": "text", "levels": [{"recommender": "A", "presentation": {}}]}], "either a recommender"),
        ([RECOMMENDERS, {"key": "text", "levels": []}], "factors[1].levels: Expected 1 or more entries"),
        ([RECOMMENDERS, {"key": "The text", "levels": TEXTS["levels"]}], "factors[1].key: Expected text that matches"),
    ],
)  # fmt: skip
def test_factors_that_cannot_be_crossed_are_refused(factors: list[dict[str, Any]], words: str) -> None:
    assert any(words in problem for problem in problems(*factors)), problems(*factors)


def test_sound_factors_have_no_problem() -> None:
    assert problems(RECOMMENDERS, TEXTS) == []
    with pytest.raises((ParameterError, FieldProblems, ValueError), match="longer than 80"):
        StudySettings.model_validate_json(
            json.dumps({"factors": [{**RECOMMENDERS, "levels": [{"recommender": "L" * 75}]}, TEXTS]})
        )
