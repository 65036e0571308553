"""Rows that tests make over and over are made once by the real services, and written again as they were.

A finished run costs a training and an evaluation; hundreds of tests need one and change nothing about how it is made.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.apps import apps
from django.conf import settings
from django.core.files.storage import storages
from django.core.management.color import no_style
from django.db import connection, models

from core.artefacts import is_folder

DIGEST = re.compile(r"[0-9a-f]{64}")
State = tuple[int, ...]


@dataclass(frozen=True)
class Recording:
    """What a call added: the rows of each table, the artefacts they name, and the key of the row it returned."""

    rows: tuple[tuple[type[models.Model], tuple[str, ...], tuple[tuple[Any, ...], ...]], ...]
    files: tuple[tuple[Path, int, int], ...]  # of the artefacts that the rows name, with their times and sizes
    returned: int


_recordings: dict[tuple[Any, ...], Recording] = {}


def replayed(
    model: type[models.Model], labels: Sequence[str], key: tuple[Any, ...], make: Callable[[], models.Model]
) -> Any:
    """Return what `make()` returns, a row of `model`; where the database is as it was at an earlier call with the same
    `key`, write the rows that call added and do not make them again.

    `labels` are the apps whose tables `make` writes to.
    """
    if not is_folder(storages["artefacts"]):  # recordings hold the paths of files
        return make()
    tables = _tables(labels)
    before = _last_keys(tables)
    place = (model, *key, before, settings.NUMERIC_THREADS, str(settings.STORAGES["artefacts"]))
    recording = _recordings.get(place)
    if recording is not None and recording.files == tuple(map(_stamp, (path for path, *_ in recording.files))):
        _write(recording)
        return model._default_manager.get(pk=recording.returned)
    row = make()
    _recordings[place] = _record(tables, before, row.pk)
    return row


def _tables(labels: Sequence[str]) -> list[type[models.Model]]:
    """The models of the apps, and the tables between them; each after those it refers to."""
    return [model for label in labels for model in apps.get_app_config(label).get_models(include_auto_created=True)]


def _last_keys(tables: Sequence[type[models.Model]]) -> State:
    """The last key of each table, 0 where it is empty."""
    return tuple(_last_key(model) for model in tables)


def _last_key(model: type[models.Model]) -> int:
    with connection.cursor() as cursor:
        quote = connection.ops.quote_name
        cursor.execute(f"SELECT MAX({quote(_key_column(model))}) FROM {quote(model._meta.db_table)}")  # noqa: S608 (names of models)
        return cursor.fetchone()[0] or 0


def _key_column(model: type[models.Model]) -> str:
    assert model._meta.pk is not None
    return str(model._meta.pk.column)


def _record(tables: Sequence[type[models.Model]], before: State, returned: int) -> Recording:
    rows = []
    named: set[str] = set()
    quote = connection.ops.quote_name
    for model, last in zip(tables, before, strict=True):
        columns = tuple(field.column for field in model._meta.local_concrete_fields)
        key = quote(_key_column(model))
        with connection.cursor() as cursor:
            cursor.execute(
                f"SELECT {', '.join(map(quote, columns))} FROM {quote(model._meta.db_table)} "  # noqa: S608 (names of models)
                f"WHERE {key} > %s ORDER BY {key}",
                [last],
            )
            added = tuple(map(tuple, cursor.fetchall()))
        if added:
            rows.append((model, columns, added))
            named.update(_digests(added))
    return Recording(tuple(rows), tuple(map(_stamp, _files(named))), returned)


def _digests(rows: Sequence[Sequence[Any]]) -> Iterator[str]:
    for row in rows:
        for value in row:
            if isinstance(value, str):
                yield from DIGEST.findall(value)


def _files(digests: set[str]) -> list[Path]:
    """The artefacts' files; a test that damages or deletes some must not reach the next."""
    folders = Path(storages["artefacts"].path("")).glob("*/*")
    return sorted(file for folder in folders if folder.name in digests for file in folder.iterdir())


def _stamp(path: Path) -> tuple[Path, int, int]:
    if not path.exists():
        return path, 0, 0
    status = path.stat()
    return path, status.st_mtime_ns, status.st_size


def _write(recording: Recording) -> None:
    quote = connection.ops.quote_name
    with connection.cursor() as cursor:
        for model, columns, added in recording.rows:
            cursor.executemany(
                f"INSERT INTO {quote(model._meta.db_table)} ({', '.join(map(quote, columns))}) "  # noqa: S608 (names of models)
                f"VALUES ({', '.join(['%s'] * len(columns))})",
                added,
            )
        for statement in connection.ops.sequence_reset_sql(no_style(), [model for model, _, _ in recording.rows]):
            cursor.execute(statement)
