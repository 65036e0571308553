"""Files of a report that workers create: drawings, and the study package, which is stored for a week."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from analysis.enums import REQUEST_OPEN, RequestKind, RequestStatus
from analysis.files.archive import Progress
from analysis.files.listing import PACKAGE, Listing, files_of
from analysis.models import Drawing, Report, ReportRequest
from analysis.read.reports import has_changed_since
from analysis.services.downloads import Download, filename_of, record_package, stored_file
from analysis.services.leases import REQUESTS
from analysis.services.report_cache import cached, cached_document, page_of, version_of
from core.errors import ParallaxError

FOLDER = "packages"
STORED_DAYS = 7
FAILED_SECONDS = 60.0  # a request that failed is not tried again before: its error is returned


@transaction.atomic
def request_files(*, report: Report, asked_by: Any = None) -> ReportRequest:
    """Request the drawings and the study package of a report from a worker.

    The same request by the same account is returned while it is open, and shortly after it failed.
    """
    has_just_failed = Q(
        status=RequestStatus.FAILED, updated_at__gt=timezone.now() - timedelta(seconds=FAILED_SECONDS)
    )  # fmt: skip
    requests = ReportRequest.objects.filter(
        has_just_failed | Q(status__in=REQUEST_OPEN), report=report, kind=RequestKind.PACKAGE, asked_by=asked_by
    )
    if (request := requests.order_by("-pk").first()) is not None:
        return request
    request = ReportRequest.objects.create(
        study=report.study,
        kind=RequestKind.PACKAGE,
        report=report,
        mode=report.mode,
        asked_by=asked_by,
        hinted_at=timezone.now(),
    )
    REQUESTS.send(request.pk)
    return request


@dataclass(frozen=True)
class FilesState:
    """What a worker has drawn of a report's files, and what is left; `request` is the newest for them."""

    drawn: tuple[Listing, ...]
    left: tuple[Listing, ...]
    request: ReportRequest | None

    @property
    def is_open(self) -> bool:
        """Whether a worker draws, or will."""
        return self.request is not None and self.request.status in REQUEST_OPEN


def files_state(report: Report) -> FilesState:
    """The files of a report that a worker creates, drawn and left."""
    names = set(Drawing.objects.filter(report=report, version=version_of(report)).values_list("name", flat=True))
    if stored_package(report) is not None:
        names.add(PACKAGE)
    files = [file for file in page_of(report).files if file.is_drawn or file.name == PACKAGE]
    requests = ReportRequest.objects.filter(report=report, kind=RequestKind.PACKAGE).order_by("-created_at", "-pk")
    return FilesState(
        drawn=tuple(file for file in files if file.name in names),
        left=tuple(file for file in files if file.name not in names),
        request=requests.first(),
    )


def draw_files(report: Report, progress: Progress) -> None:
    """Draw the charts of a report, each once, then what consists of them."""
    every = files_of(report, lambda: cached_document(report), partial(cached, report)).values()
    files = sorted((file for file in every if file.is_drawn), key=lambda file: file.group != "figures")
    for number, file in enumerate(files, start=1):
        progress(f"Drawing {file.name}, {number} of {len(files)}")
        file.make()


def store_files(*, request: ReportRequest, progress: Progress) -> str:
    """Draw the files of the report that a request is for, and store its package under a name of this attempt's own;
    a pilot has none.

    Raises `report.answers_changed`; `report.deleted` where the report is gone.
    """
    report = request.report
    if report is None:
        raise ParallaxError("report.deleted", "The report has been deleted since its files were requested.")
    draw_files(report, progress)
    if report.is_pilot:
        return ""
    content = stored_file(report, PACKAGE, progress).make()
    progress("Storing the package")
    name = f"{FOLDER}/{request.pk}/{request.attempts}.zip"
    # A worker that was killed after storing and before finishing left the same bytes under this name.
    default_storage.delete(name)
    return default_storage.save(name, ContentFile(content))


def stored_package(report: Report) -> ReportRequest | None:
    """The newest request with a package of the report that may still be downloaded."""
    request = (
        ReportRequest.objects.filter(report=report, kind=RequestKind.PACKAGE, status=RequestStatus.SUCCEEDED)
        .exclude(file="")
        .filter(created_at__gt=timezone.now() - timedelta(days=STORED_DAYS))
        .order_by("-created_at", "-pk")
        .first()
    )
    # Answers that were withdrawn since must not be downloaded, and a Bayesian analysis that has ended since is lacking.
    if request is None or has_changed_since(report, request.created_at) or not default_storage.exists(request.file):
        return None
    analysis = report.analysis
    has_ended_since = analysis is not None and analysis.results and analysis.updated_at > request.created_at
    return None if has_ended_since else request


def download_package(*, report: Report, actor: Any = None) -> Download | None:
    """Return the package that a worker created, and record the download; None where it has to be created first."""
    request = stored_package(report)
    if request is None:
        return None
    with default_storage.open(request.file) as file:
        package = Download(filename_of(report, PACKAGE), "application/zip", file.read())
    record_package(report=report, actor=actor)
    return package


def _is_outdated(request: ReportRequest) -> bool:
    """Whether a stored package holds answers that were withdrawn, erased or excluded since."""
    report = request.report
    return bool(request.file) and report is not None and has_changed_since(report, request.created_at)


def clean_packages() -> int:
    """Delete stored packages that may no longer be downloaded; returns the number of deleted files.

    They are too old, were left by a dead worker, their request is gone, or answers in them were erased or excluded.
    """
    since = timezone.now() - timedelta(days=STORED_DAYS)
    rows = ReportRequest.objects.filter(kind=RequestKind.PACKAGE, created_at__gt=since).select_related("report")
    rows = rows.defer("report__results", "report__plan", "report__provenance")
    valid = {str(row.pk): (row.status, "" if _is_outdated(row) else row.file) for row in rows}
    try:
        folders = default_storage.listdir(FOLDER)[0]
    except FileNotFoundError:
        return 0
    n_deleted = 0
    for folder in folders:
        status, file = valid.get(folder, ("", ""))
        if status == RequestStatus.RUNNING:
            continue
        for name in default_storage.listdir(f"{FOLDER}/{folder}")[1]:
            path = f"{FOLDER}/{folder}/{name}"
            if path != file:
                default_storage.delete(path)
                n_deleted += 1
        if folder not in valid:
            default_storage.delete(f"{FOLDER}/{folder}")
    return n_deleted
