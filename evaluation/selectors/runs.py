"""Lists of runs, the newest that succeeded, and progress."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, F, Q, QuerySet, Sum
from django.db.models.functions import Coalesce
from django.utils import timezone

from catalog.models import Dataset, DatasetVersion
from core.errors import ParallaxError
from evaluation.enums import RUN_OPEN, PartKind, PartStatus, RunStatus
from evaluation.metrics.registry import metric
from evaluation.models import EvaluationRun, RunAlgorithm
from evaluation.protocols import registry as protocols
from evaluation.sorting import Sorting
from evaluation.splitting.registry import STRANGERS


@dataclass(frozen=True)
class Progress:
    """The progress of a run: parts, speed, remaining time and current activity.

    `seconds_left` and `cases_per_second` are None until they can be estimated; `seconds_left` until all models are
    fitted and each has been measured for a while, because models differ a hundredfold in speed.
    """

    done: int
    total: int
    leased: int
    activity: str
    seconds: float
    seconds_left: float | None
    cases_per_second: float | None


CURVE_N = 20  # minimum length of curves
DEVELOPMENT = "development:"  # prefix of metrics on the development users


def run_numbered(number: int) -> EvaluationRun:
    """Return the run with a number, with its dataset. Raises ParallaxError with code ``run.unknown``: no such run; the
    message names the newest.
    """
    run = EvaluationRun.objects.select_related("version__dataset").filter(pk=number).first()
    if run is None:
        newest = EvaluationRun.objects.order_by("-pk").first()
        there_is = "There are no runs yet" if newest is None else f"The newest is run {newest.pk}, on {newest.version}"
        raise ParallaxError("run.unknown", f"Run {number} not found. {there_is}.")
    return run


def metric_names(run: EvaluationRun) -> list[str]:
    """Return the names of the run's metrics: those requested, or the defaults of its protocol."""
    usual = protocols.protocol(run.protocol["name"]).usual
    return run.metrics or [str(metric(name.format(n=run.n))) for name in usual]


def longest_list(run: EvaluationRun) -> int:
    """Return the longest list length in any result of the run."""
    return max([run.n, CURVE_N, *(metric(name).n or 0 for name in metric_names(run))])


def runs_shown_to(researcher: Any) -> QuerySet[EvaluationRun]:
    """Return the runs that a researcher may see, with their datasets and owners."""
    return EvaluationRun.objects.visible_to(researcher).select_related("version__dataset__project", "owner", "project")


def runs_by_time(researcher: Any) -> QuerySet[EvaluationRun]:
    """Return the visible runs, newest first, with their datasets and the numbers of their algorithms and parts."""
    return (
        runs_shown_to(researcher)
        .annotate(
            n_algorithms=Count("algorithms", distinct=True),
            n_failed=Count("algorithms", filter=~Q(algorithms__error=""), distinct=True),
            n_parts=Count("parts", distinct=True),
            n_done=Count("parts", filter=Q(parts__status=PartStatus.DONE), distinct=True),
        )
        .order_by("-created_at", "-pk")
    )


RUN_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "run": ("pk",),
    "status": ("status", "-pk"),
    "dataset": ("version__dataset__title", "version__number", "-pk"),
    "protocol": ("protocol__name", "-pk"),
    "algorithms": ("n_algorithms", "-pk"),
    "created": ("created_at", "pk"),
}


def listed_runs(
    researcher: Any, *, dataset: str, protocol: str, status: str, order: Sorting
) -> QuerySet[EvaluationRun]:
    """Return the visible runs of a dataset, a protocol and a status (empty: any), newest first or by a column."""
    chosen = {"version__dataset__name": dataset, "protocol__name": protocol, "status": status}
    runs = runs_by_time(researcher).filter(**{name: value for name, value in chosen.items() if value})
    if not order.key:
        return runs
    first, *rest = RUN_COLUMNS[order.key]
    return runs.order_by(f"-{first}" if order.is_descending else first, *rest)


def datasets_with_runs(researcher: Any) -> list[tuple[str, str]]:
    """Return the name and the title of every dataset that has visible runs, by title."""
    runs = EvaluationRun.objects.visible_to(researcher).order_by()
    datasets = Dataset.objects.filter(versions__in=runs.values("version"))
    return list(datasets.order_by("title", "name").values_list("name", "title").distinct())


def succeeded_runs(among: QuerySet[EvaluationRun]) -> QuerySet[EvaluationRun]:
    """Return those of the runs that succeeded, newest first, with their datasets."""
    done = among.filter(status=RunStatus.SUCCEEDED)
    return done.select_related("version__dataset").order_by("-pk")


def newest_succeeded_run(version: DatasetVersion, *, n_algorithms: int | None = None) -> EvaluationRun | None:
    """Return the newest succeeded run of "one plus random" on `version`, which studies use, or None.

    `n_algorithms` leaves out the runs of more or fewer algorithms.
    """
    runs = EvaluationRun.objects.filter(
        version=version,
        status=RunStatus.SUCCEEDED,
        protocol__name="one-plus-random",
        split__name__in=("probe", STRANGERS),
    )
    if n_algorithms is not None:
        runs = runs.annotate(n_algorithms=Count("algorithms")).filter(n_algorithms=n_algorithms)
    return runs.order_by("-finished_at", "-pk").first()


def algorithms_of(run: EvaluationRun) -> QuerySet[RunAlgorithm]:
    """Return the algorithms of a run in order, with their models."""
    return run.algorithms.select_related("model").order_by("position")


def measured_algorithms(run: EvaluationRun) -> QuerySet[RunAlgorithm]:
    """Return the algorithms of a run that have not failed, in order, with their models."""
    return algorithms_of(run).filter(error="")


def failed_algorithms(run: EvaluationRun) -> QuerySet[RunAlgorithm]:
    """Return the failed algorithms of a run in order; `error` has the reason."""
    return algorithms_of(run).exclude(error="")


def failure_summary(run: EvaluationRun) -> str:
    """Return the number of failed algorithms of a run as a sentence; empty if none failed."""
    n_failed = failed_algorithms(run).count()
    return f"{n_failed} of {run.algorithms.count()} algorithms failed." if n_failed else ""


def progress(run: EvaluationRun) -> Progress:
    """Compute the progress of a run."""
    is_done, is_open = Q(status=PartStatus.DONE), Q(status__in=(PartStatus.QUEUED, PartStatus.LEASED))
    counts = run.parts.aggregate(
        total=Count("pk"),
        done=Count("pk", filter=is_done),
        unready=Count("pk", filter=is_open & Q(kind__in=(PartKind.PREPARE, PartKind.FIT))),
        leased=Count("pk", filter=Q(status=PartStatus.LEASED)),
    )
    n_cases = F("stop") - F("start")
    measured = list(
        run.parts.filter(kind=PartKind.MEASURE)
        .order_by()
        .values("algorithm", "profile_length")
        .annotate(
            cases=Coalesce(Sum(n_cases, filter=is_done), 0),
            cases_left=Coalesce(Sum(n_cases, filter=is_open), 0),
            measured_seconds=Coalesce(Sum("seconds", filter=is_done), 0.0),
        )
    )
    seconds = 0.0
    if run.started_at is not None:
        seconds = ((run.finished_at or timezone.now()) - run.started_at).total_seconds()
    left = None
    if run.status in RUN_OPEN and not counts["unready"] and all(row["cases"] for row in measured if row["cases_left"]):
        left = sum(
            row["cases_left"] * row["measured_seconds"] / row["cases"] for row in measured if row["cases_left"]
        ) / max(counts["leased"], 1)
    cases = sum(row["cases"] for row in measured)
    measured_seconds = sum(row["measured_seconds"] for row in measured)
    return Progress(
        done=counts["done"],
        total=counts["total"],
        leased=counts["leased"],
        activity=run.activity,
        seconds=seconds,
        seconds_left=left,
        cases_per_second=cases / measured_seconds if cases and measured_seconds else None,
    )


def package_label(package: str, key: str) -> str:
    """Label a package among the versions of a run with the key of its algorithm."""
    return f"{package} (algorithm {key})"


def recorded_package(key: str) -> str | None:
    """Return the package of a third-party algorithm in its last run as a pip requirement; None if unknown."""
    runs = EvaluationRun.objects.filter(algorithms__algorithm=key).order_by("-pk").values_list("environment", flat=True)
    suffix = package_label("", key)
    for environment in runs:
        for label, version in environment.items():
            if label.endswith(suffix):
                return f"{label.removesuffix(suffix)}=={version}"
    return None
