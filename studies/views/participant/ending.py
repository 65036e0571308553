"""The list as a whole, the end, and the way out."""

from __future__ import annotations

from functools import partial
from typing import Any

from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _

from core.errors import ParallaxError
from studies import flow
from studies.questionnaires.schema import AFTER, OVERALL
from studies.recruiting import exits
from studies.selectors import texts as written
from studies.selectors.markdown import rendered
from studies.services import events, finishing, leaving, privacy
from studies.views.participant.calm import calm_page, outcome
from studies.views.participant.questions import Sent, asked_of, marked, slots_of, taken
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
            try:
                finishing.finish(participant=visit.participant)
            except ParallaxError as refusal:
                if refusal.code != "study.missing_answers":
                    raise
                return visit.lead_back(refusal.extra["missing"])  # a page before was opened again and left
        return visit.over() or visit.lead_to(visit.here)
    if visit.is_htmx and sent.problems:
        return HttpResponse(sent.first_problem, status=409, content_type="text/plain; charset=utf-8")
    if visit.is_htmx:
        return render(visit.request, "participant/parts/saved.html", {"has_saved": True})
    if sent.problems or "continue" in visit.request.POST:
        return _last_page(visit, block, sent)
    return visit.go(visit.address_of(flow.Place(block)))


def _last_page(visit: Visit, block: str, sent: Sent | None = None) -> HttpResponse:
    slots = slots_of(visit)
    before = flow.Place(flow.OVERALL) if block == AFTER else flow.Place(flow.ITEMS, len(slots))
    is_last = block == AFTER or not visit.study.questionnaire.get("after")
    context = {
        "step": block,
        "questions": asked_of(visit, block, sent=marked(visit, flow.Place(block), sent)),
        "here_url": visit.address_of(flow.Place(block)),
        "back_url": "" if visit.is_limited else visit.links.to(before),
        "thumbs": visit.thumbs(slots, 0) if block == OVERALL else (),
        "is_last": is_last,
    }
    return visit.page(block, block, **context)


@partial(of_participant, even_when_over=True)
def withdraw(visit: Visit) -> HttpResponse:
    """Ask once more, then erase what is known of the person; whoever has only an id of theirs can't."""
    if visit.is_limited:
        return calm_page(
            visit.request,
            _("This takes your personal link"),
            text=_("To withdraw, open your personal link, or write to the people who run the study."),
            participant=visit.participant,
            action_url=visit.links.to(visit.here),
        )
    if visit.request.method == "POST":
        # The address is made while there still is an id in it; it is followed once everything is erased.
        way = leaving.way_out(participant=visit.participant, outcome=exits.WITHDREW)
        privacy.withdraw(participant=visit.participant)
        visit.participant.refresh_from_db()
        out: dict[str, Any] = {"way": way, "exit_url": way.url if way else ""}
        return outcome(visit.request, visit.participant, withdraw_url="", **out) or visit.lead_to(visit.here)
    return visit.page("withdraw", visit.here.step, step="withdraw", back_url=visit.links.to(visit.here))


@of_participant
@true_step
def thanks(visit: Visit) -> HttpResponse:
    """The debriefing, the completion code, and the way on to where the participant came from."""
    texts = written.texts_of(visit.study, visit.language)
    own_link = visit.request.build_absolute_uri(reverse("participant:resume", args=[visit.token]))
    way = leaving.way_out(participant=visit.participant)
    words = way.text.get(visit.language, "") if way else ""
    context = {
        "debriefing_html": rendered(texts.get("debriefing", "")),
        "exit_html": rendered(words) if words else "",
        "own_link": "" if visit.is_limited else own_link,
        "way_out": way,
        "exit_url": visit.exit_url(way),
    }
    return visit.page("thanks", flow.THANKS, **context)


@partial(of_participant, even_when_over=True)
def leave(visit: Visit) -> HttpResponse:
    """Lead out to the panel. Whoever gets here has been stored as what they are: who is under way stays."""
    way = leaving.way_out(participant=visit.participant)
    if way is None or not way.url:
        return visit.lead_to(visit.here)
    if visit.participant.erased_at is None:
        events.record_view(participant=visit.participant, kind="led_out", facts={"outcome": way.outcome})
    return HttpResponseRedirect(way.url)
