"""Sources of imports: a folder, an archive or one file, read without unpacking to disk and within limits."""

from __future__ import annotations

import gzip
import io
import lzma
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO, cast

from catalog.importers.base import ImportProblem, ImportRefused, Limits

# What reading a damaged archive raises, besides the refusals of our own.
_DAMAGE = (EOFError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, OSError)
# What opening one raises: its directory may be corrupt, or use unsupported compression.
_DAMAGED_ARCHIVE = (zipfile.BadZipFile, NotImplementedError, OSError, RuntimeError, ValueError, struct.error)
_BUFFER = 1 << 16  # larger reads go past it, straight to where they are wanted
FOLDER_OF_RATINGS = "training_set"  # the one folder inside a folder that is looked into: Netflix has its ratings there


def refuse(
    file: str, reason: str, *, line: int | None = None, advice: str = "", options: Iterable[str] = ()
) -> ImportRefused:
    """The refusal of a source for one reason; `options` are those of the import that would help."""
    return ImportRefused([ImportProblem(file, line, None, reason)], advice=advice, options=options)


class Watched(io.RawIOBase):
    """A stream that counts what is read (and marks, on request) and stops at a limit.

    `name` is for messages; `most` is the number of bytes that may be read.
    """

    def __init__(self, stream: BinaryIO, name: str, most: int) -> None:
        super().__init__()
        self._stream = stream
        self._name = name
        self._most = most
        self.bytes_read = 0
        self.last_byte = b""
        self.counts: dict[bytes, int] = {}

    def count(self, *marks: bytes, only_if: bool) -> None:
        """Count single bytes in all that is read from now on."""
        if only_if:
            self.counts = dict.fromkeys(marks, 0)

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # a buffer of bytes is all we meet
        """Fill `buffer`; raise `ImportRefused` past the limit or where the archive is damaged."""
        try:
            n = self._stream.readinto(buffer)  # type: ignore[attr-defined]  # every buffered stream has it
        except _DAMAGE as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise  # the disk's fault, not the file's: those of unpacking have no number
            raise refuse(
                self._name,
                f"the compressed file is damaged or cut short after {self.bytes_read:,} bytes ({error})",
                advice="Download or copy it again.",
            ) from error
        self.bytes_read += n
        if self.bytes_read > self._most:
            raise refuse(
                self._name,
                f"it unpacks to more than {self._most:,} bytes, far more than its size lets expect",
                advice="If the file is sound, unpack it yourself and import the folder.",
            )
        if n:
            self.last_byte = bytes(buffer[n - 1 : n])
        if self.counts:
            block = bytes(buffer[:n])
            for mark in self.counts:
                self.counts[mark] += block.count(mark)
        return int(n)

    def close(self) -> None:
        """Close the stream below as well."""
        self._stream.close()
        super().close()


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file of a source."""

    name: str  # as messages give it
    open_packed: Callable[[], BinaryIO]  # opens its bytes as the source holds them (for .gz: still packed)
    most: int  # bytes it may unpack to
    n_bytes: int = 0  # bytes it has unpacked; 0 where that is known at its end only

    @property
    def is_gzip(self) -> bool:
        """Whether the file is gzipped, by its name."""
        return self.name.lower().endswith(".gz")

    @contextmanager
    def open(self) -> Iterator[tuple[BinaryIO, Watched]]:
        """The unpacked bytes, buffered, and the stream that counts them."""
        packed = self.open_packed()
        stream = cast(BinaryIO, gzip.GzipFile(fileobj=packed)) if self.is_gzip else packed
        watch = Watched(stream, self.name, self.most)
        try:
            with io.BufferedReader(watch, _BUFFER) as buffered:
                yield cast(BinaryIO, buffered), watch
        finally:
            packed.close()


@dataclass(frozen=True, slots=True)
class Source:
    """The files of a source by name, lower-cased, without folders."""

    name: str  # of the folder, archive or file
    files: dict[str, SourceFile]

    def need(self, name: str, what: str) -> SourceFile:
        """The file called `name`. Raises ImportRefused when it is missing; the message says `what` it holds."""
        if name not in self.files:
            raise refuse(name, f"the file is missing from {self.name}: it holds {what}")
        return self.files[name]


def open_source(path: Path, limits: Limits | None = None) -> Source:
    """List a folder, a ZIP archive or a single file. Raises ImportRefused when there is nothing there; a damaged
    archive, one with unsafe names, an encrypted one, or one that unfolds beyond the limits.
    """
    limits = limits or Limits()
    if path.is_dir():
        files = {
            entry.name.lower(): _plain_file(entry, limits)
            for folder in (path, path / FOLDER_OF_RATINGS)
            if folder.is_dir()
            for entry in sorted(folder.iterdir())
            if entry.is_file() and not entry.name.startswith(".")
        }
        return Source(path.name, files)
    if not path.is_file():
        raise refuse(str(path), "there is no such file or folder")
    if path.suffix.lower() == ".zip":
        return _archive(path, limits)
    return Source(path.name, {path.name.lower(): _plain_file(path, limits)})


def _plain_file(path: Path, limits: Limits) -> SourceFile:
    size = path.stat().st_size
    known = 0 if path.name.lower().endswith(".gz") else size
    return SourceFile(path.name, lambda: path.open("rb"), _most(size, limits, path.name), known)


def _most(packed_bytes: int, limits: Limits, name: str) -> int:
    """The largest unpacked size of a file; for a packed file, limited by the ratio."""
    if not name.lower().endswith((".gz", ".parquet", ".pq")):
        return limits.bytes_unpacked
    return min(limits.bytes_unpacked, max(limits.bytes_unsuspicious, int(packed_bytes * limits.ratio)))


def _archive(path: Path, limits: Limits) -> Source:
    try:
        with zipfile.ZipFile(path) as archive:
            members = [member for member in archive.infolist() if not member.is_dir()]
    except _DAMAGED_ARCHIVE as error:
        raise refuse(
            path.name,
            f"this is no ZIP archive, or a damaged one ({error})",
            advice="Download or copy it again.",
        ) from error
    if len(members) > limits.members:
        raise refuse(path.name, f"it holds {len(members):,} files; at most {limits.members:,} are read")
    unpacked = sum(member.file_size for member in members)
    packed = sum(member.compress_size for member in members)
    if unpacked > limits.bytes_unpacked or (unpacked > limits.bytes_unsuspicious and unpacked > packed * limits.ratio):
        raise refuse(
            path.name,
            f"the archive's {packed:,} bytes unpack to {unpacked:,}, more than is let in",
            advice="If the archive is sound, unpack it yourself and import the folder.",
        )
    members_by_name: dict[str, tuple[PurePosixPath, SourceFile]] = {}
    for member in members:
        inside = PurePosixPath(member.filename.replace("\\", "/"))
        if not inside.name or inside.is_absolute() or ".." in inside.parts or ":" in inside.parts[0]:
            raise refuse(path.name, f"the archive names a file outside itself ({member.filename!r})")
        if "__MACOSX" in inside.parts or inside.name.startswith("."):
            continue
        if member.flag_bits & 1:
            raise refuse(inside.name, "the file is encrypted", advice="Import an archive without a password.")
        name = inside.name.lower()
        if name in members_by_name:
            raise refuse(
                path.name,
                f"the archive has {inside.name} twice ({members_by_name[name][0]} and {inside})",
                advice="Unpack it and import the folder that is meant.",
            )
        # A .gz inside an archive has the same room as one beside it.
        most = _most(member.file_size, limits, inside.name)
        members_by_name[name] = (inside, SourceFile(inside.name, _member_opener(path, member), most))
    return Source(path.name, {name: file for name, (_, file) in members_by_name.items()})


def _member_opener(path: Path, member: zipfile.ZipInfo) -> Callable[[], BinaryIO]:
    def opened() -> BinaryIO:
        with zipfile.ZipFile(path) as archive:  # the archive's file stays open until the member is closed
            try:
                return cast(BinaryIO, archive.open(member))
            except _DAMAGED_ARCHIVE as error:
                raise refuse(member.filename, f"the archive cannot be read here ({error})") from error

    return opened
