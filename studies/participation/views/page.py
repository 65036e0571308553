"""The pages of a study's flow: each is shown by its kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from django.http import Http404, HttpResponse

from core.errors import ParallaxError
from studies.design.selectors.texts import rendered
from studies.flow_pages import CHOICE, COMPARE, ELICIT, END, ITEM_QUESTIONS, LIST, QUESTIONS, TEXT
from studies.instrument.flow import Place, whole_flow
from studies.participation.selectors import pages
from studies.participation.services.finishing import leave_page
from studies.participation.views.ending import end
from studies.participation.views.questions import choice, item_questions, questions
from studies.participation.views.rating import elicit
from studies.participation.views.visit import Visit, of_participant


def _text(visit: Visit, at: Place) -> HttpResponse:
    """The researcher's own text."""
    if visit.request.method == "POST":
        return _left(visit, at)
    own = visit.flow.page(at.page).text
    context = {
        "heading": pages.heading_of(visit.flow, at.page, visit.language),
        "text_html": rendered(own.get(visit.language) or next(iter(own.values()))),
        "back_url": visit.back_url(at),
        "next_url": visit.next_url(at),
    }
    return visit.page("text", at, **context)


def _list(visit: Visit, at: Place) -> HttpResponse:
    """The list, as it was computed once."""
    if visit.request.method == "POST":
        return _left(visit, at)
    lists = visit.lists_shown(at)
    n_items = len(lists[0]["slots"])
    urls = {"back_url": visit.back_url(at), "next_url": visit.next_url(at)}
    return visit.page("recommendations", at, lists=lists, n_items=n_items, **urls)


def _left(visit: Visit, at: Place) -> HttpResponse:
    try:
        leave_page(participant=visit.participant, at=at)
    except ParallaxError as refusal:
        if refusal.code != "study.missing_answers":
            raise
        return visit.redirect_to_missing(refusal.extra["missing"])
    return visit.over() or visit.redirect_to_page(visit.flow.neighbour(at, 1, visit.list_lengths))


PAGES: Mapping[str, Callable[[Visit, Place], HttpResponse]] = {
    QUESTIONS: questions,
    TEXT: _text,
    ELICIT: elicit,
    LIST: _list,
    ITEM_QUESTIONS: item_questions,
    CHOICE: choice,
    COMPARE: questions,
    END: end,
}


def _shown(visit: Visit, at: Place) -> HttpResponse:
    """A page by its kind; a stray, old or early request is redirected to the participant's current one."""
    here = visit.here
    if at not in visit.flow.places(visit.list_lengths):
        return visit.redirect_to_page(here)
    kind = visit.flow.page(at.page).kind
    is_ahead = visit.is_ahead and kind != END and visit.flow.order(here) < visit.flow.order(at)
    is_open = is_ahead or visit.flow.may_look(here, at)
    if not is_open or (visit.is_limited and at != here and not visit.is_incomplete(at)):
        return visit.redirect_to_page(here)
    return PAGES[kind](visit, at)


@of_participant
def page(visit: Visit, page: str, occasion: int = 1, rank: int = 0) -> HttpResponse:
    """A page of the flow."""
    if page not in whole_flow(visit.study.design).keys:
        raise Http404("The study has no such page.")
    return _shown(visit, Place(page, rank, occasion))


@of_participant
def former_item(visit: Visit, rank: int) -> HttpResponse:
    """The address of a page about an item before studies had flows; forms that were open then still post to it."""
    if not (key := visit.flow.key_of(ITEM_QUESTIONS)):
        raise Http404("The study asks nothing about single items.")
    at = Place(key, rank)
    if visit.request.method == "POST":
        return _shown(visit, at)
    query = visit.request.META["QUERY_STRING"]
    return visit.go(f"{visit.links.to(at)}?{query}" if query else visit.links.to(at))
