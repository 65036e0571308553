"""Immutable arrays, one `.npy` file each, with JSON metadata; folders are named by the digest of their contents.

Layout in ``storages["artefacts"]``: ``<kind>/<digest>/<array>.npy`` and ``<kind>/<digest>/meta.json``.
The JSON is written last: a folder without it is an unfinished write and is written again.
"""

from __future__ import annotations

import io
import json
import mmap
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
from django.core.files.base import ContentFile
from django.core.files.storage import Storage, storages

from core.errors import ArtefactError
from core.provenance import canonical_json, digest_of, digest_of_arrays

FORMAT_VERSION = 1
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
    if storage.exists(f"{folder}/meta.json") and _is_whole(storage, kind, digest):
        return digest
    for name, array in arrays.items():
        _write_once(storage, f"{folder}/{name}.npy", np.ascontiguousarray(array))
    whole = {"format_version": FORMAT_VERSION, "digest": digest, "arrays": sorted(arrays), "meta": dict(meta)}
    _write_once(storage, f"{folder}/meta.json", canonical_json(whole).encode())
    return digest


def store_file(name: str, content: bytes) -> str:
    """Write a file that is named by its content, unless it exists, and return its name."""
    storage = storages["artefacts"]
    if not storage.exists(name):
        _write_once(storage, name, content)
    return name


def open_file(name: str) -> IO[bytes]:
    """Open a file that `store_file` has written. Raises ArtefactError when it is missing."""
    try:
        return cast(IO[bytes], storages["artefacts"].open(name))
    except FileNotFoundError as missing:
        raise ArtefactError(
            "artefact.missing", f"The stored file {name} is missing. Restore it from a backup, or add it again."
        ) from missing


def _is_whole(storage: Storage, kind: str, digest: str) -> bool:
    try:
        _opened(_local_folder(storage, kind, digest), kind, digest)
    except ArtefactError:
        _load.cache_clear()
        return False
    return True


def _write_once(storage: Storage, name: str, content: bytes | np.ndarray[Any, Any]) -> None:
    """Write a temporary file and rename it where the storage is a folder; other storages save atomically themselves."""
    try:
        target = Path(storage.path(name))
    except NotImplementedError:
        if not storage.exists(name):
            buffer = io.BytesIO()
            _write(buffer, content)
            storage.save(name, ContentFile(buffer.getvalue()))
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=target.parent, prefix=".part-", delete=False) as part:
        _write(part.file, content)
        part.flush()
    Path(part.name).replace(target)


def _write(stream: IO[bytes], content: bytes | np.ndarray[Any, Any]) -> None:
    """Write bytes, or an array as `.npy`; into a real file, directly from the array's memory."""
    if isinstance(content, bytes):
        stream.write(content)
    else:
        np.save(stream, content, allow_pickle=False)


def _local_folder(storage: Storage, kind: str, digest: str) -> Path:
    """The folder with the files; files of a remote storage are fetched into a local copy once."""
    try:
        return Path(storage.path(f"{kind}/{digest}"))
    except NotImplementedError:
        local = Path(tempfile.gettempdir()) / "parallax-artefacts" / kind / digest
    if not (local / "meta.json").exists():
        local.mkdir(parents=True, exist_ok=True)
        names = [n for n in storage.listdir(f"{kind}/{digest}")[1] if n != "meta.json"]
        for name in [*names, "meta.json"]:
            with (
                storage.open(f"{kind}/{digest}/{name}") as source,
                tempfile.NamedTemporaryFile(dir=local, prefix=".part-", delete=False) as part,
            ):
                shutil.copyfileobj(source, part)
            Path(part.name).replace(local / name)
    return local


@lru_cache(maxsize=64)
def _load(root: str, kind: str, digest: str) -> Artefact:
    return _opened(Path(root), kind, digest)


def _opened(folder: Path, kind: str, digest: str) -> Artefact:
    try:
        whole = json.loads((folder / "meta.json").read_bytes())
        arrays: Arrays = {
            name: np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False) for name in whole["arrays"]
        }
    except FileNotFoundError as missing:
        raise ArtefactError(
            "artefact.missing",
            f"The stored {kind} {digest[:12]} is missing a file ({Path(str(missing.filename)).name}). "
            "Restore it from a backup, or create it again.",
            {"kind": kind, "digest": digest},
        ) from missing
    except ValueError as broken:
        raise _damaged(kind, digest) from broken
    if (
        whole["format_version"] != FORMAT_VERSION
        or digest_of_artefact(digest_of_arrays(arrays), whole["meta"]) != digest
    ):
        raise _damaged(kind, digest)
    return Artefact(kind, digest, arrays, whole["meta"])


def _damaged(kind: str, digest: str) -> ArtefactError:
    return ArtefactError(
        "artefact.damaged",
        f"The stored {kind} {digest[:12]} no longer matches its digest. Restore it from a backup, or create it again.",
        {"kind": kind, "digest": digest},
    )


def load(kind: str, digest: str) -> Artefact:
    """Memory-map the artefact; a process verifies every byte against the digest when it first opens it.

    Raises ArtefactError when a file is missing, or the bytes no longer match the digest.
    """
    return _load(str(_local_folder(storages["artefacts"], kind, digest)), kind, digest)


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
    if not storage.exists(folder):
        return
    storage.delete(f"{folder}/meta.json")
    for name in storage.listdir(folder)[1]:
        storage.delete(f"{folder}/{name}")
    storage.delete(folder)


def clear_cache() -> None:
    """Close this process's artefacts, so that the next load reads and verifies the files again."""
    _load.cache_clear()
