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

from analysis.enums import REQUEST_OPEN, RequestStatus
from analysis.models import BayesianAnalysis, Report, ReportRequest
from analysis.read.reports import reports_of
from catalog.models import DatasetVersion
from evaluation.enums import RUN_OPEN, RunStatus
from evaluation.models import EvaluationRun
from evaluation.selectors.runs import runs_by_time, runs_shown_to, succeeded_runs
from jobs.workers import waiting_words
from studies.enums import ExportStatus, NoticeKind, StudyStatus
from studies.models import ExportJob, NoticeReceipt, Study
from studies.team.permissions import READERS
from studies.team.selectors.studies import studies_of

FAILURES_SHOWN = timedelta(days=7)
N_REPORTS = 5
N_JOBS = 10
EXPORT_OPEN = (ExportStatus.QUEUED, ExportStatus.RUNNING)


@dataclass(frozen=True)
class Line:
    """Something to attend to: a word for its state, what it concerns, the facts, and where to act."""

    state: str
    title: str
    text: str
    url: str


@dataclass(frozen=True)
class Job:
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


@dataclass(frozen=True)
class Home:
    """The home page of one researcher."""

    attention: list[Line]
    jobs: list[Job]
    reports: list[Report]
    drafts: list[Study]
    steps: list[FirstStep]  # empty once the researcher has a report

    @property
    def next_step(self) -> FirstStep | None:
        """The first step that is not done."""
        return next((step for step in self.steps if not step.is_done), None)


def home_of(researcher: Any) -> Home:
    """Select the home page of a researcher; the number of queries does not depend on what there is."""
    own = studies_of(researcher).filter(archived_at=None)
    studies = [study for study in own if study.role in READERS]  # type: ignore[attr-defined]
    reports = list(reports_of(researcher)[:N_REPORTS])
    return Home(
        attention=[*_flagged(researcher), *_failed(researcher), *_under_target(studies)],
        jobs=list(_jobs(researcher)),
        reports=reports,
        drafts=[study for study in studies if study.status == StudyStatus.DRAFT],
        steps=[] if reports else _first_steps(researcher, studies),
    )


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
    requests = ReportRequest.objects.filter(
        asked_by=researcher,
        status=RequestStatus.FAILED,
        updated_at__gt=since,
        study__memberships__researcher=researcher,
    )
    for request in requests.select_related("study").order_by("-pk")[:N_JOBS]:
        yield Line("Failed", _request_title(request), request.error, request.get_absolute_url())
    exports = ExportJob.objects.filter(
        requested_by=researcher,
        status=ExportStatus.FAILED,
        updated_at__gt=since,
        study__memberships__researcher=researcher,
    )
    for export in exports.select_related("study").order_by("-pk")[:N_JOBS]:
        url = reverse("studies:detail", args=[export.study.slug])
        yield Line("Failed", f"Export of {export.study.title}", export.error, url)


def _request_title(request: ReportRequest) -> str:
    kind = "Study package" if request.kind == "package" else "Report"
    return f"{kind} of {request.study.title}"


def _jobs(researcher: Any) -> Iterator[Job]:
    """Open work: every visible run, since runs share the workers, and the researcher's reports and exports."""
    words = cache(waiting_words)
    for run in runs_by_time(researcher).filter(status__in=RUN_OPEN)[:N_JOBS]:
        yield Job(
            f"Run {run.pk} on {run.version}",
            words(settings.LONG_QUEUE) if run.status == RunStatus.QUEUED and not run.queue else run.activity,
            reverse("evaluation:detail", args=[run.pk]),
            run.n_done,  # type: ignore[attr-defined]
            run.n_parts,  # type: ignore[attr-defined]
        )
    requests = ReportRequest.objects.filter(
        asked_by=researcher, status__in=REQUEST_OPEN, study__memberships__researcher=researcher
    )
    for request in requests.select_related("study").order_by("-pk")[:N_JOBS]:
        yield Job(
            _request_title(request),
            request.activity or words(settings.CELERY_TASK_DEFAULT_QUEUE),
            request.get_absolute_url(),
        )
    analyses = BayesianAnalysis.objects.filter(
        status__in=REQUEST_OPEN, report__in=reports_of(researcher).order_by().values("pk")
    )
    for analysis in analyses.select_related("report__study").order_by("-pk")[:N_JOBS]:
        report = analysis.report
        title = f"Bayesian analysis of report {report.number} of {report.study.title}"
        yield Job(title, analysis.activity or words(settings.LONG_QUEUE), report.get_absolute_url())
    exports = ExportJob.objects.filter(
        requested_by=researcher, status__in=EXPORT_OPEN, study__memberships__researcher=researcher
    )
    for export in exports.select_related("study").order_by("-pk")[:N_JOBS]:
        url = reverse("studies:detail", args=[export.study.slug])
        is_waiting = export.status == ExportStatus.QUEUED
        activity = words(settings.CELERY_TASK_DEFAULT_QUEUE) if is_waiting else "A worker is writing the file"
        yield Job(f"Export of {export.study.title}", activity, url)


def _first_steps(researcher: Any, studies: list[Study]) -> list[FirstStep]:
    """The way to the first report; datasets and runs are shared, studies are the researcher's own."""
    launched = [study for study in studies if study.status != StudyStatus.DRAFT]
    unfinished = next((study for study in studies if study.status == StudyStatus.DRAFT), None)
    return [
        FirstStep(
            "Import a dataset",
            "Ratings or usage data, and the items they are of.",
            reverse("catalog:import"),
            "Import a dataset",
            DatasetVersion.objects.visible_to(researcher).filter(retired_at=None).exists(),
        ),
        FirstStep(
            "Train and measure",
            "A run trains algorithms on a dataset and measures them offline.",
            reverse("evaluation:new"),
            "New run",
            succeeded_runs(EvaluationRun.objects.visible_to(researcher)).exists(),
        ),
        FirstStep(
            "Ask people",
            f"“{unfinished.title}” is a draft. Launch it."
            if unfinished
            else "A study shows participants these models.",
            reverse("studies:detail", args=[unfinished.slug]) if unfinished else reverse("studies:new"),
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
