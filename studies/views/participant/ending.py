"""The list as a whole, the end, and the way out."""

from __future__ import annotations

from functools import partial
from typing import Any

from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _

from studies import flow
from studies.forms.participant import said
from studies.questionnaires.schema import TEXT, questionnaire_from
from studies.recruiting import exits
from studies.selectors import asking, pages
from studies.selectors import texts as written
from studies.selectors.markdown import rendered
from studies.services import answers, leaving, privacy
from studies.views.participant.calm import calm_page, outcome
from studies.views.participant.questions import slots_of, store_posted
from studies.views.participant.visit import Visit, of_participant, true_step


@of_participant
@true_step
def overall(visit: Visit) -> HttpResponse:
    """The list as a whole, and the end."""
    missing: tuple[str, ...] = ()
    if visit.request.method == "POST":
        store_posted(visit, "overall", 0)
        if "continue" in visit.request.POST:
            given = pages.answers_by_rank(visit.participant).get(0, {})
            required = (q.key for q in questionnaire_from(visit.study.questionnaire).overall if q.required)
            missing = tuple(key for key in required if given.get(key) is None)
            if not missing:
                answers.finish(participant=visit.participant)
                return visit.lead_to(flow.Place(flow.THANKS))
        elif visit.is_htmx:
            return render(visit.request, "participant/parts/saved.html", {"has_saved": True})
        else:
            return visit.lead_to(flow.Place(flow.OVERALL))
    return _overall_page(visit, missing)


def _overall_page(visit: Visit, missing: tuple[str, ...]) -> HttpResponse:
    slots = slots_of(visit)
    mine = visit.given().get(0, {})
    problem = _("Please answer this one.")
    questions = questionnaire_from(visit.study.questionnaire).overall
    asked = [
        asking.asked(question, mine, language=visit.language, problem=problem if question.key in missing else "")
        for question in questions
        if question.kind != TEXT
    ]
    in_words = [
        asking.OpenQuestion(
            question.key,
            said(question.text, visit.language),
            str(mine.get(question.key, "")),
            question.required,
            question.max_length,
            problem if question.key in missing else "",
        )
        for question in questions
        if question.kind == TEXT
    ]
    context = {
        "step": flow.OVERALL,
        "questions": asked,
        "open_questions": in_words,
        "here_url": visit.links.to(flow.Place(flow.OVERALL)),
        "back_url": "" if visit.is_limited else visit.links.to(flow.Place(flow.ITEMS, len(slots))),
        "thumbs": visit.thumbs(slots, 0),
    }
    return visit.page("overall", flow.OVERALL, **context)


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
        answers.record_event(participant=visit.participant, kind="led_out", facts={"outcome": way.outcome})
    return HttpResponseRedirect(way.url)
