"""The list as a whole, the end, and the way out."""

from __future__ import annotations

from functools import partial

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse

from studies import flow
from studies.questionnaires.schema import AFTER, OVERALL
from studies.selectors import pages
from studies.selectors import texts as written
from studies.selectors.markdown import rendered
from studies.services import answers, privacy
from studies.views.participant.questions import Sent, asked_of, slots_of, taken, thumbs_of
from studies.views.participant.visit import Visit, of_participant, true_step


@of_participant
@true_step
def overall(visit: Visit) -> HttpResponse:
    """The list as a whole."""
    return _last_questions(visit, OVERALL)


@of_participant
@true_step
def after(visit: Visit) -> HttpResponse:
    """What the study asks after the list, where it asks something."""
    return _last_questions(visit, AFTER)


def _last_questions(visit: Visit, block: str) -> HttpResponse:
    """A page of questions about the whole; each answer is stored as it is given, and leaving it may be the end."""
    if visit.request.method != "POST":
        return _last_page(visit, block)
    sent = taken(visit, block, 0)
    if sent.may_leave:
        if visit.here.step == block:
            answers.finish(participant=visit.participant)
        return visit.over() or visit.lead_to(visit.here)
    if visit.is_htmx and sent.problems:
        return HttpResponse(sent.first_problem, status=409, content_type="text/plain; charset=utf-8")
    if visit.is_htmx:
        return render(visit.request, "participant/parts/saved.html", {"has_saved": True})
    if sent.problems or "continue" in visit.request.POST:
        return _last_page(visit, block, sent)
    return visit.lead_to(flow.Place(block))


def _last_page(visit: Visit, block: str, sent: Sent | None = None) -> HttpResponse:
    slots = slots_of(visit)
    given = pages.answers_by_rank(visit.participant)
    before = flow.Place(flow.OVERALL) if block == AFTER else flow.Place(flow.ITEMS, len(slots))
    is_last = block == AFTER or not visit.study.questionnaire.get("after")
    context = {
        "step": block,
        "questions": asked_of(visit, block, sent=sent),
        "here_url": visit.links.to(flow.Place(block)),
        "back_url": visit.links.to(before),
        "thumbs": thumbs_of(visit, slots, given, 0) if block == OVERALL else (),
        "is_last": is_last,
    }
    return visit.page(block, block, **context)


@partial(of_participant, even_when_over=True)
def withdraw(visit: Visit) -> HttpResponse:
    """Ask once more, then erase what is known of the person."""
    if visit.request.method == "POST":
        privacy.withdraw(participant=visit.participant)
        visit.participant.refresh_from_db()
        return visit.over() or visit.lead_to(visit.here)
    return visit.page("withdraw", visit.here.step, step="withdraw", back_url=visit.links.to(visit.here))


@of_participant
@true_step
def thanks(visit: Visit) -> HttpResponse:
    """The debriefing and the completion code."""
    texts = written.texts_of(visit.study, visit.language)
    own_link = visit.request.build_absolute_uri(reverse("participant:resume", args=[visit.token]))
    return visit.page("thanks", flow.THANKS, debriefing_html=rendered(texts.get("debriefing", "")), own_link=own_link)
