"""Tables as data: cells with the text that is printed and the value behind it, so that one serves page and CSV."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from inference import apa

Side = Literal["", "perceived", "objective"]
Value = str | int | float | bool | None
NONE = "–"


@dataclass(frozen=True)
class Column:
    """One column: its heading, whether it holds numbers, and which side it is of."""

    name: str
    is_number: bool = False
    side: Side = ""


@dataclass(frozen=True)
class Cell:
    """What is printed, and what a CSV holds."""

    text: str
    value: Value


@dataclass(frozen=True)
class Row:
    """One line; rows of one `group` (a tier, say) stand under its name."""

    cells: tuple[Cell, ...]
    group: str = ""
    is_quiet: bool = False


@dataclass(frozen=True)
class Table:
    """A table with its title, and what has to be known to read it."""

    key: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    note: str = ""
    group_name: str = ""

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self.columns)

    def printed(self) -> list[tuple[Row, list[tuple[Column, Cell]]]]:
        """Every row with its cells beside their columns."""
        return [(row, list(zip(self.columns, row.cells, strict=True))) for row in self.rows]


def text(value: str) -> Cell:
    """A cell of words."""
    return Cell(value, value)


def whole(value: int | None) -> Cell:
    """A cell with a count.

    Examples
    --------
    >>> whole(1200).text, whole(None).text
    ('1,200', '–')
    """
    return Cell(NONE if value is None else f"{value:,}", value)


def written(value: float, digits: int = 2, is_share: bool = False) -> str:
    """A number as readers of papers expect it; no leading zero for what cannot exceed 1, and a true minus.

    Examples
    --------
    >>> written(0.294, 3, is_share=True), written(-0.5), written(0.5)
    ('.294', '−0.50', '0.50')
    """
    made = apa.share(value, digits) if is_share else apa.number(value, digits)
    return made.replace("-", "−")


def decimal(value: float | None, digits: int = 2, is_share: bool = False) -> Cell:
    """A cell with a number."""
    return Cell(NONE if value is None else written(value, digits, is_share), value)


def probability(p: float | None) -> Cell:
    """A cell with a p value, under a heading that says p.

    Examples
    --------
    >>> probability(0.0391).text, probability(0.00002).text, probability(None).text
    ('.039', '< .001', '–')
    """
    return Cell(NONE if p is None else p_alone(p), p)


def p_alone(p: float) -> str:
    """A p value without its letter."""
    return apa.p_value(p).removeprefix("p ").removeprefix("= ")


def interval(low: float | None, high: float | None, digits: int = 2, is_share: bool = False) -> Cell:
    """A cell with a confidence interval.

    Examples
    --------
    >>> interval(-0.1, 0.25).text
    '−0.10 to 0.25'
    """
    if low is None or high is None:
        return Cell(NONE, None)
    shown = f"{written(low, digits, is_share)} to {written(high, digits, is_share)}"
    return Cell(shown, f"{low!r} {high!r}")


def share_cell(part: float | None) -> Cell:
    """A cell with a share in percent.

    Examples
    --------
    >>> share_cell(0.256).text
    '26 %'
    """
    return Cell(NONE if part is None else f"{100 * part:.0f} %", part)


def listed(names: Sequence[str], last: str = "and") -> str:
    """Names in a sentence; `last` stands before the last.

    Examples
    --------
    >>> listed(["A", "B", "C"]), listed(["A"]), listed([])
    ('A, B and C', 'A', 'nobody')
    """
    if not names:
        return "nobody"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {last} {names[-1]}"
