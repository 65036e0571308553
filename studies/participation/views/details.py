"""An item's details and trailer, available on every page that shows it."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils.translation import gettext as _

from catalog.models import Item
from catalog.selectors.datasets import item_details
from studies.instrument import flow
from studies.participation.selectors import pages
from studies.participation.services import events
from studies.participation.views.visit import Visit, item_of_study, of_participant


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
    known = item_details(version, shown)
    facts = [
        {"label": label, "value": ", ".join(values)}
        for label, values in (
            (_("Genre"), [pages.genre_name(genre) for genre in known.genres]),
            (_("Director"), known.directors),
            (_("Cast"), known.cast),
            (_("Country"), known.countries),
            (_("Tags"), known.tags[:12]),
        )
        if values
    ]
    context: dict[str, Any] = {
        "details": known,
        "facts": facts,
        "poster_url": shown.poster_url,
        "trailer_url": visit.links.trailer(shown.pk),
        "in_sheet": visit.is_htmx,
        "back_url": visit.links.to(visit.here),
    }
    if flow.may_change(visit.here, flow.Place(flow.RATE)):
        (context["card"],) = pages.cards_of(
            version,
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
    if not shown.trailer_url:
        raise Http404("This item has no trailer.")
    _note(visit, "trailer_opened", shown)
    return HttpResponseRedirect(shown.trailer_url)
