"""What a visitor without an account can see: a sample report, and the demo study while it is live."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.safestring import SafeString

from analysis.models import Report
from analysis.read.reports import sample_reports
from analysis.services.samples import slope_drawing, slope_figure
from catalog.services import DEMO_BOOKS_NAME, DEMO_NAME
from documents.blocks import Figure
from studies.enums import StudyStatus
from studies.models import Study

DEMO_STUDIES = ("demo", "demo-books", "demo-quick")


@dataclass(frozen=True)
class FrontPage:
    """The newest sample report with its slope chart, and the demo study; None for what there is not."""

    sample: Report | None
    slope: Figure | None
    slope_drawing: SafeString | None
    demo: Study | None


def front_page() -> FrontPage:
    """Select what the front page offers."""
    sample = sample_reports().first()
    if sample is None:
        return FrontPage(None, None, None, _demo_study())
    return FrontPage(sample, slope_figure(sample), slope_drawing(sample), _demo_study())


def _demo_study() -> Study | None:
    """The demo study while it is live. A study with its address on other data is a researcher's own."""
    demos = Study.objects.filter(
        slug__in=DEMO_STUDIES,
        status=StudyStatus.LIVE,
        archived_at=None,
        dataset_version__dataset__name__in=(DEMO_NAME, DEMO_BOOKS_NAME),
        dataset_version__is_synthetic=True,
    )
    return demos.order_by("slug").first()
