"""Fixes that the launch page applies to a draft: each settles the open points that name it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from core.errors import ParallaxError
from studies.design.selectors.launch_overview import BEHAVIOUR, LANGUAGES, MINUTES, MINUTES_STATED, POWER, planned_power
from studies.design.selectors.planning import WISHED_POWER, planned_number
from studies.design.selectors.texts import languages_in_translation
from studies.design.selectors.versions import consent_texts
from studies.design.services.design import MOST_PER_CONDITION, change_design
from studies.models import Study

RECORDING = {  # a sentence of the consent text
    "en": "We record {recorded_behaviour}.",
    "it": "Registriamo {recorded_behaviour}.",
    "de": "Wir erfassen, {recorded_behaviour}.",
}


def _state_the_estimate(study: Study, actor: Any) -> Study:
    texts = {
        language: {"consent": MINUTES_STATED.sub(lambda match: match[0].replace(match["n"], "{minutes}"), consent)}
        for language, own in study.texts.items()
        if (consent := str(own.get("consent", "")))
    }
    return change_design(study=study, actor=actor, texts=texts)


def _reach_the_power(study: Study, actor: Any) -> Study:
    """Raise the target to the smallest number with the wished power: power grows with the number."""
    _k, low = planned_number(study)
    high = MOST_PER_CONDITION
    if planned_power(study, high) < WISHED_POWER:
        raise ParallaxError("fix.out_of_reach", f"{high:,} participants per condition do not reach this power.")
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if planned_power(study, middle) < WISHED_POWER else (low, middle)
    return change_design(study=study, actor=actor, per_condition=high)


def _leave_out_incomplete_languages(study: Study, actor: Any) -> Study:
    lacking = languages_in_translation(study)
    offered = [language for language in study.design.languages if language not in lacking]
    return change_design(study=study, actor=actor, settings={"languages": offered})


def _name_the_behaviour(study: Study, actor: Any) -> Study:
    texts = {
        language: {"consent": f"{own['consent'].rstrip()}\n\n{RECORDING[language]}\n"}
        for language, own in consent_texts(study).items()
        if language in RECORDING and "{recorded_behaviour}" not in own["consent"].casefold()
    }
    return change_design(study=study, actor=actor, texts=texts)


FIXES: Mapping[str, Callable[[Study, Any], Study]] = {
    MINUTES: _state_the_estimate,
    POWER: _reach_the_power,
    LANGUAGES: _leave_out_incomplete_languages,
    BEHAVIOUR: _name_the_behaviour,
}


def apply_fix(*, study: Study, fix: str, actor: Any = None) -> Study:
    """Apply a fix by its key. Raises `fix.unknown`, `fix.out_of_reach`, and as `change_design`."""
    if fix not in FIXES:
        raise ParallaxError("fix.unknown", "Unknown fix. Reload the page.")
    return FIXES[fix](study, actor)
