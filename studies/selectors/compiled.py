"""Queries whose SQL is written once: Django takes longer over that than the database over the answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from django.db import connection
from django.db.models import Model, QuerySet

Row = TypeVar("Row", bound=Model)
Value = int | str
Converter = Callable[[Any, Any, Any], Any]


@dataclass(frozen=True)
class _Written(Generic[Row]):
    """A query as one kind of database is asked it, and how its columns become a row of the model."""

    model: type[Row]
    sql: str
    fields: tuple[str, ...]
    annotations: tuple[tuple[str, int], ...]  # with the place of their column; they follow the fields
    converters: tuple[tuple[int, Sequence[Converter], Any], ...]

    def values(self, columns: Sequence[Any]) -> list[Any]:
        values = list(columns)
        for place, converters, expression in self.converters:
            for converter in converters:
                values[place] = converter(values[place], expression, connection)
        return values

    def row(self, columns: Sequence[Any]) -> Row:
        values = self.values(columns)
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

    def rows(self, *values: Value) -> list[Row]:
        """Return the rows for these values."""
        written = self._for(values)
        return [written.row(columns) for columns in _asked(written.sql, values)]

    def row(self, *values: Value) -> Row | None:
        """Return the one row for these values, or None."""
        found = self.rows(*values)
        return found[0] if found else None

    def columns(self, *values: Value) -> list[list[Any]]:
        """Return the columns of the rows, in their order, without making rows of the model: in a third of the time."""
        written = self._for(values)
        return [written.values(columns) for columns in _asked(written.sql, values)]

    def _for(self, values: tuple[Value, ...]) -> _Written[Row]:
        written = self._by_vendor.get(connection.vendor)
        if written is None:
            written = self._by_vendor[connection.vendor] = self._written(values)
        return written

    def _written(self, values: tuple[Value, ...]) -> _Written[Row]:
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


def _asked(sql: str, values: tuple[Value, ...]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        found: list[tuple[Any, ...]] = cursor.fetchall()
    return found


class Inserted(Generic[Row]):
    """New rows of a model that has plain fields, whose SQL is written once; no signals are sent."""

    def __init__(self, model: type[Row]) -> None:
        self._model = model
        self._fields = [field for field in model._meta.concrete_fields if not field.primary_key]
        self._sql: dict[str, str] = {}

    def insert(self, row: Row) -> Row:
        """Store a row that is not stored yet, and return it with its key."""
        values = [field.get_db_prep_save(field.pre_save(row, add=True), connection) for field in self._fields]
        with connection.cursor() as cursor:
            cursor.execute(self._sql.get(connection.vendor) or self._written(), values)
            (row.pk,) = cursor.fetchone()
        row._state.adding, row._state.db = False, connection.alias
        return row

    def _written(self) -> str:
        quoted, meta = connection.ops.quote_name, self._model._meta
        names = ", ".join(quoted(str(field.column)) for field in self._fields)
        places = ", ".join(["%s"] * len(self._fields))
        key = quoted(str(meta.pk.column))
        sql = f"INSERT INTO {quoted(meta.db_table)} ({names}) VALUES ({places}) RETURNING {key}"  # noqa: S608 -- names of our own columns
        self._sql[connection.vendor] = sql
        return sql
