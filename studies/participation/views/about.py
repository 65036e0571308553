"""The form about the person."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpResponse

from core.networks import network_of
from studies.design.selectors.study_content import content_of
from studies.instrument import flow
from studies.instrument.questionnaires.schema import ABOUT
from studies.participation.forms import posted_answers
from studies.participation.selectors import question_presenter
from studies.participation.services.enrolment import store_about, submit_about
from studies.participation.services.entry_limits import ABOUT as ABOUT_FORM
from studies.participation.services.entry_limits import refuse_if_too_often
from studies.participation.services.orders import shown_orders
from studies.participation.views.visit import Visit, of_participant, true_step


@of_participant
@true_step
def about(visit: Visit) -> HttpResponse:
    """Facts about the participant, saved as they are entered; accepting them assigns a condition."""
    if visit.request.method != "POST":
        return _about_page(visit)
    network = network_of(visit.request.META["REMOTE_ADDR"])
    refuse_if_too_often(study_id=visit.study.pk, action=ABOUT_FORM, network=network, mode=visit.participant.mode)
    before = _visible_answers(visit)
    posted = posted_answers(content_of(visit.study).questionnaire.about, visit.request.POST)
    if visit.is_htmx:
        store_about(participant=visit.participant, answers=posted, provenance=visit.provenance)
        return HttpResponse(status=204)
    refusal = submit_about(participant=visit.participant, posted=posted, provenance=visit.provenance)
    if refusal is None:
        return (None if visit.is_waiting else visit.over()) or visit.lead_to(visit.here)
    problems = refusal.extra.get("problems")
    if not isinstance(problems, dict):
        raise refusal
    return _about_page(visit, posted, before, problems)


def _visible_answers(visit: Visit) -> dict[str, Any]:
    return visit.visible_answers().get(0, {})


def _about_page(
    visit: Visit,
    posted: Mapping[str, Any] | None = None,
    before: Mapping[str, Any] | None = None,
    refused: Mapping[str, str] | None = None,
) -> HttpResponse:
    """The form; refused answers are marked where the page had shown their questions."""
    questionnaire, posted = content_of(visit.study).questionnaire, posted or {}
    known = questionnaire.known(ABOUT, before or {})
    problems, typed, stored = {}, {}, _visible_answers(visit)
    for question in questionnaire.about:
        if question.key not in (refused or {}):
            continue
        value = posted.get(question.key)
        if value is None and not question_presenter.visible(question, known):
            continue
        is_begun = value is None or question.is_incomplete(value) or value == stored.get(question.key)
        problems[question.key] = (
            question_presenter.incomplete_text(question, value)
            if is_begun
            else question_presenter.problem_text(question, value)
        )
        if isinstance(value, str | int | float):
            typed[question.key] = value
    questions = question_presenter.page_of(
        questionnaire,
        ABOUT,
        stored,
        language=visit.language,
        orders=shown_orders(participant=visit.participant, block=ABOUT),
        raw_values=typed,
        problems=problems,
    )
    return visit.page("about", flow.ABOUT, questions=questions, has_problems=bool(problems))
