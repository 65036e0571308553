"""Files of items in a folder or archive, pictures and clips; their type is detected from their bytes."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from types import MappingProxyType

from catalog.importers.base import ImportRefused, Limits
from catalog.importers.sources import Source

LIMITS = Limits(bytes_unpacked=4 * 2**30)
MOST_PIXELS = 25_000_000  # of a picture; a small file that unfolds to more would stop a browser
MEDIA_TYPES: Mapping[str, str] = MappingProxyType(
    {"jpg": "image/jpeg", "png": "image/png", "gif": "image/gif", "webp": "image/webp"}
)
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}  # JPEG's markers that are followed by a size
_MP4_VIDEO = frozenset(
    {b"isom", b"iso2", b"iso3", b"iso4", b"iso5", b"iso6", b"mp41", b"mp42", b"avc1", b"dash", b"M4V ", b"MSNV"}
)
_MP4_AUDIO = frozenset({b"M4A ", b"M4B "})
_ID3, _LAYER_3 = b"ID3", 1


@dataclass(frozen=True, slots=True)
class ItemFile:
    """A file and its type."""

    content: bytes
    folder: str  # where files of its sort are stored
    kind: str  # the ending of its stored name
    digest: str  # SHA-256 of the content, in hex

    @property
    def stored_name(self) -> str:
        """The name it is stored under."""
        return f"{self.folder}/{self.digest[:2]}/{self.digest}.{self.kind}"


@dataclass(frozen=True, slots=True)
class Sort:
    """A sort of files that items may name."""

    noun: str
    folder: str  # where files of the sort are stored
    most_bytes: int
    # The type of a content. Raises ValueError when it is of no known type; in words that follow its name.
    kind_of: Callable[[bytes], str]

    def file_of(self, content: bytes) -> ItemFile:
        """The content as a file of this sort. Raises ValueError as `kind_of` does."""
        return ItemFile(content, self.folder, self.kind_of(content), hashlib.sha256(content).hexdigest())


class ItemFiles:
    """The files of one sort that items may name. Without a source there are none."""

    def __init__(self, sort: Sort, source: Source | None = None) -> None:
        self.sort = sort
        self._source = source
        self._problems: dict[str, str] = {}  # of the names asked for, empty where there is none

    def __contains__(self, name: str) -> bool:
        return self._source is not None and _bare(name) in self._source.files

    def problem(self, name: str) -> str:
        """The problem of the file, as text that follows its name; empty if there is none."""
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

    def read(self, name: str) -> ItemFile:
        """The file of this name. Raises ValueError when it is unusable; in words that follow its name. Raises
        ImportRefused when it is damaged.
        """
        if self._source is None or name not in self:
            raise ValueError(
                f"is not among the {self.sort.noun}s of {self._source.name if self._source else 'no folder'}"
            )
        with self._source.files[_bare(name)].open() as (stream, _):
            content = stream.read(self.sort.most_bytes + 1)
        if len(content) > self.sort.most_bytes:
            raise ValueError(f"has more than {self.sort.most_bytes:,} bytes, the most that a {self.sort.noun} may have")
        return self.sort.file_of(content)


def _bare(name: str) -> str:
    return PurePosixPath(name.replace("\\", "/")).name.lower()


def _picture_kind(content: bytes) -> str:
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


def _known_clip_kind(content: bytes) -> str:
    kind = clip_kind(content)
    if kind is None:
        raise ValueError(
            "is not a WebM or MP4 video or an MP3, M4A, Ogg (Vorbis, Opus), FLAC or WAV audio; convert it to one"
        )
    return kind


def clip_kind(content: bytes) -> str | None:
    """The type of a file of video or audio; None if browsers do not play it.

    Examples
    --------
    >>> clip_kind(b"ID3" + bytes(20)), clip_kind(b"fLaC" + bytes(20)), clip_kind(b"<svg/>")
    ('mp3', 'flac', None)
    """
    start = content[:128]
    if start.startswith(b"\x1a\x45\xdf\xa3"):
        return "webm" if b"webm" in start else None  # otherwise Matroska
    if start[4:8] == b"ftyp":
        brand = start[8:12]
        return "mp4" if brand in _MP4_VIDEO else "m4a" if brand in _MP4_AUDIO else None
    if start.startswith(b"OggS"):
        return "ogg" if b"\x01vorbis" in start or b"OpusHead" in start else None
    if start.startswith(b"RIFF"):
        return "wav" if start[8:12] == b"WAVE" else None
    if start.startswith(b"fLaC"):
        return "flac"
    return "mp3" if start.startswith(_ID3) or _is_mp3_frame(start) else None


def _is_mp3_frame(start: bytes) -> bool:
    """Whether the bytes begin with the header of an MPEG audio frame of layer III."""
    if len(start) < 4 or start[0] != 0xFF or start[1] & 0xE0 != 0xE0:
        return False
    version, layer = start[1] >> 3 & 3, start[1] >> 1 & 3
    bitrate, frequency = start[2] >> 4, start[2] >> 2 & 3
    return version != 1 and layer == _LAYER_3 and 0 < bitrate < 15 and frequency < 3


PICTURES = Sort("picture", "pictures", 4 * 2**20, _picture_kind)  # a list of items shows dozens
CLIPS = Sort("clip", "clips", 32 * 2**20, _known_clip_kind)  # of a few minutes
