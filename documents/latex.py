r"""Tables as LaTeX with booktabs, to be read into a paper by ``\input``: title above, notes below, after APA."""

from __future__ import annotations

import re
import textwrap
from itertools import groupby

from documents.tables import Column, Table
from documents.typeset import pieces

LONG = 40  # rows; a longer table breaks over pages
# The characters that fit on a line of print, by size; a longer table has a page of its own, rotated.
SIZES = ((74, r"\normalsize"), (82, r"\small"), (92, r"\footnotesize"), (106, r"\scriptsize"))
HEADING = 16  # characters of a heading on one line
WORDS = 22  # characters; a longer cell of words breaks over lines where the table is too wide
PREAMBLE = "% In the preamble: \\usepackage{array,booktabs,longtable,pdflscape}\n"
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
_NUMBERED = re.compile(r"^Table \d+\. ")  # the number in another paper; LaTeX gives a table its own
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
    """A table in its natural width: as a float, breaking over pages where it is long, turned where it is wide; `number`
    counts the tables of the report.
    """
    size, columns = _layout(table)
    ruled = "\n".join((r"\toprule", " & ".join(map(_heading, table.columns)) + r" \\", r"\midrule"))
    title = _NUMBERED.sub("", table.title)
    # A key such as table-1 is that of a paper that is replicated, and says nothing of the content.
    label = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-") if title != table.title else table.key
    caption = rf"\caption{{{escaped(title)}}}\label{{tab:{label}}}"
    note = " ".join(part for part in (table.note, remark) if part)
    below = rf"\par\smallskip{{\footnotesize\raggedright\textit{{Note.}} {sentence(note)}\par}}" if note else ""
    is_turned, body = not size, _body(table)
    if is_turned or len(table.rows) > LONG:
        lines = [
            r"\begin{landscape}" if is_turned else "",
            rf"{{{size or SIZES[-1][1]}",
            rf"\begin{{longtable}}{{{columns}}}",
            rf"{caption}\\",
            ruled,
            r"\endfirsthead",
            ruled,
            r"\endhead",
            r"\bottomrule",
            r"\endlastfoot",
            *body,
            r"\end{longtable}}",
            below,
            r"\end{landscape}" if is_turned else "",
        ]
    else:
        lines = [
            r"\begin{table}[htbp]",
            caption,
            rf"{{{size}",
            rf"\begin{{tabular}}{{{columns}}}",
            ruled,
            *body,
            r"\bottomrule",
            r"\end{tabular}\par}",
            below,
            r"\end{table}",
        ]
    return f"% Table {number} of the report.\n{PREAMBLE}" + "\n".join(line for line in lines if line) + "\n"


def _layout(table: Table) -> tuple[str, str]:
    """The largest size in which a table fits on a line, and its columns; no size where it fits in none."""
    widths = [
        max(len(text) for text in (*_heading_lines(column), *(row.cells[index].text for row in table.rows)))
        for index, column in enumerate(table.columns)
    ]
    natural = ["r" if column.is_number else "l" for column in table.columns]
    breaking = [not column.is_number and width > WORDS for column, width in zip(table.columns, widths, strict=True)]
    fixed = sum(2 + (0 if breaks else width) for width, breaks in zip(widths, breaking, strict=True))
    for most, size in SIZES:
        if sum(widths) + 2 * table.width <= most:
            return size, f"@{{}}{''.join(natural)}@{{}}"
        if any(breaking) and most - fixed >= WORDS * sum(breaking):
            share = (most - fixed) / sum(breaking) / most
            paragraph = rf">{{\raggedright\arraybackslash}}p{{{share:.2f}\linewidth}}"
            columns = [paragraph if breaks else letter for letter, breaks in zip(natural, breaking, strict=True)]
            return size, f"@{{}}{''.join(columns)}@{{}}"
    return "", f"@{{}}{''.join(natural)}@{{}}"


def _heading_lines(column: Column) -> list[str]:
    """A heading; a long one breaks over lines."""
    return textwrap.wrap(column.name, HEADING, break_long_words=False, break_on_hyphens=False) or [""]


def _heading(column: Column) -> str:
    lines = sentence("\n".join(_heading_lines(column))).split("\n")
    if len(lines) < 2:
        return lines[0]
    stack = r" \\ ".join(lines)
    return rf"\shortstack[{'r' if column.is_number else 'l'}]{{{stack}}}"


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
