"""Replications as jobs, and their steps as a page shows them. No worker waits for runs or simulations; the sweep
enqueues what can be continued.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models import QuerySet
from django.urls import reverse
from django.utils import timezone

from analysis.models import Report
from analysis.read.reports import has_changed_since
from analysis.services import build_report
from catalog.models import DatasetVersion
from core.errors import ParallaxError
from evaluation.models import EvaluationRun
from evaluation.selectors.runs import progress as progress_of
from evaluation.services.experiment_jobs import has_succeeded
from jobs.archives import store_folder
from jobs.models import Job, JobStatus
from jobs.services import request
from parallax.replication import pages, stages
from parallax.replication.published import published
from studies.enums import Mode
from studies.models import Study
from studies.simulation.services.pilot import request_simulation
from studies.team.selectors.studies import readable_studies

ReportStage = Callable[[str], None]
KEPT_DAYS = 7  # of the archive; the verdicts stay


@dataclass(frozen=True)
class Step:
    """One step: what it does, how far it is, and the page with the details."""

    title: str
    state: str
    link: str = ""
    link_text: str = ""


def replications_of(researcher: Any) -> QuerySet[Job]:
    """The replications of studies that a researcher may read, and their own without a study yet; newest first.

    They also show the run, so that of a project's data only its members and viewers see them, as reports.
    """
    jobs = Job.objects.filter(kind="replication")
    versions = DatasetVersion.objects.visible_to(researcher)
    studies = readable_studies(researcher).filter(dataset_version__in=versions.order_by().values("pk"))
    return (jobs.about(versions).filter(owner=researcher) | jobs.about(studies)).prefetch_related("subject")


def is_simulated(job: Job) -> bool:
    """Whether the participants of a replication are simulated."""
    return "chosen" in job.payload


def study_of(job: Job) -> Study | None:
    """The study of a replication; None before one on a dataset has launched it."""
    return job.subject if isinstance(job.subject, Study) else None


def run_of(job: Job) -> EvaluationRun | None:
    """The run of a simulated replication; None where it was deleted."""
    return EvaluationRun.objects.filter(pk=job.payload.get("run")).first()


def simulation_of(job: Job) -> Job | None:
    """The job that simulates the participants, once it is requested; None where it was deleted."""
    return Job.objects.filter(pk=job.payload.get("simulation")).first()


def report_of(job: Job) -> Report | None:
    """The report of a finished replication; None where it was deleted."""
    return Report.objects.filter(pk=job.result.get("report")).first()


def steps_of(job: Job) -> list[Step]:
    """The steps of a replication in order."""
    is_done = job.status == JobStatus.SUCCEEDED
    writing = "done" if is_done else job.activity or "not yet"
    last = Step("Build the report and write the comparison", writing if study_of(job) else "not yet")
    if (report := report_of(job)) is not None:
        last = Step(last.title, writing, report.get_absolute_url(), f"Report {report.number}")
    return [*(_simulated_steps(job) if is_simulated(job) else ()), last]


def _simulated_steps(job: Job) -> list[Step]:
    run, study, simulation = run_of(job), study_of(job), simulation_of(job)
    train, launch, walk = "Train and evaluate seven algorithms", "Launch the study", "Simulate participants"
    steps = [Step(train, "the run was deleted")]
    if run is not None:
        counts = progress_of(run)
        state = f"{run.get_status_display().lower()}, {counts.done} of {counts.total} parts"
        steps = [Step(train, state, reverse("evaluation:detail", args=[run.pk]), f"Run {run.pk}")]
    if study is None:
        return [*steps, Step(launch, job.activity or "not yet"), Step(walk, "not yet")]
    steps.append(Step(launch, "done", reverse("studies:detail", args=[study.slug]), "Study"))
    if simulation is None:
        return [*steps, Step(walk, "done")]
    reached = simulation.activity or simulation.result.get("reached", "")
    state = ", ".join(filter(None, (str(simulation.get_status_display()).lower(), reached)))
    link = reverse("studies:simulation", args=[study.slug, simulation.pk])
    return [*steps, Step(walk, state, link, f"Simulation {simulation.pk}")]


@transaction.atomic
def start_simulated(*, paper: str, version: DatasetVersion, chosen: stages.Settings, base_url: str, actor: Any) -> Job:
    """Start a replication on a dataset; its run is queued at once. An open job of the same inputs is returned instead.

    Raises what `stages.queued_run` does, and `replicate.other_owner`.
    """
    run = stages.queued_run(version=version, chosen=chosen)
    _require_own_study(slug=stages.slug_of(run, chosen), actor=actor)
    settings = {**asdict(chosen), "factors": list(chosen.factors)}
    payload = {"paper": paper, "run": run.pk, "chosen": settings}
    for job in Job.objects.open().filter(kind="replication", owner=actor, payload__run=run.pk):
        if payload.items() <= job.payload.items():
            return job
    return request("replication", owner=actor, subject=version, payload={**payload, "base_url": base_url})


@transaction.atomic
def start_comparison(*, paper: str, study: Study, actor: Any) -> Job:
    """Start the comparison of a closed study's answers with a paper; an open job of the same is returned instead.

    Raises what `stages.finished_study` and `stages.names_by_algorithm` do.
    """
    stages.names_by_algorithm(stages.finished_study(study.slug), published(paper))
    payload = {"paper": paper}
    open_jobs = study.jobs.open().filter(kind="replication")
    job = next((job for job in open_jobs if job.payload == payload), None)
    return job or request("replication", owner=actor, subject=study, payload=payload)


def _require_own_study(*, slug: str, actor: Any) -> None:
    """Refuse settings whose study exists and is not the researcher's to read."""
    if Study.objects.filter(slug=slug).exists() and not readable_studies(actor).filter(slug=slug).exists():
        raise ParallaxError(
            "replicate.other_owner",
            "Another researcher has replicated the paper with these settings. Choose another seed for participants of "
            "your own.",
        )


def is_ready(job: Job) -> bool:
    """Whether a worker can do the next step now. Raises ParallaxError where none ever can."""
    if not is_simulated(job):
        return True
    run = run_of(job)
    if run is None:
        raise ParallaxError("replicate.no_run", "The run was deleted. Start the replication again.")
    simulation = simulation_of(job)
    if simulation is None:
        return has_succeeded(run) and study_of(job) is None
    if simulation.status == JobStatus.FAILED:
        raise ParallaxError("replicate.no_participants", f"{simulation.error} Start again to resume the simulation.")
    return has_succeeded(run) and simulation.status == JobStatus.SUCCEEDED


def do_next_step(job: Job, progress: ReportStage) -> dict[str, Any]:
    """Do the next step of a replication.

    The first step of a simulated one launches its study and requests its participants, and returns it to the queue;
    the last builds the report and writes the files.
    """
    if study_of(job) is not None:
        return _write(job, progress)
    chosen, actor, run = settings_of(job), job.owner, run_of(job)
    if actor is None or run is None:
        raise ParallaxError("replicate.no_owner", "The account that asked for this replication has been deleted.")
    _require_own_study(slug=stages.slug_of(run, chosen), actor=actor)
    progress("Launching the study")
    study = stages.launched_study(
        run=run, chosen=chosen, owner=actor, progress=progress
    )  # an existing one is continued
    simulation = request_simulation(
        study=study,
        per_condition=chosen.per_condition,
        seed=chosen.seed,
        base_url=job.payload["base_url"],
        actor=actor,
    )
    job.subject = study  # whose readers see it from now on, and with which it is deleted
    return {
        "subject_type": job.subject_type,
        "subject_id": job.subject_id,
        "payload": {**job.payload, "simulation": simulation.pk},
        "status": JobStatus.QUEUED,
        "attempts": 0,
    }


def settings_of(job: Job) -> stages.Settings:
    """The settings of a simulated replication."""
    chosen = job.payload["chosen"]
    first, second = chosen["factors"]
    return stages.Settings(**{**chosen, "factors": (first, second)})


def _write(job: Job, progress: ReportStage) -> dict[str, Any]:
    """Build the report, write the files and store them as an archive."""
    paper, study, run = published(job.payload["paper"]), study_of(job), run_of(job)
    if study is None:
        raise ParallaxError("replicate.no_study", "The study was deleted.")
    if run is not None:
        report = build_report(study=study, mode=Mode.SIMULATED, made_by=job.owner, progress=progress)
        replication = pages.simulated(
            paper=paper,
            report=report,
            run=run,
            chosen=settings_of(job),
            walked=f"over HTTP at {job.payload['base_url']}",
        )
    else:
        report = stages.report_of_study(study=stages.finished_study(study.slug), progress=progress)
        replication = pages.answered(paper=paper, report=report, study=study)
    progress("Writing tables, figures and verdicts")
    with tempfile.TemporaryDirectory(prefix="replication-") as name:
        folder = Path(name) / job.payload["paper"]
        pages.write_folder(replication, folder)
        file = store_folder(job, folder)
    verdicts = [[row.verdict, row.claim.says, row.ours] for row in replication.claims]
    return {"file": file, "result": {"report": report.pk, "verdicts": verdicts}}


def may_be_downloaded(job: Job) -> bool:
    """Whether the archive is there, not too old, and without answers that were withdrawn, erased or excluded since."""
    report = report_of(job)
    if not job.file or report is None or job.created_at < timezone.now() - timedelta(days=KEPT_DAYS):
        return False
    return not has_changed_since(report, job.created_at) and default_storage.exists(job.file)
