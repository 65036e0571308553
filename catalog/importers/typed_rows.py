"""Rows that are read one by one, collected as typed columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catalog.importers.layout import Kind, Stretches

TYPES: dict[Kind, Any] = {"whole": np.int64, "time": np.int64, "number": np.float64}


class TypedRows:
    """Columns of the given kinds that grow by one row at a time.

    Examples
    --------
    >>> rows = TypedRows({"user": "id", "rating": "number"})
    >>> rows.add(["u1", 4.5], line=2)
    >>> rows.columns()["rating"], rows.lines().line(0)
    (array([4.5]), 2)
    """

    def __init__(self, kinds: Mapping[str, Kind]) -> None:
        self._kinds = kinds
        self._values: list[list[Any]] = [[] for _ in kinds]
        self._lines: list[int] = []

    def add(self, row: Iterable[Any], *, line: int) -> None:
        """Add one value for each column, in order, and the line of the row."""
        for values, value in zip(self._values, row, strict=True):
            values.append(value)
        self._lines.append(line)

    def columns(self) -> dict[str, NDArray[Any]]:
        """The columns: int64 for "whole" and "time", float64 for "number", objects for the others."""
        return {
            name: np.array(values, dtype=TYPES.get(kind, object))
            for (name, kind), values in zip(self._kinds.items(), self._values, strict=True)
        }

    def line_numbers(self) -> NDArray[np.int64]:
        """The line of each row, shape (n_rows,)."""
        return np.array(self._lines, dtype=np.int64)

    def lines(self) -> Stretches:
        """The lines of the rows as stretches."""
        return Stretches.of(self.line_numbers())
