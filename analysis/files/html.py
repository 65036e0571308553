"""A report as one self-contained HTML file, and its numbers as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from django.contrib.staticfiles import finders
from django.template.loader import render_to_string
from django.utils.safestring import mark_safe

from analysis.files.document import Document
from analysis.models import Report
from analysis.present.verdict import simulated_notice
from analysis.results.report import SCHEMA_NAME
from charting.render import themed
from core.errors import ParallaxError
from documents.blocks import Figure

STYLE_SHEETS = ("css/tokens.css", "css/base.css", "css/report.css")


def report_json(report: Report) -> str:
    """Every number of the report with its inputs, as text, without times and ids of rows."""
    document = {
        "$schema": SCHEMA_NAME,
        "study": report.study.slug,
        "report": report.number,
        "mode": report.mode,
        **({"is_pilot": True, "notice": simulated_notice(report.read_results())} if report.is_pilot else {}),
        "inputs_hash": report.inputs_hash,
        "plan": report.plan,
        "provenance": report.provenance,
        "results": report.results,
        **({"bayesian": report.bayesian} if report.bayesian else {}),
    }
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False, sort_keys=True) + "\n"


def html_of(document: Document, svg: Callable[[Figure], bytes], body: str = "_body") -> str:
    """The main report, or its supplement with folded sections, in one file that refers to no other, with the SVG of
    every chart in it; the same bytes but for the date of the report.
    """
    page = document.with_drawings(lambda figure: f'<div class="drawn">{themed(svg(figure).decode())}</div>')
    styles = mark_safe(_styles())  # noqa: S308 - our own style sheets
    context = {"document": page, "body": f"analysis/parts/{body}.html", "styles": styles}
    return render_to_string("analysis/file.html", context)


def _styles() -> str:
    texts = []
    for name in STYLE_SHEETS:
        path = finders.find(name)
        if not path or not isinstance(path, str):
            raise ParallaxError(
                "report.no_style", f"The style sheet {name} is missing; restore it from the installation."
            )
        texts.append(Path(path).read_text(encoding="utf-8"))
    return "\n".join(texts)
