"""Clips of items: files of video or audio that browsers play, recognised by their first bytes."""

from __future__ import annotations

from catalog.importers.item_files import ItemFiles

MOST_BYTES = 32 * 2**20  # of one clip: a few minutes
_MP4_VIDEO = frozenset(
    {b"isom", b"iso2", b"iso3", b"iso4", b"iso5", b"iso6", b"mp41", b"mp42", b"avc1", b"dash", b"M4V ", b"MSNV"}
)
_MP4_AUDIO = frozenset({b"M4A ", b"M4B "})
_ID3, _LAYER_3 = b"ID3", 1


class Clips(ItemFiles):
    """The files of video or audio that items may name."""

    noun = "clip"
    folder = "clips"
    most_bytes = MOST_BYTES

    def kind_of(self, content: bytes) -> str:
        """The type of a clip, one of `CLIP_TYPES`."""
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
