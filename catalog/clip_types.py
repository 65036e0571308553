"""The types of clips: files of video or audio that browsers play, by the ending of their stored names."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

CLIP_TYPES: Mapping[str, str] = MappingProxyType(
    {
        "webm": "video/webm",
        "mp4": "video/mp4",
        "m4a": "audio/mp4",
        "mp3": "audio/mpeg",
        "ogg": "audio/ogg",
        "flac": "audio/flac",
        "wav": "audio/wav",
    }
)


def clip_type(stored_name: str) -> str:
    """The media type of a stored clip; empty for other names.

    Examples
    --------
    >>> clip_type("clips/ab/abcd.m4a"), clip_type("")
    ('audio/mp4', '')
    """
    return CLIP_TYPES.get(stored_name.rpartition(".")[2], "")
