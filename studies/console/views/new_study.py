"""A new study: on new files, on a dataset, or on a finished run; and the page that waits for its models."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from catalog.selectors.dataset_jobs import page_of
from catalog.services.dataset_jobs import change_import, prepare_import
from core.outcomes import refusals_in
from evaluation.selectors.runs import failed_algorithms, progress
from jobs.models import Job, JobStatus
from studies.console.forms.new_study import CUSTOM, NewStudyForm
from studies.design.services.new_study import begin_study, run_of


@require_http_methods(["GET", "HEAD", "POST"])
def study_new(request: HttpRequest) -> HttpResponse:
    """Create a study, or begin what it needs first: the import of its files, or its run."""
    form = NewStudyForm(
        request.POST or None, request.FILES or None, researcher=request.user, initial=request.GET.dict()
    )
    if request.method == "POST" and form.is_valid():
        with refusals_in(form, "slug", of="slug"):
            return redirect(_begun(request, form))
    return render(request, "console/studies/new.html", {"form": form})


def _begun(request: HttpRequest, form: NewStudyForm) -> str:
    """Begin the study of a valid form; returns the page of what comes next."""
    cleaned = form.cleaned_data
    if cleaned["kind"] != CUSTOM and not cleaned["dataset"]:
        job = prepare_import(uploads=cleaned["uploads"], actor=request.user)
        change_import(job=job, study={name: cleaned[name] for name in ("title", "slug", "template", "kind")})
        return page_of(job)
    run = form.run_for(request.user)
    study = begin_study(run=run, actor=request.user, **form.described)
    if isinstance(study, Job):
        return reverse("studies:starting", args=[study.pk])
    for failed in failed_algorithms(run):
        messages.warning(
            request, f"{failed.label} is not a condition, because it failed in run {run.pk}: {failed.error}"
        )
    return reverse("studies:dataset", args=[study.slug])


@never_cache
@require_safe
def study_starting(request: HttpRequest, pk: int) -> HttpResponse:
    """How far the run of a requested study is; then the study. htmx asks for the part that changes."""
    job = get_object_or_404(Job, kind="study", owner=request.user, pk=pk)
    is_part = bool(request.headers.get("HX-Request"))
    if job.status == JobStatus.SUCCEEDED:
        address = reverse("studies:dataset", args=[job.result["study"]])
        return HttpResponse(headers={"HX-Redirect": address}) if is_part else redirect(address)
    run = run_of(job)
    context = {"job": job, "run": run, "progress": run and progress(run)}
    return render(request, f"console/studies/{'_starting' if is_part else 'starting'}.html", context)
