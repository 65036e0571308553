"""Experiments started in the console: their runs are queued at once, and a worker writes the outcome afterwards."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from django.db import transaction

from catalog.models import DatasetVersion
from core.errors import ParallaxError
from evaluation.enums import RUN_STOPPED, RunStatus
from evaluation.models import EvaluationRun
from evaluation.selectors.runs import failed_algorithms
from evaluation.services.experiment_files import write_experiment
from evaluation.services.experiments import plan_experiment, read_experiment, run_of_plan
from jobs.archives import store_folder
from jobs.kinds import Progress
from jobs.models import Job
from jobs.services import request


@transaction.atomic
def start_experiment(*, key: str, version: DatasetVersion, actor: Any) -> Job:
    """Start the runs of a shipped experiment, with default sizes and its own seed; existing runs are reused.

    An open job of `actor` with the same experiment and data is returned instead. Raises as `plan_experiment`.
    """
    own = version.jobs.open().filter(kind="experiment", payload__experiment=key, owner=actor)
    open_job: Job | None = own.first()
    if open_job is not None:
        return open_job
    experiment = read_experiment(name=key)
    plans = plan_experiment(experiment=experiment, version=version)
    runs = {name: run_of_plan(planned=plan, version=version) for name, plan in plans.items()}
    payload = {"experiment": key, "runs": {name: run.pk for name, run in runs.items()}}
    return request("experiment", owner=actor, subject=version, payload=payload)


def runs_of(job: Job) -> dict[str, EvaluationRun]:
    """Return the runs of an experiment by their names in it; deleted ones are left out."""
    runs = job.payload["runs"]
    by_key = EvaluationRun.objects.in_bulk(list(runs.values()))
    return {name: by_key[pk] for name, pk in runs.items() if pk in by_key}


def is_ready(job: Job) -> bool:
    """Whether all runs of an experiment have succeeded. Raises `experiment.run_failed` where they cannot."""
    runs = runs_of(job)
    if len(runs) < len(job.payload["runs"]):
        raise ParallaxError("experiment.run_failed", "A run of the experiment was deleted. Start the experiment again.")
    reached = [has_succeeded(run) for run in runs.values()]  # each, so that one that failed is not overlooked
    return all(reached)


def has_succeeded(run: EvaluationRun) -> bool:
    """Whether a run that a job waits for has all its results. Raises `experiment.run_failed` where it never will."""
    if run.status in RUN_STOPPED:
        reason = run.error or f"It was {run.get_status_display().lower()}."
        raise ParallaxError("experiment.run_failed", f"Run {run.pk} did not finish. {reason} Start again to resume it.")
    if run.status != RunStatus.SUCCEEDED:
        return False
    if failed := failed_algorithms(run):
        reasons = " ".join(f"{algorithm.label}: {algorithm.error}" for algorithm in failed)
        raise ParallaxError("experiment.run_failed", f"Run {run.pk} lacks algorithms. {reasons}")
    return True


def write_outcome(job: Job, progress: Progress) -> dict[str, Any]:
    """Write the outcome of an experiment whose runs have succeeded."""
    key = job.payload["experiment"]
    progress("Writing tables, figures and verdicts")
    with tempfile.TemporaryDirectory(prefix="experiment-") as name:
        folder = Path(name) / key
        outcome = write_experiment(experiment=read_experiment(name=key), runs=runs_of(job), folder=folder)
        file = store_folder(job, folder)
    verdicts = [[str(judgement.verdict), judgement.claim.says] for judgement in outcome.judgements]
    return {"file": file, "result": {"verdicts": verdicts}}
