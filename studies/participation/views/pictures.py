"""Posters and clips of a project's dataset, opened by the token of a participant whose study shows them."""

from __future__ import annotations

from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.views.decorators.http import require_safe

from catalog.models import Item
from catalog.selectors.items import item_with_key
from catalog.views.media import clip_response, poster_response
from core.errors import ParallaxError
from studies.participation.services import entrance, resuming


@login_not_required
@require_safe
def poster(request: HttpRequest, token: str, item_id: int) -> HttpResponse:
    """The poster of an item of the participant's study, while they take part in it."""
    return poster_response(request, _item(token, item_id), is_public=False)


@login_not_required
@require_safe
def clip(request: HttpRequest, token: str, item_id: int) -> HttpResponseBase:
    """The clip of an item of the participant's study, while they take part in it."""
    item = _item(token, item_id)
    if not item.clip:
        raise Http404("This item has no clip.")
    return clip_response(request, item, is_public=False)


def _item(token: str, item_id: int) -> Item:
    """The item, in the catalogue of the study that the holder of the token takes part in. Raises Http404."""
    try:
        participant = resuming.holder_of(token=token, with_study=True)
    except ParallaxError as unknown:
        raise Http404("This link does not belong to any participant.") from unknown
    if not entrance.takes_part(participant):
        raise Http404("This participant's part is over, or the study is not running.")
    item = item_with_key(participant.study.dataset_version, item_id)
    if item is None:
        raise Http404("The study's catalogue has no such item.")
    return item
