"""Experiments: check the plans, and create or reuse the run of each plan."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from catalog.models import DatasetVersion
from catalog.selectors.ratings import item_utilities, utilities_of
from core.errors import ParallaxError, ParameterError
from evaluation.enums import RUN_STOPPED
from evaluation.experiments.schema import NEEDS, Experiment, PlannedRun, Quantity
from evaluation.experiments.yaml_loader import load
from evaluation.models import EvaluationRun
from evaluation.selectors import experiments as selectors
from evaluation.services.run_inputs import RunInputs, check_inputs, digest_of_inputs
from evaluation.services.runs import create_run, resume_run


@dataclass(frozen=True)
class CheckedPlan:
    """A plan of an experiment with its checked inputs and their hash."""

    plan: PlannedRun
    inputs: RunInputs
    inputs_hash: str


def read_experiment(*, name: str) -> Experiment:
    """Read a shipped experiment by name, or any other by the path of its file. Raises ParallaxError with code
    ``experiment.bad_file``: the file is invalid; the message names the path in it.
    """
    try:
        return load(name)
    except ParameterError as error:
        raise ParallaxError("experiment.bad_file", str(error)) from error


def plan_experiment(
    *, experiment: Experiment, version: DatasetVersion, seed: int | None = None, threads: int | None = None
) -> dict[str, CheckedPlan]:
    """Check an experiment on a dataset before any of its runs is started.

    Raises ParallaxError with code ``experiment.other_data``: the dataset does not have the required data. Code
    ``experiment.bad_input``: a run, table, figure or claim is not possible.
    """
    if lacks := lacking_data(experiment, version):
        raise ParallaxError(
            "experiment.other_data",
            f"The experiment {experiment.key} needs {NEEDS[experiment.needs]}, which the dataset "
            f"{version.dataset.name} does not have. {lacks}",
        )
    planned = {}
    for key, plan in experiment.runs.items():
        own_seed = experiment.seed if seed is None else seed
        try:
            inputs = check_inputs(
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
        except ParameterError as error:
            raise ParallaxError("experiment.bad_input", f"{experiment.key}, at runs.{key}: {error}") from error
        digest = digest_of_inputs(
            version=version,
            inputs=inputs,
            task=plan.task,
            reserve=plan.reserve,
            seed=own_seed,
            n=plan.n,
            threads=threads or settings.NUMERIC_THREADS,
        )
        planned[key] = CheckedPlan(plan, inputs, digest)
    _check_quantities(experiment)
    return planned


def run_of_plan(
    *,
    experiment: Experiment,
    planned: CheckedPlan,
    version: DatasetVersion,
    seed: int | None = None,
    threads: int | None = None,
    queue: str = "",
) -> EvaluationRun:
    """Return the run of a plan: a finished or open one with the same inputs, a resumed one, or a new one.

    `queue` names the queue of the run's own workers; an open run keeps its queue.
    """
    existing = selectors.existing_run(planned.inputs_hash, version.dataset.project_id)
    if existing is not None:
        return resume_run(run=existing, queue=queue) if existing.status in RUN_STOPPED else existing
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


def lacking_data(experiment: Experiment, version: DatasetVersion) -> str:
    """What a dataset lacks that the experiment needs, in a sentence; empty if nothing."""
    if experiment.needs == "ratings" and version.scale_low == version.scale_high:
        return "It contains usage but no ratings."
    if experiment.needs == "utility" and utilities_of(version) is None and item_utilities(version) is None:
        return (
            "It contains no utilities; import it with a utility column (--utility-column, or --item-utility-column of "
            "the items)."
        )
    return ""


def _check_quantities(experiment: Experiment) -> None:
    """Refuse a table, figure or claim with a quantity that its run does not measure."""
    for where, quantity in _quantities(experiment):
        try:
            selectors.measured_name(experiment.runs[quantity.run], quantity.metric)
        except ParameterError as error:
            raise ParallaxError("experiment.bad_input", f"{experiment.key}, at {where}: {error}") from error
    protocols = {"croc": "test-observations", "groc": "unconstrained", "lengths": "one-plus-random"}
    for figure in experiment.figures:
        needed = protocols.get(figure.kind)
        has = experiment.runs[figure.run].protocol["name"]
        if needed is not None and has != needed:
            raise ParallaxError(
                "experiment.bad_input",
                f"{experiment.key}, at figures.{figure.key}: a figure of the kind {figure.kind} needs a run of "
                f"{needed}, but {figure.run} is a run of {has}.",
            )


def _quantities(experiment: Experiment) -> Iterator[tuple[str, Quantity]]:
    for table in experiment.tables:
        for heading, quantity in table.columns.items():
            yield f"tables.{table.key}.columns.{heading}", quantity
    for figure in experiment.figures:
        if figure.metric:
            yield f"figures.{figure.key}", Quantity(figure.run, figure.metric)
        for length in figure.lengths:
            for name in ("precision", "recall"):
                yield f"figures.{figure.key}", Quantity(figure.run, f"{name}@{length}")
    for number, claim in enumerate(experiment.claims, start=1):
        for quantity in claim.check.quantities:
            yield f"claims[{number}]", quantity


def _algorithms(experiment: Experiment, plan: PlannedRun) -> list[tuple[str, dict[str, Any]]]:
    return [(experiment.contenders[name].algorithm, experiment.params_in(plan, name)) for name in plan.contenders]
