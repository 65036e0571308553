"""The budget of the main report, counted on the sample study: seven algorithms, twelve simulated participants each."""

from __future__ import annotations

import json
import re
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from analysis.files import document as documents
from analysis.files.document import KEYS, Document, document_of
from analysis.files.formats import report_pdf
from analysis.models import Report
from analysis.results.codec import decode
from analysis.results.report import Results
from charting import render
from documents.blocks import Figure
from tests.approval import assert_approved
from tests.report_text import words_of_chapter

SAMPLE = Path(__file__).parents[1] / "data" / "sample_verdict.json"
MOST_TABLES, MOST_FIGURES, MOST_WORDS, MOST_PAGES = 12, 7, 3500, 12


@pytest.fixture(scope="module")
def document() -> Document:
    """The sample report as a document, from its stored numbers."""
    results = decode(Results, json.loads(SAMPLE.read_text(encoding="utf-8")))
    facts = {
        "mode": "simulated", "is_pilot": False, "number": 1, "analysis": None, "inputs_hash": "0" * 64,
        "created_at": datetime(2026, 11, 28, tzinfo=UTC), "study": SimpleNamespace(title="Sample", slug="sample"),
        "read_results": lambda: results, "read_provenance": lambda: SimpleNamespace(is_dataset_synthetic=True),
        "read_plan": lambda: None,
    }  # fmt: skip
    patch = pytest.MonkeyPatch()
    patch.setattr(documents.method, "provenance_section", lambda *_: documents.Section("provenance", "Provenance"))
    try:
        return document_of(cast(Report, SimpleNamespace(**facts)))
    finally:
        patch.undo()


def tables_of(document: Document) -> list[str]:
    """The tables of the main report: the pairs of the first screen, and those of its sections."""
    grid = document.pairs.blocks[0].figures[0]
    assert grid.table is not None
    shown = [block.table.key for section in document.main_sections for block in section.blocks if block.table]
    return [grid.table.key, *shown]


def figures_of(document: Document) -> list[Figure]:
    return [figure for section in document.main_sections for block in section.blocks for figure in block.figures]


def words_of(document: Document) -> int:
    """Words that are read: sentences, headings, captions, titles and notes, without the cells of tables."""
    texts = ["".join(run.text for run in document.headline), *document.evidence, document.scope, *document.limits]
    texts += [f"{fact.heading} {fact.number} {fact.evidence}" for fact in document.facts]
    for section in document.main_sections:
        texts.append(section.title)
        for block in section.blocks:
            texts += [block.text, block.heading, *block.points]
            texts += [f"{figure.caption} {figure.spec['usermeta']['title']}" for figure in block.figures]
            if block.table is not None:
                texts += [block.table.title, block.table.note, *(column.name for column in block.table.columns)]
    return sum(len(re.findall(r"\S+", text)) for text in texts)


@pytest.mark.integration
def test_the_main_report_keeps_its_budget(document: Document) -> None:
    tables = tables_of(document)
    assert tables == [
        "pairs", "both-sides", "measures", "tests", "table-1", "table-2", "advantage", "exploratory", "flow", "sample",
        "plan",
    ]  # fmt: skip
    assert len(tables) + 1 <= MOST_TABLES  # a study with exclusions has one more
    assert [figure.key for figure in figures_of(document)] == [
        "pairs", "slope", "scatter", "forest-accuracy", "box-accuracy", "bars-recall", "alternatives",
    ]  # fmt: skip
    assert len(figures_of(document)) <= MOST_FIGURES
    assert words_of(document) <= MOST_WORDS


def test_every_table_and_figure_stands_once(document: Document) -> None:
    tables = [
        block.table.key for section in document.all_sections for block in section.blocks if block.table is not None
    ]
    assert sorted(tables) == sorted(set(tables))
    keys = [figure.key for figure in document.figures()]
    assert sorted(keys) == sorted(set(keys))


@pytest.mark.parametrize("key", KEYS)
def test_the_words_of_each_chapter_are_approved(document: Document, key: str) -> None:
    (chapter,) = [chapter for chapter in document.chapters if chapter.key == key]
    assert_approved(f"chapter-{key}", words_of_chapter(chapter))


def test_what_the_specification_drops_is_nowhere(document: Document) -> None:
    dropped = (
        r"rank-probabilities|^metrics$|^comparisons$|matrix-values|-intervals$|by-algorithm|crossed|robustness|^signs"
    )
    assert not [table.key for table in document.tables() if re.search(dropped, table.key)]


@pytest.mark.slow
def test_the_printed_report_has_few_pages(document: Document, poppler: None, tmp_path: Path) -> None:
    file = tmp_path / "report.pdf"
    file.write_bytes(report_pdf(document, lambda figure: render.svg_as_pdf(render.svg(cast(Any, figure.spec)))))
    facts = subprocess.run(["pdfinfo", str(file)], capture_output=True, text=True, check=True).stdout
    pages = re.search(r"Pages:\s+(\d+)", facts)
    assert pages is not None
    assert int(pages[1]) <= MOST_PAGES
