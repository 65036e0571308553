"""What the home page shows a researcher: what needs attention, work in progress, recent reports, first steps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from typing import Any

from django.conf import settings
from django.db.models import Count
from django.urls import reverse
from django.utils import timezone

from analysis.read.reports import reports_of
from catalog.models import DatasetVersion
from evaluation.enums import RUN_OPEN, RunStatus
from evaluation.models import EvaluationRun
from evaluation.selectors.runs import runs_by_time, runs_shown_to
from jobs.models import Job, JobQuerySet, JobStatus
from jobs.workers import waiting_words
from studies.enums import READERS, NoticeKind, StudyStatus
from studies.models import NoticeReceipt, Study
from studies.team.selectors.studies import studies_of

FAILURES_SHOWN = timedelta(days=7)
N_REPORTS = 5
N_JOBS = 10


@dataclass(frozen=True)
class Line:
    """Something to attend to: a word for its state, what it concerns, the facts, and where to act."""

    state: str
    title: str
    text: str
    url: str


@dataclass(frozen=True)
class Work:
    """Work that a worker does or will do; `total` is 0 where its size is not known."""

    title: str
    text: str
    url: str
    done: int = 0
    total: int = 0


@dataclass(frozen=True)
class FirstStep:
    """One of the four steps to a report."""

    title: str
    text: str
    url: str
    action: str
    is_done: bool


def home_of(researcher: Any) -> dict[str, Any]:
    """Select the home page of a researcher; the number of queries does not depend on what there is.

    There are first steps until the researcher has a report.
    """
    own = studies_of(researcher).filter(archived_at=None)
    studies = [study for study in own if study.role in READERS]  # type: ignore[attr-defined]
    reports = list(reports_of(researcher)[:N_REPORTS])
    steps = [] if reports else _first_steps(researcher, studies)
    return {
        "attention": [*_flagged(researcher), *_failed(researcher), *_under_target(studies)],
        "jobs": list(_work(researcher)),
        "reports": reports,
        "drafts": [study for study in studies if study.status == StudyStatus.DRAFT],
        "steps": steps,
        "next_step": next((step for step in steps if not step.is_done), None),
    }


def _under_target(studies: list[Study]) -> Iterator[Line]:
    for study in studies:
        completed, target = study.n_completed, study.n_wanted or 0  # type: ignore[attr-defined]
        if study.status in (StudyStatus.LIVE, StudyStatus.PAUSED) and completed < target:
            text = f"{completed:,} of {target:,} participants completed"
            yield Line(study.get_status_display(), study.title, text, reverse("studies:detail", args=[study.slug]))


def _flagged(researcher: Any) -> Iterator[Line]:
    """Studies with quality flags whose notices the researcher has not read."""
    unread = NoticeReceipt.objects.filter(
        researcher=researcher,
        read_at=None,
        notice__kind=NoticeKind.FLAG,
        notice__study__memberships__researcher=researcher,
        notice__study__archived_at=None,
    )
    by_study = unread.order_by().values("notice__study__slug", "notice__study__title").annotate(n=Count("pk"))
    for row in by_study.order_by("notice__study__title"):
        text = "1 new quality flag" if row["n"] == 1 else f"{row['n']:,} new quality flags"
        url = reverse("studies:quality", args=[row["notice__study__slug"]])
        yield Line("Flagged data", row["notice__study__title"], text, url)


def _failed(researcher: Any) -> Iterator[Line]:
    """The researcher's jobs that failed within FAILURES_SHOWN."""
    since = timezone.now() - FAILURES_SHOWN
    runs = runs_shown_to(researcher).filter(owner=researcher, status=RunStatus.FAILED, finished_at__gt=since)
    for run in runs.order_by("-pk")[:N_JOBS]:
        yield Line("Failed", f"Run {run.pk} on {run.version}", run.error, reverse("evaluation:detail", args=[run.pk]))
    failed = _requested_by(researcher).filter(status=JobStatus.FAILED, updated_at__gt=since)
    for job in failed[:N_JOBS]:
        yield Line("Failed", _title(job), job.error, _page(job))


def _requested_by(researcher: Any) -> JobQuerySet:
    """The reports, packages and exports that a researcher requested on their studies."""
    studies = Study.objects.filter(memberships__researcher=researcher)
    jobs = Job.objects.filter(kind__in=("report", "package", "export"), owner=researcher)
    return jobs.about(studies).prefetch_related("subject")


def _title(job: Job) -> str:
    return f"{job.definition.title} of {job.subject}"


def _page(job: Job) -> str:
    if job.kind == "export":
        return reverse("studies:detail", args=[job.subject.slug])
    return reverse("analysis:request", args=[job.pk])


def _work(researcher: Any) -> Iterator[Work]:
    """Open work: every visible run, since runs share the workers, and the researcher's reports and exports."""
    words = cache(waiting_words)
    for run in runs_by_time(researcher).filter(status__in=RUN_OPEN)[:N_JOBS]:
        yield Work(
            f"Run {run.pk} on {run.version}",
            words(settings.LONG_QUEUE) if run.status == RunStatus.QUEUED and not run.queue else run.activity,
            reverse("evaluation:detail", args=[run.pk]),
            run.n_done,  # type: ignore[attr-defined]
            run.n_parts,  # type: ignore[attr-defined]
        )
    for job in _requested_by(researcher).open()[:N_JOBS]:
        yield Work(_title(job), job.activity or words(job.definition.queue), _page(job))
    analyses = Job.objects.open().filter(kind="bayesian").about(reports_of(researcher))
    for job in analyses.prefetch_related("subject__study")[:N_JOBS]:
        title = f"Bayesian analysis of report {job.subject.number} of {job.subject.study.title}"
        yield Work(title, job.activity or words(job.definition.queue), job.subject.get_absolute_url())


def _first_steps(researcher: Any, studies: list[Study]) -> list[FirstStep]:
    """The way to the first report, by the researcher's own data, runs and studies; a later step implies the earlier."""
    has_run = bool(studies) or EvaluationRun.objects.filter(owner=researcher, status=RunStatus.SUCCEEDED).exists()
    has_data = has_run or DatasetVersion.objects.filter(dataset__owner=researcher, retired_at=None).exists()
    launched = [study for study in studies if study.status != StudyStatus.DRAFT]
    unfinished = next((study for study in studies if study.status == StudyStatus.DRAFT), None)
    return [
        FirstStep(
            "Import a dataset",
            "Ratings or usage data, and the items they are of.",
            reverse("catalog:import"),
            "Import a dataset",
            has_data,
        ),
        FirstStep(
            "Train and measure",
            "A run trains algorithms on a dataset and measures them offline.",
            reverse("evaluation:new"),
            "New run",
            has_run,
        ),
        FirstStep(
            "Ask people",
            f"“{unfinished.title}” is a draft. Launch it."
            if unfinished
            else "A study shows participants these models.",
            reverse("studies:launch", args=[unfinished.slug]) if unfinished else reverse("studies:new"),
            "Open the draft" if unfinished else "New study",
            bool(launched),
        ),
        FirstStep(
            "Compare",
            "A report joins what participants perceived with what the run measured.",
            reverse("analysis:new") if launched else reverse("analysis:list"),
            "New report" if launched else "Reports",
            False,
        ),
    ]
