"""Pages of the runs (the list, a run with progress and results, a new one), and the page that tries models."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from catalog.models import DatasetVersion, Item
from catalog.selectors.datasets import newest_version, version_in_console
from catalog.selectors.search import search_items
from core.errors import NotAllowedInState, ParallaxError
from evaluation import charts, tables
from evaluation.enums import RUN_OPEN, RunStatus
from evaluation.exports import run_document
from evaluation.forms import RunForm, TryForm
from evaluation.models import EvaluationRun, RunAlgorithm
from evaluation.permissions import may_cancel
from evaluation.selectors.models import ModelLine, models_on
from evaluation.selectors.results import Row, curves, table
from evaluation.selectors.runs import algorithms_of, progress, runs_by_time
from evaluation.services.runs import cancel_run, create_run
from evaluation.services.trying import try_models

RUNS_PER_PAGE = 25
ITEMS_FOUND = 6


@require_safe
def run_list(request: HttpRequest) -> HttpResponse:
    """List runs, newest first."""
    page = Paginator(runs_by_time(), RUNS_PER_PAGE).get_page(request.GET.get("page"))
    return render(request, "console/evaluation/run_list.html", {"page": page})


@require_http_methods(["GET", "POST"])
def run_new(request: HttpRequest) -> HttpResponse:
    """Make a run from the form."""
    form = RunForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        given = form.cleaned_data
        try:
            run = create_run(
                version=newest_version(given["dataset"]),
                algorithms=form.algorithms_text(),
                split={"name": "probe", "share": given["share"]},
                protocol={
                    "name": "one-plus-random",
                    "negatives": given["negatives"],
                    "relevant": given["relevant"],
                    "irrelevant": given["irrelevant"],
                },
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


@require_POST
def run_cancel(request: HttpRequest, pk: int) -> HttpResponse:
    """Cancel a run."""
    run = get_object_or_404(EvaluationRun, pk=pk)
    if not may_cancel(request.user, run):
        raise PermissionDenied
    try:
        cancel_run(run=run, actor=request.user)
    except NotAllowedInState as refused:
        messages.error(request, str(refused))
    else:
        messages.success(request, f"Run {run.pk} was cancelled.")
    return redirect("evaluation:detail", pk=run.pk)


@require_safe
def run_json(request: HttpRequest, pk: int) -> HttpResponse:
    """Give every number of a run with the hashes of what it came from."""
    run = get_object_or_404(EvaluationRun.objects.select_related("version__dataset"), pk=pk)
    try:
        document = run_document(run)
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
    models = [one.model_id for one in algorithms if one.model_id is not None][: TryForm.MOST_MODELS]
    address = reverse("evaluation:try", args=(run.version.dataset.name, run.version.number))
    return f"{address}?{urlencode({'model': models}, doseq=True)}" if models else ""


def _state(request: HttpRequest, run: EvaluationRun) -> dict[str, Any]:
    found = progress(run)
    return {
        "run": run,
        "is_open": run.status in RUN_OPEN,
        "may_cancel": run.status in RUN_OPEN and may_cancel(request.user, run),
        "progress": found,
        "algorithms": list(algorithms_of(run)),
        "took": tables.duration(found.seconds),
        "left": None if found.seconds_left is None else tables.duration(found.seconds_left),
        "left_out": tables.facts(run.left_out),
        "counted": tables.facts(run.counted),
        "environment": ", ".join(f"{name} {version}" for name, version in sorted(run.environment.items())),
    }


def _results(run: EvaluationRun) -> dict[str, Any]:
    lengths = (0, *run.profile_lengths)
    by_length = [(length, [_line(row) for row in table(run, length)]) for length in lengths]
    measured = curves(run)
    return {
        "lines": by_length[0][1],
        "shorter": by_length[1:],
        "chart_recall": charts.recall_by_n({one.label: one.recall for one in measured}, n=run.n),
        "chart_fallout": charts.fallout_by_n({one.label: one.fallout for one in measured}, n=run.n),
        "curve_heads": measured[0].n if measured else (),
        "recall_lines": [(one.label, [tables.share(value) for value in one.recall]) for one in measured],
        "fallout_lines": [(one.label, [tables.share(value) for value in one.fallout]) for one in measured],
    }


def _line(row: Row) -> dict[str, Any]:
    """Write one algorithm's row as the page shows it."""
    return {
        "label": row.label,
        "recall": tables.share(row.recall),
        "fallout": tables.share(row.fallout),
        "precision": tables.share(row.precision),
        "f_measure": tables.share(row.f_measure),
        "fit_seconds": tables.seconds(row.fit_seconds),
        "score_seconds": tables.seconds(row.score_seconds),
        "was_reused": row.was_reused,
        "model_hash": row.model_hash,
        "model_id": row.model_id,
    }
