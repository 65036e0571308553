"""Experiments: check the plans, and create or reuse the run of each plan."""

from __future__ import annotations

from dataclasses import dataclass

from catalog.models import DatasetVersion
from catalog.selectors.ratings import item_utilities, utilities_of
from core.errors import ParallaxError, ParameterError
from core.field_problems import Problem
from evaluation.enums import RUN_STOPPED
from evaluation.experiments.schema import FIGURE_PROTOCOLS, NEEDS, Experiment
from evaluation.experiments.yaml_loader import load
from evaluation.models import EvaluationRun
from evaluation.run_spec import RunSpec
from evaluation.selectors import experiments as selectors
from evaluation.services.run_inputs import complete_spec, hash_of_inputs
from evaluation.services.runs import create_run, resume_run


@dataclass(frozen=True)
class CheckedPlan:
    """A run of an experiment: its inputs as stated, and complete on a dataset with their hash."""

    title: str
    spec: RunSpec
    complete: RunSpec
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
        try:
            spec = experiment.spec_of(key, seed=seed, threads=threads)
            complete, _ = complete_spec(version=version, spec=spec)
        except (ParallaxError, ParameterError) as error:
            raise ParallaxError("experiment.bad_input", f"{experiment.key}, at runs.{key}: {error}") from error
        planned[key] = CheckedPlan(plan.title, spec, complete, hash_of_inputs(version=version, spec=complete))
    _check_quantities(experiment)
    return planned


def run_of_plan(*, planned: CheckedPlan, version: DatasetVersion, queue: str = "") -> EvaluationRun:
    """Return the run of a plan: a finished or open one with the same inputs, a resumed one, or a new one.

    `queue` names the queue of the run's own workers; an open run keeps its queue.
    """
    existing = selectors.existing_run(planned.inputs_hash, version.dataset.project_id)
    if existing is not None:
        return resume_run(run=existing, queue=queue) if existing.status in RUN_STOPPED else existing
    return create_run(version=version, spec=planned.spec, queue=queue)


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
    problems = []
    for path, quantity in experiment.quantities():
        try:
            selectors.measured_name(experiment, quantity)
        except ParameterError as error:
            problems.append(Problem(path, str(error)))
    for key, figure in experiment.figures.items():
        needed, has = FIGURE_PROTOCOLS.get(figure.kind), experiment.runs[figure.run].protocol["name"]
        if needed not in (None, has):
            message = f"a figure of the kind {figure.kind} needs a run of {needed}, but {figure.run} is a run of {has}."
            problems.append(Problem(("figures", key), message))
    if problems:
        raise ParallaxError("experiment.bad_input", f"{experiment.key}, at {problems[0]}")
