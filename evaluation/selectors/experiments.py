"""Results of the finished runs of an experiment, under the names used in the experiment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from django.db.models import Case, IntegerField, Value, When
from numpy.typing import NDArray

from catalog.models import DatasetVersion
from core import artefacts
from core.errors import ParameterError
from evaluation.enums import RUN_OPEN, RunStatus
from evaluation.experiments.schema import Experiment, Numbers, PlannedRun, Quantity
from evaluation.experiments.yaml_loader import load, shipped
from evaluation.metrics.registry import metric
from evaluation.models import EvaluationRun
from evaluation.protocols.registry import protocol
from evaluation.selectors.paired_tests import intervals
from evaluation.selectors.results import ModelRow, model_rows
from evaluation.selectors.runs import algorithms_of
from jobs.models import Job, JobQuerySet
from recommenders import registry

Estimate = tuple[float, float, float]  # a value, and the ends of its interval
BESIDE = tuple(f"{name}({how})" for name in ("recall", "fallout") for how in ("mode=exact", "mode=sampled"))
HITS = ("recall", "fallout", "precision-raghavan", "f", *BESIDE, "recall(ties=served)", "filled-slots")


@dataclass(frozen=True)
class ExperimentResults:
    """An experiment with the finished run of each of its plans."""

    experiment: Experiment
    runs: Mapping[str, EvaluationRun]

    def rows(self, run: str, profile_length: int = 0) -> dict[str, ModelRow]:
        """Return the results of a run by the experiment's names of the algorithms."""
        rows = model_rows(self.runs[run], profile_length)
        return dict(zip(self.experiment.names_in(run), rows, strict=True))


@lru_cache(maxsize=1)
def shipped_experiments() -> tuple[Experiment, ...]:
    """Return the shipped experiments in alphabetical order."""
    return tuple(map(load, shipped()))


def experiments_of(researcher: Any) -> JobQuerySet:
    """The experiments on the datasets that a researcher sees, newest first."""
    jobs = Job.objects.filter(kind="experiment").about(DatasetVersion.objects.visible_to(researcher))
    return jobs.prefetch_related("subject__dataset")


def metric_names_of(plan: PlannedRun) -> tuple[str, ...]:
    """Return the names of the metrics that a planned run will have. Raises ParameterError for an unknown protocol or
    metric.
    """
    definition = protocol(str(plan.protocol["name"]))
    if definition.key == "one-plus-random":
        return (*HITS, *plan.metrics)
    return plan.metrics or tuple(str(metric(name.format(n=plan.n))) for name in definition.usual)


def measured_name(experiment: Experiment, quantity: Quantity) -> str:
    """Return the stored name of the metric of a quantity. Raises ParameterError when its run does not measure it."""
    known, name = metric_names_of(experiment.runs[quantity.run]), quantity.metric
    whole = name if name in known else str(metric(name))
    if whole not in known:
        raise ParameterError(f"the run {quantity.run} does not measure {name}; it measures {', '.join(known)}.")
    return whole


def existing_run(inputs_hash: str, project_id: int | None) -> EvaluationRun | None:
    """Return the run with these inputs to continue with, of the project or public.

    A finished one comes first, then an open one, then a stopped one.

    A finished run qualifies only if none of its algorithms failed or has a new version.
    """
    order = Case(
        When(status=RunStatus.SUCCEEDED, then=Value(0)),
        When(status__in=RUN_OPEN, then=Value(1)),
        default=Value(2),
        output_field=IntegerField(),
    )
    runs = EvaluationRun.objects.comparable_in(project_id).filter(inputs_hash=inputs_hash)
    for run in runs.annotate(order=order).order_by("order", "-pk"):
        if run.status != RunStatus.SUCCEEDED or _is_current(run):
            return run
    return None


def _is_current(run: EvaluationRun) -> bool:
    return all(
        not algorithm.error
        and algorithm.model is not None
        and algorithm.model.algorithm_version == registry.algorithm(algorithm.algorithm).version
        for algorithm in algorithms_of(run)
    )


def numbers_at(results: ExperimentResults, quantities: Sequence[Quantity]) -> Numbers:
    """Return the value of every algorithm for each quantity; None if there is none."""
    numbers: dict[tuple[Quantity, str], float | None] = {}
    for quantity in dict.fromkeys(quantities):
        name = measured_name(results.experiment, quantity)
        for contender, row in results.rows(quantity.run, quantity.profile_length).items():
            numbers[quantity, contender] = row.cells[name].value if name in row.cells else None
    return numbers


def estimates(results: ExperimentResults, run: str, name: str, profile_length: int = 0) -> dict[str, Estimate]:
    """Return a metric with its 95% CI over users by algorithm; without a CI, the value is used for both bounds."""
    rows = results.rows(run, profile_length)
    bounds = intervals(results.runs[run], name, profile_length)
    estimates_by_name = {}
    for contender, row in rows.items():
        value = row.cells[name].value if name in row.cells else None
        if value is None:
            continue
        interval = bounds.get(row.label, (value, None))[1]
        estimates_by_name[contender] = (
            (value, min(interval.low, value), max(interval.high, value)) if interval else (value,) * 3
        )
    return estimates_by_name


def curve_points(
    results: ExperimentResults, run: str, line: str
) -> dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Return the points of a stored curve ("croc", "omniscient", "random", "groc") by algorithm, if there is one."""
    points = {}
    for contender, row in results.rows(run).items():
        arrays = artefacts.load("results", row.users_digest).arrays
        if f"{line}_x" in arrays:
            points[contender] = (np.asarray(arrays[f"{line}_x"]), np.asarray(arrays[f"{line}_y"]))
    return points
