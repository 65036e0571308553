"""Queries whose SQL is written once: Django takes longer over that than the database over the answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar

from django.db import connection
from django.db.models import Choices, Model, QuerySet

Row = TypeVar("Row", bound=Model)
Value = int | str
Converter = Callable[[Any, Any, Any], Any]


@dataclass(frozen=True)
class _Written(Generic[Row]):
    """A query as one kind of database is asked it, and how its columns become a row of the model."""

    model: type[Row]
    sql: str
    fields: tuple[str, ...]  # of the model; none where the query is about plain columns
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


class Columns(Generic[Row]):
    """A query by plain values, asked at every request.

    `build` makes the queryset of its values, by `values_list` or of rows; it has to use each of them once, in their
    order (one `filter` takes its arguments by name), and may use no constants.
    """

    def __init__(self, build: Callable[..., QuerySet[Row, Any]]) -> None:
        self._build = build
        self._by_vendor: dict[str, _Written[Row]] = {}

    def columns(self, *values: Value) -> list[list[Any]]:
        """Return the columns of what is found, in their order."""
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
        places = compiler.klass_info["select_fields"] if compiler.klass_info else []
        if list(places) != list(range(len(places))):
            raise ValueError("The columns of this query's model do not come first.")
        fields = tuple(compiler.select[place][0].target.attname for place in places)
        found = compiler.get_converters(expression for expression, *_rest in compiler.select)
        converters = tuple(
            (place, tuple(map(_quicker, each)), expression) for place, (each, expression) in found.items()
        )
        annotations = tuple(compiler.annotation_col_map.items())
        return _Written(queryset.model, sql, fields, annotations, converters)


class Compiled(Columns[Row]):
    """A query for rows of a model: they are what its queryset would give, without related rows.

    `columns` gives what is in them in a third of the time.
    """

    def rows(self, *values: Value) -> list[Row]:
        """Return the rows for these values."""
        written = self._for(values)
        return [written.row(columns) for columns in _asked(written.sql, values)]

    def row(self, *values: Value) -> Row | None:
        """Return the first row for these values, or None."""
        found = self.rows(*values)
        return found[0] if found else None


def _quicker(converter: Converter) -> Converter:
    """Django's converter, or one that does the same without asking the settings about every value."""
    is_moment = connection.vendor == "sqlite" and getattr(converter, "__name__", "") == "convert_datetimefield_value"
    return _moment if is_moment and connection.timezone is UTC else converter


def _moment(written: Any, _expression: Any, _connection: Any) -> datetime | None:
    """A moment as SQLite keeps it, which is in UTC and does not say so; an expression's is text still."""
    if written is None:
        return None
    read: datetime = written if isinstance(written, datetime) else datetime.fromisoformat(written)
    return read.replace(tzinfo=UTC)


def _asked(sql: str, values: tuple[Value, ...]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        # A choice would reach PostgreSQL by its name.
        cursor.execute(sql, [str(value) if isinstance(value, Choices) else value for value in values])
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


class Updated(Generic[Row]):
    """Changes of some plain fields of one row, whose SQL is written once for each set of them; no signals are sent."""

    def __init__(self, model: type[Row]) -> None:
        self._model = model
        self._sql: dict[tuple[str, ...], str] = {}

    def update(self, pk: int, **changes: Any) -> None:
        """Write the changes to the row with that key, if there is one."""
        meta = self._model._meta
        fields = [meta.get_field(name) for name in changes]
        values = [
            field.get_db_prep_save(value, connection)  # type: ignore[union-attr]
            for field, value in zip(fields, changes.values(), strict=True)
        ]
        with connection.cursor() as cursor:
            cursor.execute(self._sql.get((connection.vendor, *changes)) or self._written(*changes), [*values, pk])

    def _written(self, *names: str) -> str:
        quoted, meta = connection.ops.quote_name, self._model._meta
        places = ", ".join(f"{quoted(str(meta.get_field(name).column))} = %s" for name in names)  # type: ignore[union-attr]
        key = quoted(str(meta.pk.column))
        sql = f"UPDATE {quoted(meta.db_table)} SET {places} WHERE {key} = %s"  # noqa: S608 -- names of our own columns
        self._sql[(connection.vendor, *names)] = sql
        return sql
