"""Studies that ask more than the shipped template: every kind of question, or a shipped block."""

from __future__ import annotations

import copy
from typing import Any

from studies.design.presets.loader import load_preset
from studies.design.services.launch import launch_study
from studies.design.services.questionnaires import add_block, import_questionnaire
from studies.instrument.questionnaires.document import write_document
from studies.models import Study
from tests.factories.studies import make_study


def words(english: str, italian: str = "") -> dict[str, str]:
    """A wording in both languages."""
    return {"en": english, "it": italian or f"{english} (it)"}


AGREE = {"en": ["Disagree", "Agree"], "it": ["In disaccordo", "D'accordo"]}
AFTER: list[dict[str, Any]] = [
    {"key": "streams", "kind": "yes_no", "text": words("Do you use a streaming service?"), "may_decline": True},
    {
        "key": "service", "kind": "choice", "text": words("Which do you use most?"),
        "shown_if": {"question": "streams", "equals": True}, "other": words("Another"), "random_order": True,
        "choices": [{"value": name, "label": words(name.title())} for name in ("north", "south", "west")],
    },
    {
        "key": "devices", "kind": "multiple", "text": words("Where do you watch films?"), "maximum": 2,
        "other": words("Somewhere else"),
        "choices": [
            {"value": "phone", "label": words("On a phone")}, {"value": "cinema", "label": words("In a cinema")},
            {"value": "tv", "label": words("On a television")},
            {"value": "nowhere", "label": words("Nowhere"), "exclusive": True},
        ],
    },
    {
        "key": "hours", "kind": "number", "text": words("How long was the last film?"), "decimals": 1, "minimum": 0,
        "maximum": 24, "unit": words("hours"), "may_decline": True,
    },
    {
        "key": "mood", "kind": "slider", "text": words("How was your mood today?"), "minimum": 0, "maximum": 100,
        "step": 5, "ends": {"en": ["Low", "High"], "it": ["Basso", "Alto"]},
    },
    {
        "key": "trust_a", "kind": "likert", "text": words("I trust these suggestions."), "minimum": 1, "maximum": 5,
        "ends": AGREE, "scale": "trust", "random_group": "trust",
    },
    {
        "key": "trust_b", "kind": "likert", "text": words("I doubt these suggestions."), "minimum": 1, "maximum": 5,
        "ends": AGREE, "scale": "trust", "reversed": True, "random_group": "trust",
    },
    {
        "key": "views", "kind": "matrix", "text": words("How far do you agree?"), "minimum": 1, "maximum": 5,
        "ends": AGREE, "scale": "trust", "random_order": True,
        "rows": [
            {"key": "again", "text": words("I would come back.")},
            {"key": "never", "text": words("I would never come back."), "reversed": True},
        ],
    },
    {
        "key": "often", "kind": "likert", "text": words("How often do you go to the cinema?"), "minimum": 1,
        "maximum": 3, "labels": {"en": ["Never", "Sometimes", "Often"], "it": ["Mai", "A volte", "Spesso"]},
    },
    {
        "key": "reads", "kind": "attention", "text": words("Please choose Second here.", "Scegli Second (it) qui."),
        "expects": "second",
        "choices": [{"value": name, "label": words(name.title())} for name in ("first", "second", "third")],
    },
    {"key": "nickname", "kind": "text", "text": words("A word for this list?"), "max_length": 20, "required": False},
    {
        "key": "why", "kind": "long_text", "text": words("Why did it please you?"), "required": False,
        "shown_if": {"all": [
            {"question": "satisfaction", "at_least": 3},
            {"any": [{"question": "mood", "above": 50}, {"not": {"question": "devices", "includes": "nowhere"}}]},
        ]},
    },
]  # fmt: skip
OF_ITEMS: list[dict[str, Any]] = [
    {
        "key": "mood_fit", "kind": "likert", "text": words("Would it fit your mood?"), "minimum": 1, "maximum": 5,
        "required": False, "scale": "fit",
    },
    {
        "key": "day_fit", "kind": "likert", "text": words("Would it spoil your evening?"), "minimum": 1, "maximum": 5,
        "shown_if": {"question": "watched", "equals": False}, "scale": "fit", "reversed": True,
    },
]  # fmt: skip
SCALES = [{"key": "trust", "name": words("Trust")}, {"key": "fit", "name": words("Fit"), "least_answered": 0.5}]


def every_kind(*, ends_after: int = 0) -> dict[str, Any]:
    """The template's questionnaire with every kind of question after it, and two more about each item."""
    found = copy.deepcopy(load_preset("cremonesi-2011").questionnaire)
    found["items"] += copy.deepcopy(OF_ITEMS)
    found["after"] = copy.deepcopy(AFTER)
    found["scales"] = copy.deepcopy(SCALES)
    if ends_after:
        found["attention"] = {"ends_after": ends_after}
    return found


def make_study_asking(questionnaire: dict[str, Any], *, status: str = "live", **given: Any) -> Study:
    """A study with that questionnaire, by way of its document."""
    study = make_study(status="draft", **given)
    import_questionnaire(study=study, text=write_document(questionnaire))
    if status == "live":
        launch_study(study=study)
    study.refresh_from_db()
    return study


def make_resque_study(block: str = "resque-long", **given: Any) -> Study:
    """A live study with a shipped block."""
    study = make_study(status="draft", **given)
    add_block(study=study, name=block)
    launch_study(study=study)
    study.refresh_from_db()
    return study
