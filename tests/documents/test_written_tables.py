"""Tables and sentences as Markdown and LaTeX: nothing in them is read as markup, and what APA asks stands there."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from analysis.tables.cells import decimal, probability
from documents import latex, markdown
from documents.tables import Column, Row, Table, text
from documents.typeset import pieces

pytestmark = pytest.mark.unit
NASTY = 'Città & Co_1 #2 $5 100 % {x} ^~ \\ "<b>" *Ω* | [a](b) `c` @d τ_b'
TABLE = Table(
    "means",
    f"Means of {NASTY}",
    (Column("Algorithm"), Column("M", True), Column("p, Holm", True)),
    (
        Row((text(NASTY), decimal(-0.5), probability(0.0004)), group="Primary pair"),
        Row((text("[LSA]"), decimal(None), probability(0.04)), group="Others & more"),
    ),
    "Every p is adjusted, p = .030.",
    "Family",
)


def test_markdown_has_number_italic_title_and_note_and_reads_back_as_it_was() -> None:
    made = markdown.table_markdown(TABLE, 3, "Simulated participants.")
    assert made.startswith("**Table 3**\n\n*Means of Città")
    page = MarkdownIt("commonmark", {"html": False}).enable("table").render(made)
    cells = re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", page)
    assert cells[:4] == ["Family", "Algorithm", "<em>M</em>", "<em>p</em>, Holm"]
    plain = cells[5].replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", '"')
    assert plain.replace("\u00a0", " ") == NASTY.replace("τ_b", "τ<sub>b</sub>")
    assert cells[6:8] == ["−0.50", "&lt; .001"]
    assert "<em>Note.</em> Every p is adjusted, <em>p</em>\u00a0=\u00a0.030. Simulated participants." in page


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zl", "Zp", "Zs"]), min_size=1))
def test_escaped_markdown_prints_what_was_written(words: str) -> None:
    (paragraph,) = re.findall(r"^<p>(.*)</p>$", MarkdownIt().render(f"a{markdown.escaped(words)}z"), re.S)
    for entity, sign in (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&amp;", "&")):
        paragraph = paragraph.replace(entity, sign)
    assert paragraph == f"a{words}z"


def test_latex_has_booktabs_caption_above_note_below_and_no_sign_of_its_own() -> None:
    made = latex.table_latex(TABLE, 3, "Simulated participants.")
    for words in (r"\toprule", r"\midrule", r"\bottomrule", r"\caption{\textit{Means of Città \& Co\_1 \#2 \$5 100"):
        assert words in made
    assert made.index(r"\caption") < made.index(r"\begin{tabular}") < made.index(r"\textit{Note.}")
    assert r"\multicolumn{3}{@{}l}{\textit{Others \& more}} \\*" in made
    assert r"{}[LSA] & -- & .040 \\" in made
    assert r"\ensuremath{-}0.50 & \textless{}~.001" in made or r"\ensuremath{-}0.50 & \textless{} .001" in made
    assert r"\textit{p}, Holm" in made
    assert not re.search(r"(?<!\\)[#$]|[τΩ−−]", "\n".join(line for line in made.splitlines() if line[:1] != "%"))


@given(st.text())
def test_escaped_latex_balances_its_braces_and_comments_nothing_out(words: str) -> None:
    made = re.sub(r"\\[\\&%$#_{}]", "", latex.escaped(words).replace(r"\textbackslash{}", ""))
    assert made.count("{") == made.count("}")
    assert "%" not in made
    assert "#" not in made


def test_long_tables_break_over_pages() -> None:
    rows = tuple(Row((text(f"row {place}"), decimal(1.0), probability(0.5))) for place in range(latex.LONG + 1))
    made = latex.table_latex(Table("long", "Long", TABLE.columns, rows), 1)
    assert made.count(r"\toprule") == 2
    assert made.index(r"\endfirsthead") < made.index(r"\endhead") < made.index("row 0")
    assert r"\begin{table}" not in made


@given(st.text())
def test_pieces_keep_every_word(words: str) -> None:
    joined = "".join(piece.text for piece in pieces(words)).replace("\u00a0", " ")
    assert joined == words.replace("\u00a0", " ")
