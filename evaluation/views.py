"""Pages of runs, models and experiments, and the model preview."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, QueryDict, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from catalog.models import DatasetVersion, Item
from catalog.selectors.datasets import newest_version, version_in_console
from catalog.selectors.search import search_items
from core.errors import NotAllowedInState, ParallaxError
from evaluation import charts, exports, tables
from evaluation.enums import RUN_OPEN, RUN_STOPPED, RunStatus
from evaluation.forms import CompareForm, RunForm, TryForm
from evaluation.metrics.definition import TASKS
from evaluation.models import EvaluationRun, RunAlgorithm
from evaluation.permissions import may_cancel, may_resume
from evaluation.protocols.registry import protocol
from evaluation.selectors.candidates import candidate_range
from evaluation.selectors.experiments import shipped_experiments
from evaluation.selectors.list_overlap import overlaps
from evaluation.selectors.models import ModelLine, line_of, listed_models, models_on
from evaluation.selectors.paired_tests import CORRECTIONS, HIT_TESTS, chosen_on_development, kinds_of_test, run_tests_of
from evaluation.selectors.rank_reversals import order_comparison
from evaluation.selectors.results import Cell, ModelRow, curves, model_rows
from evaluation.selectors.run_comparison import compare_runs
from evaluation.selectors.runs import (
    algorithms_of,
    failed_algorithms,
    failure_summary,
    metric_names,
    progress,
    runs_by_time,
    succeeded_runs,
)
from evaluation.services.recommend_for_profile import try_models
from evaluation.services.run_inputs import named_settings, split_names
from evaluation.services.runs import cancel_run, create_run, resume_run

RUNS_PER_PAGE = 25
MODELS_PER_PAGE = 50
MAX_MATCHES = 6


@require_safe
def run_list(request: HttpRequest) -> HttpResponse:
    """List runs, newest first."""
    page = Paginator(runs_by_time(), RUNS_PER_PAGE).get_page(request.GET.get("page"))
    return render(request, "console/evaluation/run_list.html", {"page": page})


@require_safe
def model_list(request: HttpRequest) -> HttpResponse:
    """List trained models, newest first, with their data and runs."""
    page = Paginator(listed_models(), MODELS_PER_PAGE).get_page(request.GET.get("page"))
    lines = [line_of(model) for model in page]
    return render(request, "console/evaluation/model_list.html", {"page": page, "lines": lines})


@require_safe
def experiment_list(request: HttpRequest) -> HttpResponse:
    """List the shipped experiments, with the command that runs each."""
    return render(request, "console/evaluation/experiment_list.html", {"experiments": shipped_experiments()})


@require_http_methods(["GET", "POST"])
def run_new(request: HttpRequest) -> HttpResponse:
    """Create a run from the form."""
    form = RunForm(request.POST or None)
    if request.method == "POST" and form.is_valid() and form.is_confirmed():
        values = form.cleaned_data
        try:
            run = create_run(
                version=newest_version(values["dataset"]),
                algorithms=form.algorithms_text(),
                split=named_settings(text=values["split"]),
                protocol=form.protocol_settings(),
                task=values["task"],
                metrics=split_names(values["metrics"]),
                reserve=values["reserve"],
                seed=values["seed"],
                n=values["n"],
                profile_lengths=(values["profile_length"],),
                owner=request.user,
            )
        except ParallaxError as problem:
            form.add_error(None, str(problem))
        else:
            return redirect("evaluation:detail", pk=run.pk)
    return render(request, "console/evaluation/run_form.html", {"form": form})


@require_safe
def run_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a run with its status and, once it has succeeded, its results."""
    run = get_object_or_404(EvaluationRun.objects.select_related("version__dataset", "owner"), pk=pk)
    context = _state(request, run)
    context["try_address"] = _try_address(run, context["algorithms"])
    if run.status == RunStatus.SUCCEEDED:
        context |= _results(run)
    return render(request, "console/evaluation/run_detail.html", context)


@require_safe
def run_progress(request: HttpRequest, pk: int) -> HttpResponse:
    """Render the progress of a run as a fragment; a finished run triggers a reload of the page."""
    run = get_object_or_404(EvaluationRun.objects.select_related("version__dataset"), pk=pk)
    response = render(request, "console/evaluation/_progress.html", _state(request, run))
    if run.status not in RUN_OPEN:
        response["HX-Refresh"] = "true"
    return response


def _act_on_run(
    request: HttpRequest, pk: int, may: Callable[[Any, EvaluationRun], bool], act: Callable[..., object], result: str
) -> HttpResponse:
    """Perform an action on a run, report the result, and redirect to the run."""
    run = get_object_or_404(EvaluationRun, pk=pk)
    if not may(request.user, run):
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
    return _act_on_run(request, pk, may_cancel, cancel_run, "was cancelled")


@require_POST
def run_resume(request: HttpRequest, pk: int) -> HttpResponse:
    """Resume a failed or cancelled run."""
    return _act_on_run(request, pk, may_resume, resume_run, "was resumed")


@require_safe
def run_tests(request: HttpRequest, pk: int) -> HttpResponse:
    """Show pairwise comparisons of a run's algorithms by metric."""
    run = get_object_or_404(EvaluationRun.objects.select_related("version__dataset"), pk=pk)
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
        "tests": tables.pairwise_lines(results),
        "aggregation": tables.aggregation(run.protocol),
        "test": test,
        "kinds": kinds_of_test(run).items(),
        "is_of_hits": test in HIT_TESTS,
        "correction": correction,
        "corrections": CORRECTIONS.items(),
    }
    return render(request, "console/evaluation/run_tests.html", context)


@require_safe
def run_compare(request: HttpRequest) -> HttpResponse:
    """Compare two runs."""
    form = CompareForm(request.GET or None)
    context: dict[str, Any] = {"form": form, "has_runs": succeeded_runs().exists()}
    if form.is_bound and form.is_valid():
        try:
            comparison = compare_runs(form.cleaned_data["a"], form.cleaned_data["b"])
        except ParallaxError as problem:
            form.add_error(None, str(problem))
        else:
            pairs = comparison.settings.items()
            context |= {
                "comparison": comparison,
                "lines": tables.difference_lines(comparison.differences),
                "correction": CORRECTIONS[comparison.correction],
                "means": tables.means_note([comparison.a.protocol, comparison.b.protocol]),
                "settings": [(name, tables.in_words(a), tables.in_words(b)) for name, (a, b) in pairs],
            }
    return render(request, "console/evaluation/run_compare.html", context)


@require_safe
def run_csv(request: HttpRequest, pk: int, kind: str) -> HttpResponseBase:
    """Download a run's metrics, or its values by user, as CSV."""
    run = get_object_or_404(EvaluationRun.objects.select_related("version__dataset"), pk=pk)
    if run.status != RunStatus.SUCCEEDED:
        raise Http404
    lines = exports.csv_lines(exports.user_rows(run) if kind == "users" else exports.metric_rows(run))
    response = StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="run-{run.pk}-{kind}.csv"'
    return response


@require_safe
def run_figure(request: HttpRequest, pk: int, name: str) -> HttpResponse:
    """Download a figure of a run as SVG."""
    run = get_object_or_404(EvaluationRun.objects.select_related("version__dataset"), pk=pk)
    picture = exports.figure(run, name) if run.status == RunStatus.SUCCEEDED else None
    if picture is None:
        raise Http404
    response = HttpResponse(picture, content_type="image/svg+xml")
    response["Content-Disposition"] = f'attachment; filename="run-{run.pk}-{name}.svg"'
    return response


@require_safe
def run_json(request: HttpRequest, pk: int) -> HttpResponse:
    """Download every number of a run with the hashes of its inputs."""
    run = get_object_or_404(EvaluationRun.objects.select_related("version__dataset"), pk=pk)
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
    version = get_object_or_404(version_in_console(), dataset__name=name, number=number)
    lines = models_on(version)
    form = TryForm(_query(request, lines), version=version, models=lines)
    is_complete = form.is_valid()
    context = {"version": version, "form": form, "found": _matching_items(version, form)}
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
        context |= {"tried": tried, "has_models": bool(lines), "rated": _rated(version, form)}
        response = render(request, "console/evaluation/try.html", context)
    patch_vary_headers(response, ["HX-Request", "HX-Target"])
    return response


def _query(request: HttpRequest, lines: list[ModelLine]) -> QueryDict:
    """Return the query of the request, with the first models selected by default."""
    query = request.GET.copy()
    if "model" not in query and "n" not in query:
        query.setlist("model", [str(line.model.pk) for line in lines[: TryForm.MAX_MODELS]])
    query.setdefault("n", str(TryForm.base_fields["n"].initial))
    return query


def _matching_items(version: DatasetVersion, form: TryForm) -> list[Item]:
    """Return the items that match the search, except rated ones."""
    matches = search_items(version, form.cleaned_data.get("q", ""), limit=MAX_MATCHES + len(form.rated))
    return [item for item in matches.items if item.index not in form.rated][:MAX_MATCHES]


def _rated(version: DatasetVersion, form: TryForm) -> list[dict[str, Any]]:
    """Return the rated items in order, each with the address without its rating."""
    items = {item.index: item for item in version.items.filter(index__in=form.rated)}
    rated = []
    for index in form.rated:
        rest = form.query.copy()
        (*_, stars) = rest.pop(f"r{index}")
        rated.append({"item": items[index], "stars": stars, "without": f"?{rest.urlencode()}"})
    return rated


def _try_address(run: EvaluationRun, algorithms: list[RunAlgorithm]) -> str:
    """Return the address of the preview of the run's models; empty without models."""
    models = [algorithm.model_id for algorithm in algorithms if algorithm.model_id is not None and not algorithm.error][
        : TryForm.MAX_MODELS
    ]
    address = reverse("evaluation:try", args=(run.version.dataset.name, run.version.number))
    return f"{address}?{urlencode({'model': models}, doseq=True)}" if models else ""


def _state(request: HttpRequest, run: EvaluationRun) -> dict[str, Any]:
    run_progress = progress(run)
    return {
        "run": run,
        "is_open": run.status in RUN_OPEN,
        "may_cancel": run.status in RUN_OPEN and may_cancel(request.user, run),
        "may_resume": run.status in RUN_STOPPED and may_resume(request.user, run),
        "task": TASKS[run.task],
        "protocol": protocol(run.protocol["name"]),
        "split_words": ", ".join(f"{key} {value}" for key, value in run.split.items() if key not in ("name", "cases")),
        "reserved": f"{100 * run.reserve:g}%",
        "progress": run_progress,
        "algorithms": list(algorithms_of(run)),
        "failed": list(failed_algorithms(run)),
        "failure_summary": failure_summary(run),
        "candidates": candidate_range(run),
        "took": tables.duration(run_progress.seconds),
        "left": None if run_progress.seconds_left is None else tables.duration(run_progress.seconds_left),
        "left_out": tables.facts(run.left_out),
        "counted": tables.facts(run.counted),
        "environment": ", ".join(f"{name} {version}" for name, version in sorted(run.environment.items())),
    }


def _results(run: EvaluationRun) -> dict[str, Any]:
    lengths = (0, *run.profile_lengths)
    heads = tables.columns(run.protocol, metric_names(run), run.metrics, n=None, is_given=run.split["name"] == "file")
    by_length = [(length, [_line(row, heads) for row in model_rows(run, length)]) for length in lengths]
    context: dict[str, Any] = {
        "heads": [head if "@" in head or "(" in head else head.capitalize() for head in heads.values()],
        "lines": by_length[0][1],
        "reused": [line["label"] for line in by_length[0][1] if line["was_reused"]],
        "shorter": by_length[1:],
        "is_hits": run.protocol["name"] == "one-plus-random",
        "figures": exports.FIGURES.get(run.protocol["name"], ()),
        "choice": chosen_on_development(run),
    }
    context["curves"] = [(curve, f"chart-{curve.name}", charts.curve_of_run(curve)) for curve in exports.curves_of(run)]
    context["order_comparison"] = comparison = order_comparison(run)
    context["order_summary"] = (
        "" if comparison is None else tables.order_summary(comparison.n_pairs, len(comparison.reversals))
    )
    context["overlaps"] = [(overlap.first, overlap.second, tables.share(overlap.share)) for overlap in overlaps(run)]
    if context["is_hits"]:
        measured = curves(run)
        context |= {
            "chart_recall": charts.recall_by_n({line.label: line.recall for line in measured}, n=run.n),
            "chart_fallout": charts.fallout_by_n({line.label: line.fallout for line in measured}, n=run.n),
            "curve_heads": measured[0].n if measured else (),
            "recall_lines": [(line.label, [tables.share(value) for value in line.recall]) for line in measured],
            "fallout_lines": [(line.label, [tables.share(value) for value in line.fallout]) for line in measured],
        }
    return context


def _line(row: ModelRow, heads: dict[str, str]) -> dict[str, Any]:
    """Format an algorithm's row for the page; runs of earlier versions have fewer metrics."""
    cells = [row.cells.get(name, Cell(None, (), "")) for name in heads]
    return {
        "label": row.label,
        "cells": [tables.cell(cell.value, cell.reason) for cell in cells],
        "remarks": sorted({cell.reason for cell in cells if cell.reason and cell.value is not None}),
        "fit_seconds": tables.seconds(row.fit_seconds),
        "score_seconds": tables.seconds(row.score_seconds),
        "was_reused": row.was_reused,
        "model_id": row.model_id,
    }
