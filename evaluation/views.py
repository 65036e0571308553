"""Pages of the runs (the list, a run with progress and results, a new one), and the page that tries models."""

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
from evaluation.selectors.comparing import compared
from evaluation.selectors.experiments import shipped_experiments
from evaluation.selectors.lists import overlaps
from evaluation.selectors.models import ModelLine, line_of, listed_models, models_on
from evaluation.selectors.orders import other_order
from evaluation.selectors.paired import CORRECTIONS, HIT_TESTS, chosen_on_development, kinds_of_test, run_tests_of
from evaluation.selectors.results import Cell, ModelRow, curves, model_rows
from evaluation.selectors.runs import (
    algorithms_of,
    failed_algorithms,
    failure_summary,
    metric_names,
    progress,
    runs_by_time,
    succeeded_runs,
)
from evaluation.services.inputs import named_settings, split_names
from evaluation.services.runs import cancel_run, create_run, resume_run
from evaluation.services.trying import try_models

RUNS_PER_PAGE = 25
MODELS_PER_PAGE = 50
ITEMS_FOUND = 6


@require_safe
def run_list(request: HttpRequest) -> HttpResponse:
    """List runs, newest first."""
    page = Paginator(runs_by_time(), RUNS_PER_PAGE).get_page(request.GET.get("page"))
    return render(request, "console/evaluation/run_list.html", {"page": page})


@require_safe
def model_list(request: HttpRequest) -> HttpResponse:
    """List trained models, newest first, with what they were trained on and the runs they serve."""
    page = Paginator(listed_models(), MODELS_PER_PAGE).get_page(request.GET.get("page"))
    lines = [line_of(model) for model in page]
    return render(request, "console/evaluation/model_list.html", {"page": page, "lines": lines})


@require_safe
def experiment_list(request: HttpRequest) -> HttpResponse:
    """List the shipped experiments, with the command that runs each."""
    return render(request, "console/evaluation/experiment_list.html", {"experiments": shipped_experiments()})


@require_http_methods(["GET", "POST"])
def run_new(request: HttpRequest) -> HttpResponse:
    """Make a run from the form."""
    form = RunForm(request.POST or None)
    if request.method == "POST" and form.is_valid() and form.is_confirmed():
        given = form.cleaned_data
        try:
            run = create_run(
                version=newest_version(given["dataset"]),
                algorithms=form.algorithms_text(),
                split=named_settings(text=given["split"]),
                protocol=form.protocol_settings(),
                task=given["task"],
                metrics=split_names(given["metrics"]),
                reserve=given["reserve"],
                seed=given["seed"],
                n=given["n"],
                profile_lengths=(given["profile_length"],),
                owner=request.user,
            )
        except ParallaxError as problem:
            form.add_error(None, str(problem))
        else:
            return redirect("evaluation:detail", pk=run.pk)
    return render(request, "console/evaluation/run_form.html", {"form": form})


@require_safe
def run_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a run: its state, and once it has succeeded its results."""
    run = get_object_or_404(EvaluationRun.objects.select_related("version__dataset", "owner"), pk=pk)
    context = _state(request, run)
    context["try_address"] = _try_address(run, context["algorithms"])
    if run.status == RunStatus.SUCCEEDED:
        context |= _results(run)
    return render(request, "console/evaluation/run_detail.html", context)


@require_safe
def run_progress(request: HttpRequest, pk: int) -> HttpResponse:
    """Give the progress of a run as a fragment; once it is over the whole page is to be loaded again."""
    run = get_object_or_404(EvaluationRun.objects.select_related("version__dataset"), pk=pk)
    response = render(request, "console/evaluation/_progress.html", _state(request, run))
    if run.status not in RUN_OPEN:
        response["HX-Refresh"] = "true"
    return response


def _done(
    request: HttpRequest, pk: int, may: Callable[[Any, EvaluationRun], bool], act: Callable[..., object], said: str
) -> HttpResponse:
    """Do to a run what its state may not allow, say how it went, and show the run."""
    run = get_object_or_404(EvaluationRun, pk=pk)
    if not may(request.user, run):
        raise PermissionDenied
    try:
        act(run=run, actor=request.user)
    except NotAllowedInState as refused:
        messages.error(request, str(refused))
    else:
        messages.success(request, f"Run {run.pk} {said}.")
    return redirect("evaluation:detail", pk=run.pk)


@require_POST
def run_cancel(request: HttpRequest, pk: int) -> HttpResponse:
    """Cancel a run."""
    return _done(request, pk, may_cancel, cancel_run, "was cancelled")


@require_POST
def run_resume(request: HttpRequest, pk: int) -> HttpResponse:
    """Take up a run again that failed or was cancelled."""
    return _done(request, pk, may_resume, resume_run, "goes on where it stopped")


@require_safe
def run_tests(request: HttpRequest, pk: int) -> HttpResponse:
    """Show which algorithms of a run differ, metric by metric."""
    run = get_object_or_404(EvaluationRun.objects.select_related("version__dataset"), pk=pk)
    correction = next((one for one in CORRECTIONS if one == request.GET.get("correction", "holm")), None)
    test = request.GET.get("test", "sign")
    if correction is None or test not in kinds_of_test(run):
        raise Http404
    try:
        found = run_tests_of(run, test=test, correction=correction)
    except ParallaxError as problem:
        messages.error(request, str(problem))
        return redirect("evaluation:detail", pk=run.pk)
    context = {
        "run": run,
        "tests": tables.pairwise_lines(found),
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
    """Put two runs side by side."""
    form = CompareForm(request.GET or None)
    context: dict[str, Any] = {"form": form, "has_runs": succeeded_runs().exists()}
    if form.is_bound and form.is_valid():
        try:
            found = compared(form.cleaned_data["a"], form.cleaned_data["b"])
        except ParallaxError as problem:
            form.add_error(None, str(problem))
        else:
            pairs = found.settings.items()
            context |= {
                "found": found,
                "lines": tables.difference_lines(found.differences),
                "correction": CORRECTIONS[found.correction],
                "means": tables.means_said([found.a.protocol, found.b.protocol]),
                "settings": [(name, tables.in_words(a), tables.in_words(b)) for name, (a, b) in pairs],
            }
    return render(request, "console/evaluation/run_compare.html", context)


@require_safe
def run_csv(request: HttpRequest, pk: int, kind: str) -> HttpResponseBase:
    """Give a run's metrics, or its values by user, as CSV."""
    run = get_object_or_404(EvaluationRun.objects.select_related("version__dataset"), pk=pk)
    if run.status != RunStatus.SUCCEEDED:
        raise Http404
    lines = exports.csv_lines(exports.user_rows(run) if kind == "users" else exports.metric_rows(run))
    response = StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="run-{run.pk}-{kind}.csv"'
    return response


@require_safe
def run_figure(request: HttpRequest, pk: int, name: str) -> HttpResponse:
    """Give one of a run's figures as SVG."""
    run = get_object_or_404(EvaluationRun.objects.select_related("version__dataset"), pk=pk)
    picture = exports.figure(run, name) if run.status == RunStatus.SUCCEEDED else None
    if picture is None:
        raise Http404
    response = HttpResponse(picture, content_type="image/svg+xml")
    response["Content-Disposition"] = f'attachment; filename="run-{run.pk}-{name}.svg"'
    return response


@require_safe
def run_json(request: HttpRequest, pk: int) -> HttpResponse:
    """Give every number of a run with the hashes of what it came from."""
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
    """Show what models recommend to a profile made here, and why; everything chosen is in the address."""
    version = get_object_or_404(version_in_console(), dataset__name=name, number=number)
    lines = models_on(version)
    form = TryForm(_asked(request, lines), version=version, models=lines)
    is_complete = form.is_valid()
    context = {"version": version, "form": form, "found": _found(version, form)}
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


def _asked(request: HttpRequest, lines: list[ModelLine]) -> QueryDict:
    """Give what the address asks for; a bare one is given the first models."""
    asked = request.GET.copy()
    if "model" not in asked and "n" not in asked:
        asked.setlist("model", [str(line.model.pk) for line in lines[: TryForm.MOST_MODELS]])
    asked.setdefault("n", str(TryForm.base_fields["n"].initial))
    return asked


def _found(version: DatasetVersion, form: TryForm) -> list[Item]:
    """Give the items that answer the search, without those that are rated already."""
    found = search_items(version, form.cleaned_data.get("q", ""), limit=ITEMS_FOUND + len(form.rated))
    return [item for item in found.items if item.index not in form.rated][:ITEMS_FOUND]


def _rated(version: DatasetVersion, form: TryForm) -> list[dict[str, Any]]:
    """Give the rated items as the address names them, each with the address without it."""
    items = {item.index: item for item in version.items.filter(index__in=form.rated)}
    rated = []
    for index in form.rated:
        rest = form.asked.copy()
        (*_, stars) = rest.pop(f"r{index}")
        rated.append({"item": items[index], "stars": stars, "without": f"?{rest.urlencode()}"})
    return rated


def _try_address(run: EvaluationRun, algorithms: list[RunAlgorithm]) -> str:
    """Give where the run's models can be tried, the first seven chosen; empty while there is none."""
    models = [one.model_id for one in algorithms if one.model_id is not None and not one.error][: TryForm.MOST_MODELS]
    address = reverse("evaluation:try", args=(run.version.dataset.name, run.version.number))
    return f"{address}?{urlencode({'model': models}, doseq=True)}" if models else ""


def _state(request: HttpRequest, run: EvaluationRun) -> dict[str, Any]:
    found = progress(run)
    return {
        "run": run,
        "is_open": run.status in RUN_OPEN,
        "may_cancel": run.status in RUN_OPEN and may_cancel(request.user, run),
        "may_resume": run.status in RUN_STOPPED and may_resume(request.user, run),
        "task": TASKS[run.task],
        "protocol": protocol(run.protocol["name"]),
        "split_words": ", ".join(f"{key} {value}" for key, value in run.split.items() if key not in ("name", "cases")),
        "reserved": f"{100 * run.reserve:g} %",
        "progress": found,
        "algorithms": list(algorithms_of(run)),
        "failed": list(failed_algorithms(run)),
        "failure_summary": failure_summary(run),
        "candidates": candidate_range(run),
        "took": tables.duration(found.seconds),
        "left": None if found.seconds_left is None else tables.duration(found.seconds_left),
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
    context["curves"] = [(one, f"chart-{one.name}", charts.curve_of_run(one)) for one in exports.curves_of(run)]
    context["other_order"] = found = other_order(run)
    context["other_order_said"] = "" if found is None else tables.pairs_said(found.n_pairs, len(found.turned))
    context["overlaps"] = [(one.first, one.second, tables.share(one.share)) for one in overlaps(run)]
    if context["is_hits"]:
        measured = curves(run)
        context |= {
            "chart_recall": charts.recall_by_n({one.label: one.recall for one in measured}, n=run.n),
            "chart_fallout": charts.fallout_by_n({one.label: one.fallout for one in measured}, n=run.n),
            "curve_heads": measured[0].n if measured else (),
            "recall_lines": [(one.label, [tables.share(value) for value in one.recall]) for one in measured],
            "fallout_lines": [(one.label, [tables.share(value) for value in one.fallout]) for one in measured],
        }
    return context


def _line(row: ModelRow, heads: dict[str, str]) -> dict[str, Any]:
    """Write one algorithm's row as the page shows it; runs of earlier versions have fewer metrics."""
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
