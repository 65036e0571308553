"""Study packages that workers made: kept for a while, given away, and deleted."""

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
from analysis.services.drawing import document_kept
from analysis.services.giving import Given, filename_of, note_package
from core.errors import ParallaxError

FOLDER = "packages"
KEPT_DAYS = 7


def store_package(*, request: ReportRequest, progress: Progress) -> str:
    """Make the package that a request is for, and store it under a name of this attempt's own.

    Raises `report.answers_changed`; `report.deleted` where the report is gone.
    """
    report = request.report
    if report is None:
        raise ParallaxError("report.deleted", "The report has been deleted since its package was asked for.")
    file = file_of(report, PACKAGE, lambda: document_kept(report), progress)
    if file is None:
        raise ParallaxError("report.no_such_file", f"Report {report.number} has no package.")
    content = file.make()
    progress("Storing the package")
    name = f"{FOLDER}/{request.pk}/{request.attempts}.zip"
    # A worker that was killed between storing and saying so left the same bytes under a name of its own.
    default_storage.delete(name)
    return default_storage.save(name, ContentFile(content))


def package_kept(report: Report) -> ReportRequest | None:
    """The newest request with a package of the report that may still be given away."""
    found = (
        ReportRequest.objects.filter(report=report, kind=RequestKind.PACKAGE, status=RequestStatus.SUCCEEDED)
        .exclude(file="")
        .filter(created_at__gt=timezone.now() - timedelta(days=KEPT_DAYS))
        .order_by("-created_at", "-pk")
        .first()
    )
    # What people have withdrawn since may not be handed out once more.
    if found is None or has_changed_since(report, found.created_at) or not default_storage.exists(found.file):
        return None
    return found


def give_package(*, report: Report, actor: Any = None) -> Given | None:
    """Give the package that a worker made, recorded as every export is; None where it has to be made first."""
    found = package_kept(report)
    if found is None:
        return None
    with default_storage.open(found.file) as file:
        given = Given(filename_of(report, PACKAGE), "application/zip", file.read())
    note_package(report=report, actor=actor)
    return given


def _is_overtaken(request: ReportRequest) -> bool:
    """Whether a stored package holds what people have withdrawn since, or who was excluded."""
    report = request.report
    return bool(request.file) and report is not None and has_changed_since(report, request.created_at)


def clean_packages() -> int:
    """Delete stored packages that may be given to nobody any more; how many.

    They are too old, were left by a dead worker, their request is gone, or answers in them were erased or excluded.
    """
    since = timezone.now() - timedelta(days=KEPT_DAYS)
    rows = ReportRequest.objects.filter(kind=RequestKind.PACKAGE, created_at__gt=since).select_related("report")
    rows = rows.defer("report__results", "report__plan", "report__provenance")
    kept = {str(row.pk): (row.status, "" if _is_overtaken(row) else row.file) for row in rows}
    try:
        folders = default_storage.listdir(FOLDER)[0]
    except FileNotFoundError:
        return 0
    deleted = 0
    for folder in folders:
        status, file = kept.get(folder, ("", ""))
        if status == RequestStatus.RUNNING:
            continue
        for name in default_storage.listdir(f"{FOLDER}/{folder}")[1]:
            path = f"{FOLDER}/{folder}/{name}"
            if path != file:
                default_storage.delete(path)
                deleted += 1
        if folder not in kept:
            default_storage.delete(f"{FOLDER}/{folder}")
    return deleted
