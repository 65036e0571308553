"""Pages of the catalogue: datasets, a version, its items, an item, and drawn posters."""

from __future__ import annotations

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.cache import get_conditional_response, patch_cache_control, patch_vary_headers
from django.utils.http import quote_etag
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from catalog import charts
from catalog.forms import BrowseForm, ItemLanguageForm, ItemTypeForm, MetadataForm, SubsetForm
from catalog.importers.auto import FORMATS
from catalog.importers.pictures import MEDIA_TYPES
from catalog.models import DatasetVersion, Item
from catalog.permissions import may_add_version, may_change_item_type, may_retire
from catalog.posters import poster_svg
from catalog.selectors.attributes import attribute_kinds
from catalog.selectors.datasets import (
    dataset_lines,
    decades_of,
    genres_of,
    item_details,
    newest_version,
    picture_of,
    version_in_console,
    versions_of,
)
from catalog.selectors.item_texts import title_in
from catalog.selectors.ratings import rated_between
from catalog.selectors.search import search_items
from catalog.selectors.shape import shape_of
from catalog.services import add_uploaded_metadata, change_item_language, change_item_type, make_subset, retire_version
from core.errors import ParallaxError, ParameterError
from core.provenance import digest_of

ITEMS_ON_A_PAGE = 24
A_YEAR = 365 * 24 * 3600


@require_safe
def dataset_list(request: HttpRequest) -> HttpResponse:
    """Every dataset with its newest version."""
    return render(request, "console/catalog/list.html", {"lines": dataset_lines(), "formats": FORMATS.items()})


@require_safe
def newest(request: HttpRequest, name: str) -> HttpResponse:
    """Redirect to the dataset's newest version."""
    try:
        return redirect(newest_version(name))
    except ParallaxError as unknown:
        raise Http404(str(unknown)) from unknown


@require_safe
def version_page(request: HttpRequest, name: str, number: int) -> HttpResponse:
    """A version's size, the shape of its ratings, and how it was imported."""
    version = _version(name, number)
    shape = shape_of(version)
    return render(
        request,
        "console/catalog/version.html",
        {
            "version": version,
            "versions": versions_of(version.dataset),
            "shape": shape,
            "rated_between": rated_between(version),
            "figures": [
                *([charts.ratings_per_value(shape.values)] if len(shape.values) > 1 else []),
                charts.tail(shape.counts.tolist(), shape.tail, shape.half_items),
                *([charts.ratings_by_mean(shape.by_mean)] if shape.by_mean else []),
            ],
            "dropped": [
                {"reason": reason, "rows": rows, "examples": version.report["examples"].get(reason, [])}
                for reason, rows in version.report["dropped"].items()
            ],
            "may_retire": may_retire(request.user, version),
            "may_add_version": may_add_version(request.user, version),
            "item_words": version.dataset.kind_of_item.words_in("en"),
            "item_type_form": (
                ItemTypeForm(initial={"item_type": version.dataset.item_type})
                if may_change_item_type(request.user, version.dataset)
                else None
            ),
            "item_language": dict(settings.LANGUAGES).get(version.dataset.item_language, version.dataset.item_language),
            "item_language_form": ItemLanguageForm(initial={"language": version.dataset.item_language}),
        },
    )


@require_POST
def retire(request: HttpRequest, name: str, number: int) -> HttpResponse:
    """Retire a version; allowed for the dataset's owner and administrators."""
    version = _version(name, number)
    if not may_retire(request.user, version):
        raise PermissionDenied("Only the dataset's owner or an administrator can retire a version.")
    retire_version(version=version, actor=request.user)
    messages.success(request, f"Version {version.number} is retired and no longer offered for new runs and studies.")
    return redirect(version)


@require_POST
def set_item_type(request: HttpRequest, name: str, number: int) -> HttpResponse:
    """Change what the dataset's items are; allowed for its owner and staff."""
    version = _version(name, number)
    if not may_change_item_type(request.user, version.dataset):
        raise PermissionDenied("Only the dataset's owner or staff can change its item type.")
    form = ItemTypeForm(request.POST)
    if form.is_valid():
        dataset = change_item_type(
            dataset=version.dataset, item_type=form.cleaned_data["item_type"], actor=request.user
        )
        messages.success(request, f"The item type is {dataset.get_item_type_display()}. New studies use its words.")
    else:
        messages.error(request, " ".join(map(str, form.errors.get("item_type", ()))))
    return redirect(version)


@require_POST
def set_item_language(request: HttpRequest, name: str, number: int) -> HttpResponse:
    """Change the language of the items' default texts; allowed for the dataset's owner and staff."""
    version = _version(name, number)
    if not may_change_item_type(request.user, version.dataset):
        raise PermissionDenied("Only the dataset's owner or staff can change the language of its items.")
    form = ItemLanguageForm(request.POST)
    if form.is_valid():
        change_item_language(dataset=version.dataset, language=form.cleaned_data["language"], actor=request.user)
        messages.success(request, "The language of the items is changed.")
    else:
        messages.error(request, " ".join(map(str, form.errors.get("language", ()))))
    return redirect(version)


@require_http_methods(["GET", "HEAD", "POST"])
def add_item_metadata(request: HttpRequest, name: str, number: int) -> HttpResponse:
    """Add item metadata from a file; the result is the dataset's next version."""
    version = _version(name, number)
    if not may_add_version(request.user, version):
        raise PermissionDenied("Only the dataset's owner or staff can add metadata, and only to a version in use.")
    form = MetadataForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        try:
            new_version = add_uploaded_metadata(
                version=version,
                upload=form.cleaned_data["file"],
                actor=request.user,
                on_bad_row=form.cleaned_data["on_bad_row"],
                images=form.cleaned_data["images"],
            )
        except ParallaxError as refusal:
            form.add_error("file", str(refusal))
        else:
            changed = new_version.report["metadata"][-1]["items_changed"]
            messages.success(request, f"Version {new_version.number} has new metadata for {changed:,} items.")
            return redirect(new_version)
    return render(request, "console/catalog/metadata.html", {"version": version, "form": form})


@require_http_methods(["GET", "HEAD", "POST"])
def make_version_subset(request: HttpRequest, name: str, number: int) -> HttpResponse:
    """Make a subset of a version; the result is the dataset's next version."""
    version = _version(name, number)
    if not may_add_version(request.user, version):
        raise PermissionDenied("Only the dataset's owner or staff can make subsets, and only of a version in use.")
    form = SubsetForm(request.POST or None, kinds=attribute_kinds(version), rated_between=rated_between(version))
    if request.method == "POST" and form.is_valid():
        try:
            result = make_subset(version=version, recipe=form.cleaned_data["recipe"], actor=request.user)
        except ParallaxError as refusal:
            form.add_error(None, str(refusal))
        else:
            subset = result.version
            messages.success(
                request,
                f"Version {subset.number} is a subset of version {version.number}."
                if result.is_new
                else f"Version {subset.number} had this content already, so no version was created.",
            )
            return redirect(subset)
    return render(request, "console/catalog/subset.html", {"version": version, "form": form})


@require_safe
def item_grid(request: HttpRequest, name: str, number: int) -> HttpResponse:
    """Search and browse the items; htmx requests get only the results."""
    version = _version(name, number)
    form = BrowseForm(request.GET, genres=genres_of(version), decades=decades_of(version))
    results = None
    page = 1
    if form.is_valid():
        filters = form.cleaned_data
        page = filters["page"]
        results = search_items(
            version,
            filters["q"],
            genre=filters["genre"] or None,
            decade=filters["decade"],
            order=filters["order"],
            offset=(page - 1) * ITEMS_ON_A_PAGE,
            limit=ITEMS_ON_A_PAGE,
        )
    # A restored history entry needs the whole page again.
    is_part = bool(request.htmx) and not request.htmx.history_restore_request  # type: ignore[attr-defined]
    response = render(
        request,
        "console/catalog/_results.html" if is_part else "console/catalog/items.html",
        {"version": version, "form": form, "results": results, "page": page},
    )
    patch_vary_headers(response, ["HX-Request"])
    return response


@require_safe
def item_page(request: HttpRequest, name: str, number: int, index: int) -> HttpResponse:
    """What is known of an item."""
    version = _version(name, number)
    item = get_object_or_404(version.items, index=index)
    return render(request, "console/catalog/item.html", {"version": version, "details": item_details(version, item)})


@login_not_required
@require_safe
def poster(request: HttpRequest, item_id: int) -> HttpResponse:
    """The item's picture or generated poster: public, as participants have no account, and cached for a year."""
    item = get_object_or_404(Item.objects.only("external_id", "title", "year", "image", "texts"), pk=item_id)
    if item.image:
        response = HttpResponse(picture_of(item), content_type=MEDIA_TYPES[item.image.rpartition(".")[2]])
        etag = quote_etag(digest_of(item.image)[:32])
    else:
        title = title_in(item, request.GET.get("lang", ""), "").text
        try:
            svg = poster_svg(title, item.year, item.poster_key)
        except ParameterError:  # a title without a printable character
            svg = poster_svg(f"Item {item.external_id}", item.year, item.poster_key)
        response = HttpResponse(svg, content_type="image/svg+xml")
        etag = quote_etag(digest_of(svg)[:32])
    response["ETag"] = etag
    patch_cache_control(response, public=True, max_age=A_YEAR, immutable=True)
    return get_conditional_response(request, etag=etag, response=response) or response


def _version(name: str, number: int) -> DatasetVersion:
    return get_object_or_404(version_in_console(), dataset__name=name, number=number)
