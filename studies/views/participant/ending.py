"""The list as a whole, the end, and the way out."""

from __future__ import annotations

from functools import partial

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _

from studies import flow
from studies.forms.participant import said
from studies.questionnaires.schema import TEXT, questionnaire_from
from studies.selectors import asking, pages
from studies.selectors import texts as written
from studies.selectors.markdown import rendered
from studies.services import answers, privacy
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
    given = pages.answers_by_rank(visit.participant)
    mine = given.get(0, {})
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
        "back_url": visit.links.to(flow.Place(flow.ITEMS, len(slots))),
        "thumbs": pages.thumbs_of(slots, given, here=visit.here, at=0, links=visit.links),
    }
    return visit.page("overall", flow.OVERALL, **context)


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
