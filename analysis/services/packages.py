"""Study packages that workers created: stored for a week, downloaded, and deleted."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.utils import timezone

from analysis.enums import RequestKind, RequestStatus
from analysis.models import Report, ReportRequest
from analysis.package import PACKAGE, Progress, file_of
from analysis.selectors.reports import has_changed_since
from analysis.services.downloads import Download, filename_of, record_package
from analysis.services.report_cache import cached_document
from core.errors import ParallaxError

FOLDER = "packages"
STORED_DAYS = 7


def store_package(*, request: ReportRequest, progress: Progress) -> str:
    """Create the package that a request is for, and store it under a name of this attempt's own.

    Raises `report.answers_changed`; `report.deleted` where the report is gone.
    """
    report = request.report
    if report is None:
        raise ParallaxError("report.deleted", "The report has been deleted since its package was requested.")
    file = file_of(report, PACKAGE, lambda: cached_document(report), progress)
    if file is None:
        raise ParallaxError("report.no_such_file", f"Report {report.number} has no package.")
    content = file.make()
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
    # Answers that were withdrawn since must not be downloaded.
    if request is None or has_changed_since(report, request.created_at) or not default_storage.exists(request.file):
        return None
    return request


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
