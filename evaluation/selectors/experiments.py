"""What the finished runs of an experiment measured, by the names that the experiment gives them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from django.db.models import Case, IntegerField, Value, When
from numpy.typing import NDArray

from core import artefacts
from core.errors import ParallaxError, ParameterError
from evaluation.enums import RUN_OPEN, RunStatus
from evaluation.experiments.judging import Numbers
from evaluation.experiments.outcome import DatasetFacts, RunFacts
from evaluation.experiments.reading import load, shipped
from evaluation.experiments.schema import Experiment, Place, PlannedRun
from evaluation.metrics.registry import metric
from evaluation.models import EvaluationRun
from evaluation.protocols.registry import protocol
from evaluation.selectors.candidates import candidate_range
from evaluation.selectors.paired import intervals
from evaluation.selectors.results import Cell, ModelRow, model_rows, user_values
from evaluation.selectors.runs import algorithms_of
from recommenders import registry

Estimate = tuple[float, float, float]  # a value, and the ends of its interval
BESIDE = tuple(f"{name}({how})" for name in ("recall", "fallout") for how in ("mode=exact", "mode=sampled"))
HITS = ("recall", "fallout", "precision-raghavan", "f", *BESIDE, "recall(ties=served)", "filled-slots")


@dataclass(frozen=True)
class Measured:
    """An experiment with the finished run of each of its plans."""

    experiment: Experiment
    runs: Mapping[str, EvaluationRun]

    def rows(self, run: str, profile_length: int = 0) -> dict[str, ModelRow]:
        """What a run measured of each algorithm, by the experiment's names."""
        found = model_rows(self.runs[run], profile_length)
        return dict(zip(self.experiment.runs[run].contenders, found, strict=True))


@lru_cache(maxsize=1)
def shipped_experiments() -> tuple[Experiment, ...]:
    """The shipped experiments, in alphabetical order."""
    return tuple(map(load, shipped()))


def metric_names_of(plan: PlannedRun) -> tuple[str, ...]:
    """The names under which a planned run will have numbers.

    Raises
    ------
    ParameterError
        An unknown protocol or metric.
    """
    asked = tuple(str(metric(name)) for name in plan.metrics)
    definition = protocol(str(plan.protocol["name"]))
    if definition.key == "one-plus-random":
        return (*HITS, *asked)
    return asked or tuple(str(metric(name.format(n=plan.n))) for name in definition.usual)


def measured_name(plan: PlannedRun, name: str) -> str:
    """The name under which a run keeps a metric that an experiment calls `name`.

    Raises
    ------
    ParameterError
        The run does not measure it.
    """
    known = metric_names_of(plan)
    whole = name if name in known else str(metric(name))
    if whole not in known:
        raise ParameterError(f"the run {plan.key} does not measure {name}; it measures {', '.join(known)}.")
    return whole


def existing_run(inputs_hash: str) -> EvaluationRun | None:
    """The run of these inputs to go on with: a finished one, else one under way, else one that stopped.

    A finished run counts only where none of its algorithms failed, or has changed since.
    """
    order = Case(
        When(status=RunStatus.SUCCEEDED, then=Value(0)),
        When(status__in=RUN_OPEN, then=Value(1)),
        default=Value(2),
        output_field=IntegerField(),
    )
    for run in EvaluationRun.objects.filter(inputs_hash=inputs_hash).annotate(order=order).order_by("order", "-pk"):
        if run.status != RunStatus.SUCCEEDED or _is_current(run):
            return run
    return None


def _is_current(run: EvaluationRun) -> bool:
    return all(
        not one.error
        and one.model is not None
        and one.model.algorithm_version == registry.algorithm(one.algorithm).version
        for one in algorithms_of(run)
    )


def numbers_at(measured: Measured, places: Sequence[Place]) -> Numbers:
    """The value of every algorithm at some places; None where there is none."""
    found: dict[tuple[Place, str], float | None] = {}
    for place in dict.fromkeys(places):
        name = measured_name(measured.experiment.runs[place.run], place.metric)
        for contender, row in measured.rows(place.run, place.profile_length).items():
            found[place, contender] = row.cells[name].value if name in row.cells else None
    return found


def values_by_user(measured: Measured, place: Place) -> dict[str, NDArray[np.float64]]:
    """A metric of each user by algorithm, in one order of users; empty for a metric without such values."""
    run, plan = measured.runs[place.run], measured.experiment.runs[place.run]
    try:
        values = user_values(run, measured_name(plan, place.metric), place.profile_length).values
    except ParallaxError as without:
        if without.code != "run.no_user_values":
            raise
        return {}
    return {name: values[:, column] for column, name in enumerate(plan.contenders)}


def by_length(measured: Measured, run: str, name: str) -> dict[str, tuple[float | None, ...]]:
    """A metric at list lengths 1, 2, 3, … by algorithm, where the protocol has it."""
    return {contender: row.cells[name].by_n for contender, row in measured.rows(run).items() if name in row.cells}


def estimates(measured: Measured, run: str, name: str, profile_length: int = 0) -> dict[str, Estimate]:
    """A metric with its 95 % interval over users by algorithm; without one, the value stands for its ends."""
    rows = measured.rows(run, profile_length)
    bounds = intervals(measured.runs[run], name, profile_length)
    found = {}
    for contender, row in rows.items():
        value = row.cells[name].value if name in row.cells else None
        if value is None:
            continue
        interval = bounds.get(row.label, (value, None))[1]
        found[contender] = (value, min(interval.low, value), max(interval.high, value)) if interval else (value,) * 3
    return found


def curve_points(measured: Measured, run: str, line: str) -> dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """The points of a kept curve ("croc", "omniscient", "random", "groc") by algorithm, where there is one."""
    found = {}
    for contender, row in measured.rows(run).items():
        arrays = artefacts.load("results", row.users_digest).arrays
        if f"{line}_x" in arrays:
            found[contender] = (np.asarray(arrays[f"{line}_x"]), np.asarray(arrays[f"{line}_y"]))
    return found


def run_facts(measured: Measured, key: str) -> RunFacts:
    """What a run was made of, and what is to be minded about its values."""
    run = measured.runs[key]
    candidates = candidate_range(run)
    said: dict[tuple[str, str], str] = {}
    for contender, row in measured.rows(key).items():
        said |= {(contender, name): cell.reason for name, cell in row.cells.items() if _is_said(cell)}
    return RunFacts(
        number=run.pk,
        inputs_hash=run.inputs_hash,
        n_relevant=run.n_relevant or 0,
        n_irrelevant=run.n_irrelevant or 0,
        left_out=run.left_out,
        counted=run.counted,
        comments=tuple(run.comments),
        reasons=said,
        candidates="" if candidates is None else candidates.in_words,
    )


def _is_said(cell: Cell) -> bool:
    return bool(cell.reason)


def dataset_facts(measured: Measured) -> DatasetFacts:
    """The dataset that the runs share."""
    version = next(iter(measured.runs.values())).version
    return DatasetFacts(
        name=version.dataset.name,
        title=version.dataset.title,
        content_hash=version.content_hash,
        n_users=version.n_users,
        n_items=version.n_items,
        n_ratings=version.n_ratings,
        is_synthetic=version.is_synthetic,
    )
