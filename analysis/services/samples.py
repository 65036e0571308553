"""Publish a report of simulated participants as a sample, and withdraw it."""

from __future__ import annotations

from django.db import transaction
from django.utils.safestring import SafeString, mark_safe

from analysis.models import Report
from analysis.services.report_cache import PAGE, cached, cached_document, draw_pages
from charting import render
from core.errors import ParallaxError
from core.models import LogEntry
from documents.blocks import Figure
from studies.enums import Mode

SLOPE = "slope"
# Widths in pixels: a drawing is not set again in the browser, so a phone has one of its own.
WIDE = 640
NARROW = 300


def publish_sample(*, report: Report) -> None:
    """Let anyone read the summary and the chapters of a report, and draw them.

    Raises ParallaxError with code `report.not_simulated`: a report of participants stays closed. Code
    `report.of_project`: so does one of a project's data.
    """
    if report.mode != Mode.SIMULATED:
        raise ParallaxError(
            "report.not_simulated",
            f"Report {report.number} of {report.study.slug} is about participants, whose answers stay closed. Only a "
            "report of simulated participants can be a sample.",
        )
    if report.run.project_id is not None or report.run.version.dataset.project_id is not None:
        raise ParallaxError(
            "report.of_project",
            f"Report {report.number} of {report.study.slug} shows a run of a project. Make the dataset public first.",
        )
    _set(report, is_sample=True)
    draw_pages(report)
    slope_drawing(report)


def withdraw_sample(*, report: Report) -> None:
    """Close a sample report again."""
    _set(report, is_sample=False)


@transaction.atomic
def _set(report: Report, *, is_sample: bool) -> None:
    if report.is_sample == is_sample:
        return
    report.is_sample = is_sample
    report.save(update_fields=["is_sample", "updated_at"])
    LogEntry.objects.create(
        kind="analysis.report",
        object_id=report.pk,
        reason="Published as a sample report." if is_sample else "No longer a sample report.",
        facts={"is_sample": is_sample},
    )


def slope_figure(report: Report) -> Figure | None:
    """The figure that joins both rankings; None where the report has none, as without analysed participants."""
    blocks = cached_document(report).pairs.blocks
    return next((figure for block in blocks for figure in block.figures if figure.key == SLOPE), None)


def slope_drawing(report: Report) -> SafeString | None:
    """The slope chart as SVG for wide and for narrow screens, drawn once; None where the report has none. Its colours
    follow the page.
    """
    figure = slope_figure(report)
    if figure is None:
        return None

    def draw() -> bytes:
        wide, narrow = (render.inline_svg(figure.spec, width=width) for width in (WIDE, NARROW))
        return f'<div class="drawn wide">{wide}</div><div class="drawn narrow">{narrow}</div>'.encode()

    drawing = cached(report, f"{PAGE}-{SLOPE}", draw).decode()
    return mark_safe(drawing)  # noqa: S308 -- drawn and escaped there
