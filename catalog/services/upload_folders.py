"""Private folders of uploaded files that wait for a worker; each belongs to one job."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import time
from collections.abc import Collection
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile

from core.errors import ParallaxError

LEAST_FREE = 512 * 2**20  # bytes that an upload leaves free on the disk
ORPHAN_SECONDS = 3600.0  # a folder that no job names is kept this long, as its job may be about to be stored
RATINGS, ITEMS, FACTS, MEDIA = "ratings", "items", "facts", "media"


def _root() -> Path:
    root = Path(settings.VAR_DIR) / "uploads"
    root.mkdir(mode=0o700, exist_ok=True)
    return root


def new_folder() -> str:
    """Create a folder that only this account can read, and return its name."""
    name = secrets.token_hex(16)
    (_root() / name).mkdir(mode=0o700)
    return name


def store_upload(upload: UploadedFile[Any], *, folder: str, part: str) -> None:
    """Store an upload under its own name in a part of a folder. Raises ParallaxError for `upload.no_room`."""
    if shutil.disk_usage(_root()).free < (upload.size or 0) + LEAST_FREE:
        raise ParallaxError("upload.no_room", "The server's disk is full. Ask its administrator to make room.")
    target = _root() / folder / part
    target.mkdir(mode=0o700, exist_ok=True)
    path = target / (Path(upload.name or "").name or part)
    if hasattr(upload, "temporary_file_path"):
        with contextlib.suppress(OSError):  # another file system: it is copied
            os.link(upload.temporary_file_path(), path)
            path.chmod(0o600)
            return
    with path.open("wb") as file:
        for chunk in upload.chunks():
            file.write(chunk)


def folder_of(name: str, part: str) -> Path:
    """The path of a part of a folder, which need not be there."""
    return _root() / name / part


def file_in(name: str, part: str) -> Path | None:
    """The only file in a part of a folder; None where the part is not there or has several."""
    folder = folder_of(name, part)
    files = list(folder.iterdir()) if name and folder.is_dir() else []
    return files[0] if len(files) == 1 else None


def delete_folder(name: str) -> None:
    """Delete a folder with its files; nothing happens where it is gone."""
    if name:
        shutil.rmtree(_root() / name, ignore_errors=True)


def delete_orphans(known: Collection[str]) -> int:
    """Delete old folders that are not among the known ones; return their number."""
    limit = time.time() - ORPHAN_SECONDS
    orphans = [
        entry.name
        for entry in _root().iterdir()
        if entry.name not in known and entry.stat().st_mtime < limit
    ]  # fmt: skip
    for name in orphans:
        delete_folder(name)
    return len(orphans)
