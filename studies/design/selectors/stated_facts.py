"""What a study's texts state about taking part: how long it takes by assumption, and who may."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from studies.enums import StudyStatus
from studies.instrument import flow
from studies.instrument.questionnaires import schema
from studies.instrument.questionnaires.durations import expected_seconds
from studies.instrument.questionnaires.schema import questionnaire_from
from studies.models import Study

# Assumptions, used until participants have been timed. Those of questions are defined with the questions.
WORDS_A_MINUTE = 230.0
SECONDS_A_BOX = 3.0
SECONDS_A_FILM_RATED = 25.0  # thought of, searched for, found and rated
SECONDS_A_FILM_SEEN = 4.0  # in the list of recommendations
SECONDS_OF_DETAILS = 15.0  # of each recommended film
ADULT = 18  # where a study asks for no age


@dataclass(frozen=True)
class StatedFacts:
    """The whole minutes that taking part takes, and the ages of those who may."""

    minutes: int
    youngest: int
    oldest: int | None


def age_limits(study: Study) -> tuple[int | None, int | None]:
    """The youngest and oldest who may take part, as the questionnaire has them."""
    for question in study.questionnaire.get("about", ()):
        if question["key"] == "age":
            admits = question.get("admits") or {}
            return admits.get("minimum"), admits.get("maximum")
    return None, None


def assumed_seconds(study: Study, consent: str, boxes: Sequence[str]) -> dict[str, float]:
    """The assumed seconds of each step, by a consent text and its boxes."""
    questionnaire = questionnaire_from(study.questionnaire)
    requested, listed = study.design.items_asked, study.design.longest_list
    seconds = {
        flow.CONSENT: 60 * len(consent.split()) / WORDS_A_MINUTE + SECONDS_A_BOX * len(boxes),
        flow.ABOUT: expected_seconds(questionnaire, schema.ABOUT),
        flow.RATE: SECONDS_A_FILM_RATED * (requested.fewest + requested.most) / 2,
        flow.RECOMMENDATIONS: SECONDS_A_FILM_SEEN * listed,
        flow.ITEMS: listed * (SECONDS_OF_DETAILS + expected_seconds(questionnaire, schema.ITEMS)),
        flow.OVERALL: expected_seconds(questionnaire, schema.OVERALL),
    }
    if questionnaire.after:
        seconds[flow.AFTER] = expected_seconds(questionnaire, schema.AFTER)
    return seconds


def stated_facts(study: Study) -> StatedFacts:
    """The facts of a draft as they are now; from the launch on the minutes are those that were stated then."""
    frozen = study.design.stated_minutes
    if frozen is None or study.status == StudyStatus.DRAFT:
        own: Mapping[str, Any] = study.texts.get(study.design.languages[0], {})
        seconds = assumed_seconds(study, str(own.get("consent", "")), own.get("consent_boxes", ()))
        frozen = max(1, round(sum(seconds.values()) / 60))
    youngest, oldest = age_limits(study)
    return StatedFacts(frozen, ADULT if youngest is None else youngest, oldest)
