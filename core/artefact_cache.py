"""This machine's copies of files in a remote storage: shared by its processes, complete or absent, bounded in size.

Layout of the folder: ``entries/KEY/`` are the copies, and the time of their folder is that of their last use;
``parts/`` holds what is being fetched or deleted; ``locks/`` the locks between processes.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from core.errors import StorageRefused

LOCKS = 64  # entries share so many locks, so that no lock file has to be deleted
EVICTION = "eviction"
TOUCH_SECONDS = 1.0  # between two notes of an entry's use
ABANDONED_SECONDS = 3600.0  # without a change, what is being fetched belongs to a process that is gone


@dataclass(frozen=True)
class ArtefactCache:
    """Copies under a folder, of `limit` bytes at most; the copy that is needed at the moment may exceed it."""

    root: Path
    limit: int

    def folder(self, key: str, fetch: Callable[[Path], None]) -> Path:
        """The folder of an entry. Where it is absent, `fetch` writes its files into an empty folder first; of several
        processes one fetches, and the others wait for it.

        Raises what `fetch` raises; StorageRefused where the cache cannot be written.
        """
        entry = self.root / "entries" / key
        if _note_use(entry):
            return entry
        with self._lock(key):
            if not _note_use(entry):
                with self.new_folder() as part:
                    fetch(part)
                    self.add(key, part)
        return entry

    @contextmanager
    def new_folder(self) -> Iterator[Path]:
        """An empty folder on the file system of the entries, deleted at the end of the block unless it was added."""
        part = Path(tempfile.mkdtemp(dir=self._subfolder("parts")))  # mode 0700
        try:
            yield part
        finally:
            shutil.rmtree(part, ignore_errors=True)

    def add(self, key: str, part: Path) -> None:
        """Turn a complete folder into an entry at once, and delete the entries unused for longest beyond the limit.

        Where another process has added the entry meanwhile, that one stays.
        """
        for file in part.iterdir():
            with file.open("rb") as stream:
                os.fsync(stream.fileno())  # the folder is not renamed before its bytes are on the disk
        try:
            part.rename(self._subfolder("entries") / key)
        except OSError as problem:
            if problem.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
        with self._lock(EVICTION):
            entries = sorted(self._sizes())
            total = sum(size for _, _, size in entries)
            for _, other, size in entries:
                if total <= self.limit:
                    break
                if other != key:
                    self.discard(other)
                    total -= size
        for unfinished in self._subfolder("parts").iterdir():
            with suppress(FileNotFoundError):  # finished or deleted meanwhile
                changed = max(path.stat().st_mtime for path in (unfinished, *unfinished.rglob("*")))
                if changed < time.time() - ABANDONED_SECONDS:
                    shutil.rmtree(unfinished, ignore_errors=True)

    def discard(self, key: str) -> None:
        """Delete an entry; nothing happens where it is absent. Who has its files open keeps them."""
        entry = self.root / "entries" / key
        if entry.exists():
            with self.new_folder() as part, suppress(FileNotFoundError):
                entry.rename(part / "deleted")

    def size(self) -> int:
        return sum(size for _, _, size in self._sizes())

    def _sizes(self) -> Iterator[tuple[float, str, int]]:
        for entry in self._subfolder("entries").iterdir():
            with suppress(FileNotFoundError):  # discarded meanwhile
                used = entry.stat().st_mtime
                yield used, entry.name, sum(file.stat().st_size for file in entry.iterdir())

    @contextmanager
    def _lock(self, name: str) -> Iterator[None]:
        """Hold a lock among all processes and threads of the machine; it ends with the process."""
        if name != EVICTION:
            name = str(int.from_bytes(hashlib.sha256(name.encode()).digest()[:4]) % LOCKS)
        with (self._subfolder("locks") / name).open("ab") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def _subfolder(self, name: str) -> Path:
        folder = self.root / name
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as problem:
            raise StorageRefused(
                "cache.unwritable",
                f"The folder {self.root} for copies of stored files cannot be written: {problem.strerror}. Set "
                "PARALLAX_ARTEFACT_CACHE to a folder that this account may write.",
            ) from problem
        return folder


def _note_use(entry: Path) -> bool:
    """Whether the entry is there; its last use is then now."""
    try:
        if abs(time.time() - entry.stat().st_mtime) > TOUCH_SECONDS:
            os.utime(entry)
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True
