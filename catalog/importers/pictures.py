"""Picture files of items."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from types import MappingProxyType

from catalog.importers.item_files import ItemFiles

MOST_BYTES = 4 * 2**20  # of one picture; a list of items shows dozens
MOST_PIXELS = 25_000_000  # a small file that unfolds to more would stop a browser
MEDIA_TYPES: Mapping[str, str] = MappingProxyType(
    {"jpg": "image/jpeg", "png": "image/png", "gif": "image/gif", "webp": "image/webp"}
)
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}  # JPEG's markers that are followed by a size


class Pictures(ItemFiles):
    """The picture files that items may name."""

    noun = "picture"
    folder = "pictures"
    most_bytes = MOST_BYTES

    def kind_of(self, content: bytes) -> str:
        """The type of a picture, one of `MEDIA_TYPES`."""
        header = size_of(content)
        if header is None:
            raise ValueError("is no whole JPEG, PNG, GIF or WebP picture")
        kind, width, height = header
        if not 0 < width * height <= MOST_PIXELS:
            raise ValueError(f"has {width:,} × {height:,} points; a picture has 1 to {MOST_PIXELS:,} in all")
        return kind


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
