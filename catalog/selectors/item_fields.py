"""Fields of the items of a version as algorithms get them, each read once per version and process."""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache, partial
from typing import Any

import numpy as np

from catalog.models import DatasetVersion, Item
from catalog.selectors.ratings import VERSIONS_KEPT, features_of
from core import artefacts
from recommenders.items import ITEM_FIELDS, Items


def items_of(version: DatasetVersion, fields: Collection[str]) -> Items:
    """The items of a version with these fields of `recommenders.items.Items`, which are read when they are used."""
    return Items({name: partial(_with_paths if name == "images" else field_of, version, name) for name in fields})


def field_of(version: DatasetVersion, name: str) -> Any:
    """One field of the items; `images` as names of stored files, which unlike their paths are the same everywhere."""
    if name == "features":
        return features_of(version)
    return _column(version.pk, version.content_hash, name)


def _with_paths(version: DatasetVersion, name: str) -> tuple[str, ...]:
    return tuple(str(artefacts.path_of(image)) if image else "" for image in field_of(version, name))


# The rows of a version never change under its hash.
@lru_cache(maxsize=VERSIONS_KEPT * len(ITEM_FIELDS))
def _column(version_id: int, content_hash: str, name: str) -> Any:
    items = Item.objects.filter(version=version_id).order_by("index")
    if name == "years":
        years = np.array([year or 0 for year in items.values_list("year", flat=True)], dtype=np.int64)
        years.flags.writeable = False  # shared by all models
        return years
    if name == "texts":
        rows = list(items.values_list("plot", "texts").iterator(chunk_size=2_000))
        languages = sorted({language for _, texts in rows for language, own in texts.items() if own.get("plot")})
        translated = {
            language: tuple(texts.get(language, {}).get("plot", "") for _, texts in rows) for language in languages
        }
        return {"": tuple(plot for plot, _ in rows), **translated}
    column = {"ids": "external_id", "titles": "title", "images": "image"}[name]
    return tuple(items.values_list(column, flat=True).iterator(chunk_size=10_000))
