"""Runs: lists, the newest that succeeded, and how far one has come."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count, Q, QuerySet, Sum
from django.db.models.functions import Coalesce
from django.utils import timezone

from catalog.models import DatasetVersion
from core.errors import ParallaxError
from evaluation.enums import RUN_OPEN, PartKind, PartStatus, RunStatus
from evaluation.metrics.registry import metric
from evaluation.models import EvaluationRun, RunAlgorithm
from evaluation.protocols import registry as protocols


@dataclass(frozen=True)
class Progress:
    """How far a run has come: parts, speed and time left, and what it is doing in words.

    `seconds_left` and `cases_per_second` are None while there is nothing yet to judge by; for the former that is
    as long as a model is still to be fitted, because fits are unlike each other and unlike all other parts.
    """

    done: int
    total: int
    leased: int
    activity: str
    seconds: float
    seconds_left: float | None
    cases_per_second: float | None

    @property
    def share(self) -> float:
        """Parts done of all, 0 to 1."""
        return self.done / self.total if self.total else 0.0


CURVE_N = 20  # curves go at least this far
DEVELOPMENT = "development:"  # before the names of metrics on the users that an algorithm is chosen on


def run_numbered(number: int) -> EvaluationRun:
    """Give the run of a number, with its dataset.

    Raises
    ------
    ParallaxError
        Code ``run.unknown``: there is none; the message names the newest.
    """
    run = EvaluationRun.objects.select_related("version__dataset").filter(pk=number).first()
    if run is None:
        newest = EvaluationRun.objects.order_by("-pk").first()
        there_is = (
            "Nothing has been run yet" if newest is None else f"The newest is run {newest.pk}, on {newest.version}"
        )
        raise ParallaxError("run.unknown", f"There is no run {number}. {there_is}.")
    return run


def metric_names(run: EvaluationRun) -> list[str]:
    """Give the metrics of the run by name: those asked for, or the usual ones of its protocol."""
    usual = protocols.protocol(run.protocol["name"]).usual
    return run.metrics or [str(metric(name.format(n=run.n))) for name in usual]


def longest_list(run: EvaluationRun) -> int:
    """Give the longest list that any result of the run speaks of."""
    return max([run.n, CURVE_N, *(metric(name).n or 0 for name in metric_names(run))])


def runs_by_time() -> QuerySet[EvaluationRun]:
    """Give every run, newest first, with its dataset and the number of its algorithms and parts."""
    return (
        EvaluationRun.objects.select_related("version__dataset", "owner")
        .annotate(
            n_algorithms=Count("algorithms", distinct=True),
            n_failed=Count("algorithms", filter=~Q(algorithms__error=""), distinct=True),
            n_parts=Count("parts", distinct=True),
            n_done=Count("parts", filter=Q(parts__status=PartStatus.DONE), distinct=True),
        )
        .order_by("-created_at", "-pk")
    )


def succeeded_runs() -> QuerySet[EvaluationRun]:
    """Give the runs that have results, newest first, with their datasets."""
    done = EvaluationRun.objects.filter(status=RunStatus.SUCCEEDED)
    return done.select_related("version__dataset").order_by("-pk")


def newest_succeeded_run(version: DatasetVersion) -> EvaluationRun | None:
    """Give the run of "one plus random" on `version` that succeeded last, or None: what studies stand on."""
    return (
        EvaluationRun.objects.filter(
            version=version, status=RunStatus.SUCCEEDED, protocol__name="one-plus-random", split__name="probe"
        )
        .order_by("-finished_at", "-pk")
        .first()
    )


def algorithms_of(run: EvaluationRun) -> QuerySet[RunAlgorithm]:
    """Give the algorithms of a run in their order, with their models."""
    return run.algorithms.select_related("model").order_by("position")


def measured_algorithms(run: EvaluationRun) -> QuerySet[RunAlgorithm]:
    """Give the algorithms of a run that have not failed, in their order, with their models."""
    return algorithms_of(run).filter(error="")


def failed_algorithms(run: EvaluationRun) -> QuerySet[RunAlgorithm]:
    """Give the algorithms of a run that failed, in their order; `error` says why."""
    return algorithms_of(run).exclude(error="")


def failure_summary(run: EvaluationRun) -> str:
    """Count the failed algorithms of a run in a sentence; empty where there is none.

    Whoever uses the results of the run uses those of the others.
    """
    n_failed = failed_algorithms(run).count()
    return f"{n_failed} of {run.algorithms.count()} algorithms failed." if n_failed else ""


def progress(run: EvaluationRun) -> Progress:
    """Measure how far a run has come, in one query."""
    is_done = Q(status=PartStatus.DONE)
    is_measure = Q(kind=PartKind.MEASURE)
    found = run.parts.aggregate(
        total=Count("pk"),
        done=Count("pk", filter=is_done),
        unfitted=Count("pk", filter=Q(kind=PartKind.FIT, status__in=(PartStatus.QUEUED, PartStatus.LEASED))),
        leased=Count("pk", filter=Q(status=PartStatus.LEASED)),
        started=Coalesce(Sum("start", filter=is_done & is_measure), 0),
        stopped=Coalesce(Sum("stop", filter=is_done & is_measure), 0),
        measured_seconds=Sum("seconds", filter=is_done & is_measure),
    )
    seconds = 0.0
    if run.started_at is not None:
        seconds = ((run.finished_at or timezone.now()) - run.started_at).total_seconds()
    left = None
    if run.status in RUN_OPEN and found["done"] > 1 and not found["unfitted"]:
        left = seconds * (found["total"] - found["done"]) / found["done"]
    cases = found["stopped"] - found["started"]
    measured = found["measured_seconds"]
    return Progress(
        done=found["done"],
        total=found["total"],
        leased=found["leased"],
        activity=run.activity,
        seconds=seconds,
        seconds_left=left,
        cases_per_second=cases / measured if cases and measured else None,
    )
