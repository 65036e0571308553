"""All conditions' lists side by side for one profile, and a preview of any of them as a participant."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from catalog.models import Item
from catalog.selectors.search import search_items
from core.errors import ParallaxError
from studies.enums import StudyStatus
from studies.forms.lists import ProfileForm
from studies.models import Study
from studies.permissions import READERS, Seat, seated
from studies.services.condition_lists import are_named, sample_profile, side_by_side
from studies.services.previewing import preview_link

ITEMS_FOUND = 6


@require_safe
@seated(READERS)
def study_preview(request: HttpRequest, seat: Seat) -> HttpResponse:
    """Lead to the study as a participant meets it; what comes of it is marked and never counted."""
    asked = request.GET.get("list", "")
    try:
        link = preview_link(study=seat.study, ticket=int(asked) if asked.isdecimal() else None)
    except ParallaxError as refusal:
        messages.error(request, str(refusal))
        return redirect("studies:lists", slug=seat.study.slug)
    return redirect(link)


@require_safe
@seated(READERS)
def study_lists(request: HttpRequest, seat: Seat) -> HttpResponse:
    """Rate a few items, or take a user of the dataset, and see what every condition would recommend."""
    study = seat.study
    form = ProfileForm(request.GET, n_items=study.dataset_version.n_items)
    is_valid = form.is_valid()
    sample, problem = None, ""
    if is_valid and form.cleaned_data["draw"]:
        try:
            sample = sample_profile(
                study=study, draw=form.cleaned_data["draw"], number=form.cleaned_data["number"] or 0
            )
        except ParallaxError as refusal:
            problem = str(refusal)
        else:
            form.rated = dict(sample.ratings)
    context: dict[str, Any] = {"study": study, "form": form, "found": _found(study, form), "problem": problem}
    if request.htmx and request.htmx.target == "found":  # type: ignore[attr-defined]
        return render(request, "console/evaluation/_found.html", context)
    context |= {
        "rated": _rated(study, form),
        "sample": sample,
        "next_number": (form.cleaned_data.get("number") or 0) + 1 if sample else 0,
        "are_named": are_named(study),
        "may_preview": study.status != StudyStatus.CLOSED and study.archived_at is None,
        "compared": side_by_side(study=study, ratings=form.rated) if is_valid and form.rated else None,
    }
    return render(request, "console/studies/lists.html", context)


def _found(study: Study, form: ProfileForm) -> list[Item]:
    """The items that answer the search, without those that are rated already."""
    asked = form.cleaned_data.get("q", "")
    found = search_items(study.dataset_version, asked, limit=ITEMS_FOUND + len(form.rated))
    return [item for item in found.items if item.index not in form.rated][:ITEMS_FOUND]


def _rated(study: Study, form: ProfileForm) -> list[dict[str, Any]]:
    """The rated items with their stars, each with the address without it."""
    items = {item.index: item for item in study.dataset_version.items.filter(index__in=form.rated)}
    rated = []
    for index, stars in form.rated.items():
        rest = "&".join(f"r{other}={value}" for other, value in form.rated.items() if other != index)
        rated.append({"item": items[index], "stars": str(stars), "without": f"?{rest}"})
    return rated
