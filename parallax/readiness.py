"""Whether this installation can take requests: database, storage of artefacts and broker can be written; and how many
messages wait in the broker's two queues.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import cache
from os import PathLike
from pathlib import Path

from django.conf import settings
from django.contrib.contenttypes.models import ContentType
from django.core.files.storage import FileSystemStorage, storages
from django.db import DatabaseError, connection, transaction
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import F

from core.errors import ParallaxError

LEAST_FREE = 20 * 2**20  # bytes; with less, the next answers may not be stored
BUSY_SECONDS = 0.02
BROKER_SECONDS = 2.0  # for Redis to answer
BUSY = ("locked", "busy")
UNREACHABLE = "The database cannot be reached."
UNWRITABLE = "The database cannot be written. The disk may be full, or the file or server read-only."


def reasons_against() -> list[str]:
    """Why requests cannot be served, in sentences without secrets; empty where they can be."""
    checks: tuple[Callable[[], Iterator[str]], ...] = (check_disk, check_artefacts, check_broker, check_database)
    return [reason for check in checks for reason in check()]


def check_disk() -> Iterator[str]:
    """The disk of PARALLAX_VAR has space left."""
    if shutil.disk_usage(settings.VAR_DIR).free < LEAST_FREE:
        yield f"The disk of PARALLAX_VAR has less than {LEAST_FREE // 2**20} MB left."


def check_artefacts() -> Iterator[str]:
    """A file can be written where artefacts are stored; a storage elsewhere is not asked, as it may be slow."""
    storage = storages["artefacts"]
    # The question comes every few seconds, and a slow bucket would make a healthy server look dead.
    if not isinstance(storage, FileSystemStorage):
        return
    if not _is_writable(storage.location):
        yield "The folder of artefacts cannot be written."


def check_broker() -> Iterator[str]:
    """Messages to workers can be sent."""
    try:
        count_messages()
    except ParallaxError as problem:
        yield f"Work cannot be given to workers: {problem}"
        return
    if not settings.REDIS_URL and not _is_writable(message_folder()):
        yield "Work cannot be given to workers: the folder of messages cannot be written."


def _is_writable(folder: PathLike[str] | str) -> bool:
    """Whether a file can be written there; workers and listings pass over its name."""
    try:
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".part-ready-") as probe:
            # A full disk still creates empty files; only written bytes show that there is room.
            probe.write(bytes(4096))
            probe.flush()
    except OSError:
        return False
    return True


def check_database() -> Iterator[str]:
    """The database has every migration of this code, and a row can be written."""
    try:
        is_migrated = _leaf_migrations() <= set(MigrationRecorder(connection).applied_migrations())
    except DatabaseError:
        # Without the error's own text, which may name hosts and accounts: the page is open to everyone.
        yield UNREACHABLE
        return
    if not is_migrated:
        yield "The database lacks migrations. Run `.venv/bin/python manage.py migrate`."
        return
    try:
        _write()
    except (DatabaseError, sqlite3.Error) as problem:
        if not any(word in str(problem) for word in BUSY):  # another process is writing it
            yield UNWRITABLE


@cache
def _leaf_migrations() -> frozenset[tuple[str, str]]:
    """The last migration of each app in this code; of a squashed one the last that it replaces, which every database
    records."""
    loader = MigrationLoader(None)
    last = [(leaf, loader.disk_migrations[leaf].replaces) for leaf in loader.graph.leaf_nodes()]
    return frozenset(replaced[-1] if replaced else leaf for leaf, replaced in last)


def _write() -> None:
    """Write a row as it is, and commit: only that shows that the disk takes it."""
    if connection.vendor == "sqlite":
        # Through a connection of its own, which does not wait long for other writers.
        file = Path(connection.settings_dict["NAME"])
        with closing(sqlite3.connect(f"{file.as_uri()}?mode=rw", uri=True, timeout=BUSY_SECONDS)) as database, database:
            database.execute("UPDATE django_content_type SET model = model WHERE id = 1")
        return
    with transaction.atomic():
        ContentType.objects.filter(pk=1).update(model=F("model"))


def count_messages() -> int:
    """How many messages wait for a worker. Raises ParallaxError `broker.no_answer`."""
    if not settings.REDIS_URL:
        try:
            return sum(1 for _ in message_folder().iterdir())
        except OSError as problem:
            raise ParallaxError(
                "broker.no_answer", f"The folder {message_folder()} cannot be read: {problem.strerror}."
            ) from problem
    from redis import Redis  # noqa: PLC0415 -- only where it is used
    from redis.exceptions import RedisError  # noqa: PLC0415

    try:
        with Redis.from_url(
            str(settings.REDIS_URL), socket_timeout=BROKER_SECONDS, socket_connect_timeout=BROKER_SECONDS
        ) as server:
            return sum(int(server.llen(queue.name)) for queue in settings.CELERY_TASK_QUEUES)
    except (RedisError, OSError) as problem:
        raise ParallaxError("broker.no_answer", f"Redis does not answer ({type(problem).__name__}).") from problem


def message_folder() -> Path:
    """The folder of waiting messages, without Redis."""
    return Path(str(settings.CELERY_BROKER_TRANSPORT_OPTIONS["data_folder_in"]))
