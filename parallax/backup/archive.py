"""The file of a backup: a ZIP archive, encrypted or not, that appears complete or not at all, its manifest
and its digest.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import IO, Any

from pydantic import TypeAdapter

from core.errors import ParallaxError

FORMAT_VERSION = 1
MANIFEST = "manifest.json"
SECRET_KEY = "secret_key"  # noqa: S105 -- the name of a file
FOLDERS = ("artefacts", "media")
CHUNK = 2**20


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
        # Before the rest is read: a newer format may not fit this version's types at all.
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
    # Names decide where files are written: a forged manifest must not name a path outside the folders.
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


class BackupWriter:
    """Adds files to a backup, and records size and digest of each."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self.files: dict[str, StoredFile] = {}

    def add(self, name: str, source: IO[bytes]) -> None:
        # Sizes are not known when a file begins, and without ZIP64 one of more than 4 GB fails at its end.
        with self._archive.open(name, "w", force_zip64=True) as target:
            self.files[name] = _copy(source, target)

    def add_bytes(self, name: str, content: bytes) -> None:
        self.add(name, BytesIO(content))

    def add_manifest(self, manifest: Manifest) -> None:
        """Add the manifest, which comes last as it holds the digests of all other files."""
        self._archive.writestr(MANIFEST, manifest.as_json())


def refuse_path(path: Path) -> None:
    """Raise ParallaxError `backup.exists` or `backup.no_folder` where a new file cannot have this path."""
    if path.exists():
        raise ParallaxError("backup.exists", f"{path} exists already. Choose another name, or remove the file.")
    if not path.parent.is_dir():
        raise ParallaxError("backup.no_folder", f"The folder {path.parent} does not exist. Create it first.")


@contextmanager
def new_file(path: Path) -> Iterator[IO[bytes]]:
    """Write a file under a temporary name, readable by this account alone; at the end of the block it is flushed to the
    disk and renamed. An existing file is never overwritten, and a failure leaves nothing.

    Raises as `refuse_path` does.
    """
    refuse_path(path)
    descriptor, part = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")  # mode 0600
    try:
        with os.fdopen(descriptor, "wb") as stream:
            yield stream
            stream.flush()
            # Before the rename: after a power cut the name could otherwise belong to a file that is empty.
            os.fsync(stream.fileno())
        # Again, since another process may have created the file during the long copy.
        refuse_path(path)
        Path(part).replace(path)
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)  # so that the new name survives a power cut too
        finally:
            os.close(folder)
    finally:
        Path(part).unlink(missing_ok=True)


@contextmanager
def new_archive(path: Path) -> Iterator[BackupWriter]:
    """Write an archive as a new file."""
    with new_file(path) as stream, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        yield BackupWriter(archive)


def digest_of(source: IO[bytes]) -> str:
    """The SHA-256 of an open file, in hex."""
    return hashlib.file_digest(source, "sha256").hexdigest()  # type: ignore[arg-type]  # any open file


def digest_file(path: Path) -> Path:
    """The file beside a backup with its digest."""
    return path.with_name(f"{path.name}.sha256")


def check_digest(path: Path) -> None:
    """Compare a backup with the digest beside it, if there is one. Raises ParallaxError `backup.damaged`."""
    stored = digest_file(path)
    with path.open("rb") as source:
        if stored.exists() and digest_of(source) != stored.read_text().partition(" ")[0]:
            raise ParallaxError("backup.damaged", f"{path} does not match {stored.name}. Use another backup.")


class BackupReader:
    """An existing backup."""

    def __init__(self, archive: zipfile.ZipFile, path: Path) -> None:
        self._archive = archive
        self._path = path
        try:
            self.manifest = parse_manifest(archive.read(MANIFEST))
        except KeyError as problem:
            raise ParallaxError(
                "backup.not_one", f"{path} is not a backup of Parallax: it has no {MANIFEST}."
            ) from problem

    def read(self, name: str) -> bytes:
        """Return a small file, checked against its digest."""
        target = BytesIO()
        self._checked(name, target)
        return target.getvalue()

    def extract(self, folder: Path) -> None:
        """Write all files into an empty folder, each checked against its digest.

        Raises ParallaxError `backup.damaged`.
        """
        for name in self.manifest.files:
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            # Fails where the file exists: a manifest with one name in two spellings would overwrite it.
            with target.open("xb") as stream:
                self._checked(name, stream)

    def _checked(self, name: str, target: IO[bytes]) -> None:
        try:
            with self._archive.open(name) as source:
                copied = _copy(source, target)
        except (KeyError, zipfile.BadZipFile, zlib.error, EOFError) as problem:
            raise self._damaged(name) from problem
        # Digests and not ZIP's own checksums, which only find accidents.
        if copied != self.manifest.files[name]:
            raise self._damaged(name)

    def _damaged(self, name: str) -> ParallaxError:
        return ParallaxError(
            "backup.damaged",
            f"{self._path} is damaged: {name} is missing or does not match its digest. Nothing was changed. "
            "Use another backup.",
        )


@contextmanager
def open_archive(path: Path) -> Iterator[BackupReader]:
    """Open a backup and its manifest.

    Raises ParallaxError `backup.not_one`, `backup.damaged`, `backup.newer`.
    """
    try:
        archive = zipfile.ZipFile(path)
    except zipfile.BadZipFile as problem:
        raise ParallaxError(
            "backup.not_one", f"{path} is not a complete backup of Parallax. Use another file."
        ) from problem
    with archive:
        yield BackupReader(archive, path)


def _copy(source: IO[bytes], target: IO[bytes]) -> StoredFile:
    size, digest = 0, hashlib.sha256()
    while chunk := source.read(CHUNK):
        size += len(chunk)
        digest.update(chunk)
        target.write(chunk)
    return StoredFile(size, digest.hexdigest())
