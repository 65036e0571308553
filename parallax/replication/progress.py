"""The steps of a replication, as its page shows them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet
from django.urls import reverse

from accounts.models import in_projects_of
from evaluation.enums import ExperimentStatus
from evaluation.selectors.runs import progress
from parallax.replication.models import ReplicationJob
from studies.team.selectors.studies import readable_studies


@dataclass(frozen=True)
class Step:
    """One step: what it does, how far it is, and the page with the details."""

    title: str
    state: str
    link: str = ""
    link_text: str = ""


def replications_of(researcher: Any) -> QuerySet[ReplicationJob]:
    """The replications of studies that a researcher may read, and their own without a study yet; newest first.

    They also show the run, so that of a project's data only its members and viewers see them, as reports.
    """
    readable = readable_studies(researcher).order_by().values("pk")
    rows = ReplicationJob.objects.filter(
        Q(study__isnull=True, requested_by=researcher) | Q(study__in=readable),
        in_projects_of(researcher, "version__dataset__project"),
        in_projects_of(researcher, "study__dataset_version__dataset__project"),
    )
    return rows.select_related("version__dataset", "study", "run", "simulation", "report")


def steps_of(job: ReplicationJob) -> list[Step]:
    """The steps of a replication in order."""
    is_done = job.status == ExperimentStatus.SUCCEEDED
    writing = "done" if is_done else job.activity or "not yet"
    last = Step("Build the report and write the comparison", writing if job.study_id else "not yet")
    if job.report is not None:
        last = Step(last.title, writing, job.report.get_absolute_url(), f"Report {job.report.number}")
    return [*(_simulated_steps(job) if job.is_simulated else ()), last]


def _simulated_steps(job: ReplicationJob) -> list[Step]:
    run, study, simulation = job.run, job.study, job.simulation
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
    state = ", ".join(filter(None, (str(simulation.get_status_display()).lower(), simulation.activity)))
    link = reverse("studies:simulation", args=[study.slug, simulation.pk])
    return [*steps, Step(walk, state, link, f"Simulation {simulation.pk}")]
