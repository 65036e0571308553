"""Workers that are running on this machine: each holds locks that end with its process."""

from __future__ import annotations

import fcntl
import json
import os
import socket
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from django.conf import settings

from core.code_digest import code_digest

_lock_files: list[IO[str]] = []


@dataclass(frozen=True)
class RunningWorker:
    """A worker of the installation's queues: its process and the digest of its code (`core.code_digest`)."""

    host: str
    pid: int
    code: str


def lock_file() -> Path:
    """The lock file that the installation's workers share."""
    return Path(settings.VAR_DIR) / f"{settings.CELERY_TASK_DEFAULT_QUEUE}-workers.lock"


def hold_worker_lock() -> None:
    """Register this process as a worker until it ends."""
    file = lock_file().open("a")
    fcntl.flock(file, fcntl.LOCK_SH)
    worker = RunningWorker(socket.gethostname(), os.getpid(), code_digest())
    _folder().mkdir(exist_ok=True)
    entry = (_folder() / f"{worker.host}-{worker.pid}.json").open("w")
    fcntl.flock(entry, fcntl.LOCK_EX)
    entry.write(json.dumps(asdict(worker)))
    entry.flush()
    _lock_files.extend((file, entry))


def is_worker_running() -> bool:
    """Whether any process holds the lock."""
    with lock_file().open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def running_workers() -> Iterator[RunningWorker]:
    """The running workers that share `PARALLAX_VAR` on this machine; entries of ended ones are deleted."""
    for path in sorted(_folder().glob("*.json")):
        with path.open() as entry:
            try:
                fcntl.flock(entry, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                yield RunningWorker(**json.loads(entry.read()))
            else:
                path.unlink(missing_ok=True)


def _folder() -> Path:
    return Path(settings.VAR_DIR) / f"{settings.CELERY_TASK_DEFAULT_QUEUE}-workers"
