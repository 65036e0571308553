"""Stores pictures of items once, under the digest of their bytes."""

from __future__ import annotations

from catalog.importers.pictures import Picture
from core import artefacts

FOLDER = "pictures"


def stored_name(picture: Picture) -> str:
    """The name a picture is stored under."""
    return f"{FOLDER}/{picture.digest[:2]}/{picture.digest}.{picture.kind}"


def store_picture(*, picture: Picture) -> str:
    """Store a picture unless it exists, and return its stored name."""
    return artefacts.store_file(stored_name(picture), picture.content)
