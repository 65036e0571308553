"""Pictures of items: kept once under the digest of their bytes, beside the arrays."""

from __future__ import annotations

from catalog.importers.pictures import Picture
from core import artefacts

FOLDER = "pictures"


def stored_name(picture: Picture) -> str:
    """The name a picture is stored under."""
    return f"{FOLDER}/{picture.digest[:2]}/{picture.digest}.{picture.kind}"


def keep_picture(*, picture: Picture) -> str:
    """Keep a picture, and return the name it is stored under; one that is there already is not written again."""
    return artefacts.store_file(stored_name(picture), picture.content)
