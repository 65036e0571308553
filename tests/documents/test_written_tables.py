"""Tables and sentences as Markdown and LaTeX: nothing in them is read as markup, and what APA asks stands there."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from analysis.present.words import decimal, probability
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
    for words in (r"\toprule", r"\midrule", r"\bottomrule", r"\caption{Means of Città \& Co\_1 \#2 \$5 100"):
        assert words in made
    assert made.index(r"\caption") < made.index(r"\begin{tabular}") < made.index(r"\textit{Note.}")
    assert r"\multicolumn{3}{@{}l}{\textit{Others \& more}} \\*" in made
    assert r"{}[LSA] & -- & .040 \\" in made
    assert r"\ensuremath{-}0.50 & \textless{}~.001" in made or r"\ensuremath{-}0.50 & \textless{} .001" in made
    assert r"\textit{p}, Holm" in made
    assert not re.search(r"(?<!\\)[#$]|[τΩ−−]", "\n".join(line for line in made.splitlines() if line[:1] != "%"))


@pytest.mark.parametrize(
    ("columns", "rows", "expected"),
    [
        (3, 2, (r"\begin{table}", "{\\normalsize", r"\begin{tabular}{@{}lrr@{}}")),
        (12, 2, (r"\begin{table}", "{\\footnotesize", r"\begin{tabular}")),
        (30, 2, (r"\begin{landscape}", r"\begin{longtable}", r"\end{landscape}")),
        (3, 90, (r"\begin{longtable}{@{}lrr@{}}", r"\endhead")),
    ],
)
def test_latex_of_every_size_is_read_into_a_paper(
    columns: int, rows: int, expected: tuple[str, ...], tmp_path: Path
) -> None:
    table = Table(
        "table-2",
        "Table 2. Offline metrics & more",
        (Column("Algorithm"), *(Column(f"N{number}", True) for number in range(columns - 1))),
        tuple(Row((text(f"row {row}"), *(decimal(0.125) for _ in range(columns - 1)))) for row in range(rows)),
        "A note, p = .030.",
    )
    made = latex.table_latex(table, 3, "Simulated participants.")
    for words in (
        *expected,
        r"\caption{Offline metrics \& more}\label{tab:offline-metrics-more}",
        "Simulated participants.",
    ):
        assert words in made
    assert "resizebox" not in made
    begun = re.findall(r"\\begin\{(\w+)\}", made)
    assert sorted(begun) == sorted(re.findall(r"\\end\{(\w+)\}", made))
    rest = re.sub(r"\\[\\&%$#_{}]", "", made)
    assert rest.count("{") == rest.count("}")
    if (engine := shutil.which("pdflatex") or shutil.which("tectonic")) is None:
        return  # its structure is all that can be checked here
    packages = re.search(r"\\usepackage\{[a-z,]+\}", made)
    assert packages is not None
    paper = rf"\documentclass{{article}}{packages.group()}\begin{{document}}\input{{table}}\end{{document}}"
    (tmp_path / "table.tex").write_text(made)
    (tmp_path / "paper.tex").write_text(paper)
    options = ["-interaction=nonstopmode", "-halt-on-error"] if engine.endswith("pdflatex") else []
    done = subprocess.run([engine, *options, "paper.tex"], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout.decode()
    assert b"Overfull \\hbox" not in done.stdout


def test_latex_breaks_long_words_of_a_table_that_is_too_wide() -> None:
    words = "NNCosNgr, AsySVD, CorNgr, PureSVD50, PureSVD300, TopPop, LSA"
    columns = (Column("Algorithms"), Column("Accuracy"), Column("Novelty"))
    made = latex.table_latex(Table("t", "T", columns, (Row((text("Maximal"), text(words), text(words))),)), 1)
    shares = [float(share) for share in re.findall(r"p\{([.\d]+)\\linewidth\}", made)]
    assert len(shares) == 2
    assert 0.7 < sum(shares) < 0.9
    assert r"\begin{table}" in made


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
