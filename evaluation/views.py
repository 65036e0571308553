"""Pages of runs, models and experiments, the form of a new run, and the model preview."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.core.files.storage import default_storage
from django.core.paginator import Paginator
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, JsonResponse, QueryDict, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.views.decorators.cache import never_cache
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from catalog.charts import ratings_per_value
from catalog.models import Dataset
from catalog.permissions import may_run
from catalog.selectors.datasets import newest_version, newest_versions
from catalog.selectors.shape import value_counts
from catalog.views.versions import version_or_404
from core.errors import NotAllowedInState, ParallaxError
from core.outcomes import perform, refusals_in
from evaluation import exports, tables
from evaluation.enums import RUN_OPEN, RunStatus
from evaluation.forms.preview import TryForm
from evaluation.forms.run import ExperimentForm, RunForm
from evaluation.forms.run_choice import CompareForm, RunFilterForm
from evaluation.forms.upload import CollectForm, UploadModelForm, UploadScoresForm
from evaluation.metrics.definition import TASKS
from evaluation.models import EvaluationRun, RunAlgorithm, TrainedModel
from evaluation.permissions import may_change
from evaluation.protocols.external_scores import FORMATS
from evaluation.run_pages import differences_shown, groups_shown, results_of, state_of, tests_shown
from evaluation.run_spec import written
from evaluation.selectors.experiments import experiments_of, shipped_experiments
from evaluation.selectors.models import ModelLine, line_of, listed_models, models_on
from evaluation.selectors.paired_tests import CORRECTIONS, HIT_TESTS, kinds_of_test, run_tests_of
from evaluation.selectors.run_comparison import compare_runs
from evaluation.selectors.runs import (
    RUN_COLUMNS,
    listed_runs,
    progress,
    runs_shown_to,
    succeeded_runs,
)
from evaluation.selectors.uploads import score_uploads_of, uploads_of
from evaluation.selectors.user_groups import group_tables, grouped_metrics
from evaluation.services.case_counts import case_counts
from evaluation.services.experiment_jobs import runs_of, start_experiment
from evaluation.services.external_scores import CASE_FILES, case_files
from evaluation.services.recommend_for_profile import try_models, try_users
from evaluation.services.runs import cancel_run, create_runs, resume_run
from evaluation.services.upload_jobs import request_collection, request_scores, request_upload
from evaluation.services.upload_summary import ShownUsers
from evaluation.sorting import Sorting
from jobs.models import Job, JobStatus
from jobs.services import cancel

RUNS_PER_PAGE = 25
MODELS_PER_PAGE = 50
MAX_MATCHES = 6
LENGTH_TRIED = 5  # of the lists of a model that was uploaded
EFFECTS = {"nemenyi": "Mean ranks, A − B"}


@require_safe
def run_list(request: HttpRequest) -> HttpResponse:
    """List runs, newest first or by a column, of those that the fields ask for."""
    form = RunFilterForm(request.GET, researcher=request.user)
    order = Sorting(request.GET, RUN_COLUMNS, ("status", "dataset", "protocol"))
    page = Paginator(listed_runs(request.user, **form.chosen(), order=order), RUNS_PER_PAGE).get_page(
        request.GET.get("page")
    )
    query = urlencode([(name, value) for name, value in request.GET.items() if name != "page"])
    context = {
        "page": page,
        "form": form,
        "sort": request.GET.get("sort", ""),
        "kept_query": f"{query}&" if query else "",
        "heads": {key: order.head(key, key.capitalize()) for key in RUN_COLUMNS},
    }
    return render(request, "console/evaluation/run_list.html", context)


@require_safe
def model_list(request: HttpRequest) -> HttpResponse:
    """List trained models, newest first, with their data and runs."""
    page = Paginator(listed_models(request.user), MODELS_PER_PAGE).get_page(request.GET.get("page"))
    lines = [line_of(model) for model in page]
    return render(request, "console/evaluation/model_list.html", {"page": page, "lines": lines})


@require_http_methods(["GET", "HEAD", "POST"])
def upload_model(request: HttpRequest, name: str, number: int) -> HttpResponse:
    """Upload a model that was learned elsewhere; a worker checks it."""
    version = version_or_404(request.user, name, number)
    if not may_run(request.user, version):
        raise PermissionDenied("Models are uploaded to versions in use, by those who may start runs on the dataset.")
    form = UploadModelForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        try:
            job = request_upload(version=version, actor=request.user, **form.chosen())
        except ParallaxError as refusal:
            form.add_error("file", str(refusal))
        else:
            return redirect("evaluation:uploaded", pk=job.pk)
    context = {"version": version, "form": form}
    return render(request, "console/evaluation/upload.html", context, status=400 if form.errors else 200)


@never_cache
@require_safe
def uploaded_model(request: HttpRequest, pk: int) -> HttpResponse:
    """The check of an uploaded model; then what was understood, and its lists beside those of a stored model."""
    job = get_object_or_404(uploads_of(request.user), pk=pk)
    context: dict[str, Any] = {"job": job, "version": job.subject}
    if job.status == JobStatus.SUCCEEDED:
        context |= _lists_of_upload(job, request)
    template = "_uploaded" if request.headers.get("HX-Request") else "uploaded"
    return render(request, f"console/evaluation/{template}.html", context)


def _lists_of_upload(job: Job, request: HttpRequest) -> dict[str, Any]:
    version = job.subject
    model = get_object_or_404(TrainedModel, pk=job.result["model"])
    stored = [line for line in models_on(version, request.user) if line.model.pk != model.pk]
    chosen = [line.model for line in stored if str(line.model.pk) == request.GET.get("beside")]
    models = [model, *(chosen or [line.model for line in stored])[:1]]
    tried = try_users(version=version, models=models, shown=ShownUsers(**job.result["shown"]), n=LENGTH_TRIED)
    algorithm = written([(model.algorithm, {"upload": model.params["upload"], **job.payload["params"]})])
    return {"model": model, "algorithm": algorithm, "stored": stored, "beside": models[-1], "tried": tried}


@require_safe
def experiment_list(request: HttpRequest) -> HttpResponse:
    """List the shipped experiments, with the command that runs each."""
    return render(request, "console/evaluation/experiment_list.html", {"experiments": shipped_experiments()})


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


@require_http_methods(["GET", "HEAD", "POST"])
def run_new(request: HttpRequest) -> HttpResponse:
    """Create a run from the form, unless a button only changed the form; a link chooses the dataset and settings."""
    posted = request.POST if request.method == "POST" else None
    newest = newest_versions(Dataset.objects.usable_by(request.user))
    if not newest:
        return render(request, "console/evaluation/run_form.html")
    form = RunForm(posted, query=request.GET.dict(), newest=newest)
    if form.is_bound and form.is_valid() and not form.step:
        with refusals_in(form):
            run = create_runs(version=form.version, spec=form.spec(), owner=request.user, repeats=form.repeats)
            return redirect("evaluation:detail", pk=run.pk)
    return render(request, "console/evaluation/run_form.html", {"form": form, **_counts(form)})


@require_POST
def run_count(request: HttpRequest) -> HttpResponse:
    """Render the number of test cases that the posted form would give."""
    newest = newest_versions(Dataset.objects.usable_by(request.user))
    if not newest:
        raise Http404("There is no dataset yet.")
    form = RunForm(request.POST, newest=newest)
    return render(request, "console/evaluation/_case_count.html", _counts(form))


def _counts(form: RunForm) -> dict[str, Any]:
    inputs = form.case_inputs()
    if inputs is None:
        return {}
    try:
        return {"counts": case_counts(**inputs)}
    except ParallaxError as problem:
        return {"count_problem": str(problem)}


@require_safe
@gzip_page  # charts by their numbers
def run_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a run with its status and, once it has succeeded, its results."""
    run = get_object_or_404(runs_shown_to(request.user), pk=pk)
    context = state_of(request.user, run)
    context["has_groups"] = bool(grouped_metrics(run))
    context["try_address"] = _try_address(run, context["algorithms"])
    if run.version.scale_low < run.version.scale_high:
        shift = run.version.rating_shift
        limits = run.protocol["relevant"] - shift, run.protocol["irrelevant"] - shift
        values = [(value - shift, n) for value, n in value_counts(run.version)]
        context["ratings_figure"] = ratings_per_value(values, limits)
    if run.status == RunStatus.SUCCEEDED:
        context |= results_of(run, request.GET)
    return render(request, "console/evaluation/run_detail.html", context)


@require_safe
def run_progress(request: HttpRequest, pk: int) -> HttpResponse:
    """Render the progress of a run as a fragment; a finished run triggers a reload of the page."""
    run = get_object_or_404(runs_shown_to(request.user), pk=pk)
    response = render(request, "console/evaluation/_progress.html", state_of(request.user, run))
    if run.status not in RUN_OPEN:
        response["HX-Refresh"] = "true"
    return response


def _act_on_run(request: HttpRequest, pk: int, act: Callable[..., object], result: str) -> HttpResponse:
    run = get_object_or_404(runs_shown_to(request.user), pk=pk)
    if not may_change(request.user, run):
        raise PermissionDenied
    try:
        act(run=run, actor=request.user)
    except NotAllowedInState as refused:
        messages.error(request, str(refused))
    else:
        messages.success(request, f"Run {run.pk} {result}.")
    return redirect("evaluation:detail", pk=run.pk)


@require_POST
def run_cancel(request: HttpRequest, pk: int) -> HttpResponse:
    """Cancel a run."""
    return _act_on_run(request, pk, cancel_run, "was cancelled")


@require_POST
def run_resume(request: HttpRequest, pk: int) -> HttpResponse:
    """Resume a failed or cancelled run."""
    return _act_on_run(request, pk, resume_run, "was resumed")


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def run_scores(request: HttpRequest, pk: int) -> HttpResponse:
    """The cases of a run for another system, and the upload of its scores; htmx asks for the part that changes."""
    run = get_object_or_404(runs_shown_to(request.user).filter(status=RunStatus.SUCCEEDED, folds=[]), pk=pk)
    may_upload = may_change(request.user, run)
    form = UploadScoresForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and not may_upload:
        raise PermissionDenied("Only those who may cancel and resume a run add scores of other systems to it.")
    if request.method == "POST" and form.is_valid():
        with refusals_in(form, "name", of="name"):
            job = request_scores(run=run, actor=request.user, **form.cleaned_data)
            return redirect(f"{request.path}?upload={job.pk}")
    uploads, chosen = score_uploads_of(request.user, run), request.GET.get("upload", "")
    context = {
        "run": run,
        "files": [(name, CASE_FILES[name]) for name in case_files(run)],
        "formats": [(title, line) for title, (line, _, _) in FORMATS.items()],
        "form": form if may_upload else None,
        "job": uploads.filter(pk=chosen).first() if chosen.isdecimal() else None,
    }
    template = "_scores" if request.headers.get("HX-Request") else "run_scores"
    return render(request, f"console/evaluation/{template}.html", context, status=400 if form.errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def run_lists(request: HttpRequest, pk: int) -> HttpResponse:
    """Collect the lists of a remote recommender for the test profiles of a run; a worker asks for them."""
    run = get_object_or_404(runs_shown_to(request.user).filter(status=RunStatus.SUCCEEDED, folds=[]), pk=pk)
    if not may_run(request.user, run.version):
        raise PermissionDenied("Lists are collected by those who may start runs on the dataset.")
    form = CollectForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        with refusals_in(form):
            job = request_collection(run=run, actor=request.user, **form.cleaned_data)
            return redirect("evaluation:uploaded", pk=job.pk)
    context = {"run": run, "form": form}
    return render(request, "console/evaluation/run_lists.html", context, status=400 if form.errors else 200)


@require_POST
def cancel_upload(request: HttpRequest, pk: int) -> HttpResponse:
    """Cancel an upload of a model, or a collection of lists."""
    job = get_object_or_404(uploads_of(request.user), pk=pk)
    perform(request, cancel, "", job=job)
    return redirect("evaluation:uploaded", pk=pk)


@require_safe
def run_tests(request: HttpRequest, pk: int) -> HttpResponse:
    """Show pairwise comparisons of a run's algorithms by metric."""
    run = get_object_or_404(runs_shown_to(request.user), pk=pk)
    correction = next((name for name in CORRECTIONS if name == request.GET.get("correction", "holm")), None)
    test = request.GET.get("test", "sign")
    if correction is None or test not in kinds_of_test(run):
        raise Http404
    try:
        results = run_tests_of(run, test=test, correction=correction)
    except ParallaxError as problem:
        messages.error(request, str(problem))
        return redirect("evaluation:detail", pk=run.pk)
    context = {
        "run": run,
        "tests": tests_shown(run, results, request.GET),
        "metrics": [(result.metric, result.metric) for result in results],
        "labels": list(dict.fromkeys(line.label for result in results for line in result.lines)),
        "kept": _query_without(request, "test", "correction"),
        "test": test,
        "kinds": kinds_of_test(run).items(),
        "effect": EFFECTS.get(test, "Hit rate, A − B" if test in HIT_TESTS else "Rank-biserial r"),
        "correction": correction,
        "corrections": CORRECTIONS.items(),
    }
    return render(request, "console/evaluation/run_tests.html", context)


def _query_without(request: HttpRequest, *changed: str) -> str:
    rest = urlencode([(name, value) for name, value in request.GET.items() if name not in changed])
    return f"&{rest}" if rest else ""


@require_safe
def run_groups(request: HttpRequest, pk: int) -> HttpResponse:
    """Compare a metric of a run between groups of users."""
    run = get_object_or_404(runs_shown_to(request.user), pk=pk)
    names = grouped_metrics(run)
    metric = request.GET.get("metric") or next(iter(names), "")
    if names and metric not in names:
        raise Http404
    try:
        groups = group_tables(run, metric)
    except ParallaxError as problem:
        messages.error(request, str(problem))
        return redirect("evaluation:detail", pk=run.pk)
    context = {
        "run": run,
        "metric": metric,
        "metrics": names,
        "groups": groups_shown(groups, request.GET),
        "divisions": [(table.key, table.title) for table in groups],
        "labels": list(dict.fromkeys(line.label for table in groups for line in table.lines)),
        "kept": _query_without(request, "metric"),
    }
    return render(request, "console/evaluation/run_groups.html", context)


@require_safe
def run_compare(request: HttpRequest) -> HttpResponse:
    """Compare two runs, once both are chosen; a link from a run names the first."""
    runs = succeeded_runs(EvaluationRun.objects.visible_to(request.user))
    form = CompareForm(request.GET if "b" in request.GET else None, initial=request.GET.dict(), runs=runs)
    context: dict[str, Any] = {"form": form, "has_runs": runs.exists()}
    if form.is_bound and form.is_valid():
        with refusals_in(form):
            comparison = compare_runs(form.cleaned_data["a"], form.cleaned_data["b"])
            pairs = comparison.settings.items()
            context |= {
                "comparison": comparison,
                **differences_shown(form.shown(comparison.differences), request.GET),
                "correction": CORRECTIONS[comparison.correction],
                "means": tables.means_note([comparison.a.protocol, comparison.b.protocol]),
                "settings": [(tables.label_of(name), *(_input(name, value) for value in both)) for name, both in pairs],
            }
    return render(request, "console/evaluation/run_compare.html", context)


def _input(name: str, value: Any) -> str:
    return TASKS[value] if name == "task" else tables.in_words(value)


@require_safe
def run_csv(request: HttpRequest, pk: int, kind: str) -> HttpResponseBase:
    """Download a run's metrics, its values by user, or its metrics by group of users, as CSV."""
    run = get_object_or_404(runs_shown_to(request.user), pk=pk)
    if run.status != RunStatus.SUCCEEDED:
        raise Http404
    if kind == "groups" and not grouped_metrics(run):
        raise Http404
    rows = {"users": exports.user_rows, "groups": exports.group_rows, "metrics": exports.metric_rows}[kind]
    lines = exports.csv_lines(rows(run))
    response = StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="run-{run.pk}-{kind}.csv"'
    return response


@require_safe
def run_figure(request: HttpRequest, pk: int, name: str) -> HttpResponse:
    """Download a figure of a run as SVG."""
    run = get_object_or_404(runs_shown_to(request.user), pk=pk)
    picture = exports.figure(run, name) if run.status == RunStatus.SUCCEEDED else None
    if picture is None:
        raise Http404
    response = HttpResponse(picture, content_type="image/svg+xml")
    response["Content-Disposition"] = f'attachment; filename="run-{run.pk}-{name}.svg"'
    return response


@require_safe
def run_json(request: HttpRequest, pk: int) -> HttpResponse:
    """Download every number of a run with the hashes of its inputs."""
    run = get_object_or_404(runs_shown_to(request.user), pk=pk)
    try:
        document = exports.run_document(run)
    except ParallaxError as problem:
        return JsonResponse({"code": problem.code, "message": str(problem), "extra": problem.extra}, status=409)
    response = JsonResponse(document, json_dumps_params={"indent": 2, "ensure_ascii": False})
    response["Content-Disposition"] = f'attachment; filename="run-{run.pk}.json"'
    return response


@require_safe
def try_page(request: HttpRequest, name: str, number: int) -> HttpResponse:
    """Preview what models recommend for a profile, and why; all choices are in the query string."""
    version = version_or_404(request.user, name, number)
    lines = models_on(version, request.user)
    form = TryForm(_query(request, lines), version=version, models=lines)
    is_complete = form.is_valid()
    context = {"version": version, "form": form, "found": form.found(MAX_MATCHES)}
    is_part = bool(request.htmx) and request.htmx.target == "found"  # type: ignore[attr-defined]
    if is_part and not request.htmx.history_restore_request:  # type: ignore[attr-defined]
        response = render(request, "console/evaluation/_found.html", context)
    else:
        by_id = {line.model.pk: line.model for line in lines}
        tried = []
        if is_complete and form.rated:
            tried = try_models(
                version=version,
                models=[by_id[chosen] for chosen in form.cleaned_data["model"]],
                ratings=form.rated,
                scale=form.scale,
                n=form.cleaned_data["n"],
            )
        context |= {"tried": tried, "has_models": bool(lines), "rated": form.rated_items()}
        response = render(request, "console/evaluation/try.html", context)
    patch_vary_headers(response, ["HX-Request", "HX-Target"])
    return response


def _query(request: HttpRequest, lines: list[ModelLine]) -> QueryDict:
    query = request.GET.copy()
    if "model" not in query and "n" not in query:
        query.setlist("model", [str(line.model.pk) for line in lines[: TryForm.MAX_MODELS]])
    query.setdefault("n", str(TryForm.base_fields["n"].initial))
    return query


def _try_address(run: EvaluationRun, algorithms: list[RunAlgorithm]) -> str:
    models = [algorithm.model_id for algorithm in algorithms if algorithm.model_id is not None and not algorithm.error][
        : TryForm.MAX_MODELS
    ]
    address = reverse("evaluation:try", args=(run.version.dataset.name, run.version.number))
    return f"{address}?{urlencode({'model': models}, doseq=True)}" if models else ""
