"""Immutable arrays, one `.npy` file each, with JSON metadata; folders are named by the digest of their contents.

Layout in ``storages["artefacts"]``: ``<kind>/<digest>/<array>.npy`` and ``<kind>/<digest>/meta.json``.
The JSON is written last: a folder without it is an unfinished write and is written again. Where the storage is not a
folder, files are read from copies in this machine's cache (`core.artefact_cache`).
"""

from __future__ import annotations

import errno
import hashlib
import json
import logging
import mmap
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
from django.conf import settings
from django.core.files.base import ContentFile, File
from django.core.files.storage import Storage, storages

from core.artefact_cache import ArtefactCache
from core.errors import ArtefactError, StorageRefused, StorageUnavailable
from core.provenance import canonical_json, digest_of, digest_of_arrays

logger = logging.getLogger(__name__)
FORMAT_VERSION = 1
META = "meta.json"
CONTENT = "content"  # the name of a single file in its folder of the cache
CHUNK = 2**20
Arrays = dict[str, np.ndarray[Any, Any]]


@dataclass(frozen=True)
class Artefact:
    """Arrays (read-only memory maps) and their metadata, verified against `digest`."""

    kind: str
    digest: str
    arrays: Arrays
    meta: dict[str, Any]


def digest_of_artefact(arrays_digest: str, meta: Mapping[str, Any]) -> str:
    """The digest under which arrays of this digest (`digest_of_arrays`) are stored with this metadata."""
    return digest_of([FORMAT_VERSION, arrays_digest, dict(meta)])


def store(
    kind: str, arrays: Mapping[str, np.ndarray[Any, Any]], meta: Mapping[str, Any], *, arrays_digest: str = ""
) -> str:
    """Write the arrays once and return their digest; a second writer of the same digest writes nothing.

    An artefact that exists already is verified, and written again if it is damaged. `meta` is part of the digest, so it
    should hold no times or paths. `arrays_digest` is `digest_of_arrays` of the arrays, if the caller has computed it.
    """
    for name, array in arrays.items():
        if array.dtype.hasobject:
            raise ArtefactError("artefact.object_array", f"The array {name} holds Python objects; store plain types.")
    digest = digest_of_artefact(arrays_digest or digest_of_arrays(arrays), meta)
    storage = storages["artefacts"]
    folder = f"{kind}/{digest}"
    if storage.exists(f"{folder}/{META}") and _is_whole(kind, digest):
        return digest
    whole = {"format_version": FORMAT_VERSION, "digest": digest, "arrays": sorted(arrays), "meta": dict(meta)}
    contents: dict[str, Any] = {f"{name}.npy": array for name, array in arrays.items()}
    contents[META] = canonical_json(whole).encode()  # written last
    if (target := _path_in(storage, folder)) is None:
        _store_remotely(storage, kind, digest, contents)
        return digest
    for name, content in contents.items():
        _write_once(target / name, content)
    return digest


def store_file(name: str, content: bytes) -> str:
    """Write a file, unless it exists, and return its name, whose last part begins with the SHA-256 of its content."""
    storage = storages["artefacts"]
    if not storage.exists(name):
        if (target := _path_in(storage, name)) is not None:
            _write_once(target, content)
        else:
            _upload(storage, name, ContentFile(content))
    return name


def open_file(name: str) -> IO[bytes]:
    """Open a file that `store_file` has written. Raises ArtefactError when it is missing."""
    storage = storages["artefacts"]
    try:
        if _path_in(storage, name) is not None:
            return cast(IO[bytes], storage.open(name))
        key = f"file-{hashlib.sha256(name.encode()).hexdigest()}"
        return (_cache().folder(key, lambda part: _fetch_file(storage, name, part)) / CONTENT).open("rb")
    except FileNotFoundError as missing:
        raise ArtefactError(
            "artefact.missing", f"The stored file {name} is missing. Restore it from a backup, or add it again."
        ) from missing


def path_of(name: str) -> Path:
    """The path of a file that `store_file` has written. Raises ArtefactError where the storage has no paths."""
    path = _path_in(storages["artefacts"], name)
    if path is None:
        raise ArtefactError(
            "artefact.no_path", f"The stored file {name} has no path: files are stored on another machine (S3)."
        )
    return path


def verify(kind: str, digest: str) -> None:
    """Read every byte of the stored artefact, and not of a copy of it on this machine.

    Raises ArtefactError as `load` does.
    """
    storage = storages["artefacts"]
    if (folder := _path_in(storage, f"{kind}/{digest}")) is not None:
        _opened(folder, kind, digest)
        return
    with _cache().new_folder() as part:
        _fetch(storage, kind, digest, part)
        _opened(part, kind, digest)


def is_folder(storage: Storage) -> bool:
    """Whether a storage is a folder of this machine, so that its files have paths."""
    return _path_in(storage, "") is not None


@contextmanager
def deferring_cleanup() -> Iterator[None]:
    """Log that the storage is away or refuses, and continue: what the block cleans up is cleaned by a later sweep."""
    try:
        yield
    except (StorageUnavailable, StorageRefused) as problem:
        logger.warning("stored files were not cleaned up: %s", problem)


def _is_whole(kind: str, digest: str) -> bool:
    try:
        verify(kind, digest)
    except ArtefactError:
        _load.cache_clear()
        return False
    return True


def _path_in(storage: Storage, name: str) -> Path | None:
    """The path of a name where the storage is a folder; None where it is elsewhere."""
    try:
        return Path(storage.path(name))
    except NotImplementedError:
        return None


def _cache() -> ArtefactCache:
    return ArtefactCache(settings.ARTEFACT_CACHE, settings.ARTEFACT_CACHE_SIZE)


def _key(kind: str, digest: str) -> str:
    return f"{kind}-{digest}"


def _write_once(target: Path, content: bytes | np.ndarray[Any, Any]) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=target.parent, prefix=".part-", delete=False) as part:
        _write(part.file, content)
        part.flush()
    Path(part.name).replace(target)


def _write(stream: IO[bytes], content: bytes | np.ndarray[Any, Any]) -> None:
    """Write bytes, or an array as `.npy`, directly from the array's memory."""
    if isinstance(content, bytes):
        stream.write(content)
    else:
        np.save(stream, np.ascontiguousarray(content), allow_pickle=False)


def _store_remotely(storage: Storage, kind: str, digest: str, contents: Mapping[str, Any]) -> None:
    """Write the files into the cache of this machine, and from there into the storage."""
    cache = _cache()
    with cache.new_folder() as part:
        for name, content in contents.items():
            with (part / name).open("xb") as stream:
                _write(stream, content)
            with (part / name).open("rb") as stream:
                _upload(storage, f"{kind}/{digest}/{name}", File(stream))
        cache.discard(_key(kind, digest))
        cache.add(_key(kind, digest), part)


def _upload(storage: Storage, name: str, content: File[bytes]) -> None:
    """Save a file under its name; one that is there already is replaced."""
    if storage.get_available_name(name) != name:  # the storage does not replace files by itself
        storage.delete(name)
    stored = storage.save(name, content)
    if stored != name:  # another process has saved the same bytes meanwhile
        storage.delete(stored)


def _fetch(storage: Storage, kind: str, digest: str, part: Path) -> None:
    """Copy the files of an artefact into a folder. Raises ArtefactError when it was never finished, or is gone."""
    try:
        names = [name for name in storage.listdir(f"{kind}/{digest}")[1] if name == META or name.endswith(".npy")]
        if META not in names:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), META)
        for name in names:
            _download(storage, f"{kind}/{digest}/{name}", part / name)
    except FileNotFoundError as missing:
        raise _missing(kind, digest, missing) from missing


def _fetch_file(storage: Storage, name: str, part: Path) -> None:
    """Copy a file that is named by its content into a folder. Raises ArtefactError when it has another digest."""
    _download(storage, name, part / CONTENT)
    with (part / CONTENT).open("rb") as stream:
        if hashlib.file_digest(stream, "sha256").hexdigest() != Path(name).stem:
            raise ArtefactError(
                "artefact.damaged",
                f"The stored file {name} no longer matches its digest. Restore it from a backup, or add it again.",
            )


def _download(storage: Storage, name: str, target: Path) -> None:
    with storage.open(name) as source, target.open("xb") as stream:
        shutil.copyfileobj(source, stream, CHUNK)


@lru_cache(maxsize=64)
def _load(root: str, kind: str, digest: str) -> Artefact:
    return _opened(Path(root), kind, digest)


def _opened(folder: Path, kind: str, digest: str) -> Artefact:
    try:
        whole = json.loads((folder / META).read_bytes())
        arrays: Arrays = {
            name: np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False) for name in whole["arrays"]
        }
    except FileNotFoundError as missing:
        raise _missing(kind, digest, missing) from missing
    except ValueError as broken:
        raise _damaged(kind, digest) from broken
    if (
        whole["format_version"] != FORMAT_VERSION
        or digest_of_artefact(digest_of_arrays(arrays), whole["meta"]) != digest
    ):
        raise _damaged(kind, digest)
    return Artefact(kind, digest, arrays, whole["meta"])


def _missing(kind: str, digest: str, missing: FileNotFoundError) -> ArtefactError:
    name = f" ({Path(str(missing.filename)).name})" if missing.filename else ""
    return ArtefactError(
        "artefact.missing",
        f"The stored {kind} {digest[:12]} is missing a file{name}. Restore it from a backup, or create it again.",
        {"kind": kind, "digest": digest},
    )


def _damaged(kind: str, digest: str) -> ArtefactError:
    return ArtefactError(
        "artefact.damaged",
        f"The stored {kind} {digest[:12]} no longer matches its digest. Restore it from a backup, or create it again.",
        {"kind": kind, "digest": digest},
    )


def load(kind: str, digest: str) -> Artefact:
    """Memory-map the artefact; a process verifies every byte against the digest when it first opens it.

    Files of a remote storage are fetched into the cache of this machine; a copy that is damaged there is fetched again.
    Raises ArtefactError when a file is missing, or the bytes no longer match the digest.
    """
    storage = storages["artefacts"]
    if (folder := _path_in(storage, f"{kind}/{digest}")) is not None:
        return _load(str(folder), kind, digest)
    cache, key = _cache(), _key(kind, digest)
    for is_last in (False, False, True):  # a copy may also be evicted by another process before it is opened
        copy = cache.folder(key, lambda part: _fetch(storage, kind, digest, part))
        try:
            return _load(str(copy), kind, digest)
        except ArtefactError:
            cache.discard(key)
            if is_last:
                raise
    raise AssertionError("the last attempt returns or raises")


def release_memory(*arrays: np.ndarray[Any, Any]) -> None:
    """Release the memory of memory-mapped arrays; the next access reads the file again."""
    for array in arrays:
        owner: Any = array
        while isinstance(owner, np.ndarray):
            owner = owner.base
        if isinstance(owner, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
            owner.madvise(mmap.MADV_DONTNEED)


def remove(kind: str, digest: str) -> None:
    """Remove an artefact that nothing refers to; a missing artefact is not an error. The JSON is deleted first, so that
    an interrupted removal leaves an unfinished write.
    """
    storage = storages["artefacts"]
    folder = f"{kind}/{digest}"
    _load.cache_clear()
    is_local = _path_in(storage, folder) is not None
    if not is_local:
        _cache().discard(_key(kind, digest))
    try:
        names = storage.listdir(folder)[1]
    except FileNotFoundError:
        return
    for name in sorted(names, key=lambda name: name != META):
        storage.delete(f"{folder}/{name}")
    if is_local:
        storage.delete(folder)


def clear_cache() -> None:
    """Close this process's artefacts, so that the next load reads and verifies the files again."""
    _load.cache_clear()
