"""The manifest of a backup: what it holds, which version wrote it, and the digest of every file."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import PurePosixPath
from typing import Any

from pydantic import TypeAdapter

from core.errors import ParallaxError

FORMAT_VERSION = 1
MANIFEST = "manifest.json"
SECRET_KEY = "secret_key"  # noqa: S105 -- the name of a file
FOLDERS = ("artefacts", "media")


@dataclass(frozen=True)
class StoredFile:
    """Size in bytes and SHA-256, in hex, of one file of a backup."""

    size: int
    sha256: str


@dataclass(frozen=True)
class DatabaseCopy:
    """What is known of a copied database: its kind, the server's version, applied migrations and rows by table."""

    vendor: str
    version: str
    migrations: tuple[str, ...]
    counts: dict[str, int]


@dataclass(frozen=True)
class Manifest:
    """What a backup holds. `storages` are the folders of stored files that it includes."""

    created_at: str
    versions: dict[str, str]
    database: DatabaseCopy
    storages: tuple[str, ...]
    files: dict[str, StoredFile]

    @property
    def database_file(self) -> str:
        return "database.sqlite3" if self.database.vendor == "sqlite" else "database.sql"

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files.values())

    def as_json(self) -> str:
        return json.dumps({"format_version": FORMAT_VERSION, **asdict(self)}, indent=1, sort_keys=True)


def parse_manifest(text: str | bytes) -> Manifest:
    """Read a stored manifest.

    Raises ParallaxError `backup.damaged`; `backup.newer` where a newer version of Parallax wrote it.
    """
    try:
        raw: dict[str, Any] = json.loads(text)
        if int(raw["format_version"]) > FORMAT_VERSION:
            raise ParallaxError(
                "backup.newer",
                f"A newer version of Parallax ({raw['versions']['parallax']}) wrote this backup. Install that version, "
                "then restore.",
            )
        manifest = TypeAdapter(Manifest).validate_python(raw)
    except (ValueError, KeyError, TypeError) as problem:  # pydantic's is a ValueError
        raise ParallaxError("backup.damaged", "The manifest of the backup is damaged. Use another backup.") from problem
    expected = {manifest.database_file, SECRET_KEY}
    if not expected <= set(manifest.files) or not all(
        name in expected or _is_inside_folder(name) for name in manifest.files
    ):
        raise ParallaxError(
            "backup.damaged", "The manifest of the backup names files that no backup has. Use another backup."
        )
    return manifest


def _is_inside_folder(name: str) -> bool:
    parts = PurePosixPath(name).parts
    return len(parts) > 1 and parts[0] in FOLDERS and ".." not in parts and "\\" not in name
