"""The form about the person."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.utils.translation import gettext as _

from core.errors import ParallaxError
from studies import flow
from studies.forms.participant import NO, YES, AboutForm
from studies.questionnaires.schema import questionnaire_from
from studies.services import drafts, enrolment
from studies.views.participant.visit import Visit, of_participant, true_step


@of_participant
@true_step
def about(visit: Visit) -> HttpResponse:
    """Facts about the participant, each kept as it is given; accepting them gives a place in a condition."""
    asked = questionnaire_from(visit.study.questionnaire).about
    form = AboutForm(asked, visit.language, visit.request.POST or None, initial=_given_before(visit))
    if visit.request.method != "POST":
        return visit.page("about", flow.ABOUT, form=form)
    is_ready = form.is_valid()
    if visit.is_htmx or not is_ready:
        drafts.keep_about(participant=visit.participant, answers=form.answers(), provenance=visit.provenance)
        if visit.is_htmx:
            return HttpResponse(status=204)
        return visit.page("about", flow.ABOUT, form=form)
    try:
        after = enrolment.accept_about(
            participant=visit.participant, answers=form.answers(), provenance=visit.provenance
        )
    except ParallaxError as refusal:
        problems = refusal.extra.get("problems")
        if not isinstance(problems, dict):
            raise
        drafts.keep_about(participant=visit.participant, answers=form.answers(), provenance=visit.provenance)
        for key in problems:
            form.add_error(key if key in form.fields else None, _("This answer is missing or cannot be used."))
        return visit.page("about", flow.ABOUT, form=form)
    moved = Visit(visit.request, after, visit.token, visit.since)
    return moved.over() or moved.lead_to(moved.here)


def _given_before(visit: Visit) -> dict[str, Any]:
    given = visit.given().get(0, {})
    return {key: {True: YES, False: NO}[value] if isinstance(value, bool) else value for key, value in given.items()}
