"""Pages that replicate a paper: the form, the progress and the archive."""

from __future__ import annotations

from django.core.files.storage import default_storage
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from catalog.selectors.datasets import newest_version
from core.networks import site_of
from core.outcomes import refusals_in
from parallax.replication.forms import ReplicationForm
from parallax.replication.published import published
from parallax.replication.services import (
    KEPT_DAYS,
    may_be_downloaded,
    replications_of,
    start_comparison,
    start_simulated,
    steps_of,
)
from parallax.replication.stages import TEMPLATE

LATEST = 10


@require_http_methods(["GET", "HEAD", "POST"])
def replication_start(request: HttpRequest) -> HttpResponse:
    """Start a replication; the page of the job shows its progress."""
    site = f"{site_of(request)}/"
    form = ReplicationForm(request.POST or None, researcher=request.user)
    if request.method == "POST" and form.is_valid():
        with refusals_in(form, "data_from"):
            if form.dataset_name:
                version, chosen = newest_version(form.dataset_name, form.datasets), form.chosen()
                job = start_simulated(paper=TEMPLATE, version=version, chosen=chosen, base_url=site, actor=request.user)
            else:
                job = start_comparison(paper=TEMPLATE, study=form.study, actor=request.user)
            return redirect("replication:job", pk=job.pk)
    context = {
        "form": form,
        "simulated_fields": [form[name] for name in form.simulated_fields],
        "paper": published(TEMPLATE),
        "site": site,
        "jobs": replications_of(request.user)[:LATEST],
    }
    return render(request, "console/replication/start.html", context)


@never_cache
@require_safe
def replication_job(request: HttpRequest, pk: int) -> HttpResponse:
    """The steps of a replication, then its verdicts; htmx asks for the part that changes."""
    job = get_object_or_404(replications_of(request.user), pk=pk)
    context = {
        "job": job,
        "steps": steps_of(job),
        "has_file": may_be_downloaded(job),
        "kept_days": KEPT_DAYS,
    }
    template = "_job" if request.headers.get("HX-Request") else "job"
    return render(request, f"console/replication/{template}.html", context)


@never_cache
@require_safe
def replication_file(request: HttpRequest, pk: int) -> HttpResponseBase:
    """The written folder as an archive."""
    job = get_object_or_404(replications_of(request.user), pk=pk)
    if not may_be_downloaded(job):
        raise Http404("The archive is not written yet, or is no longer kept.")
    name = f"{job.payload['paper']}-replication-{job.pk}.zip"
    return FileResponse(default_storage.open(job.file), as_attachment=True, filename=name)
