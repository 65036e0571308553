"""Private folders of uploaded files that wait for a worker; each belongs to one job.

Where the default storage is not a folder of this machine, the worker may be on another one: uploads are copied into the
storage too, and fetched from it where they are needed.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import tempfile
import time
from collections.abc import Collection
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.files.base import File
from django.core.files.storage import storages
from django.core.files.uploadedfile import UploadedFile
from django.utils import timezone

from core.artefacts import deferring_cleanup, is_folder
from core.errors import ParallaxError

LEAST_FREE = 512 * 2**20  # bytes that an upload leaves free on the disk
ORPHAN_SECONDS = 3600.0  # a folder that no job names is kept this long, as its job may be about to be stored
RATINGS, ITEMS, FACTS, MEDIA = "ratings", "items", "facts", "media"
SHARED = "uploads"  # the folder of the default storage


def _root() -> Path:
    root = Path(settings.VAR_DIR) / "uploads"
    root.mkdir(mode=0o700, exist_ok=True)
    return root


def new_folder() -> str:
    """Create a folder that only this account can read, and return its name."""
    name = secrets.token_hex(16)
    (_root() / name).mkdir(mode=0o700)
    return name


def store_upload(upload: UploadedFile[Any], *, folder: str, part: str) -> Path:
    """Store an upload under its own name in a part of a folder; return its path. Raises ParallaxError for
    `upload.no_room`.
    """
    if shutil.disk_usage(_root()).free < (upload.size or 0) + LEAST_FREE:
        raise ParallaxError("upload.no_room", "The server's disk is full. Ask its administrator to make room.")
    target = _root() / folder / part
    target.mkdir(mode=0o700, exist_ok=True)
    path = target / (Path(upload.name or "").name or part)
    _write(upload, path)
    if not is_folder(storages["default"]):
        with path.open("rb") as file:
            storages["default"].save(f"{SHARED}/{folder}/{part}/{path.name}", File(file))
    return path


def _write(upload: UploadedFile[Any], path: Path) -> None:
    if hasattr(upload, "temporary_file_path"):
        with contextlib.suppress(OSError):  # another file system: it is copied
            os.link(upload.temporary_file_path(), path)
            path.chmod(0o600)
            return
    with path.open("wb") as file:
        for chunk in upload.chunks():
            file.write(chunk)


def folder_of(name: str, part: str) -> Path:
    """The path of a part of a folder, which need not be there; fetched where another machine has received it."""
    path, storage = _root() / name / part, storages["default"]
    if not name or path.is_dir() or is_folder(storage):
        return path
    with tempfile.TemporaryDirectory(dir=_root(), prefix=".part-") as temporary:  # seen at once, when it is whole
        files = storage.listdir(f"{SHARED}/{name}/{part}")[1]
        for file in files:
            copy = Path(temporary) / part / Path(file).name
            copy.parent.mkdir(mode=0o700, exist_ok=True)
            with storage.open(f"{SHARED}/{name}/{part}/{file}") as source, copy.open("xb") as target:
                shutil.copyfileobj(source, target)
        if files:
            path.parent.mkdir(mode=0o700, exist_ok=True)
            with contextlib.suppress(OSError):  # another process has fetched it
                (Path(temporary) / part).rename(path)
    return path


def file_in(name: str, part: str) -> Path | None:
    """The only file in a part of a folder; None where the part is not there or has several."""
    folder = folder_of(name, part)
    files = list(folder.iterdir()) if name and folder.is_dir() else []
    return files[0] if len(files) == 1 else None


def delete_folder(name: str) -> None:
    """Delete a folder with its files; nothing happens where it is gone.

    Where the storage is away, the sweep deletes its copies later, as it does on other machines.
    """
    if name:
        shutil.rmtree(_root() / name, ignore_errors=True)
        if not is_folder(storages["default"]):
            with deferring_cleanup():
                _delete_shared(name)


def delete_orphans(known: Collection[str]) -> int:
    """Delete old folders that are not among the known ones; return their number."""
    limit = time.time() - ORPHAN_SECONDS
    orphans = [each.name for each in _root().iterdir() if each.name not in known and each.stat().st_mtime < limit]
    for name in orphans:
        shutil.rmtree(_root() / name, ignore_errors=True)
    if is_folder(storages["default"]):
        return len(orphans)
    with deferring_cleanup():
        storage, before = storages["default"], timezone.now() - timedelta(seconds=ORPHAN_SECONDS)
        unknown = [name for name in storage.listdir(SHARED)[0] if name not in known]
        shared = [name for name in unknown if all(storage.get_modified_time(file) < before for file in _files(name))]
        for name in shared:
            _delete_shared(name)
        orphans += shared
    return len(orphans)


def _files(name: str) -> list[str]:
    storage = storages["default"]
    parts = [f"{SHARED}/{name}/{part}" for part in storage.listdir(f"{SHARED}/{name}")[0]]
    return [f"{part}/{file}" for part in parts for file in storage.listdir(part)[1]]


def _delete_shared(name: str) -> None:
    for file in _files(name):
        storages["default"].delete(file)
