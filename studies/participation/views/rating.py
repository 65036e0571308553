"""The rating page: catalogue search, and ratings or choices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from functools import lru_cache
from typing import Any
from urllib.parse import urlencode, urlsplit

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from catalog.item_types import ITEM_TYPES
from catalog.selectors.datasets import decades_of, genres_of
from catalog.selectors.search import search_items
from core.errors import ParallaxError
from core.provenance import derived_seed
from studies.design.selectors.placeholders import content_of, elicitation_heading
from studies.flow_pages import ELICIT
from studies.instrument.flow import Place
from studies.instrument.questionnaires.questions import whole_number
from studies.participation.selectors import pages
from studies.participation.selectors.pages import Card
from studies.participation.services import events, preparing, ratings, recommending
from studies.participation.views.message_pages import message_page
from studies.participation.views.visit import Visit, item_of_study, of_participant

PAGE_SIZE = 24
ENDLESS = 10 * PAGE_SIZE  # items that come by themselves; after them the foot of the page can be reached
CARDS_CACHED = 8192
LONG = timedelta(seconds=60)  # after which the page says that a list takes longer than usual
PLACE = "0-place-of-the-token-0"  # never a valid token, and needs no quoting in addresses


def elicit(visit: Visit, at: Place) -> HttpResponse:
    """The catalogue with search and ratings; Continue computes the list, or waits until it is prepared."""
    if visit.request.method == "POST" or preparing.is_requested(visit.participant):
        try:
            if recommending.finish_rating(participant=visit.participant) is None:
                return _preparation_page(visit, at)
        except ParallaxError as refusal:
            if refusal.code == "study.model_unavailable":
                raise
            return _rate_page(visit, at, error=refusal.message)
        return visit.redirect_to_page(visit.here)
    return _rate_page(visit, at)


def _preparation_page(visit: Visit, at: Place) -> HttpResponse:
    """Shown until the list is there; it asks again by itself, without a script too."""
    here_url = visit.links.to(at)
    if visit.request.method == "POST":
        return visit.go(here_url)  # so that the page can be reloaded
    return message_page(
        visit.request,
        _("Preparing your list"),
        participant=visit.participant,
        template="preparation",
        step="preparation",
        here_url=here_url,
        withdraw_url=visit.withdraw_url,
        chooses=visit.study.design.is_choice,
        is_long=timezone.now() - visit.participant.list_request.requested_at > LONG,
    )


def _rate_page(visit: Visit, at: Place, *, error: str = "") -> HttpResponse:
    query = visit.request.GET.get("q", "").replace("\x00", "").strip()[:200]  # PostgreSQL stores no NUL
    genre, decade = visit.request.GET.get("genre", ""), visit.request.GET.get("decade", "")
    offset = max(0, whole_number(visit.request.GET.get("from", "")) or 0)
    version = visit.study.dataset_version
    results = search_items(
        version,
        query,
        genre=genre.replace("\x00", ""),
        decade=whole_number(decade),
        order=visit.study.design.item_order,
        seed=derived_seed(visit.study.seed, "browse", visit.participant.code),
        offset=offset,
        limit=PAGE_SIZE,
    )
    if query and not offset:
        events.record_view(
            participant=visit.participant,
            kind="search",
            at=at,
            facts={"query": query, "found": results.total},
            client_at=visit.client_at,
        )
    profile = pages.profile_of(visit.participant, visit.since)
    cards = pages.cards_of(visit.study, results.items, links=visit.links, profile=profile)
    rate_url = visit.links.to(at)
    following = urlencode({"q": query, "genre": genre, "decade": decade, "from": offset + PAGE_SIZE})
    context = {
        "cards": [card_html(card, visit.token, visit.language) for card in cards],
        "page": results,
        "query": query,
        "is_filtered": bool(query or genre or decade),
        "filters": _filters(visit, genre, decade),
        "next_url": f"{rate_url}?{following}" if offset + PAGE_SIZE < results.total else "",
        "is_endless": offset < ENDLESS,
        "error": error,
        "heading": elicitation_heading(visit.study, visit.language),
        "elicitation": visit.study.design.scale,
        **_tray(visit, profile),
    }
    return visit.page("rate", at, **context)


def _filters(visit: Visit, genre: str, decade: str) -> SafeString:
    version = visit.study.dataset_version
    genres, decades = genres_of(version), decades_of(version)
    key = visit.study.design.kind_of_item.key
    chosen = (genre if genre in genres else "", decade if decade in map(str, decades) else "")
    return _filters_of(genres, decades, chosen, item_type=key, _language=visit.language)


@lru_cache(maxsize=256)
def _filters_of(
    genres: tuple[str, ...], decades: tuple[int, ...], chosen: tuple[str, str], *, item_type: str, _language: str
) -> SafeString:
    genre, decade = chosen
    context = {
        "has_genre": bool(genre),
        "genres": [(value, pages.genre_name(value, ITEM_TYPES[item_type]), value == genre) for value in genres],
        "decades": [(value, _("%(decade)ss") % {"decade": value}, str(value) == decade) for value in decades],
    }
    return render_to_string("participant/parts/filters.html", context)


def _tray(visit: Visit, profile: Mapping[int, int]) -> dict[str, Any]:
    requested, words = visit.study.design.items_asked, content_of(visit.study).words[visit.language]
    rated = pages.rated_cards(visit.study, profile, links=visit.links)
    n_rated = visit.participant.profile.count() if visit.is_limited else len(rated)
    return {
        "words": words,
        "asked": requested,
        "may_continue": n_rated in requested,
        "chooses": visit.study.design.is_choice,
        "to_go": max(0, requested.fewest - n_rated),
        "rated": rated,
        "n_rated": n_rated,
        "hidden_slots": range(n_rated - len(rated)),  # rated before a return by an id of another site
        "open_slots": range(max(0, requested.fewest - n_rated)),
        "rate_url": visit.links.to(visit.here),
    }


@of_participant
def rate_item(visit: Visit, item_id: int) -> HttpResponse:
    """Save, change or clear a rating or choice; respond with the updated tray."""
    is_here = visit.flow.page(visit.here.page).kind == ELICIT
    may_change = is_here and not preparing.is_requested(visit.participant)
    if visit.request.method != "POST" or not may_change:
        return visit.redirect_to_page(visit.here)
    rated = item_of_study(visit, item_id)
    raw = visit.request.POST.get("rating", "")
    error = ""
    try:
        ratings.rate_item(
            participant=visit.participant,
            item=rated,
            rating=(whole_number(raw) or 0) if raw else None,  # invalid ratings are refused like 0
            provenance=visit.provenance,
            client_at=visit.client_at,
        )
    except ParallaxError as refusal:
        error = refusal.message
    if not visit.is_htmx:
        if error:
            return _rate_page(visit, visit.here, error=error)
        # A form sent without the script leads back to the page with its search.
        rate_url = visit.links.to(visit.here)
        came_from = urlsplit(visit.request.headers.get("Referer", ""))
        search = f"?{came_from.query}" if came_from.path == rate_url and came_from.query else ""
        return redirect(f"{rate_url}{search}#film-{rated.pk}")
    if error:
        return HttpResponse(error, status=409, content_type="text/plain; charset=utf-8")
    return render(
        visit.request, "participant/parts/tray.html", _tray(visit, pages.profile_of(visit.participant, visit.since))
    )


def card_html(card: Card, token: str, language: str) -> SafeString:
    """Return a card of the rating page in the active language.

    Participants share the HTML, which differs between them only in the token of the addresses.
    """
    urls = {name: getattr(card, name).replace(token, PLACE) for name in ("poster_url", "details_url", "rate_url")}
    html = _cached_html(replace(card, **urls), language)
    return mark_safe(html.replace(PLACE, token))  # noqa: S308 -- rendered by a template; a token is URL-safe


@lru_cache(maxsize=CARDS_CACHED)
def _cached_html(card: Card, _language: str) -> str:
    return render_to_string("participant/parts/card.html", {"card": card})
