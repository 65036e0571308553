"""A report as a whole: a self-contained HTML file, its numbers as JSON, a PDF set by Typst, and Quarto source."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.staticfiles import finders
from django.template.loader import render_to_string
from django.utils.formats import date_format
from django.utils.safestring import mark_safe

from analysis.files.document import DATASET_BADGE, PILOT_BADGE, SYNTHETIC_NOTICE, Chapter, Document
from analysis.models import Report
from analysis.present.verdict import simulated_notice
from analysis.results.report import SCHEMA_NAME
from charting.frame import PICTURE
from charting.render import with_page_colours
from core.errors import ParallaxError
from documents import pdf
from documents.blocks import Block, Figure
from documents.markdown import escaped, sentence

STYLE_SHEETS = ("css/tokens.css", "css/base.css", "css/report.css")
QUARTO_OPTIONS = """format:
  html:
    toc: true
    embed-resources: true
  pdf:
    toc: true
    documentclass: scrartcl
jupyter: python3
execute:
  echo: false
"""


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

    def drawing(figure: Figure) -> str:
        if PICTURE in figure.spec:
            return ""  # `figure_html` draws it for wide screens and for phones
        return f'<div class="drawn">{with_page_colours(svg(figure).decode())}</div>'

    page = document.with_drawings(drawing)
    texts = []
    for name in STYLE_SHEETS:
        path = finders.find(name)
        if not path or not isinstance(path, str):
            raise ParallaxError(
                "report.no_style", f"The style sheet {name} is missing; restore it from the installation."
            )
        texts.append(Path(path).read_text(encoding="utf-8"))
    styles = mark_safe("\n".join(texts))  # noqa: S308 - our own style sheets
    context = {"document": page, "body": f"analysis/parts/{body}.html", "styles": styles}
    return render_to_string("analysis/file.html", context)


SETUP = r'''```{python}
#| include: false
import csv
import json
import re
from pathlib import Path

from IPython.display import Markdown

report = json.loads(Path("report.json").read_text(encoding="utf-8"))


def table(name):
    """A table of the report, as Markdown."""
    with (Path("tables") / name).open(encoding="utf-8", newline="") as file:
        heads, *rows = csv.reader(file)

    def shown(cell):
        try:
            number = float(cell)
        except ValueError:
            return re.sub(r"([\\`*_{}\[\]<>#|~^$@])", r"\\\1", cell)
        return cell if number.is_integer() and "e" not in cell else f"{number:.3f}"

    lines = [map(shown, heads), ["---"] * len(heads), *(map(shown, row) for row in rows)]
    return Markdown("\n".join("| " + " | ".join(line) + " |" for line in lines))
```
'''


def report_quarto(document: Document, badges: list[str]) -> str:
    """The source: the sentences of the report, with figures and tables by their file names."""
    report = document.report
    # JSON is YAML: a title with a colon or quotes needs no rules of its own.
    head = {
        "title": escaped(report.study.title),  # Quarto reads it as Markdown
        "subtitle": f"Report {report.number}, created by Parallax",
        "date": report.created_at.date().isoformat(),
        "lang": "en",
    }
    lines = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in head.items()]
    parts = ["\n".join(["---", *lines, f"{QUARTO_OPTIONS}---", ""]), SETUP]
    parts += [f"::: {{.callout-warning}}\n{sentence(badge)}\n:::\n" for badge in badges]
    parts.append(f"**{escaped(''.join(run.text for run in document.headline))}.**\n")
    parts += [f"{sentence(text)}\n" for text in (*document.evidence, document.scope, *document.limits) if text]
    for section in document.all_sections:
        parts.append(f"# {escaped(section.title)} {{#sec-{section.key}}}\n")
        for block in section.blocks:
            parts += _block(block)
    parts.append(
        "# Source\n\nThe numbers come from `report.json`, inputs "
        f'`{report.inputs_hash}`: `{{python}} report["inputs_hash"]`.\n'
    )
    return "\n".join(parts)


def _block(block: Block) -> list[str]:
    if block.heading:
        return [f"## {escaped(block.heading)}\n"]
    if block.figures:
        return [f"![{sentence(figure.caption)}]({figure.file}){{#fig-{figure.key}}}\n" for figure in block.figures]
    if block.table is not None:
        if block.is_folded:
            return []
        key = block.table.key
        label = f"#| label: tbl-{key}\n#| tbl-cap: {json.dumps(escaped(block.table.title), ensure_ascii=False)}"
        return [f'```{{python}}\n{label}\ntable("{key}.csv")\n```\n']
    return [f"{sentence(block.text)}\n"]


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
