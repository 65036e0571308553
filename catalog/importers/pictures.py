"""Picture files of items in a folder or archive; their type is detected from their bytes."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from types import MappingProxyType

from catalog.importers.base import ImportRefused, Limits
from catalog.importers.sources import Source, open_source

MOST_BYTES = 4 * 2**20  # of one picture; a list of items shows dozens
MOST_PIXELS = 25_000_000  # a small file that unfolds to more would stop a browser
LIMITS = Limits(bytes_unpacked=4 * 2**30)
MEDIA_TYPES: Mapping[str, str] = MappingProxyType(
    {"jpg": "image/jpeg", "png": "image/png", "gif": "image/gif", "webp": "image/webp"}
)
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}  # JPEG's markers that are followed by a size


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture and its type."""

    content: bytes
    kind: str  # one of `MEDIA_TYPES`
    digest: str  # SHA-256 of the content, in hex


class Pictures:
    """The picture files that items may name. Without a source there are none."""

    def __init__(self, source: Source | None = None) -> None:
        self._source = source
        self._problems: dict[str, str] = {}  # of the names asked for, empty where there is none

    @classmethod
    def of(cls, path: Path | None, limits: Limits = LIMITS) -> Pictures:
        """Those of a folder, an archive, or one file; raises `ImportRefused` as `open_source` does."""
        return cls() if path is None else cls(open_source(path, limits))

    def __contains__(self, name: str) -> bool:
        return self._source is not None and _bare(name) in self._source.files

    def problem(self, name: str) -> str:
        """The problem of the file as a picture, as text that follows its name; empty if there is none."""
        bare = _bare(name)
        if bare not in self._problems:
            try:
                self.read(name)
            except ImportRefused as refusal:
                self._problems[bare] = refusal.problems[0].reason
            except ValueError as wrong:
                self._problems[bare] = str(wrong)
            else:
                self._problems[bare] = ""
        return self._problems[bare]

    def read(self, name: str) -> Picture:
        """The picture of this name. Raises ValueError when it is none; in words that follow its name. Raises
        ImportRefused when its file is damaged.
        """
        if self._source is None or name not in self:
            raise ValueError(f"is not among the pictures of {self._source.name if self._source else 'no folder'}")
        with self._source.files[_bare(name)].open() as (stream, _):
            content = stream.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise ValueError(f"has more than {MOST_BYTES:,} bytes, the most that a picture may have")
        header = size_of(content)
        if header is None:
            raise ValueError("is no whole JPEG, PNG, GIF or WebP picture")
        kind, width, height = header
        if not 0 < width * height <= MOST_PIXELS:
            raise ValueError(f"has {width:,} × {height:,} points; a picture has 1 to {MOST_PIXELS:,} in all")
        return Picture(content, kind, hashlib.sha256(content).hexdigest())


def _bare(name: str) -> str:
    return PurePosixPath(name.replace("\\", "/")).name.lower()


def size_of(content: bytes) -> tuple[str, int, int] | None:
    """The type, width and height of a picture; None if the bytes are of no known type.

    Examples
    --------
    >>> size_of(b"GIF89a" + bytes([3, 0, 2, 0]) + bytes(3))
    ('gif', 3, 2)
    >>> size_of(b"<svg/>") is None
    True
    """
    try:
        if content.startswith(b"\x89PNG\r\n\x1a\n") and content[12:16] == b"IHDR":
            return "png", *struct.unpack(">II", content[16:24])
        if content.startswith((b"GIF87a", b"GIF89a")):
            return "gif", *struct.unpack("<HH", content[6:10])
        if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
            return _webp(content)
        if content.startswith(b"\xff\xd8\xff"):
            return _jpeg(content)
    except struct.error:  # it ends before its size is said
        return None
    return None


def _webp(content: bytes) -> tuple[str, int, int] | None:
    match content[12:16]:
        case b"VP8 ":
            width, height = struct.unpack("<HH", content[26:30])
            return "webp", width & 0x3FFF, height & 0x3FFF
        case b"VP8L":
            (packed,) = struct.unpack("<I", content[21:25])
            return "webp", (packed & 0x3FFF) + 1, (packed >> 14 & 0x3FFF) + 1
        case b"VP8X":
            wide, high = (int.from_bytes(content[at : at + 3], "little") for at in (24, 27))
            return ("webp", wide + 1, high + 1) if len(content) >= 30 else None
    return None


def _jpeg(content: bytes) -> tuple[str, int, int] | None:
    at = 2
    while at + 4 <= len(content):
        mark, kind, length = struct.unpack(">BBH", content[at : at + 4])
        if mark != 0xFF or length < 2:
            return None
        if kind in _FRAMES:
            height, width = struct.unpack(">HH", content[at + 5 : at + 9])
            return "jpg", width, height
        at += 2 + length
    return None
