"""Sources of imports: a folder, an archive or one file, read without unpacking to disk and within limits.

What a file is, is told by its first bytes, not by its name.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO, cast

from catalog.importers.base import ImportProblem, ImportRefused, Limits

# What reading a damaged archive raises, besides the refusals of our own.
_DAMAGE = (EOFError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, OSError)
# What opening one raises: its directory may be corrupt, or use unsupported compression.
_DAMAGED_ARCHIVE = (zipfile.BadZipFile, NotImplementedError, OSError, RuntimeError, ValueError, struct.error)
_DAMAGED_TAR = (tarfile.TarError, OSError, EOFError, zlib.error, lzma.LZMAError)
_BUFFER = 1 << 16  # larger reads go past it, straight to where they are wanted
_OPENERS: Mapping[bytes, Callable[[BinaryIO], object]] = {
    b"\x1f\x8b": lambda packed: gzip.GzipFile(fileobj=packed),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\x00": lzma.LZMAFile,
}
PARQUET, ZIPPED = b"PAR1", b"PK\x03\x04"
_DOWNLOAD = "Download the file itself."
_EXPORT = "Export its table as CSV and import that."
# Of files that cannot be read: how they begin, what they are, and what to do.
_UNREADABLE: tuple[tuple[bytes, str, str], ...] = (
    (rb"version https://git-lfs", "a Git LFS pointer: the content itself was not downloaded", "Run `git lfs pull`."),
    (rb"\s*(?i:<!doctype html|<html)", "a web page, not a table", _DOWNLOAD),
    (rb"%PDF", "a PDF document", _EXPORT),
    (rb"\x80[\x02-\x05]", "a Python pickle, which could run programs when it is read", _EXPORT),
    (rb"MATLAB 5\.0 MAT-file", "a MATLAB file", _EXPORT),
    (rb"RD[AX][23]\n|X\n\0\0\0[\2\3]", "a file of R objects", "Write the data frame as CSV in R and import that."),
    (rb"\x89HDF\r\n", "an HDF5 file", _EXPORT),
    (rb"\x93NUMPY", "a NumPy array", _EXPORT),
    (rb"SQLite format 3", "an SQLite database", _EXPORT),
    (rb"Rar!|7z\xbc\xaf", "an archive that is not read", "Unpack it and import the folder."),
)
FOLDER_OF_RATINGS = "training_set"  # the one folder inside a folder that is looked into: Netflix has its ratings there


def refuse(
    file: str, reason: str, *, line: int | None = None, advice: str = "", options: Iterable[str] = ()
) -> ImportRefused:
    """The refusal of a source for one reason; `options` are those of the import that would help."""
    return ImportRefused([ImportProblem(file, line, None, reason)], advice=advice, options=options)


class Watched(io.RawIOBase):
    """A stream that counts what is read and stops at a limit.

    `name` is for messages; `most` is the number of bytes that may be read.
    """

    def __init__(self, stream: BinaryIO, name: str, most: int) -> None:
        super().__init__()
        self._stream = stream
        self._name = name
        self._most = most
        self.bytes_read = 0
        self.last_byte = b""

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
        # Counted while it is unpacked, because the size that an archive states of itself may be forged.
        if self.bytes_read > self._most:
            raise refuse(
                self._name,
                f"it unpacks to more than {self._most:,} bytes, far more than its size lets expect",
                advice="If the file is sound, unpack it yourself and import the folder.",
            )
        if n:
            self.last_byte = bytes(buffer[n - 1 : n])
        return int(n)

    def close(self) -> None:
        """Close the stream below as well."""
        self._stream.close()
        super().close()


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file of a source."""

    name: str  # as messages give it
    open_packed: Callable[[], BinaryIO]  # opens its bytes as the source holds them (of a gzipped file: still packed)
    packed_bytes: int
    limits: Limits

    def _packing(self) -> bytes:
        """The first bytes that tell how the file is packed; empty where it is not."""
        # By content: files are renamed, and a name ending in .csv is no reason to trust one.
        with self.open_packed() as packed, Watched(packed, self.name, self.packed_bytes) as watch:
            head = watch.read(6) or b""
        return next((mark for mark in (*_OPENERS, PARQUET, ZIPPED) if head.startswith(mark)), b"")

    @property
    def most(self) -> int:
        """The bytes it may unpack to; for a packed file, limited by the ratio."""
        return self._most(self._packing())

    def _most(self, packing: bytes) -> int:
        if not packing:
            return self.limits.bytes_unpacked
        return min(
            self.limits.bytes_unpacked,
            max(self.limits.bytes_unsuspicious, int(self.packed_bytes * self.limits.ratio)),
        )

    @property
    def n_bytes(self) -> int:
        """The bytes it has unpacked; 0 where that is known at its end only."""
        return 0 if self._packing() else self.packed_bytes

    @contextmanager
    def open(self) -> Iterator[tuple[BinaryIO, Watched]]:
        """The unpacked bytes, buffered, and the stream that counts them."""
        packing = self._packing()
        packed = self.open_packed()
        stream = cast(BinaryIO, _OPENERS[packing](packed)) if packing in _OPENERS else packed
        watch = Watched(stream, self.name, self._most(packing))
        try:
            with io.BufferedReader(watch, _BUFFER) as buffered:
                yield cast(BinaryIO, buffered), watch
        finally:
            packed.close()

    @property
    def is_zipped(self) -> bool:
        """Whether it is a ZIP archive, as workbooks are."""
        return self._packing() == ZIPPED

    @property
    def is_parquet(self) -> bool:
        """Whether it is a Parquet file."""
        return self._packing() == PARQUET

    def head(self, n: int) -> bytes:
        """Its first `n` unpacked bytes."""
        with self.open() as (stream, _):
            return stream.read(n)

    def check_readable(self) -> None:
        """Raise ImportRefused for a file of a kind that is known and not read, with what to do."""
        head = self.head(128)
        for pattern, what, advice in _UNREADABLE:
            if re.match(pattern, head):
                raise refuse(self.name, f"this is {what}", advice=advice)


@dataclass(frozen=True, slots=True)
class Source:
    """The files of a source by name, lower-cased, without folders."""

    name: str  # of the folder, archive or file
    files: dict[str, SourceFile]


def open_source(path: Path, limits: Limits | None = None) -> Source:
    """List a folder, a ZIP archive or a single file. Raises ImportRefused when there is nothing there; a damaged
    archive, one with unsafe names, an encrypted one, or one that unfolds beyond the limits.
    """
    limits = limits or Limits()
    if path.is_dir():
        inner = [entry for entry in path.iterdir() if not entry.name.startswith((".", "__"))]
        if len(inner) == 1 and inner[0].is_dir():  # an archive that was unpacked into a folder of its own
            return open_source(inner[0], limits)
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
    file = _plain_file(path, limits)
    if (members := _zip_members(path) if path.suffix.lower() == ".zip" or file.is_zipped else None) is not None:
        return _archive(path, limits, [(m.filename, m.file_size, _zip_opener(path, m)) for m in members])
    if (entries := _tar_members(path, file)) is not None:
        return _archive(path, limits, [(m.name, m.size, _tar_opener(path, m)) for m in entries])
    return Source(path.name, {path.name.lower(): file})


def _plain_file(path: Path, limits: Limits) -> SourceFile:
    return SourceFile(path.name, lambda: path.open("rb"), path.stat().st_size, limits)


def _zip_members(path: Path) -> list[zipfile.ZipInfo] | None:
    """The members of a ZIP archive; None where the file is a workbook, which is one too."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = [member for member in archive.infolist() if not member.is_dir()]
    except _DAMAGED_ARCHIVE as error:
        raise refuse(
            path.name,
            f"this is not a ZIP archive, or a damaged one ({error})",
            advice="Download or copy it again.",
        ) from error
    if {"xl/workbook.xml", "xl/workbook.bin", "content.xml"} & {member.filename for member in members}:
        return None
    for member in members:
        if member.flag_bits & 1:
            name = PurePosixPath(member.filename).name
            raise refuse(name, "the file is encrypted", advice="Import an archive without a password.")
    return members


def _tar_members(path: Path, file: SourceFile) -> list[tarfile.TarInfo] | None:
    """The files in a tar archive, packed or not; None where the file is none."""
    if file.head(262)[257:] != b"ustar":
        return None
    try:
        with tarfile.open(path) as archive:
            return [member for member in archive if member.isfile()]
    except _DAMAGED_TAR as error:
        raise refuse(path.name, f"the archive is damaged ({error})", advice="Download or copy it again.") from error


def _archive(path: Path, limits: Limits, members: Sequence[tuple[str, int, Callable[[], BinaryIO]]]) -> Source:
    if len(members) > limits.members:
        raise refuse(path.name, f"it holds {len(members):,} files; at most {limits.members:,} are read")
    unpacked, packed = sum(size for _, size, _ in members), path.stat().st_size
    if unpacked > limits.bytes_unpacked or (unpacked > limits.bytes_unsuspicious and unpacked > packed * limits.ratio):
        raise refuse(
            path.name,
            f"the archive's {packed:,} bytes unpack to {unpacked:,}, above the limit",
            advice="If the archive is sound, unpack it yourself and import the folder.",
        )
    paths: dict[str, PurePosixPath] = {}
    files: dict[str, SourceFile] = {}
    for path_inside, size, opener in members:
        inside = PurePosixPath(path_inside.replace("\\", "/"))
        if not inside.name or inside.is_absolute() or ".." in inside.parts or ":" in inside.parts[0]:
            raise refuse(path.name, f"the archive names a file outside itself ({path_inside!r})")
        if "__MACOSX" in inside.parts or inside.name.startswith("."):
            continue
        name = inside.name.lower()
        if name in files:
            raise refuse(
                path.name,
                f"the archive has {inside.name} twice ({paths[name]} and {inside})",
                advice="Unpack it and import the folder that is meant.",
            )
        paths[name], files[name] = inside, SourceFile(inside.name, opener, size, limits)
    return Source(path.name, files)


def _zip_opener(path: Path, member: zipfile.ZipInfo) -> Callable[[], BinaryIO]:
    def opened() -> BinaryIO:
        with zipfile.ZipFile(path) as archive:  # the archive's file stays open until the member is closed
            try:
                return cast(BinaryIO, archive.open(member))
            except _DAMAGED_ARCHIVE as error:
                raise refuse(member.filename, f"the archive cannot be read here ({error})") from error

    return opened


class _TarMember(io.BufferedReader):
    """A file in a tar archive, which is closed with it."""

    def __init__(self, archive: tarfile.TarFile, member: tarfile.TarInfo) -> None:
        self._archive = archive
        super().__init__(cast(io.RawIOBase, archive.extractfile(member)))

    def close(self) -> None:
        """Close the archive as well."""
        super().close()
        self._archive.close()


def _tar_opener(path: Path, member: tarfile.TarInfo) -> Callable[[], BinaryIO]:
    return lambda: cast(BinaryIO, _TarMember(tarfile.open(path), member))
