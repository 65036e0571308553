"""Stores files of items once, under the digest of their bytes."""

from __future__ import annotations

from catalog.importers.item_files import ItemFile
from core import artefacts


def store_item_file(*, file: ItemFile) -> str:
    """Store a file unless it exists, and return its stored name."""
    return artefacts.store_file(file.stored_name, file.content)
