"""A private folder for data that are not encrypted, and the lock of the commands that use it."""

from __future__ import annotations

import fcntl
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings

PREFIX = "backup-"


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """A folder that is deleted at the end. One process at a time has one; folders of killed processes are deleted."""
    with (Path(settings.VAR_DIR) / "backup.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for abandoned in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
            shutil.rmtree(abandoned, ignore_errors=True)
        with tempfile.TemporaryDirectory(prefix=PREFIX) as folder:
            yield Path(folder)
