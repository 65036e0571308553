"""The shipped templates."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from core.errors import ParameterError
from studies.design.presets.loader import check_design, load_preset, preset_keys
from studies.instrument.questionnaires.schema import questionnaire_from

pytestmark = pytest.mark.unit


def test_the_template_of_the_study_has_what_the_paper_has() -> None:
    preset = load_preset("cremonesi-2011")
    settings = preset.settings
    assert (settings["ratings_asked"], settings["list_length"], settings["idle_minutes"]) == (5, 5, 60)
    assert settings["primary"] == {"perceived": "accuracy", "objective": "recall"}
    asked = questionnaire_from(preset.questionnaire)
    assert [q.key for q in asked.items] == ["watched", "heard", "trailer_seen", "rating"]
    age = next(q for q in asked.about if q.key == "age")
    assert (age.admits_minimum, age.admits_maximum) == (20, 50)
    assert set(asked.items[3].wordings) == {"watched", "trailer_seen", "neither"}


@pytest.mark.parametrize("key", preset_keys())
def test_every_wording_of_a_template_is_in_all_its_languages(key: str) -> None:
    offered = {"en", "it"} if key == "cremonesi-2011" else {"en", "it", "de"}

    def languages(value: Any) -> None:
        if isinstance(value, dict):
            if set(value) & offered:
                assert set(value) == offered
                assert all(value.values())
            else:
                for part in value.values():
                    languages(part)
        elif isinstance(value, list):
            for part in value:
                languages(part)

    preset = load_preset(key)
    languages(preset.questionnaire)
    languages(preset.presentations)
    assert set(preset.settings["languages"]) == set(preset.texts) == offered
    assert len({tuple(texts) for texts in preset.texts.values()}) == 1
    assert all("{minutes}" in texts["consent"] for texts in preset.texts.values())


def test_an_unknown_template_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ParameterError, match="cremonesi-2011: Each participant rates five known items") as refused:
        load_preset("../secrets")
    assert all(f"\n{key}: {load_preset(key).description}" in str(refused.value) for key in preset_keys())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ratings_asked", 0),
        ("list_length", True),
        ("idle_minutes", "long"),
        ("item_order", "by heart"),
        ("block_multiples", []),
        ("block_multiples", [0]),
        ("primary", {"perceived": "beauty"}),
        ("strata", [{"question": "shoe_size", "bands": [[1, 2]]}]),
        ("strata", [{"question": "age"}]),
        ("languages", ["de"]),
    ],
)
def test_check_design_refuses_what_a_study_could_not_run_with(name: str, value: object) -> None:
    preset = load_preset("cremonesi-2011")
    settings = {**copy.deepcopy(preset.settings), name: value}
    with pytest.raises(ParameterError):
        check_design(settings=settings, questionnaire=preset.questionnaire, texts=preset.texts)


def test_check_design_names_settings_that_lack() -> None:
    preset = load_preset("cremonesi-2011")
    with pytest.raises(ParameterError, match="ratings_asked"):
        check_design(settings={}, questionnaire=preset.questionnaire, texts=preset.texts)


def test_check_design_refuses_a_question_without_a_wording() -> None:
    preset = load_preset("cremonesi-2011")
    questionnaire = copy.deepcopy(preset.questionnaire)
    del questionnaire["overall"][0]["text"]["it"]
    with pytest.raises(ParameterError, match="satisfaction"):
        check_design(settings=preset.settings, questionnaire=questionnaire, texts=preset.texts)
