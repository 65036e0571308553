"""What a study's texts state about taking part: how long it takes by assumption, and who may."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from studies.allocation.selectors.allocations import n_occasions
from studies.enums import StudyStatus
from studies.flow_pages import ELICIT, ITEM_QUESTIONS, LIST, SIDE_BY_SIDE, TEXT, Page
from studies.instrument.flow import CONSENT, flow_of, questionnaire_of
from studies.instrument.questionnaires.durations import expected_seconds
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
    """The assumed seconds of each step, for all lists together, by a consent text and its boxes."""
    questionnaire = questionnaire_of(study)
    requested, listed, flow = study.design.items_asked, study.design.longest_list, flow_of(study)
    n_times = dict.fromkeys(flow.listed, n_occasions(study)) if flow.lists.is_several else {}
    n_shown = 2 if flow.lists.shown == SIDE_BY_SIDE else 1

    def reading(text: str) -> float:
        return 60 * len(text.split()) / WORDS_A_MINUTE

    def of_page(page: Page) -> float:
        if page.kind == ELICIT:
            return SECONDS_A_FILM_RATED * (requested.fewest + requested.most) / 2
        if page.kind == LIST:
            return SECONDS_A_FILM_SEEN * listed * n_shown
        if page.kind == TEXT:
            return reading(page.text.get(study.design.languages[0], ""))
        asked = expected_seconds(questionnaire, page.block)
        return listed * (SECONDS_OF_DETAILS + asked) if page.kind == ITEM_QUESTIONS else asked

    seconds = {CONSENT: reading(consent) + SECONDS_A_BOX * len(boxes)}
    return seconds | {page.key: n_times.get(page.key, 1) * of_page(page) for page in flow.pages[:-1]}


def stated_facts(study: Study) -> StatedFacts:
    """The facts of a draft as they are now; from the launch on the minutes are those that were stated then."""
    frozen = study.design.stated_minutes
    if frozen is None or study.status == StudyStatus.DRAFT:
        own: Mapping[str, Any] = study.texts.get(study.design.languages[0], {})
        seconds = assumed_seconds(study, str(own.get("consent", "")), own.get("consent_boxes", ()))
        frozen = max(1, round(sum(seconds.values()) / 60))
    youngest, oldest = age_limits(study)
    return StatedFacts(frozen, ADULT if youngest is None else youngest, oldest)
