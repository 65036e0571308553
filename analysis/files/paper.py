"""A report as PDF: the document as data for the typesetter Typst."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils.formats import date_format

from analysis.files.document import DATASET_BADGE, PILOT_BADGE, SYNTHETIC_NOTICE, Chapter, Document
from documents import pdf
from documents.blocks import Figure

Picture = Callable[[Figure], bytes]


def report_pdf(document: Document, picture: Picture) -> bytes:
    """Typeset the report; `picture` draws each figure as PDF. Only the typesetter's own fonts are used.

    Raises `report.not_set` where the typesetter refuses.
    """
    figures = [figure for section in document.main_sections for block in section.blocks for figure in block.figures]
    files = {
        "main.typ": (Path(settings.BASE_DIR) / "templates" / "analysis" / "report.typ").read_bytes(),
        "document.json": json.dumps(printed(document), ensure_ascii=False).encode(),
        **{f"figures/{figure.key}.pdf": picture(figure) for figure in figures},
    }
    return pdf.compiled(files, document.report.created_at)


def printed(document: Document) -> dict[str, Any]:
    """The document as data; the typesetter reads none of its text as markup."""
    report = document.report
    notices = []
    badges = []
    if document.notice:
        notices.append({"badge": document.badge, "text": pdf.sentence(document.notice)})
        badges.append(document.badge)
    if report.read_provenance().is_dataset_synthetic:
        notices.append({"badge": DATASET_BADGE, "text": pdf.sentence(SYNTHETIC_NOTICE)})
        badges.append(DATASET_BADGE)
    day = date_format(report.created_at.astimezone(UTC), "j F Y")
    return {
        "title": report.study.title,
        "watermark": PILOT_BADGE if report.is_pilot else "",
        "made": f"Parallax · {'Pilot report' if report.is_pilot else 'Report'} {report.number} · {day}",
        "badges": badges,
        "notices": notices,
        "headline": [{"text": run.text, "side": run.side} for run in document.headline],
        "evidence": [pdf.sentence(text) for text in (*document.evidence, document.scope) if text],
        "limits": [pdf.sentence(limit) for limit in document.limits],
        "facts": [
            {
                "heading": fact.heading,
                "side": fact.side,
                "number": pdf.sentence(fact.number),
                "rests": pdf.sentence(fact.evidence),
            }
            for fact in document.facts
        ],
        "pairs": _pairs(document),
        "summary": pdf.section_data(document.summary) if document.summary.blocks else None,
        "chapters": list(map(_chapter, document.main_chapters)),
    }


def _pairs(document: Document) -> dict[str, Any] | None:
    """The figures of the first screen with the table of the pairs, which pages fold away."""
    if not document.pairs.blocks:
        return None
    data = pdf.section_data(document.pairs)
    grid = document.pairs.blocks[0].figures[0]
    if grid.table is not None:
        data["blocks"].append({"kind": "table", **pdf.table_data(grid.table)})
    return data


def _chapter(chapter: Chapter) -> dict[str, Any]:
    return {
        "title": chapter.title,
        "about": chapter.about,
        "side": chapter.side,
        "sections": [pdf.section_data(section) for section in chapter.sections],
    }
