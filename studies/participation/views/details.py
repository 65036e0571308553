"""An item's details and trailer, available on every page that shows it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from catalog.item_types import ItemType
from catalog.models import Item
from catalog.selectors.items import facts_of_item
from studies.design.selectors.placeholders import item_type_of
from studies.instrument import flow
from studies.participation.selectors import pages
from studies.participation.services import events
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


def _shown_values(name: str, values: tuple[str, ...], kind: ItemType) -> Sequence[str]:
    if name == "genre":
        return [pages.genre_name(genre, kind) for genre in values]
    return values[:MOST_TAGS] if name == "tag" else values


def _note(visit: Visit, kind: str, item: Item) -> None:
    here = visit.here
    events.record_view(
        participant=visit.participant,
        kind=kind,
        page=here.step,
        rank=here.rank,
        facts={"item": item.external_id},
        client_at=visit.client_at,
    )


@of_participant
def details(visit: Visit, item_id: int) -> HttpResponse:
    """An item's details, as a sheet over the page or as a page of its own; opening them is recorded."""
    version = visit.study.dataset_version
    shown = item_of_study(visit, item_id)
    _note(visit, "details_opened", shown)
    kind = item_type_of(visit.study.settings)
    known = facts_of_item(version, shown)
    facts = [
        {"label": LABELS[name], "value": ", ".join(_shown_values(name, known[name], kind))}
        for name in kind.details
        if known.get(name)
    ]
    context: dict[str, Any] = {
        "details": {"item": shown, "title": pages.title_of(version, shown), "plot": pages.plot_of(version, shown)},
        "facts": facts,
        "poster_url": pages.poster_of(shown),
        "trailer_url": visit.links.trailer(shown.pk) if shown.trailer_url and kind.has_trailers else "",
        "may_have_trailer": kind.has_trailers,
        "in_sheet": visit.is_htmx,
        "back_url": visit.links.to(visit.here),
    }
    if flow.may_change(visit.here, flow.Place(flow.RATE)):
        (context["card"],) = pages.cards_of(
            visit.study,
            [shown],
            links=visit.links,
            profile=pages.profile_of(visit.participant, visit.since),
            suffix="-sheet",
        )
    if visit.is_htmx:
        return render(visit.request, "participant/parts/details.html", context)
    return visit.page("details", visit.here.step, step="details", **context)


@of_participant
def trailer(visit: Visit, item_id: int) -> HttpResponse:
    """Record that the trailer was opened, and redirect to it."""
    shown = item_of_study(visit, item_id)
    if not shown.trailer_url or not item_type_of(visit.study.settings).has_trailers:
        raise Http404("This item has no trailer.")
    _note(visit, "trailer_opened", shown)
    return HttpResponseRedirect(shown.trailer_url)
