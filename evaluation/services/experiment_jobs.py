"""Experiments started in the console: their runs are queued at once, and a worker writes the outcome afterwards."""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.core.files.base import File
from django.core.files.storage import default_storage
from django.db import transaction
from django.utils import timezone

from catalog.models import DatasetVersion
from core.errors import ParallaxError
from core.transitions import move
from evaluation.enums import EXPERIMENT_MOVES, RUN_STOPPED, ExperimentStatus, RunStatus
from evaluation.models import EvaluationRun, ExperimentJob
from evaluation.selectors.runs import failed_algorithms
from evaluation.services.experiment_files import write_experiment
from evaluation.services.experiments import plan_experiment, read_experiment, run_of_plan
from jobs.leases import JobLeases

OPEN = (ExperimentStatus.QUEUED, ExperimentStatus.RUNNING)
JOBS = JobLeases(ExperimentJob, EXPERIMENT_MOVES, task="evaluation.write_experiment")


@transaction.atomic
def start_experiment(*, key: str, version: DatasetVersion, actor: Any) -> ExperimentJob:
    """Start the runs of a shipped experiment, with default sizes and its own seed; existing runs are reused.

    An open job of the same experiment and data is returned instead. Raises as `plan_experiment`.
    """
    open_jobs = ExperimentJob.objects.filter(experiment=key, version=version, status__in=OPEN)
    if (job := open_jobs.first()) is not None:
        return job
    experiment = read_experiment(name=key)
    plans = plan_experiment(experiment=experiment, version=version)
    runs = {name: run_of_plan(planned=plan, version=version) for name, plan in plans.items()}
    job = ExperimentJob.objects.create(
        experiment=key, version=version, runs={name: run.pk for name, run in runs.items()}, requested_by=actor
    )
    _advance(job)
    return job


def runs_of(job: ExperimentJob) -> dict[str, EvaluationRun]:
    """Return the runs of an experiment by their names in it; deleted ones are left out."""
    by_key = EvaluationRun.objects.in_bulk(list(job.runs.values()))
    return {name: by_key[pk] for name, pk in job.runs.items() if pk in by_key}


def advance() -> int:
    """Enqueue the experiments whose runs have succeeded, and fail those whose runs cannot; return how many were queued.

    Safe to run twice at once, and by any process.
    """
    JOBS.release_dead()
    due = list(JOBS.due())
    for job in ExperimentJob.objects.filter(pk__in=due):
        _advance(job)
    return len(due)


def _advance(job: ExperimentJob) -> None:
    runs = runs_of(job)
    if problem := _problem(job, runs):
        move(job, to=ExperimentStatus.FAILED, allowed=EXPERIMENT_MOVES, error=problem)
    elif all(run.status == RunStatus.SUCCEEDED for run in runs.values()):
        ExperimentJob.objects.filter(pk=job.pk).update(hinted_at=timezone.now())
        JOBS.send(job.pk)


def _problem(job: ExperimentJob, runs: dict[str, EvaluationRun]) -> str:
    """What keeps the outcome from being written; empty while nothing does."""
    if len(runs) < len(job.runs):
        return "A run of the experiment was deleted. Start the experiment again."
    return next(filter(None, map(problem_of_run, runs.values())), "")


def problem_of_run(run: EvaluationRun) -> str:
    """Why a run cannot give the outcome that waits for it; empty while it still can."""
    if run.status in RUN_STOPPED:
        reason = run.error or f"It was {run.get_status_display().lower()}."
        return f"Run {run.pk} did not finish. {reason} Start again to resume it."
    failed = failed_algorithms(run)
    if run.status == RunStatus.SUCCEEDED and failed:
        reasons = " ".join(f"{algorithm.label}: {algorithm.error}" for algorithm in failed)
        return f"Run {run.pk} lacks algorithms. {reasons}"
    return ""


def write_outcome(*, job_id: int) -> bool:
    """Write the outcome of an experiment whose runs have succeeded; True where this worker finished it.

    A repeated message has no effect. Errors: see `JobLeases.execute`.
    """
    job = ExperimentJob.objects.select_related("version").filter(pk=job_id).first()
    if job is None or not JOBS.take(job):
        return False

    def write(progress: Callable[[str], None]) -> dict[str, Any]:
        runs = runs_of(job)
        if problem := _problem(job, runs):
            raise ParallaxError("experiment.run_failed", problem)
        progress("Writing tables, figures and verdicts")
        with tempfile.TemporaryDirectory(prefix="experiment-") as name:
            folder = Path(name) / job.experiment
            outcome = write_experiment(experiment=read_experiment(name=job.experiment), runs=runs, folder=folder)
            archive = Path(name) / "outcome.zip"
            with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as whole:
                for file in sorted(path for path in folder.rglob("*") if path.is_file()):
                    whole.write(file, f"{job.experiment}/{file.relative_to(folder)}")
            with archive.open("rb") as opened:
                stored = default_storage.save(f"experiments/{job.pk}.zip", File(opened))
        return {
            "file": stored,
            "verdicts": [[str(judgement.verdict), judgement.claim.says] for judgement in outcome.judgements],
        }

    return JOBS.execute(job, write, to=ExperimentStatus.SUCCEEDED)
