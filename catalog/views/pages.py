"""Pages of the catalogue: datasets, a version, its items, and an item."""

from __future__ import annotations

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_POST, require_safe

from catalog import charts
from catalog.forms.browse import BrowseForm, ItemLanguageForm, ItemTypeForm
from catalog.importers.auto import FORMATS
from catalog.models import Dataset
from catalog.permissions import may_add_version, may_move, may_retire, may_run
from catalog.selectors.datasets import (
    dataset_lines,
    decades_of,
    genres_of,
    labelled_facts,
    may_change,
    newest_version,
    versions_of,
)
from catalog.selectors.ratings import rated_between
from catalog.selectors.search import search_items
from catalog.selectors.shape import shape_of
from catalog.services import change_item_language, change_item_type, retire_version
from catalog.views.versions import version_or_404
from core.errors import ParallaxError

ITEMS_ON_A_PAGE = 24


@require_safe
def dataset_list(request: HttpRequest) -> HttpResponse:
    """The visible datasets with their newest versions."""
    lines = dataset_lines(Dataset.objects.visible_to(request.user))
    return render(request, "console/catalog/list.html", {"lines": lines, "formats": FORMATS.items()})


@require_safe
def newest(request: HttpRequest, name: str) -> HttpResponse:
    """Redirect to the dataset's newest version."""
    try:
        return redirect(newest_version(name, Dataset.objects.visible_to(request.user)))
    except ParallaxError as unknown:
        raise Http404(str(unknown)) from unknown


@require_safe
def version_page(request: HttpRequest, name: str, number: int) -> HttpResponse:
    """A version's size, the shape of its ratings, and how it was imported."""
    version = version_or_404(request.user, name, number)
    shape, shift = shape_of(version), version.rating_shift
    return render(
        request,
        "console/catalog/version.html",
        {
            "version": version,
            "versions": versions_of(version.dataset),
            "format_title": FORMATS[version.source_format].title
            if version.source_format in FORMATS
            else version.source_format.capitalize(),
            "shape": shape,
            "mean_rating": shape.mean_rating - shift,
            "rated_between": rated_between(version),
            "figures": [
                *(
                    [charts.ratings_per_value([(value - shift, n) for value, n in shape.values])]
                    if len(shape.values) > 1
                    else []
                ),
                charts.tail(shape.counts.tolist(), shape.tail, shape.half_items),
                *([charts.ratings_by_mean(shape.by_mean)] if shape.by_mean else []),
            ],
            "dropped": [
                {"reason": reason, "rows": rows, "examples": version.report["examples"].get(reason, [])}
                for reason, rows in version.report["dropped"].items()
            ],
            "n_dropped": sum(version.report["dropped"].values()),
            "may_move": may_move(request.user, version.dataset),
            "may_retire": may_retire(request.user, version),
            "may_add_version": may_add_version(request.user, version),
            "may_run": may_run(request.user, version),
            "item_words": version.dataset.kind_of_item.words_in("en"),
            "item_type_form": (
                ItemTypeForm(initial={"item_type": version.dataset.item_type})
                if may_change(request.user, version.dataset)
                else None
            ),
            "item_language": dict(settings.LANGUAGES).get(version.dataset.item_language, version.dataset.item_language),
            "item_language_form": ItemLanguageForm(initial={"language": version.dataset.item_language}),
        },
    )


@require_POST
def retire(request: HttpRequest, name: str, number: int) -> HttpResponse:
    """Retire a version; allowed for the dataset's owner and administrators."""
    version = version_or_404(request.user, name, number)
    if not may_retire(request.user, version):
        raise PermissionDenied("Only the dataset's owner or an administrator can retire a version.")
    retire_version(version=version, actor=request.user)
    messages.success(request, f"Version {version.number} is retired and no longer offered for new runs and studies.")
    return redirect(version)


@require_POST
def set_items(request: HttpRequest, name: str, number: int, what: str) -> HttpResponse:
    """Change what the dataset's items are, or the language of their default texts; for its owner and staff."""
    version = version_or_404(request.user, name, number)
    if not may_change(request.user, version.dataset):
        denied = "its item type" if what == "item_type" else "the language of its items"
        raise PermissionDenied(f"Only the dataset's owner or staff can change {denied}.")
    form = (ItemTypeForm if what == "item_type" else ItemLanguageForm)(request.POST)
    if not form.is_valid():
        messages.error(request, " ".join(map(str, form.errors.get(what, ()))))
    elif what == "item_type":
        dataset = change_item_type(dataset=version.dataset, item_type=form.cleaned_data[what], actor=request.user)
        messages.success(request, f"The item type is {dataset.get_item_type_display()}. New studies use its words.")
    else:
        change_item_language(dataset=version.dataset, language=form.cleaned_data[what], actor=request.user)
        messages.success(request, "The language of the items is changed.")
    return redirect(version)


@require_safe
def item_grid(request: HttpRequest, name: str, number: int) -> HttpResponse:
    """Search and browse the items; htmx requests get only the results."""
    version = version_or_404(request.user, name, number)
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
    version = version_or_404(request.user, name, number)
    item = get_object_or_404(version.items, index=index)
    context = {"version": version, "item": item, "facts": labelled_facts(version, item)}
    return render(request, "console/catalog/item.html", context)
