"""Shipped study templates, read and checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from core.errors import ParameterError
from studies.assignment import stratum_of
from studies.flags import thresholds_from
from studies.questionnaires.schema import questionnaire_from

FOLDER = Path(__file__).parent
ITEM_ORDERS = ("random", "popularity", "title")
MEASURES = ("accuracy", "fon", "son", "satisfaction")
REQUIRED = (
    "ratings_asked",
    "list_length",
    "item_order",
    "idle_minutes",
    "block_multiples",
    "strata",
    "primary",
    "languages",
)
REQUIRED_TEXTS = ("title", "consent", "consent_boxes", "debriefing", "screened_out", "quota_full", "closed")


@dataclass(frozen=True)
class Preset:
    """A study template: everything of a study's design but its dataset, its models and its numbers."""

    key: str
    title: str
    description: str
    settings: dict[str, Any]
    questionnaire: dict[str, Any]
    texts: dict[str, Any]


def preset_keys() -> tuple[str, ...]:
    """Names of the shipped templates, in alphabetical order."""
    return tuple(sorted(file.stem for file in FOLDER.glob("*.yaml")))


def load_preset(key: str) -> Preset:
    """Read a template; ParameterError names the known ones, or what is wrong with its content."""
    if key not in preset_keys():
        raise ParameterError(f"There is no template {key!r}; the templates are {', '.join(preset_keys())}.")
    data = yaml.safe_load((FOLDER / f"{key}.yaml").read_text(encoding="utf-8"))
    preset = Preset(
        data["key"],
        data["title"],
        data["description"],
        data["settings"],
        data["questionnaire"],
        data["texts"],
    )
    check_design(settings=preset.settings, questionnaire=preset.questionnaire, texts=preset.texts)
    return preset


def _whole(settings: Mapping[str, Any], name: str, low: int, high: int) -> None:
    value = settings[name]
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise ParameterError(f"The setting {name} is a whole number from {low} to {high}; got {value!r}.")


def check_design(*, settings: Mapping[str, Any], questionnaire: Mapping[str, Any], texts: Mapping[str, Any]) -> None:
    """Refuse settings, questions or texts that a study could not run with; ParameterError says which."""
    missing = [name for name in REQUIRED if name not in settings]
    if missing:
        raise ParameterError(f"The design lacks the settings {', '.join(missing)}.")
    _whole(settings, "ratings_asked", 1, 50)
    _whole(settings, "list_length", 1, 20)
    _whole(settings, "idle_minutes", 1, 60 * 24 * 30)
    if settings["item_order"] not in ITEM_ORDERS:
        raise ParameterError(f"The order of items is one of {', '.join(ITEM_ORDERS)}; got {settings['item_order']!r}.")
    multiples = settings["block_multiples"]
    if not multiples or any(isinstance(m, bool) or not isinstance(m, int) or not 1 <= m <= 10 for m in multiples):
        raise ParameterError(f"A block holds each condition 1 to 10 times; got {multiples!r}.")
    if settings["primary"].get("perceived") not in MEASURES:
        raise ParameterError(f"The primary perceived variable is one of {', '.join(MEASURES)}.")
    thresholds_from(settings)
    asked = questionnaire_from(questionnaire)
    keys = {question.key for question in asked.about}
    for rule in settings["strata"]:
        if rule.get("question") not in keys:
            raise ParameterError(f"A stratum is by {rule.get('question')!r}, which the study does not ask.")
    stratum_of({}, settings["strata"])
    for language in settings["languages"]:
        lacking = [name for name in REQUIRED_TEXTS if not texts.get(language, {}).get(name)]
        if lacking:
            raise ParameterError(f"The texts in {language!r} lack {', '.join(lacking)}.")
        for question in (*asked.about, *asked.items, *asked.overall):
            if language not in question.text:
                raise ParameterError(f"The question {question.key!r} has no wording in {language!r}.")
