"""Files of a report: downloads, and what workers create for them: drawings, and the package, stored for a week."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models import Q, QuerySet
from django.http import HttpResponse
from django.utils import timezone

from analysis.files.listing import PACKAGE, File, Listing, file_of, files_of
from analysis.models import Drawing, Report
from analysis.read import Progress, no_progress
from analysis.read.reports import has_changed_since
from analysis.services.report_cache import Page, cached, cached_document, is_cached, version_of
from core.errors import ParallaxError
from jobs.archives import store
from jobs.models import JOB_OPEN, Job, JobStatus
from jobs.services import request
from studies.enums import Mode
from studies.monitoring.services.blinding import note_export

STORED_DAYS = 7
FAILED_SECONDS = 60.0  # a request that failed is not tried again before: its error is returned


@dataclass(frozen=True)
class Download:
    """A file with the name that it is saved under, and its type."""

    filename: str
    content_type: str
    content: bytes

    def response(self) -> HttpResponse:
        """As an attachment, which nothing on the way may store."""
        disposition = f'attachment; filename="{self.filename}"'
        headers = {"Content-Disposition": disposition, "Cache-Control": "private, no-store"}
        return HttpResponse(self.content, content_type=self.content_type, headers=headers)


def stored_file(report: Report, name: str, progress: Progress = no_progress) -> File:
    """One file of a report; what is drawn for it is drawn once. Raises `report.no_such_file`."""
    file = file_of(report, name, lambda: cached_document(report), progress, partial(cached, report))
    if file is None:
        raise ParallaxError("report.no_such_file", f"Report {report.number} has no file called {name}.")
    return file


def download(*, report: Report, name: str, actor: Any = None) -> Download:
    """Create one file of a report, or return it from the cache; downloads of the study package are recorded.

    Raises `report.no_such_file`, `report.answers_changed`, `report.not_set`.
    """
    file = stored_file(report, name)
    content = file.make()
    if name == PACKAGE:
        record_package(report=report, actor=actor)
    return Download(filename_of(report, name), file.content_type, content)


def record_package(*, report: Report, actor: Any) -> None:
    """Record a download of the study package, as of every export."""
    note_export(study=report.study, kind="study package", actor=actor, modes=[report.mode])


def filename_of(report: Report, name: str) -> str:
    """The name under which a file is saved: it states the study and the number of the report."""
    kind = "pilot-report" if report.is_pilot else "report" if report.mode == Mode.LIVE else "simulated-report"
    stem = f"{report.study.slug}-{kind}-{report.number}"
    return f"{stem}{name.removeprefix('report')}" if name.startswith("report.") else f"{stem}-{name.replace('/', '-')}"


def packages_of(report: Report) -> QuerySet[Job]:
    """The requests for the files of a report, newest first."""
    jobs: QuerySet[Job] = report.study.jobs.filter(kind="package", payload__report=report.pk)
    return jobs


@transaction.atomic
def request_files(*, report: Report, asked_by: Any = None) -> Job:
    """Request the drawings and the study package of a report from a worker.

    The same request by the same account is returned while it is open, and shortly after it failed.
    """
    has_just_failed = Q(status=JobStatus.FAILED, updated_at__gt=timezone.now() - timedelta(seconds=FAILED_SECONDS))
    jobs = packages_of(report).filter(has_just_failed | Q(status__in=JOB_OPEN), owner=asked_by)
    if (job := jobs.first()) is not None:
        return job
    return request("package", owner=asked_by, subject=report.study, payload={"report": report.pk})


@dataclass(frozen=True)
class FilesState:
    """What a worker has drawn of a report's files, and what is pending; `job` is the newest for them."""

    ready: tuple[Listing, ...]
    pending: tuple[Listing, ...]
    job: Job | None


def files_state(report: Report, page: Page) -> FilesState:
    """The files that a worker creates, drawn and left, of a report whose first page lists them."""
    names = set(Drawing.objects.filter(report=report, version=version_of(report)).values_list("name", flat=True))
    if stored_package(report) is not None:
        names.add(PACKAGE)
    files = [file for file in page.files if file.is_drawn or file.name == PACKAGE]
    return FilesState(
        ready=tuple(file for file in files if file.name in names),
        pending=tuple(file for file in files if file.name not in names),
        job=packages_of(report).first(),
    )


def draw_files(report: Report, progress: Progress) -> None:
    """Draw the charts of a report, each once, then what consists of them."""
    every = files_of(report, lambda: cached_document(report), partial(cached, report)).values()
    files = sorted((file for file in every if file.is_drawn), key=lambda file: file.group != "figures")
    for number, file in enumerate(files, start=1):
        progress(f"Drawing {file.name}, {number} of {len(files)}")
        file.make()


def store_files(job: Job, progress: Progress) -> dict[str, Any]:
    """Draw the files of the report that a request is for, and store its package; a pilot has none.

    Raises `report.answers_changed`; `report.deleted` where the report is gone.
    """
    report = Report.objects.select_related("study").filter(pk=job.payload["report"]).first()
    if report is None:
        raise ParallaxError("report.deleted", "The report has been deleted since its files were requested.")
    draw_files(report, progress)
    if report.is_pilot:
        return {}
    content = stored_file(report, PACKAGE, progress).make()
    progress("Storing the package")
    return {"file": store(job, ContentFile(content))}


def may_be_downloaded(job: Job) -> bool:
    """Whether a stored package holds no answers that were withdrawn, erased or excluded since."""
    report = Report.objects.filter(pk=job.payload["report"]).defer("results", "plan", "provenance").first()
    return report is not None and not has_changed_since(report, job.created_at)


def stored_package(report: Report) -> Job | None:
    """The newest request with a package of the report that may still be downloaded."""
    stored = packages_of(report).filter(created_at__gt=timezone.now() - timedelta(days=STORED_DAYS))
    job = stored.exclude(file="").first()
    # Answers that were withdrawn since must not be downloaded, and a Bayesian analysis that has ended since is lacking.
    if job is None or has_changed_since(report, job.created_at) or not default_storage.exists(job.file):
        return None
    has_ended_since = report.bayesian and report.analysis and report.analysis.updated_at > job.created_at
    return None if has_ended_since else job


def download_package(*, report: Report, actor: Any = None) -> Download | None:
    """Return the package that a worker created, and record the download; None where it has to be created first."""
    job = stored_package(report)
    if job is None:
        return None
    with default_storage.open(job.file) as file:
        package = Download(filename_of(report, PACKAGE), "application/zip", file.read())
    record_package(report=report, actor=actor)
    return package


def file_or_request(*, report: Report, name: str, actor: Any = None) -> Download | Job:
    """Return one file of a report, or the request to the worker that has to create it first.

    Raises `report.no_such_file`, `report.not_set`.
    """
    if name == PACKAGE and report.is_pilot:
        raise ParallaxError("report.no_such_file", "A pilot report has no study package.")
    if name == PACKAGE:
        return download_package(report=report, actor=actor) or request_files(report=report, asked_by=actor)
    # Drawing takes seconds, during which a web process would answer no participant.
    if stored_file(report, name).is_drawn and not is_cached(report, name):
        return request_files(report=report, asked_by=actor)
    return download(report=report, name=name, actor=actor)
