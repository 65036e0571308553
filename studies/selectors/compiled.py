"""Queries whose SQL is written once: Django takes longer over that than the database over the answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from django.db import connection
from django.db.models import Model, QuerySet

Row = TypeVar("Row", bound=Model)


class Compiled(Generic[Row]):
    """A query by plain values, asked at every request.

    `build` makes the queryset of its values; it has to use each of them once, in their order, and may use no
    constants. The rows are what the queryset would give; annotations come as the database driver has them.
    """

    def __init__(self, build: Callable[..., QuerySet[Row]]) -> None:
        self._build = build
        self._written: dict[str, tuple[type[Row], str]] = {}

    def rows(self, *values: int | str) -> list[Row]:
        """Return the rows for these values."""
        if connection.vendor not in self._written:
            queryset = self._build(*values)
            sql, parameters = queryset.query.get_compiler(connection=connection).as_sql()
            if tuple(parameters) != values:
                raise ValueError(f"This query has other parameters than its values: {parameters!r}, {values!r}.")
            self._written[connection.vendor] = (queryset.model, sql)
        model, sql = self._written[connection.vendor]
        found: Any = model._base_manager.raw(sql, values)
        return list(found)

    def row(self, *values: int | str) -> Row | None:
        """Return the one row for these values, or None."""
        found = self.rows(*values)
        return found[0] if found else None
