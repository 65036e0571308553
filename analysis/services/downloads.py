"""Files of a report as downloads, with a record of those that hold participants' data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from analysis.models import Report
from analysis.package import PACKAGE, Progress, file_of, silent
from analysis.services.report_cache import cached, cached_document, is_cached
from core.errors import ParallaxError
from jobs.queue import enqueue_on_commit
from studies.monitoring.services.blinding import note_export

CACHED = ("report.html", "report.pdf")  # their charts take seconds to draw, so a worker draws them
DRAW_TASK = "analysis.draw_file"


@dataclass(frozen=True)
class Download:
    """A file with the name that it is saved under, and its type."""

    filename: str
    content_type: str
    content: bytes


def download_if_ready(*, report: Report, name: str, actor: Any = None) -> Download | None:
    """Return one file of a report; None where a worker has to draw it first, which is enqueued.

    Drawing takes seconds, during which a web process would answer no participant. Raises as `download`.
    """
    if name in CACHED and not is_cached(report, name):
        enqueue_on_commit(DRAW_TASK, report_id=report.pk, file=name)
        return None
    return download(report=report, name=name, actor=actor)


def download(*, report: Report, name: str, actor: Any = None, progress: Progress = silent) -> Download:
    """Create one file of a report, or return it from the cache; downloads of the study package are recorded.

    Raises `report.no_such_file`, `report.answers_changed`, `report.not_set`.
    """
    file = file_of(report, name, lambda: cached_document(report), progress)
    if file is None:
        raise ParallaxError("report.no_such_file", f"Report {report.number} has no file called {name}.")
    content = cached(report, name, file.make) if name in CACHED else file.make()
    if name == PACKAGE:
        record_package(report=report, actor=actor)
    return Download(filename_of(report, name), file.content_type, content)


def record_package(*, report: Report, actor: Any) -> None:
    """Record a download of the study package, as of every export."""
    note_export(study=report.study, kind="study package", actor=actor, modes=[report.mode])


def filename_of(report: Report, name: str) -> str:
    """The name under which a file is saved: it states the study and the number of the report."""
    kind = "pilot-report" if report.is_pilot else "report"
    stem = f"{report.study.slug}-{kind}-{report.number}"
    return f"{stem}{name.removeprefix('report')}" if name.startswith("report.") else f"{stem}-{name.replace('/', '-')}"
