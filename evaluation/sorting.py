"""Sortable columns of tables: the order that a query asks for, and the links of the column heads."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import urlencode

DECIMALS = 3  # values are sorted as they are printed
Row = TypeVar("Row")


@dataclass(frozen=True)
class Head:
    """A column head: the link that sorts by it, and how the table is sorted by it now (for ``aria-sort``); `note` says
    what is averaged.
    """

    text: str
    link: str
    sorted_as: str  # "ascending", "descending", or empty
    note: str = ""

    @property
    def sign(self) -> str:
        """An arrow for the eye; empty if the table is not sorted by this column."""
        return {"ascending": "↑", "descending": "↓"}.get(self.sorted_as, "")


class Sorting:
    """The order of a table by a column, best first; ``sort=-column`` is the opposite.

    `query` is that of the page, `columns` the keys that can be sorted by; of those in `lower_first` lower is better, or
    they begin with A.
    """

    def __init__(
        self, query: Mapping[str, str], columns: Collection[str], lower_first: Collection[str] = ("label",)
    ) -> None:
        requested = query.get("sort", "")
        self._rest = {name: value for name, value in query.items() if name not in ("sort", "page")}
        self._lower_first = lower_first
        self.is_reversed = requested.startswith("-")
        self.key = requested.removeprefix("-") if requested.removeprefix("-") in columns else ""

    @property
    def is_descending(self) -> bool:
        """Whether the column that the table is sorted by descends."""
        return (self.key not in self._lower_first) != self.is_reversed

    def sort_key(self, value: float | None) -> tuple[bool, float]:
        """The key to sort a value by, as it is printed; missing values come last either way.

        Examples
        --------
        >>> sorted([0.1, None, 0.3], key=Sorting({"sort": "recall"}, ["recall"]).sort_key)
        [0.3, 0.1, None]
        """
        if value is None:
            return True, 0.0
        printed = round(value, DECIMALS)
        return False, -printed if self.is_descending else printed

    def arranged(self, rows: Iterable[Row], values: Mapping[str, Callable[[Row], Any]]) -> list[Row]:
        """The rows by the column that the query asks for, else in their own order; `values` has texts or numbers.

        Examples
        --------
        >>> Sorting({"sort": "label"}, ["label"]).arranged(["b", "A"], {"label": lambda row: row})
        ['A', 'b']
        """
        listed = list(rows)
        if (value := values.get(self.key)) is None:
            return listed
        if any(isinstance(value(row), str) for row in listed):
            return sorted(listed, key=lambda row: value(row).casefold(), reverse=self.is_descending)
        return sorted(listed, key=lambda row: self.sort_key(value(row)))

    def head(self, key: str, text: str, note: str = "") -> Head:
        """The head of a column; following its link again turns the order."""
        is_current = key == self.key
        turned = f"-{key}" if is_current and not self.is_reversed else key
        link = f"?{urlencode([*self._rest.items(), ('sort', turned)])}"
        return Head(text, link, ("descending" if self.is_descending else "ascending") if is_current else "", note)
