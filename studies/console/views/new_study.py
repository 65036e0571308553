"""A new study: on new files, on a dataset, or on a finished run; and the page that waits for its models."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from catalog.selectors.dataset_jobs import page_of
from catalog.services.dataset_jobs import change_import, prepare_import
from core.outcomes import refusals_in
from evaluation.enums import RunStatus
from evaluation.models import EvaluationRun
from evaluation.selectors.runs import failed_algorithms, progress
from evaluation.services.run_proposals import run_of_proposal
from jobs.models import Job, JobStatus
from studies.console.forms.new_study import CUSTOM, NewStudyForm
from studies.design.services.design import create_study
from studies.design.services.new_study import free_slug, request_study, run_of


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
    title, kind, template = cleaned["title"], cleaned["kind"], cleaned["template"]
    slug = cleaned["slug"] or free_slug(title)
    if kind == CUSTOM:
        return _created(request, run=cleaned["run"], title=title, slug=slug, template=template)
    if not cleaned["dataset"]:
        job = prepare_import(uploads=cleaned["uploads"], actor=request.user)
        study = {"title": title, "slug": cleaned["slug"], "template": template, "kind": kind}
        change_import(job=job, study=study)
        return page_of(job)
    run = run_of_proposal(proposal=form.proposal, version=form.version, owner=request.user)
    if run.status == RunStatus.SUCCEEDED:
        return _created(request, run=run, title=title, slug=slug, template=template)
    job = request_study(run=run, title=title, slug=slug, template=template, actor=request.user)
    return reverse("studies:starting", args=[job.pk])


def _created(request: HttpRequest, *, run: EvaluationRun, **chosen: Any) -> str:
    study = create_study(**chosen, version=run.version, run=run, owner=request.user)
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
