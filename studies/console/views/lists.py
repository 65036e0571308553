"""All conditions' lists side by side for one profile, and a preview of any of them as a participant."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from core.errors import ParallaxError
from studies.console.forms.lists import ListsForm
from studies.console.views.workspace import study_page
from studies.design.selectors.launch_overview import CONDITIONS
from studies.design.selectors.sample_profiles import sample_profile
from studies.enums import READERS, StudyStatus
from studies.participation.services.previewing import preview_link
from studies.simulation.services.condition_lists import are_named, side_by_side
from studies.team.permissions import Membership, for_members

ITEMS_FOUND = 6


@for_members(READERS)
def study_preview(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Redirect to the study as a participant sees it; its data are marked as a preview and never counted."""
    ticket = request.GET.get("list", "")
    try:
        link = preview_link(study=membership.study, ticket=int(ticket) if ticket.isdecimal() else None)
    except ParallaxError as refusal:
        messages.error(request, str(refusal))
        return redirect("studies:lists", slug=membership.study.slug)
    return redirect(link)


@for_members(READERS)
def study_lists(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Rate a few items, or choose a user of the dataset, and see every condition's recommendations."""
    study = membership.study
    form = ListsForm(request.GET, study=study)
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
            form.given = {index: str(point) for index, point in sample.ratings.items()}
    context: dict[str, Any] = {
        "study": study,
        "form": form,
        "found": form.found(ITEMS_FOUND),
        "problem": problem,
    }
    if request.htmx and request.htmx.target == "found":  # type: ignore[attr-defined]
        return render(request, "console/evaluation/_found.html", context)
    context |= {
        "rated": form.rated_items(),
        "sample": sample,
        "next_number": (form.cleaned_data.get("number") or 0) + 1 if sample else 0,
        "are_named": are_named(study),
        "may_preview": study.status != StudyStatus.CLOSED and study.archived_at is None,
        "compared": side_by_side(study=study, ratings=form.ratings) if is_valid and form.given else None,
    }
    return study_page(request, membership, "console/studies/lists.html", context, tab=CONDITIONS)
