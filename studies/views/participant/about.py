"""The form about the person."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpResponse

from core.errors import ParallaxError
from core.networks import network_of
from studies import flow
from studies.forms.participant import posted_answers
from studies.questionnaires.schema import ABOUT, questionnaire_from
from studies.selectors import asking
from studies.selectors.kept import answers_about
from studies.services import drafts, enrolment
from studies.services.entry_limits import ABOUT as ABOUT_FORM
from studies.services.entry_limits import refuse_if_too_often
from studies.services.orders import shown_orders
from studies.views.participant.visit import Visit, of_participant, true_step


@of_participant
@true_step
def about(visit: Visit) -> HttpResponse:
    """Facts about the participant, each kept as it is given; accepting them gives a place in a condition."""
    if visit.request.method != "POST":
        return _about_page(visit)
    network = network_of(visit.request.META["REMOTE_ADDR"])
    refuse_if_too_often(study_id=visit.study.pk, action=ABOUT_FORM, network=network, mode=visit.participant.mode)
    before = _given(visit)
    posted = posted_answers(questionnaire_from(visit.study.questionnaire).about, visit.request.POST)
    if visit.is_htmx:
        drafts.keep_about(participant=visit.participant, answers=posted, provenance=visit.provenance)
        return HttpResponse(status=204)
    answers = {key: value for key, value in {**_stored(visit), **posted}.items() if value is not None}
    try:
        after = enrolment.accept_about(participant=visit.participant, answers=answers, provenance=visit.provenance)
    except ParallaxError as refusal:
        # Whatever was wrong, what can be used of it is kept before the page answers.
        drafts.keep_about(participant=visit.participant, answers=posted, provenance=visit.provenance)
        problems = refusal.extra.get("problems")
        if not isinstance(problems, dict):
            raise
        return _about_page(visit, posted, before, problems)
    moved = Visit(visit.request, after, visit.token, visit.since)
    return moved.over() or moved.lead_to(moved.here)


def _stored(visit: Visit) -> dict[str, Any]:
    """What is kept of the form, from this page or another."""
    return answers_about(visit.participant, 0)


def _given(visit: Visit) -> dict[str, Any]:
    return visit.given().get(0, {})


def _about_page(
    visit: Visit,
    posted: Mapping[str, Any] | None = None,
    before: Mapping[str, Any] | None = None,
    refused: Mapping[str, str] | None = None,
) -> HttpResponse:
    """The form; of what was refused it marks what it had asked for, so that what opens only now blames nobody."""
    questionnaire, posted = questionnaire_from(visit.study.questionnaire), posted or {}
    known = questionnaire.known(ABOUT, before or {})
    problems, typed = {}, {}
    for question in questionnaire.about:
        if question.key not in (refused or {}):
            continue
        value = posted.get(question.key)
        if value is None and not asking.visible(question, known):
            continue
        is_begun = value is None or question.is_wanting(value) or question.key in _given(visit)
        problems[question.key] = (
            asking.wanting_text(question, value) if is_begun else asking.problem_text(question, value)
        )
        if isinstance(value, str | int | float):
            typed[question.key] = value
    asked = asking.page_of(
        questionnaire,
        ABOUT,
        _given(visit),
        language=visit.language,
        orders=shown_orders(participant=visit.participant, block=ABOUT),
        raw_values=typed,
        problems=problems,
    )
    return visit.page("about", flow.ABOUT, questions=asked, has_problems=bool(problems))
