"""Pictures and clips of items: public and cached for a year, or of a project and shown to those who may see them."""

from __future__ import annotations

from django.contrib.auth.decorators import login_not_required
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404
from django.utils.cache import get_conditional_response, patch_cache_control
from django.utils.http import quote_etag
from django.views.decorators.http import require_safe

from catalog.clip_types import clip_type
from catalog.importers.item_files import MEDIA_TYPES
from catalog.item_types import PEOPLE
from catalog.models import Item
from catalog.permissions import may_see_pictures
from catalog.posters import card_svg, poster_svg
from catalog.selectors.datasets import picture_of
from catalog.selectors.items import headlines_at, title_in
from catalog.views.byte_ranges import file_response
from core.artefacts import open_file
from core.errors import ParameterError
from core.provenance import digest_of

A_YEAR = 365 * 24 * 3600
PROJECT = "version__dataset__project"
VERSION = (PROJECT, "version__is_synthetic", "version__created_at")
AN_HOUR = 3600  # of a private picture, in the browser of one who may see it


@login_not_required
@require_safe
def poster(request: HttpRequest, item_id: int) -> HttpResponse:
    """The item's picture or drawing; participants, who have no account, see public ones here."""
    items = Item.objects.only("index", "external_id", "title", "year", "image", "texts", *VERSION)
    item = _shown(request, items, item_id)
    return poster_response(request, item, is_public=item.version.dataset.project_id is None)


@login_not_required
@require_safe
def clip(request: HttpRequest, item_id: int) -> HttpResponseBase:
    """The item's clip of video or audio, whole or a range of it; shown and cached as posters are."""
    item = _shown(request, Item.objects.only("clip", PROJECT).exclude(clip=""), item_id)
    return clip_response(request, item, is_public=item.version.dataset.project_id is None)


def _shown(request: HttpRequest, items: QuerySet[Item], item_id: int) -> Item:
    """The item, where its dataset is public or the account may see its pictures. Raises Http404."""
    item = get_object_or_404(items.select_related("version__dataset"), pk=item_id)
    if item.version.dataset.project_id is not None and not may_see_pictures(request.user, item.version):
        raise Http404("There is no such item.")
    return item


def poster_response(request: HttpRequest, item: Item, *, is_public: bool) -> HttpResponse:
    """The item's picture or drawing, for those whose access was checked."""
    if item.image:
        response = HttpResponse(picture_of(item), content_type=MEDIA_TYPES[item.image.rpartition(".")[2]])
        etag = quote_etag(digest_of(item.image)[:32])
    else:
        title = title_in(item, request.GET.get("lang", ""), "").text
        try:
            svg = _drawing(item, title)
        except ParameterError:  # a title without a printable character
            svg = _drawing(item, f"Item {item.external_id}")
        response = HttpResponse(svg, content_type="image/svg+xml")
        etag = quote_etag(digest_of(svg)[:32])
    response["ETag"] = etag
    _set_caching(response, is_public=is_public)
    return get_conditional_response(request, etag=etag, response=response) or response


def _drawing(item: Item, title: str) -> str:
    """An invented poster in invented data, else a plain card; `Item.poster_url` names what it depends on."""
    if item.version.is_synthetic:
        return poster_svg(title, item.year, item.poster_key)
    known = headlines_at(item.version, [item.index])[item.index]
    return card_svg(title, item.year, next((known[kind] for kind in PEOPLE if kind in known), ""))


def clip_response(request: HttpRequest, item: Item, *, is_public: bool) -> HttpResponseBase:
    """The item's clip, whole or the range that is asked for, for those whose access was checked."""
    etag = quote_etag(digest_of(item.clip)[:32])
    if (unchanged := get_conditional_response(request, etag=etag)) is not None:
        response: HttpResponseBase = unchanged
    else:
        response = file_response(request, open_file(item.clip), content_type=clip_type(item.clip), etag=etag)
    if response.status_code < 400:
        response.headers["ETag"] = etag
        _set_caching(response, is_public=is_public)
    return response


def _set_caching(response: HttpResponseBase, *, is_public: bool) -> None:
    """A public picture may be kept by every cache on the way, a private one only by the browser, and not for long."""
    if is_public:
        patch_cache_control(response, public=True, max_age=A_YEAR, immutable=True)
    else:
        patch_cache_control(response, private=True, max_age=AN_HOUR)
