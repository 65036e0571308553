"""Publish a report of simulated participants as a sample, and withdraw it."""

from __future__ import annotations

from dataclasses import replace

from django.db import transaction
from django.utils.safestring import SafeString, mark_safe

from analysis.models import Report
from analysis.services.report_cache import cached_document, draw_pages
from charting.frame import stamped
from charting.pairs import Ranked, plain_lists, ranked_lists
from core.errors import ParallaxError
from core.models import LogEntry
from documents.blocks import Figure
from documents.html import figure_html
from studies.enums import Mode

SLOPE = "slope"
CAPTION = "A line for each algorithm, the best at the top. Lines cross where data and participants differ in the order."
_SIDES = (("A", "B", "C"), ("C", "B", "A"))
EXAMPLE = Figure(
    SLOPE,
    stamped(
        ranked_lists(
            *([Ranked(f"Algorithm {name}", "", rank, rank) for rank, name in enumerate(side, 1)] for side in _SIDES),
            title="How to read a report",
            sides=("Measured offline", "Perceived by people"),
        ),
        "Invented example",
    ),
)


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


def rankings_html(report: Report | None) -> SafeString:
    """Both rankings of a report as HTML with their numbers, in the page's colours.

    Invented ones without a report, and where it has none, as without analysed participants.
    """
    blocks = cached_document(report).pairs.blocks if report else ()
    figure = next((figure for block in blocks for figure in block.figures if figure.key == SLOPE), EXAMPLE)
    plain = replace(figure, spec=plain_lists(figure.spec), caption=CAPTION)
    return mark_safe(figure_html(plain))  # noqa: S308 -- drawn and escaped there
