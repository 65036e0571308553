"""Pages that import a dataset: upload or download, columns, progress."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from catalog.enums import JobKind, JobStatus
from catalog.forms.columns import columns_form
from catalog.forms.upload import DownloadForm, UploadForm
from catalog.forms.upload_limits import MOST_DATASET
from catalog.importers.download import LICENCE
from catalog.importers.formats import FORMATS
from catalog.permissions import may_name_server_files, may_use_name
from catalog.selectors.dataset_jobs import jobs_of, unfinished_jobs
from catalog.selectors.server_files import server_files
from catalog.services.dataset_jobs import (
    cancel_job,
    name_server_file,
    request_download,
    restart_job,
    start_import,
    upload_dataset,
)
from core.errors import ParallaxError

NOT_YOURS = "This name is not available to you. Choose another name."


@require_http_methods(["GET", "HEAD", "POST"])
def import_upload(request: HttpRequest) -> HttpResponse:
    """Step 1: upload a dataset, or name a file on the server; the next step shows its columns."""
    form = UploadForm(
        request.POST or None, request.FILES or None, has_paths=may_name_server_files(request.user)
    )  # fmt: skip
    if request.method == "POST" and form.is_valid():
        try:
            cleaned = form.cleaned_data
            if cleaned.get("path"):
                job = name_server_file(path=cleaned["path"], actor=request.user, items=cleaned["items_file"])
            else:
                job = upload_dataset(upload=cleaned["file"], items=cleaned["items_file"], actor=request.user)
            return redirect(job)
        except ParallaxError as refusal:
            field = "path" if form.cleaned_data.get("path") else "file"
            form.add_error("items_file" if refusal.extra.get("part") == "items_file" else field, str(refusal))
    return _first_step(request, form, DownloadForm())


@require_POST
def download(request: HttpRequest) -> HttpResponse:
    """Download a MovieLens dataset, and import it."""
    form = DownloadForm(request.POST)
    if form.is_valid():
        name = form.cleaned_data["set"]
        try:
            if may_use_name(request.user, name):
                return redirect(request_download(name=name, actor=request.user))
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
        "jobs": unfinished_jobs(request.user),
        "server_files": server_files() if form.has_paths else [],
    }
    has_errors = form.errors or download_form.errors
    return render(request, "console/catalog/import.html", context, status=400 if has_errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def columns(request: HttpRequest, pk: int) -> HttpResponse:
    """Step 2: what each column holds; the import then runs as a job."""
    job = get_object_or_404(jobs_of(request.user), pk=pk, kind=JobKind.IMPORT)
    if not job.has_columns:
        return redirect(job)
    is_sent = request.method == "POST"
    try:
        form = columns_form(job, request.POST if is_sent else job.settings.get("form"))
    except ParallaxError as refusal:
        messages.error(request, str(refusal))
        if not is_sent:  # the file is gone, or cannot be read any more
            cancel_job(job=job, actor=request.user)
            return redirect("catalog:import")
        form = columns_form(job, None)
    if is_sent and form.is_valid():
        if may_use_name(request.user, form.cleaned_data["name"]):
            start_import(job=job, chosen=form.chosen(), actor=request.user, project=form.cleaned_data.get("project"))
            return redirect("catalog:job", pk=job.pk)
        form.add_error("name", NOT_YOURS)
    elif not is_sent and job.status == JobStatus.FAILED and form.is_bound:
        form.add_refusal(job.error, job.problems, job.remedies)
    context = {"job": job, "form": form, "format": FORMATS[form.dataset.source_format]}
    return render(request, "console/catalog/columns.html", context, status=400 if is_sent and form.errors else 200)


@require_safe
def job_page(request: HttpRequest, pk: int) -> HttpResponse:
    """The progress of a job; then the version that it made."""
    job = get_object_or_404(jobs_of(request.user), pk=pk)
    is_part = bool(request.headers.get("HX-Request"))
    if job.status == JobStatus.WAITING:
        return redirect(job)
    if job.status == JobStatus.SUCCEEDED and job.version is not None:
        if is_part:
            return HttpResponse(headers={"HX-Redirect": job.get_absolute_url()})
        _say_once(request, job.message)
        return redirect(job.version)
    return render(request, f"console/catalog/{'_job' if is_part else 'job'}.html", {"job": job})


def _say_once(request: HttpRequest, text: str) -> None:
    """Add a message, unless it waits already: a page that polls may be sent on twice."""
    waiting = list(messages.get_messages(request))  # which takes them
    for message in waiting:
        messages.add_message(request, message.level, message.message, message.extra_tags)
    if text not in map(str, waiting):
        messages.success(request, text)


@require_POST
def cancel(request: HttpRequest, pk: int) -> HttpResponse:
    """Cancel a job, or discard an upload that waits."""
    job = get_object_or_404(jobs_of(request.user), pk=pk)
    try:
        cancel_job(job=job, actor=request.user)
    except ParallaxError as refusal:
        messages.error(request, str(refusal))
        return redirect("catalog:job", pk=job.pk)
    messages.success(request, f"{job.get_kind_display()} of {job.source} is cancelled; nothing was changed.")
    return redirect(job.base or "catalog:import")


@require_POST
def retry(request: HttpRequest, pk: int) -> HttpResponse:
    """Try a failed job again."""
    job = get_object_or_404(jobs_of(request.user), pk=pk)
    try:
        restart_job(job=job, actor=request.user)
    except ParallaxError as refusal:
        messages.error(request, str(refusal))
    return redirect("catalog:job", pk=job.pk)
