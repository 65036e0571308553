"""Documents: every kind of block in every format, and nothing in them is read as markup."""

from __future__ import annotations

import json
import re

import pytest

from documents import html, markdown, pdf
from documents.blocks import Figure, Section
from documents.delimited import table_csv
from documents.tables import Cell, plain_table, text

pytestmark = pytest.mark.unit
SPEC = {"usermeta": {"title": "Recall & more", "description": "Bars", "mode": "light"}, "note": "</script>"}
TABLE = plain_table("recall", "Recall <5>", ("", "N = 5"), [("A|B", Cell(".300", 0.3)), ("=C", "–")])


def section(figure: Figure) -> Section:
    section = Section("all", "All of it", "objective")
    section.say("")
    section.say("1 < 2, p = .03", style="says")
    section.head("Points")
    section.enumerate([])
    section.enumerate(["First", "Second"])
    section.put(TABLE)
    section.put(TABLE, is_folded=True)
    section.draw(None)
    section.draw(figure)
    return section


def test_markdown_has_every_block() -> None:
    opening = Section("introduction", "")
    opening.say("Before.")
    rows = "| :-- | --: |\n| A\\|B | .300 |\n| =C | – |"
    table = f"*Recall \\<5\\>*\n\n|  | *N*\u00a0=\u00a05 |\n{rows}"
    assert markdown.document_markdown("T*", [opening, section(Figure("bars", SPEC))]).split("\n\n## All of it\n\n") == [
        "# T\\*\n\nBefore.",
        "1\u00a0\\<\u00a02, *p*\u00a0=\u00a0.03\n\n### Points\n\n- First\n- Second\n\n"
        f"{table}\n\n{table}\n\n![Recall & more](figures/bars.svg)\n",
    ]


def test_a_figure_is_drawn_or_has_the_specification_that_the_page_draws() -> None:
    drawn = html.figure_html(Figure("bars", SPEC, "Caption, n = 5", TABLE, drawing="<svg></svg>"))
    assert drawn.startswith('<figure class="chart" id="bars">\n<svg></svg>\n<figcaption>Caption, ')
    assert "Caption, <i>n</i>\u00a0=\u00a05</figcaption>" in drawn
    assert '<summary>Data of this figure</summary><div class="scroll table-recall"' in drawn
    open_figure = html.figure_html(Figure("bars", SPEC))
    assert 'data-chart="chart-bars"' in open_figure
    assert "figcaption" not in open_figure
    (script,) = re.findall(r'<script id="chart-bars" type="application/json">(.*?)</script>', open_figure)
    assert json.loads(script)["light"]["note"] == "</script>"


def test_a_page_has_every_block_and_escapes() -> None:
    page = html.page("A & b", "C < d", [section(Figure("bars", SPEC, drawing="<svg></svg>"))])
    for words in (
        "<title>A &amp; b</title>", "<h1>C &lt; d</h1>", '<h2 id="all-title" class="objective">All of it</h2>',
        '<p class="says objective">1\u00a0&lt;\u00a02, <i>p</i>\u00a0=\u00a0.03</p>', "<h3>Points</h3>",
        "<ul><li>First</li><li>Second</li></ul>", "<caption>Recall &lt;5&gt;</caption>",
        '<th scope="row">A|B</th><td class="n">.300</td>',
        '<details class="data-table"><summary>Recall &lt;5&gt;</summary>', '<div class="figures"><figure',
    ):  # fmt: skip
        assert words in page


def test_the_typesetter_has_every_block_but_folded_tables() -> None:
    data = pdf.section_data(section(Figure("bars", SPEC, "Caption")))
    kinds = [block["kind"] for block in data["blocks"]]
    assert kinds == ["says", "heading", "text", "text", "table", "figure"]


def test_csv_has_values_and_texts_as_they_are() -> None:
    assert table_csv(TABLE) == ",N = 5\nA|B,0.3\n'=C,–\n"
    spans = plain_table("spans", "Spans", ("", "CI"), [("A", Cell("[.1, .2]", "0.1 0.2")), ("B", Cell("–", None))])
    assert table_csv(spans) == ',"CI, low","CI, high"\nA,0.1,0.2\nB,,\n'
    words = plain_table("words", "Words", ("", "Word"), [("A", text("b"))], is_words=True)
    assert table_csv(words) == ",Word\nA,b\n"
