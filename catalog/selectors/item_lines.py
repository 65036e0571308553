"""The items of a version as lines of JSON, for systems elsewhere that recommend them, and the digest of these lines."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import lru_cache

from catalog.models import DatasetVersion, Item
from catalog.selectors.ratings import VERSIONS_KEPT
from core.provenance import canonical_json


def item_lines(version: DatasetVersion) -> Iterator[bytes]:
    """Each item in the order of the columns: its id and title, and its year and text where it has these."""
    return _lines(version.pk)


def digest_of_lines(version: DatasetVersion) -> str:
    """SHA-256, in hex, of the file that the lines make."""
    return _digest(version.pk, version.content_hash)


def _lines(version_id: int) -> Iterator[bytes]:
    rows = Item.objects.filter(version=version_id).order_by("index").values_list("external_id", "title", "year", "plot")
    for item, title, year, text in rows.iterator(chunk_size=2_000):
        facts = {"item": item, "title": title, "year": year, "text": text}
        line = canonical_json({name: value for name, value in facts.items() if value not in (None, "")})
        yield f"{line}\n".encode()


@lru_cache(maxsize=VERSIONS_KEPT)
def _digest(version_id: int, content_hash: str) -> str:  # the rows of a version never change under its hash
    whole = hashlib.sha256()
    for line in _lines(version_id):
        whole.update(line)
    return whole.hexdigest()
