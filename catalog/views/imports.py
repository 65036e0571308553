"""Pages that import a dataset: files or a download, then columns, ratings, items and check; the progress of jobs."""

from __future__ import annotations

import base64
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from catalog.forms.import_steps import ANSWERS, FORMS, PAGES, StepForm, without
from catalog.forms.upload import DownloadForm, UploadForm
from catalog.forms.upload_limits import MOST_DATASET
from catalog.importers.auto import FORMATS
from catalog.importers.download import LICENCE
from catalog.importers.proposal import as_recipe, of_json
from catalog.models import DatasetVersion
from catalog.permissions import NAME_TAKEN, may_name_server_files, may_use_name
from catalog.posters import card_svg
from catalog.posters.lettering import printable
from catalog.selectors.dataset_jobs import has_choices, jobs_of, page_of, unfinished_jobs, version_made_by
from catalog.selectors.server_files import server_files
from catalog.services.dataset_jobs import (
    add_items,
    change_import,
    prepare_import,
    request_check,
    request_download,
    start_import,
)
from catalog.services.previews import preview_of
from core.errors import ParallaxError
from jobs import services
from jobs.models import Job, JobStatus

STEPS = ("columns", "ratings", "items", "check")


def stages(job: Job | None, here: str = "", n_open: int = 0) -> list[dict[str, Any]]:
    """The pages of an import as a line; those beyond the one that was reached have no address."""
    reached = -1 if job is None else STEPS.index(job.payload.get("step", "columns"))
    line: list[dict[str, Any]] = [
        {"name": "Files", "address": reverse("catalog:import"), "state": "done" if job else "todo"}
    ]
    for at, step in enumerate(STEPS):
        address = reverse("catalog:step", args=[job.pk, step]) if job is not None and at <= reached else ""
        state = "open" if n_open and step == "ratings" else "done" if at < reached else "todo"
        line.append({"name": step.capitalize(), "address": address, "state": state, "is_here": step == here})
    return line


@require_http_methods(["GET", "HEAD", "POST"])
def import_upload(request: HttpRequest) -> HttpResponse:
    """Files: upload them, or name a file on the server; the next page shows their columns."""
    form = UploadForm(request.POST or None, request.FILES or None, has_paths=may_name_server_files(request.user))
    if request.method == "POST" and form.is_valid():
        cleaned = form.cleaned_data
        try:
            return redirect(page_of(prepare_import(**cleaned, actor=request.user)))
        except ParallaxError as refusal:
            form.add_error("path" if cleaned.get("path") else "uploads", str(refusal))
    return _first_step(request, form, DownloadForm())


@require_POST
def download(request: HttpRequest) -> HttpResponse:
    """Download a MovieLens dataset, and import it."""
    form = DownloadForm(request.POST)
    if form.is_valid():
        name = form.cleaned_data["set"]
        try:
            if may_use_name(request.user, name):
                return redirect(page_of(request_download(name=name, actor=request.user)))
            form.add_error(
                "set", f"The name {name} is not available to you: a dataset of another account or project has it."
            )
        except ParallaxError as refusal:
            form.add_error("set", str(refusal))
    return _first_step(request, UploadForm(has_paths=may_name_server_files(request.user)), form)


def _first_step(request: HttpRequest, form: UploadForm, download_form: DownloadForm) -> HttpResponse:
    context = {
        "form": form,
        "download_form": download_form,
        "licence": LICENCE,
        "most": MOST_DATASET,
        "stages": stages(None),
        "jobs": [(job, page_of(job)) for job in unfinished_jobs(request.user)],
        "server_files": server_files() if form.has_paths else [],
    }
    has_errors = form.errors or download_form.errors
    return render(request, "console/catalog/import.html", context, status=400 if has_errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def import_step(request: HttpRequest, pk: int, step: str) -> HttpResponse:
    """A page of an import that waits, or the progress of its check."""
    job = get_object_or_404(jobs_of(request.user), pk=pk, kind="import")
    if step not in STEPS:
        raise Http404
    if job.is_open and job.payload.get("act") == "check":
        return _page(request, job, step)
    if not has_choices(job):
        return redirect("catalog:job", pk=pk)
    try:
        preview = preview_of(job, has_rows=step in ("columns", "ratings"))
    except ParallaxError as refusal:  # the file is gone, or cannot be read any more
        messages.error(request, str(refusal))
        services.cancel(job, actor=request.user)
        return redirect("catalog:import")
    if preview.questions and step in ("items", "check"):
        messages.error(request, "Answer the open questions first.")
        return redirect("catalog:step", pk=pk, step="ratings")
    form = FORMS[step](request.POST or None, request.FILES or None, job=job, preview=preview)
    if request.method == "POST" and (
        request.POST.get("act") in ("again", "check", "remove", "merge", "apart") or form.is_valid()
    ):
        try:
            if address := _saved(request, job, step, form):
                return redirect(address)
        except ParallaxError as refusal:
            form.add_error("items_file" if step == "items" else None, str(refusal))
    return _page(request, job, step, form)


def _saved(request: HttpRequest, job: Job, step: str, form: StepForm) -> str:
    """Do what a page was sent for; returns where to go, or nothing where the page has an error."""
    act, actor = request.POST.get("act", "next"), request.user
    if act == "again":
        change_import(job=job, options=without(form.options, ANSWERS), limits=None)
    elif act in ("merge", "apart"):
        change_import(job=job, options={**form.options, "merge_titles": act == "merge"})
        request_check(job=job, actor=actor)
    elif act in ("add", "remove"):
        add_items(job=job, upload=form.cleaned_data["items_file"] if act == "add" else None)
        request_check(job=job, actor=actor)
    elif act == "check":
        request_check(job=job, actor=actor)
    elif step == "check":
        if job.payload.get("check", {"error": "none yet"}).get("error"):
            form.add_error(None, "The files have to be checked first.")
        elif not may_use_name(actor, form.cleaned_data["name"]):
            form.add_error("name", NAME_TAKEN)
        else:
            start_import(job=job, chosen=form.changes(), actor=actor, project=form.cleaned_data.get("project"))
            return reverse("catalog:job", args=[job.pk])
        return ""
    elif form.is_rewritten:
        change_import(job=job, **form.changes())
    else:
        following = STEPS[STEPS.index(step) + 1]
        reached = max(following, job.payload.get("step", "columns"), key=STEPS.index)
        change_import(job=job, **form.changes(), step=reached)
        has_questions = step == "ratings" and preview_of(job).questions
        if step == "ratings" and not has_questions and "check" not in job.payload:
            request_check(job=job, actor=actor)
        return request.path if has_questions else reverse("catalog:step", args=[job.pk, following])
    return request.path


def _page(request: HttpRequest, job: Job, step: str, form: StepForm | None = None) -> HttpResponse:
    check = job.payload.get("check", {})
    n_open = len(form.preview.questions) if form else 0
    context = {"job": job, "form": form, "check": check, "n_open": n_open, "stages": stages(job, step, n_open)}
    context["items"] = [{**item, "card": _card(item)} for item in check.get("items", ()) if step == "items"]
    context["remedies"] = sorted({PAGES.get(option, "columns") for option in check.get("options") or ()})
    if form is not None:
        proposal = form.preview.proposal
        context |= {"preview": form.preview, "proposal": proposal, "format": FORMATS[proposal.layout]}
    status = 400 if form is not None and form.is_bound and form.errors else 200
    return render(request, f"console/catalog/import_{step}.html", context, status=status)


def _card(item: dict[str, Any]) -> str:
    """The picture of an item that is not stored yet, as an address."""
    svg = card_svg(printable(item["title"]) or item["id"], item["year"], item["by"])
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"


@require_safe
def recipe(request: HttpRequest, pk: int) -> HttpResponse:
    """The recipe of an import as a file."""
    job = get_object_or_404(jobs_of(request.user), pk=pk, kind="import", payload__has_key="proposal")
    headers = {"Content-Disposition": f'attachment; filename="{job.payload.get("name") or "import"}-recipe.yaml"'}
    return HttpResponse(as_recipe(of_json(job.payload["proposal"])), content_type="application/yaml", headers=headers)


@require_safe
def job_page(request: HttpRequest, pk: int) -> HttpResponse:
    """The progress of a job; then the version that it made."""
    job = get_object_or_404(jobs_of(request.user), pk=pk)
    is_part = bool(request.headers.get("HX-Request"))
    if job.status == JobStatus.WAITING:
        return HttpResponse(headers={"HX-Redirect": page_of(job)}) if is_part else redirect(page_of(job))
    if job.status == JobStatus.SUCCEEDED and (version := version_made_by(job)) is not None:
        if is_part:
            return HttpResponse(headers={"HX-Redirect": page_of(job)})
        # A page that polls may be sent on twice: the message is added once.
        text = job.result["message"]
        waiting = list(messages.get_messages(request))  # which takes them
        for message in waiting:
            messages.add_message(request, message.level, message.message, message.extra_tags)
        if text not in map(str, waiting):
            messages.success(request, text)
        if study := job.payload.get("study"):  # for which the files were imported
            return redirect(f"{reverse('studies:new')}?{urlencode({**study, 'dataset': version.dataset.name})}")
        return redirect(version)
    return render(request, f"console/catalog/{'_job' if is_part else 'job'}.html", {"job": job})


@require_POST
def cancel(request: HttpRequest, pk: int) -> HttpResponse:
    """Cancel a job, or discard an upload that waits."""
    job = get_object_or_404(jobs_of(request.user), pk=pk)
    try:
        services.cancel(job, actor=request.user)
    except ParallaxError as refusal:
        messages.error(request, str(refusal))
        return redirect("catalog:job", pk=job.pk)
    messages.success(request, f"{job.definition.title} of {job.payload['source']} is cancelled; nothing was changed.")
    return redirect(job.subject if isinstance(job.subject, DatasetVersion) else "catalog:import")


@require_POST
def retry(request: HttpRequest, pk: int) -> HttpResponse:
    """Try a failed job again."""
    job = get_object_or_404(jobs_of(request.user), pk=pk)
    try:
        services.enqueue(job, actor=request.user)
    except ParallaxError as refusal:
        messages.error(request, str(refusal))
    return redirect("catalog:job", pk=job.pk)
