"""Replications as jobs: no worker waits for runs or simulations; the sweep enqueues what can be continued."""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.core.files.base import File
from django.core.files.storage import default_storage
from django.db import transaction
from django.utils import timezone

from analysis.models import Report
from analysis.read.reports import has_changed_since
from analysis.services import build_report
from catalog.models import DatasetVersion
from core.errors import ParallaxError
from core.transitions import move
from evaluation.enums import EXPERIMENT_MOVES, ExperimentStatus, RunStatus
from evaluation.services.experiment_jobs import problem_of_run
from jobs.leases import JobLeases
from parallax.replication import pages, stages
from parallax.replication.models import ReplicationJob
from parallax.replication.published import published
from studies.enums import ExportStatus, Mode
from studies.models import Study
from studies.simulation.services.simulation_jobs import request_simulation
from studies.team.selectors.studies import readable_studies

FOLDER = "replications"  # of the archives, in the default storage
KEPT_DAYS = 7
OPEN = (ExperimentStatus.QUEUED, ExperimentStatus.RUNNING)
JOBS = JobLeases(ReplicationJob, EXPERIMENT_MOVES, task="replication.carry_on")
Tell = Callable[[str], None]


@transaction.atomic
def start_simulated(
    *, paper: str, version: DatasetVersion, chosen: stages.Settings, base_url: str, actor: Any
) -> ReplicationJob:
    """Start a replication on a dataset; its run is queued at once. An open job of the same inputs is returned instead.

    Raises what `stages.queued_run` does, and `replicate.other_owner`.
    """
    run = stages.queued_run(version=version, chosen=chosen)
    _require_own_study(slug=stages.slug_of(run, chosen), actor=actor)
    values = {**asdict(chosen), "factors": list(chosen.factors)}
    open_jobs = ReplicationJob.objects.filter(paper=paper, run=run, requested_by=actor, status__in=OPEN)
    for job in open_jobs:
        if job.chosen == values:
            return job
    job = ReplicationJob.objects.create(
        paper=paper, version=version, chosen=values, base_url=base_url, run=run, requested_by=actor
    )
    _advance(job)
    return job


@transaction.atomic
def start_comparison(*, paper: str, study: Study, actor: Any) -> ReplicationJob:
    """Start the comparison of a closed study's answers with a paper; an open job of the same is returned instead.

    Raises what `stages.finished_study` and `stages.names_by_algorithm` do.
    """
    stages.names_by_algorithm(stages.finished_study(study.slug), published(paper))
    open_jobs = ReplicationJob.objects.filter(paper=paper, version=None, study=study, status__in=OPEN)
    if (job := open_jobs.first()) is not None:
        return job
    job = ReplicationJob.objects.create(paper=paper, study=study, requested_by=actor)
    _advance(job)
    return job


def _require_own_study(*, slug: str, actor: Any) -> None:
    """Refuse settings whose study exists and is not the researcher's to read."""
    if Study.objects.filter(slug=slug).exists() and not readable_studies(actor).filter(slug=slug).exists():
        raise ParallaxError(
            "replicate.other_owner",
            "Another researcher has replicated the paper with these settings. Choose another seed for participants of "
            "your own.",
        )


def advance() -> int:
    """Enqueue replications that can be continued, and fail those that cannot be; return how many were due.

    Safe to run twice at once, and by any process.
    """
    JOBS.release_dead()
    due = list(JOBS.due())
    for job in ReplicationJob.objects.filter(pk__in=due).select_related("run", "simulation"):
        _advance(job)
    return len(due)


def _advance(job: ReplicationJob) -> None:
    if problem := _problem(job):
        move(job, to=ExperimentStatus.FAILED, allowed=EXPERIMENT_MOVES, error=problem)
    elif _is_ready(job):
        ReplicationJob.objects.filter(pk=job.pk).update(hinted_at=timezone.now())
        JOBS.send(job.pk)


def _problem(job: ReplicationJob) -> str:
    """What keeps a job from being continued; empty while nothing does."""
    if not job.is_simulated:
        return ""
    if job.run is None:
        return "The run was deleted. Start the replication again."
    if job.simulation is not None and job.simulation.status == ExportStatus.FAILED:
        return f"{job.simulation.error} Start again to resume the simulation."
    return problem_of_run(job.run)


def _is_ready(job: ReplicationJob) -> bool:
    """Whether a worker can do the next step now."""
    if not job.is_simulated:
        return True
    if job.study_id is None:
        return job.run is not None and job.run.status == RunStatus.SUCCEEDED
    return job.simulation is not None and job.simulation.status == ExportStatus.DONE


def carry_on(*, job_id: int) -> bool:
    """Do the next step of a replication; True where this worker finished the step. A repeated message has no effect.

    The first step of a simulated one launches its study and requests its participants, and returns it to the queue;
    the last builds the report and writes the files. Errors: see `JobLeases.execute`.
    """
    job = ReplicationJob.objects.select_related("version", "run", "study", "simulation", "requested_by").filter(
        pk=job_id, status=ExperimentStatus.QUEUED
    ).first()  # fmt: skip
    if job is None or _problem(job) or not _is_ready(job) or not JOBS.take(job):
        return False
    if job.study_id is None:
        return JOBS.execute(job, lambda tell: _launch(job, tell), to=ExperimentStatus.QUEUED)
    return JOBS.execute(job, lambda tell: _write(job, tell), to=ExperimentStatus.SUCCEEDED)


def _launch(job: ReplicationJob, tell: Tell) -> dict[str, Any]:
    """Launch the study and request its participants; a study that exists already is continued."""
    chosen, actor = settings_of(job), job.requested_by
    if actor is None or job.run is None:
        raise ParallaxError("replicate.no_owner", "The account that asked for this replication has been deleted.")
    _require_own_study(slug=stages.slug_of(job.run, chosen), actor=actor)
    tell("Launching the study")
    study = stages.launched_study(run=job.run, chosen=chosen, owner=actor, tell=tell)
    simulation = request_simulation(
        study=study, per_condition=chosen.per_condition, seed=chosen.seed, base_url=job.base_url, actor=actor
    )
    return {"study": study, "simulation": simulation, "activity": "", "attempts": 0, "hinted_at": None}


def settings_of(job: ReplicationJob) -> stages.Settings:
    """The settings of a simulated replication."""
    first, second = job.chosen["factors"]
    return stages.Settings(**{**job.chosen, "factors": (first, second)})


def _write(job: ReplicationJob, tell: Tell) -> dict[str, Any]:
    """Build the report, write the files and store them as an archive."""
    paper, study = published(job.paper), job.study
    if study is None:
        raise ParallaxError("replicate.no_study", "The study was deleted.")
    report = _report(job, study, tell)
    if job.is_simulated and job.run is not None:
        replication = pages.simulated(
            paper=paper, report=report, run=job.run, chosen=settings_of(job), walked=f"over HTTP at {job.base_url}"
        )
    else:
        replication = pages.answered(paper=paper, report=report, study=study)
    tell("Writing tables, figures and verdicts")
    with tempfile.TemporaryDirectory(prefix="replication-") as name:
        folder = Path(name) / job.paper
        pages.write_folder(replication, folder)
        file = _stored(folder, f"{FOLDER}/{job.pk}.zip")
    verdicts = [[row.verdict, row.claim.says, row.ours] for row in replication.claims]
    return {"report": report, "file": file, "verdicts": verdicts}


def _report(job: ReplicationJob, study: Study, tell: Tell) -> Report:
    if job.is_simulated:
        return build_report(study=study, mode=Mode.SIMULATED, made_by=job.requested_by, progress=tell)
    return stages.report_of_study(study=stages.finished_study(study.slug), tell=tell)


def _stored(folder: Path, name: str) -> str:
    """Store a folder as an archive under that name; a worker that was killed may have left one."""
    archive = folder.with_suffix(".zip")
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as whole:
        for file in sorted(path for path in folder.rglob("*") if path.is_file()):
            whole.write(file, f"{folder.name}/{file.relative_to(folder)}")
    default_storage.delete(name)
    with archive.open("rb") as opened:
        return default_storage.save(name, File(opened))


def may_be_downloaded(job: ReplicationJob) -> bool:
    """Whether the archive is there, not too old, and without answers that were withdrawn, erased or excluded since."""
    if not job.file or job.report is None or job.created_at < timezone.now() - timedelta(days=KEPT_DAYS):
        return False
    return not has_changed_since(job.report, job.created_at) and default_storage.exists(job.file)


def clean() -> int:
    """Delete archives that may no longer be downloaded, among them those of deleted studies; return how many."""
    try:
        names = default_storage.listdir(FOLDER)[1]
    except FileNotFoundError:
        return 0
    rows = ReplicationJob.objects.select_related("report").defer(
        "report__results", "report__plan", "report__provenance"
    )
    by_file: Mapping[str, ReplicationJob] = {f"{row.pk}.zip": row for row in rows}
    unwanted = [name for name in names if not _is_kept(by_file.get(name))]
    for name in unwanted:
        default_storage.delete(f"{FOLDER}/{name}")
    return len(unwanted)


def _is_kept(job: ReplicationJob | None) -> bool:
    return job is not None and (job.status in OPEN or may_be_downloaded(job))
