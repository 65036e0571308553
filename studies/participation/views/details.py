"""An item's details, sample and pictures, available on every page that shows it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from babel import Locale
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import render
from django.utils.functional import Promise
from django.utils.translation import get_language, to_locale
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from catalog.item_types import ItemType
from catalog.models import Item
from catalog.selectors.items import facts_of_item, item_with_key
from catalog.views.media import clip_response, poster_response
from core.errors import ParallaxError
from studies.flow_pages import ELICIT
from studies.participation.selectors import pages
from studies.participation.selectors.pages import sample_of
from studies.participation.services import events, resuming
from studies.participation.services.entry_gate import is_participating
from studies.participation.views.visit import Visit, item_of_study, of_participant

MOST_TAGS = 12
# Each kind that the details of an item type name.
LABELS: dict[str, Promise] = {
    "album": _("Album"),
    "artist": _("Artist"),
    "author": _("Author"),
    "brand": _("Brand"),
    "cast": _("Cast"),
    "category": _("Category"),
    "country": _("Country"),
    "cuisine": _("Cuisine"),
    "director": _("Director"),
    "genre": _("Genre"),
    "ingredient": _("Ingredients"),
    "language": _("Language"),
    "provider": _("Provider"),
    "publisher": _("Publisher"),
    "section": _("Section"),
    "subclass": _("Subcategory"),
    "tag": _("Tags"),
    "topic": _("Topic"),
    "venue": _("Published in"),
}


@cache
def _countries(language: str) -> dict[str, str]:
    names = Locale.parse(to_locale(language)).territories
    return {english: names.get(code, english) for code, english in Locale("en").territories.items()}


def _shown_values(name: str, values: tuple[str, ...], kind: ItemType) -> Sequence[str]:
    if name == "country":
        names = _countries(get_language() or "en")
        return [names.get(country, country) for country in values]
    if name == "genre":
        return [pages.genre_name(genre, kind) for genre in values]
    return values[:MOST_TAGS] if name == "tag" else values


def _note(visit: Visit, kind: str, item: Item, *, is_once: bool = False) -> None:
    events.record_view(
        participant=visit.participant,
        kind=kind,
        is_once=is_once,
        at=visit.here,
        facts={"item": item.external_id},
        client_at=visit.client_at,
    )


def described(visit: Visit, shown: Item) -> dict[str, Any]:
    """The title, plot and facts of an item, as the templates of its details read them."""
    version, kind = visit.study.dataset_version, visit.study.design.kind_of_item
    known = facts_of_item(version, shown)
    facts = [
        {"label": LABELS[name], "values": _shown_values(name, known[name], kind)}
        for name in kind.details
        if known.get(name)
    ]
    return {
        "details": {"item": shown, "title": pages.title_of(version, shown), "plot": pages.plot_of(version, shown)},
        "facts": facts,
    }


@of_participant
def details(visit: Visit, item_id: int) -> HttpResponse:
    """An item's details, as a sheet over the page or as a page of its own; opening them is recorded."""
    shown = item_of_study(visit, item_id)
    _note(visit, "details_opened", shown)
    context: dict[str, Any] = {
        **described(visit, shown),
        "poster_url": pages.poster_of(visit.study, shown, visit.links),
        "sample": sample_of(visit.study, shown, visit.links.of("trailer", shown.pk)),
        "in_sheet": visit.is_htmx,
        "back_url": visit.links.to(visit.here),
    }
    if visit.flow.page(visit.here.page).kind == ELICIT:
        (context["card"],) = pages.cards_of(
            visit.study,
            [shown],
            links=visit.links,
            profile=pages.profile_of(visit.participant, visit.since),
            suffix="-sheet",
        )
    if visit.is_htmx:
        return render(visit.request, "participant/parts/details.html", context)
    return visit.page("details", visit.here, step="details", **context)


@of_participant
def trailer(visit: Visit, item_id: int) -> HttpResponse:
    """Record that the trailer or clip was opened, and redirect to it.

    A player comes here when it starts, and again for later parts of the file: of a page, only the first is recorded.
    """
    shown = item_of_study(visit, item_id)
    address = pages.clip_of(visit.study, shown, visit.links) or shown.trailer_url
    if not address or not visit.study.design.offers_samples:
        raise Http404("This item has no trailer.")
    _note(visit, "trailer_opened", shown, is_once=bool(shown.clip))
    return HttpResponseRedirect(address)


@login_not_required
@require_safe
def poster(request: HttpRequest, token: str, item_id: int) -> HttpResponse:
    """The poster of an item in a project's dataset, for participants while they take part in its study."""
    return poster_response(request, _item(token, item_id), is_public=False)


@login_not_required
@require_safe
def clip(request: HttpRequest, token: str, item_id: int) -> HttpResponseBase:
    """The clip of an item in a project's dataset, for participants while they take part in its study."""
    item = _item(token, item_id)
    if not item.clip:
        raise Http404("This item has no clip.")
    return clip_response(request, item, is_public=False)


def _item(token: str, item_id: int) -> Item:
    try:
        participant = resuming.participant_of_token(token=token, with_study=True)
    except ParallaxError as unknown:
        raise Http404("This link does not belong to any participant.") from unknown
    if not is_participating(participant):
        raise Http404("This participant's part is over, or the study is not running.")
    item = item_with_key(participant.study.dataset_version, item_id)
    if item is None:
        raise Http404("The study's catalogue has no such item.")
    return item
