"""Files of a report as downloads, with a record of those that hold participants' data."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from django.http import HttpResponse

from analysis.files.listing import PACKAGE, File, file_of
from analysis.models import Report
from analysis.read import Progress, silent
from analysis.services.report_cache import cached, cached_document, is_cached
from core.errors import ParallaxError
from studies.enums import Mode
from studies.monitoring.services.blinding import note_export


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


def download_if_ready(*, report: Report, name: str, actor: Any = None) -> Download | None:
    """Return one file of a report; None where a worker has to draw it first.

    Drawing takes seconds, during which a web process would answer no participant. Raises as `download`.
    """
    is_drawn = stored_file(report, name).is_drawn
    return None if is_drawn and not is_cached(report, name) else download(report=report, name=name, actor=actor)


def stored_file(report: Report, name: str, progress: Progress = silent) -> File:
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
