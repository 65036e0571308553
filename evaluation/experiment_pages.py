"""Pages that start an experiment on a dataset, and show its progress and its outcome."""

from __future__ import annotations

from django.core.files.storage import default_storage
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from catalog.models import Dataset
from catalog.selectors.datasets import newest_version
from core.errors import ParallaxError
from evaluation.forms.experiment import ExperimentForm
from evaluation.selectors.experiments import experiments_of, shipped_experiments
from evaluation.selectors.runs import progress
from evaluation.services.experiment_jobs import runs_of, start_experiment


@require_http_methods(["GET", "HEAD", "POST"])
def experiment_start(request: HttpRequest, key: str) -> HttpResponse:
    """Start a shipped experiment on a dataset; the page of the job shows its progress."""
    experiment = next((each for each in shipped_experiments() if each.key == key), None)
    if experiment is None:
        raise Http404("There is no such experiment.")
    datasets = Dataset.objects.usable_by(request.user)
    form = ExperimentForm(request.POST or None, datasets=datasets, experiment=experiment)
    if request.method == "POST" and form.is_valid():
        try:
            version = newest_version(form.cleaned_data["dataset"], datasets)
            job = start_experiment(key=key, version=version, actor=request.user)
        except ParallaxError as refusal:
            form.add_error("dataset", str(refusal))
        else:
            return redirect("evaluation:experiment-job", pk=job.pk)
    jobs = experiments_of(request.user).filter(payload__experiment=key)[:10]
    context = {"experiment": experiment, "form": form, "jobs": jobs}
    return render(request, "console/evaluation/experiment_start.html", context)


@never_cache
@require_safe
def experiment_job(request: HttpRequest, pk: int) -> HttpResponse:
    """The runs of an experiment with their progress, then its verdicts; htmx asks for the part that changes."""
    job = get_object_or_404(experiments_of(request.user), pk=pk)
    runs = [(name, run, progress(run)) for name, run in runs_of(job).items()]
    titles = {each.key: each.title for each in shipped_experiments()}
    context = {
        "job": job,
        "title": titles.get(job.payload["experiment"], job.payload["experiment"]),
        "runs": runs,
    }
    is_part = bool(request.headers.get("HX-Request"))
    template = "_experiment_job" if is_part else "experiment_job"
    return render(request, f"console/evaluation/{template}.html", context)


@require_safe
def experiment_file(request: HttpRequest, pk: int) -> HttpResponseBase:
    """The written outcome as an archive."""
    job = get_object_or_404(experiments_of(request.user), pk=pk)
    if not job.file:
        raise Http404("The outcome is not written yet.")
    name = f"{job.payload['experiment']}-outcome-{job.pk}.zip"
    return FileResponse(default_storage.open(job.file), as_attachment=True, filename=name)
