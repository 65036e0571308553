"""Item attributes: the kinds and values of a version's features, and the items that have them."""

from __future__ import annotations

import numpy as np
from django.db.models import Count
from numpy.typing import NDArray

from catalog.models import DatasetVersion, Feature

VALUES_LISTED = 10


def attribute_kinds(version: DatasetVersion) -> list[str]:
    """The kinds of features that the version's items have, in alphabetical order."""
    kinds = Feature.objects.filter(item__version=version).order_by().values_list("kind", flat=True)
    return sorted(set(kinds.distinct()))


def frequent_values(version: DatasetVersion, kind: str) -> list[str]:
    """The values of a kind that the most items have, at most ten."""
    features = Feature.objects.filter(item__version=version, kind=kind).order_by()
    counted = features.values("value").annotate(n_items=Count("item", distinct=True)).order_by("-n_items", "value")
    return [row["value"] for row in counted[:VALUES_LISTED]]


def items_with(version: DatasetVersion, kind: str, value: str) -> NDArray[np.bool_]:
    """Whether each item has this value of this kind, shape (n_items,)."""
    features = Feature.objects.filter(item__version=version, kind=kind, value=value).order_by()
    has_value = np.zeros(version.n_items, dtype=np.bool_)
    has_value[list(features.values_list("item__index", flat=True))] = True
    return has_value
