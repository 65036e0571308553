"""Tables as LaTeX with booktabs: number and italic title above, notes below, after APA."""

from __future__ import annotations

import re
import textwrap
from itertools import groupby

from documents.tables import Column, Table
from documents.typeset import pieces

LONG = 40  # rows; a longer table breaks over pages
LINE = 74  # characters that fit on a line of print; a longer table is set smaller
HEADING = 16  # characters of a heading on one line
WIDE = 36  # characters; a longer cell of words breaks over lines
PREAMBLE = (
    "% In the preamble: \\usepackage{booktabs,longtable,array,graphicx}\n"
    "% and \\usepackage[labelfont=bf,textfont=it,labelsep=newline,justification=raggedright,"
    "singlelinecheck=false]{caption}\n"
)
_SIGNS = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\textquotedbl{}", "@": r"{@}",
    "−": r"\ensuremath{-}", "×": r"\ensuremath{\times}", "≥": r"\ensuremath{\geq}", "≤": r"\ensuremath{\leq}",
    "≻": r"\ensuremath{\succ}", "²": r"\textsuperscript{2}", "†": r"\dag{}", "–": "--", "…": r"\ldots{}",
    "“": "``", "”": "''", "’": "'", "‘": "`", "\u00a0": "~", "⊥": r"\ensuremath{\perp}",
    "α": r"\ensuremath{\alpha}", "β": r"\ensuremath{\beta}", "ε": r"\ensuremath{\varepsilon}",
    "η": r"\ensuremath{\eta}", "κ": r"\ensuremath{\kappa}", "ρ": r"\ensuremath{\rho}", "τ": r"\ensuremath{\tau}",
    "χ": r"\ensuremath{\chi}", "ω": r"\ensuremath{\omega}", "Ω": r"\ensuremath{\Omega}", "Δ": r"\ensuremath{\Delta}",
}  # fmt: skip
_DIGEST = re.compile(r"\b[0-9a-f]{32,}\b")
_SIGN = re.compile("|".join(re.escape(sign) for sign in _SIGNS))


def escaped(text: str) -> str:
    r"""Text that LaTeX prints as it is, by any of its engines.

    Examples
    --------
    >>> print(escaped("50% of #1_a & τ"))
    50\% of \#1\_a \& \ensuremath{\tau}
    """
    return _SIGN.sub(lambda match: _SIGNS[match.group()], text)


def sentence(text: str) -> str:
    """A sentence with its statistics in italics."""
    line = ""
    for piece in pieces(text):
        words = escaped(piece.text).replace(r"\ensuremath{\tau}\_b", r"\ensuremath{\tau_b}")
        line += rf"\textit{{{words}}}" if piece.is_italic else words
    return line


def table_latex(table: Table, number: int, remark: str = "") -> str:
    """A table as a float, or breaking over pages where it is long; `number` counts the tables of the report."""
    is_long = len(table.rows) > LONG
    columns = "@{}" + "".join(_alignment(table, index) for index in range(table.width)) + "@{}"
    heads = " & ".join(map(_heading, table.columns)) + r" \\"
    caption = rf"\caption{{\textit{{{escaped(table.title)}}}}}\label{{tab:{table.key}}}"
    note = " ".join(part for part in (table.note, remark) if part)
    below = rf"\par\smallskip{{\footnotesize\raggedright\textit{{Note.}} {sentence(note)}\par}}" if note else ""
    body = _body(table)
    is_wide = _characters(table) > LINE
    opening = f"% Table {number} of the report.\n{PREAMBLE}"
    if is_long:
        lines = [
            r"{\scriptsize" if is_wide else "{",
            rf"\begin{{longtable}}{{{columns}}}",
            rf"{caption}\\",
            r"\toprule", heads, r"\midrule", r"\endfirsthead",
            r"\toprule", heads, r"\midrule", r"\endhead",
            r"\bottomrule", r"\endlastfoot",
            *body,
            r"\end{longtable}}",
            below,
        ]  # fmt: skip
    else:
        lines = [
            r"\begin{table}[htbp]", caption, r"\resizebox{\linewidth}{!}{%" if is_wide else "",
            rf"\begin{{tabular}}{{{columns}}}", r"\toprule", heads, r"\midrule", *body, r"\bottomrule",
            r"\end{tabular}}" if is_wide else r"\end{tabular}", below, r"\end{table}",
        ]  # fmt: skip
    return opening + "\n".join(line for line in lines if line) + "\n"


def _characters(table: Table) -> int:
    """Approximate length of the longest line of the table."""
    return sum(
        2 + max([min(len(column.name), HEADING), *(_shown(row.cells[index].text) for row in table.rows)])
        for index, column in enumerate(table.columns)
    )


def _shown(words: str) -> int:
    """Characters of a cell; a long one breaks over lines."""
    return min(len(words), WIDE)


def _heading(column: Column) -> str:
    """A heading; a long one breaks over lines."""
    wrapped = textwrap.wrap(column.name, HEADING, break_long_words=False, break_on_hyphens=False)
    lines = sentence("\n".join(wrapped)).split("\n")
    if len(lines) < 2:
        return lines[0]
    stack = r" \\ ".join(lines)
    return rf"\shortstack[{'r' if column.is_number else 'l'}]{{{stack}}}"


def _alignment(table: Table, index: int) -> str:
    """The alignment of a column; cells of many words break over lines."""
    if table.columns[index].is_number:
        return "r"
    longest = max((len(row.cells[index].text) for row in table.rows), default=0)
    return r"p{0.4\linewidth}" if longest > WIDE else "l"


def _body(table: Table) -> list[str]:
    lines: list[str] = []
    for group, rows in groupby(table.rows, key=lambda row: row.group):
        if table.group_name and group:
            if lines:
                lines.append(r"\addlinespace")
            lines.append(rf"\multicolumn{{{table.width}}}{{@{{}}l}}{{\textit{{{escaped(group)}}}}} \\*")
        lines += [" & ".join(_protected(sentence(cell.text)) for cell in row.cells) + r" \\" for row in rows]
    return lines


def _protected(cell: str) -> str:
    """A cell that LaTeX reads as a cell: a bracket at its start is no option, and a digest may break anywhere."""
    broken = _DIGEST.sub(lambda match: r"\allowbreak ".join(textwrap.wrap(match.group(), 8)), cell)
    return f"{{}}{broken}" if cell.startswith(("[", "*")) else broken
