"""Pages that make a new version of a dataset: metadata and subsets, both done by jobs."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from catalog.forms.metadata import MetadataForm
from catalog.forms.subset import SubsetForm
from catalog.models import DatasetVersion
from catalog.permissions import may_add_version
from catalog.selectors.attributes import attribute_kinds
from catalog.selectors.ratings import rated_between
from catalog.services.dataset_jobs import request_metadata, request_subset
from catalog.services.subset import is_counted_at_once, subset_counts
from catalog.views.versions import version_or_404
from core.errors import ParallaxError


@require_http_methods(["GET", "HEAD", "POST"])
def add_item_metadata(request: HttpRequest, name: str, number: int) -> HttpResponse:
    """Add item metadata, pictures and clips from files; the result is the dataset's next version."""
    version = version_or_404(request.user, name, number)
    if not may_add_version(request.user, version):
        raise PermissionDenied("Only the dataset's owner or staff can add metadata, and only to a version in use.")
    form = MetadataForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        cleaned = form.cleaned_data
        try:
            job = request_metadata(
                version=version,
                facts=cleaned["file"],
                media=cleaned["item_files"],
                on_bad_row=cleaned["on_bad_row"],
                actor=request.user,
            )
        except ParallaxError as refusal:
            form.add_error("file", str(refusal))
        else:
            return redirect("catalog:job", pk=job.pk)
    context = {"version": version, "form": form}
    return render(request, "console/catalog/metadata.html", context, status=400 if form.errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def create_version_subset(request: HttpRequest, name: str, number: int) -> HttpResponse:
    """Make a subset of a version, or count what it would leave; the result is the dataset's next version."""
    version = _subsettable(request, name, number)
    form = _subset_form(version, request.POST or None)
    context = {"version": version, "form": form, "is_counted": is_counted_at_once(version)}
    if request.method == "POST" and form.is_valid():
        counted = _counted(version, form)
        if "refusal" in counted:
            form.add_error(None, str(counted["refusal"]))
        elif request.POST.get("act") != "count":
            job = request_subset(version=version, recipe=form.cleaned_data["recipe"], actor=request.user)
            return redirect("catalog:job", pk=job.pk)
        context |= counted
    return render(request, "console/catalog/subset.html", context, status=400 if form.errors else 200)


@require_safe
def subset_count(request: HttpRequest, name: str, number: int) -> HttpResponse:
    """What a recipe leaves, step by step, as a part of the page; nothing is stored."""
    version = _subsettable(request, name, number)
    form = _subset_form(version, request.GET)
    context = {"version": version, **(_counted(version, form) if form.is_valid() else {})}
    return render(request, "console/catalog/_subset_count.html", context)


def _counted(version: DatasetVersion, form: SubsetForm) -> dict[str, object]:
    """What each step of the form's recipe leaves, or why it leaves nothing; empty where a page cannot count it."""
    if not is_counted_at_once(version):
        return {}
    try:
        return {"steps": subset_counts(version=version, recipe=form.cleaned_data["recipe"])}
    except ParallaxError as refusal:
        return {"refusal": str(refusal)}


def _subsettable(request: HttpRequest, name: str, number: int) -> DatasetVersion:
    version = version_or_404(request.user, name, number)
    if not may_add_version(request.user, version):
        raise PermissionDenied("Only the dataset's owner or staff can make subsets, and only of a version in use.")
    return version


def _subset_form(version: DatasetVersion, data: Any) -> SubsetForm:
    return SubsetForm(data, kinds=attribute_kinds(version), rated_between=rated_between(version))
