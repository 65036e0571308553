"""Tables as data: every cell has the text that is printed and the value that a CSV holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Generic, Literal, TypeVar

T = TypeVar("T")
Side = Literal["", "perceived", "objective"]
Value = str | int | float | bool | None


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


def text(value: str) -> Cell:
    """A cell of words."""
    return Cell(value, value)


@dataclass(frozen=True)
class _ColumnOf(Generic[T]):
    """A column with the cell of each thing that has a row."""

    name: str
    cell: Callable[[T], Cell | str]
    side: Side = ""
    is_number: ClassVar[bool] = False


class Words(_ColumnOf[T]):
    """A column of words."""


class Numbers(_ColumnOf[T]):
    """A column of numbers."""

    is_number = True


def table(
    key: str,
    title: str,
    things: Iterable[T],
    *columns: _ColumnOf[T],
    note: str = "",
    group_name: str = "",
    group: Callable[[T], str] = lambda _thing: "",
    is_quiet: Callable[[T], bool] = lambda _thing: False,
) -> Table:
    """A table with a row for each thing, declared by its columns.

    Examples
    --------
    >>> lengths = table("n", "Lengths", ["a", "bcd"], Words("Word", str), Numbers("n", lambda word: str(len(word))))
    >>> [[cell.text for cell in row.cells] for row in lengths.rows]
    [['a', '1'], ['bcd', '3']]
    """
    rows = tuple(
        Row(_cells([column.cell(thing) for column in columns]), group(thing), is_quiet(thing)) for thing in things
    )
    heads = tuple(Column(column.name, column.is_number, column.side) for column in columns)
    return Table(key, title, heads, rows, note, group_name)


def _cells(values: Iterable[str | Cell]) -> tuple[Cell, ...]:
    return tuple(value if isinstance(value, Cell) else text(value) for value in values)


def plain_table(
    key: str, title: str, names: Sequence[str], rows: Sequence[Sequence[str | Cell]], *, is_words: bool = False
) -> Table:
    """A table whose first column names the row; the other columns hold numbers, or words with `is_words`.

    Examples
    --------
    >>> plain_table("recall", "Recall", ["", "N = 5"], [["TopPop", ".266"]]).columns[1]
    Column(name='N = 5', is_number=True, side='')
    """
    columns = tuple(Column(name, is_number=index > 0 and not is_words) for index, name in enumerate(names))
    lines = tuple(Row(_cells(row)) for row in rows)
    return Table(key, title, columns, lines)
