"""Files of the installation's storages: listed, read into a backup, and put back."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from django.core.files.base import File
from django.core.files.storage import FileSystemStorage, Storage, storages

from core import artefacts
from parallax.backup.archive import BackupWriter

STORAGE_OF = {"artefacts": "artefacts", "media": "default"}  # by their folder in the backup
UNFINISHED = ".part-"  # see core.artefacts
WAITING = ("uploads/", "doctor/")  # see catalog.services.upload_folders and parallax.doctor.stored_files


def list_files(folder: str) -> list[str]:
    """The names of all finished files in a storage, sorted; files that wait for a worker are not among them."""
    return sorted(name for name in _walk(storages[STORAGE_OF[folder]], "") if not name.startswith(WAITING))


def add_files(writer: BackupWriter, folder: str, names: list[str]) -> None:
    """Add the files of a storage to a backup. Raises FileNotFoundError where one is deleted meanwhile."""
    storage = storages[STORAGE_OF[folder]]
    for name in names:
        with storage.open(name) as source:
            writer.add(f"{folder}/{name}", source)


def restore_files(extracted: Path, folder: str) -> None:
    """Move extracted files into their storage; each replaces the file of its name at once."""
    storage = storages[STORAGE_OF[folder]]
    root = extracted / folder
    # Metadata come last: an artefact without it is an unfinished write.
    files = sorted((path for path in root.rglob("*") if path.is_file()), key=lambda path: path.name == "meta.json")
    for file in files:
        name = file.relative_to(root).as_posix()
        if isinstance(storage, FileSystemStorage):
            _replace(file, Path(storage.path(name)))
            continue
        if storage.get_available_name(name) != name:  # the storage does not replace files by itself
            storage.delete(name)
        with file.open("rb") as stream:
            storage.save(name, File(stream))
    artefacts.clear_cache()


def _replace(file: Path, target: Path) -> None:
    """Rename a file, or copy it where the target is on another file system."""
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        file.replace(target)
    except OSError:
        # Copied beside the target and renamed, so that a reader sees the old file or the new one and never half of
        # one.
        with (
            file.open("rb") as source,
            tempfile.NamedTemporaryFile(dir=target.parent, prefix=UNFINISHED, delete=False) as part,
        ):
            shutil.copyfileobj(source, part, 2**20)
            part.flush()
            os.fsync(part.fileno())
        Path(part.name).replace(target)


def _walk(storage: Storage, folder: str) -> Iterator[str]:
    folders, files = storage.listdir(folder)
    prefix = f"{folder}/" if folder else ""
    yield from (f"{prefix}{name}" for name in files if not name.startswith(UNFINISHED))
    for name in folders:
        yield from _walk(storage, f"{prefix}{name}")
