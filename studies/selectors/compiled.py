"""Queries whose SQL is written once: Django takes longer over that than the database over the answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from django.db import connection
from django.db.models import Model, QuerySet

Row = TypeVar("Row", bound=Model)
Converter = Callable[[Any, Any, Any], Any]


@dataclass(frozen=True)
class _Written(Generic[Row]):
    """A query as one kind of database is asked it, and how its columns become a row of the model."""

    model: type[Row]
    sql: str
    fields: tuple[str, ...]
    annotations: tuple[tuple[str, int], ...]  # with the place of their column; they follow the fields
    converters: tuple[tuple[int, Sequence[Converter], Any], ...]

    def row(self, columns: Sequence[Any]) -> Row:
        values = list(columns)
        for place, converters, expression in self.converters:
            for converter in converters:
                values[place] = converter(values[place], expression, connection)
        made = self.model.from_db(connection.alias, self.fields, values[: len(self.fields)])
        for name, place in self.annotations:
            setattr(made, name, values[place])
        return made


class Compiled(Generic[Row]):
    """A query by plain values, asked at every request.

    `build` makes the queryset of its values; it has to use each of them once, in their order, and may use no
    constants. The rows are what the queryset would give, without related rows.
    """

    def __init__(self, build: Callable[..., QuerySet[Row]]) -> None:
        self._build = build
        self._by_vendor: dict[str, _Written[Row]] = {}

    def rows(self, *values: int | str) -> list[Row]:
        """Return the rows for these values."""
        written = self._by_vendor.get(connection.vendor)
        if written is None:
            written = self._by_vendor[connection.vendor] = self._written(values)
        with connection.cursor() as cursor:
            cursor.execute(written.sql, values)
            return [written.row(columns) for columns in cursor.fetchall()]

    def row(self, *values: int | str) -> Row | None:
        """Return the one row for these values, or None."""
        found = self.rows(*values)
        return found[0] if found else None

    def _written(self, values: tuple[int | str, ...]) -> _Written[Row]:
        queryset = self._build(*values)
        compiler: Any = queryset.query.get_compiler(connection=connection)
        sql, parameters = compiler.as_sql()
        if tuple(parameters) != values:
            raise ValueError(f"This query has other parameters than its values: {parameters!r}, {values!r}.")
        places = compiler.klass_info["select_fields"]
        if list(places) != list(range(len(places))):
            raise ValueError("The columns of this query's model do not come first.")
        fields = tuple(compiler.select[place][0].target.attname for place in places)
        found = compiler.get_converters(expression for expression, *_rest in compiler.select)
        converters = tuple((place, tuple(each), expression) for place, (each, expression) in found.items())
        return _Written(queryset.model, sql, fields, tuple(compiler.annotation_col_map.items()), converters)
