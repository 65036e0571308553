"""Experiments: each plan becomes a run, or finds the one it had."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from catalog.models import DatasetVersion
from catalog.selectors.ratings import item_utilities, utilities_of
from core.errors import ParallaxError, ParameterError
from evaluation.enums import RUN_STOPPED
from evaluation.experiments.reading import load
from evaluation.experiments.schema import NEEDS, Experiment, Place, PlannedRun
from evaluation.models import EvaluationRun
from evaluation.selectors import experiments as selectors
from evaluation.services.inputs import Inputs, checked, digest_of_inputs
from evaluation.services.runs import create_run, resume_run


@dataclass(frozen=True)
class Planned:
    """A plan of an experiment whose inputs have been checked on a dataset, and their hash."""

    plan: PlannedRun
    inputs: Inputs
    inputs_hash: str


def read_experiment(*, name: str) -> Experiment:
    """Read a shipped experiment by its name, or anybody's by the path of its file.

    Raises
    ------
    ParallaxError
        Code ``experiment.bad_file``: the file, the place in it, and what is wrong there.
    """
    try:
        return load(name)
    except ParameterError as wrong:
        raise ParallaxError("experiment.bad_file", str(wrong)) from wrong


def plan_experiment(
    *, experiment: Experiment, version: DatasetVersion, seed: int | None = None, threads: int | None = None
) -> dict[str, Planned]:
    """Check everything about an experiment on a dataset before any of it is started.

    Raises
    ------
    ParallaxError
        Code ``experiment.other_data``: the dataset lacks what the experiment needs. Code
        ``experiment.bad_input``: what a run of it, a table, a figure or a claim asks for and cannot have.
    """
    _check_data(experiment, version)
    planned = {}
    for key, plan in experiment.runs.items():
        own_seed = experiment.seed if seed is None else seed
        try:
            inputs = checked(
                version=version,
                algorithms=_algorithms(experiment, plan),
                split=plan.split,
                protocol=plan.protocol,
                task=plan.task,
                metrics=plan.metrics,
                reserve=plan.reserve,
                seed=own_seed,
                n=plan.n,
                profile_lengths=plan.profile_lengths,
            )
        except ParameterError as wrong:
            raise ParallaxError("experiment.bad_input", f"{experiment.key}, at runs.{key}: {wrong}") from wrong
        digest = digest_of_inputs(
            version=version,
            inputs=inputs,
            task=plan.task,
            reserve=plan.reserve,
            seed=own_seed,
            n=plan.n,
            threads=threads or settings.NUMERIC_THREADS,
        )
        planned[key] = Planned(plan, inputs, digest)
    _check_places(experiment)
    return planned


def run_of_plan(
    *,
    experiment: Experiment,
    planned: Planned,
    version: DatasetVersion,
    seed: int | None = None,
    threads: int | None = None,
    queue: str = "",
) -> EvaluationRun:
    """Give the run of a plan: the finished one with the same inputs, the one that stopped taken up again, or a new one.

    `queue` is the name of workers of the run's own; a run that is under way keeps those it has.
    """
    found = selectors.existing_run(planned.inputs_hash)
    if found is not None:
        return resume_run(run=found, queue=queue) if found.status in RUN_STOPPED else found
    plan = planned.plan
    return create_run(
        version=version,
        algorithms=_algorithms(experiment, plan),
        split=plan.split,
        protocol=plan.protocol,
        task=plan.task,
        metrics=plan.metrics,
        reserve=plan.reserve,
        seed=experiment.seed if seed is None else seed,
        n=plan.n,
        profile_lengths=plan.profile_lengths,
        threads=threads,
        queue=queue,
    )


def _check_data(experiment: Experiment, version: DatasetVersion) -> None:
    lacks = ""
    if experiment.needs == "ratings" and version.scale_low == version.scale_high:
        lacks = "It says what was taken, and nobody rated."
    if experiment.needs == "utility" and utilities_of(version) is None and item_utilities(version) is None:
        lacks = (
            "It does not say what anything is worth; import it with a column of utilities (--utility-column, or "
            "--item-utility-column of the items)."
        )
    if lacks:
        raise ParallaxError(
            "experiment.other_data",
            f"The experiment {experiment.key} needs {NEEDS[experiment.needs]}, and the dataset {version.dataset.name} "
            f"has no such thing. {lacks}",
        )


def _check_places(experiment: Experiment) -> None:
    """Refuse a table, a figure or a claim that asks for a number which its run does not measure."""
    for where, place in _places(experiment):
        try:
            selectors.measured_name(experiment.runs[place.run], place.metric)
        except ParameterError as wrong:
            raise ParallaxError("experiment.bad_input", f"{experiment.key}, at {where}: {wrong}") from wrong
    protocols = {"croc": "test-observations", "groc": "unconstrained", "lengths": "one-plus-random"}
    for figure in experiment.figures:
        needed = protocols.get(figure.kind)
        has = experiment.runs[figure.run].protocol["name"]
        if needed is not None and has != needed:
            raise ParallaxError(
                "experiment.bad_input",
                f"{experiment.key}, at figures.{figure.key}: a figure of the kind {figure.kind} is drawn of a run of "
                f"{needed}; {figure.run} is one of {has}.",
            )


def _places(experiment: Experiment) -> Iterator[tuple[str, Place]]:
    for table in experiment.tables:
        for heading, place in table.columns.items():
            yield f"tables.{table.key}.columns.{heading}", place
    for figure in experiment.figures:
        if figure.metric:
            yield f"figures.{figure.key}", Place(figure.run, figure.metric)
        for length in figure.lengths:
            for name in ("precision", "recall"):
                yield f"figures.{figure.key}", Place(figure.run, f"{name}@{length}")
    for at, claim in enumerate(experiment.claims, start=1):
        for place in claim.check.places:
            yield f"claims[{at}]", place


def _algorithms(experiment: Experiment, plan: PlannedRun) -> list[tuple[str, dict[str, Any]]]:
    chosen = [experiment.contenders[name] for name in plan.contenders]
    return [(one.algorithm, dict(one.params)) for one in chosen]
