"""The page of a new run, and the count of its test cases."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from catalog.models import Dataset
from core.errors import ParallaxError
from evaluation.forms.run import RunForm
from evaluation.models import EvaluationRun
from evaluation.services.case_counts import case_counts
from evaluation.services.repeats import create_repeat
from evaluation.services.runs import create_run


@require_http_methods(["GET", "HEAD", "POST"])
def run_new(request: HttpRequest) -> HttpResponse:
    """Create a run from the form, unless a button only changed the form; a link chooses its dataset."""
    posted = request.POST if request.method == "POST" else None
    datasets = Dataset.objects.usable_by(request.user)
    form = RunForm(posted, dataset=request.GET.get("dataset", ""), datasets=datasets)
    if form.is_bound and form.is_valid() and not form.step and form.is_confirmed():
        try:
            run = _create(request, form)
        except ParallaxError as problem:
            form.add_error(None, str(problem))
        else:
            return redirect("evaluation:detail", pk=run.pk)
    return render(request, "console/evaluation/run_form.html", {"form": form, **_counts(form)})


@require_POST
def run_count(request: HttpRequest) -> HttpResponse:
    """Render the number of test cases that the posted form would give, with its fields as text."""
    form = RunForm(request.POST, datasets=Dataset.objects.usable_by(request.user))
    return render(request, "console/evaluation/_case_count.html", {"form": form, "is_part": True, **_counts(form)})


@transaction.atomic
def _create(request: HttpRequest, form: RunForm) -> EvaluationRun:
    run = create_run(version=form.version(), spec=form.spec(), owner=request.user)
    for number in range(2, form.cleaned_data["repeats"] + 1):
        create_repeat(run=run, number=number)
    return run


def _counts(form: RunForm) -> dict[str, Any]:
    """Return the counts for the form's dataset, split and protocol, or why there are none."""
    inputs = form.case_inputs()
    if inputs is None:
        return {}
    try:
        return {"counts": case_counts(**inputs)}
    except ParallaxError as problem:
        return {"count_problem": str(problem)}
