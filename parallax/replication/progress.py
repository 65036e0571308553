"""The steps of a replication, as its page shows them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.urls import reverse

from analysis.models import Report
from catalog.models import DatasetVersion
from evaluation.models import EvaluationRun
from evaluation.selectors.runs import progress
from jobs.models import Job, JobStatus
from studies.models import Study
from studies.team.selectors.studies import readable_studies


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
        counts = progress(run)
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
