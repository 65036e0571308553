"""Giving files of a report away, and the record of it where they hold people's data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from analysis.models import Report
from analysis.package import PACKAGE, Progress, file_of, silent
from analysis.services.drawing import document_kept, is_kept, kept
from core.errors import ParallaxError
from core.jobs import enqueue_on_commit
from studies.services.blinding import note_export

KEPT = ("report.html", "report.pdf")  # whose charts take seconds to draw: a worker's business
DRAW_TASK = "analysis.draw_file"


@dataclass(frozen=True)
class Given:
    """A file that is given away: under which name, as what, and its content."""

    filename: str
    content_type: str
    content: bytes


def ready_file(*, report: Report, name: str, actor: Any = None) -> Given | None:
    """Give one file of a report; None where a worker draws it first, which has been asked for.

    Drawing takes seconds, in which a web process would answer no participant. Raises as `give_file`.
    """
    if name in KEPT and not is_kept(report, name):
        enqueue_on_commit(DRAW_TASK, report_id=report.pk, file=name)
        return None
    return give_file(report=report, name=name, actor=actor)


def give_file(*, report: Report, name: str, actor: Any = None, progress: Progress = silent) -> Given:
    """Make one file of a report, or give it as it was kept. That the study package was taken is recorded.

    Raises `report.no_such_file`, `report.answers_changed`, `report.not_set`.
    """
    file = file_of(report, name, lambda: document_kept(report), progress)
    if file is None:
        raise ParallaxError("report.no_such_file", f"Report {report.number} has no file called {name}.")
    content = kept(report, name, file.make) if name in KEPT else file.make()
    if name == PACKAGE:
        note_package(report=report, actor=actor)
    return Given(filename_of(report, name), file.content_type, content)


def note_package(*, report: Report, actor: Any) -> None:
    """Record that the study package was taken, as it is of every export."""
    note_export(study=report.study, kind="study package", actor=actor, modes=[report.mode])


def filename_of(report: Report, name: str) -> str:
    """The name under which a file is saved: it says of which study and report it is."""
    kind = "pilot-report" if report.is_pilot else "report"
    stem = f"{report.study.slug}-{kind}-{report.number}"
    return f"{stem}{name.removeprefix('report')}" if name.startswith("report.") else f"{stem}-{name.replace('/', '-')}"
