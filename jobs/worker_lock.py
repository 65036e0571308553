"""Whether workers are running on this machine, to the moment: each holds a lock that ends with its process."""

from __future__ import annotations

import fcntl
from pathlib import Path
from typing import IO

from django.conf import settings

_lock_files: list[IO[str]] = []


def lock_file() -> Path:
    """The lock file that the installation's workers share."""
    return Path(settings.VAR_DIR) / f"{settings.CELERY_TASK_DEFAULT_QUEUE}-workers.lock"


def acquire_worker_lock() -> None:
    """Register this process as a worker until it ends."""
    file = lock_file().open("a")
    # Shared among workers and released by the system when a process ends, however it ends.
    fcntl.flock(file, fcntl.LOCK_SH)
    _lock_files.append(file)


def is_worker_running() -> bool:
    """Whether any process holds the lock."""
    with lock_file().open("a") as file:
        try:
            # Succeeds only where no worker holds it; closing the file releases it at once.
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False
