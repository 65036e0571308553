"""Reads the items of a version back from their rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from catalog.importers.base import ParsedItem
from catalog.models import DatasetVersion

SAME = ("external_id", "title", "year", "plot", "image_url", "trailer_url", "clip", "excerpt", "image", "texts")


def parsed_items(version: DatasetVersion, is_kept: NDArray[np.bool_] | None = None) -> list[ParsedItem]:
    """The version's items as an importer returns them, in order; with a mask of shape (n_items,), only those of it."""
    features: dict[int, list[tuple[str, str]]] = {}
    rows = version.items.order_by("index", "features__position", "features__pk").values_list(
        "index", "features__kind", "features__value"
    )
    for index, kind, value in rows.iterator(chunk_size=10_000):
        if (is_kept is None or is_kept[index]) and kind is not None:
            features.setdefault(index, []).append((kind, value))
    return [
        ParsedItem(
            **{name: getattr(item, name) for name in SAME},
            features=tuple(features.get(item.index, ())),
            links=tuple(item.links.items()),
        )
        for item in version.items.order_by("index").iterator(chunk_size=2_000)
        if is_kept is None or is_kept[item.index]
    ]
