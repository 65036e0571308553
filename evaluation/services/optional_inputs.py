"""Inputs of algorithms that ask for them: fields of the items, and the times of ratings beside the training rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from catalog.models import DatasetVersion
from catalog.selectors.item_fields import field_of, items_of
from catalog.selectors.ratings import VERSIONS_KEPT, ratings_of, timestamps_of
from core.errors import ArtefactError, DataError
from core.provenance import digest_of, digest_of_arrays
from evaluation.selectors.cases import training_rows
from recommenders.base import Algorithm
from recommenders.data import ItemFeatures, Ratings
from recommenders.holdout import positions_of
from recommenders.items import ITEM_FIELDS, Items

# The dataset index of the user of each row; where None is allowed, row i belongs to user i.
Users = NDArray[np.integer[Any]]


def has_times(version: DatasetVersion) -> bool:
    """Whether the source has the time of each rating."""
    return len(timestamps_of(version)) > 0


def with_times(rows: Ratings, version: DatasetVersion, users: Users | None) -> Ratings:
    """Add the times of a version to some of its ratings. Raises DataError when there are none, or none of a row."""
    if not has_times(version):
        raise DataError(f"{version} has no times of ratings. Import it with a time column.")
    everything = ratings_of(version).user_items
    times = csr_array((timestamps_of(version), everything.indices, everything.indptr), shape=everything.shape)
    whole = times if users is None else times[users]
    if whole.shape != rows.user_items.shape:
        raise DataError(f"Rows of {rows.n_users} users cannot have the times of {whole.shape[0]} users.")
    return replace(rows, times=whole.data[positions_of(rows.user_items, whole)])


def with_optional(kind: type[Algorithm], rows: Ratings, version: DatasetVersion, users: Users | None) -> Ratings:
    """Training rows with what the class asks for; others get the rows as they are. Raises DataError: no times."""
    if kind.item_fields:
        rows = replace(rows, items=items_of(version, kind.item_fields))
    return with_times(rows, version, users) if kind.needs_times else rows


def profile_rows(kind: type[Algorithm], rows: Ratings, version: DatasetVersion, users: Users) -> Ratings:
    """Rows of profiles, with their times if the class reads the order of profiles and the dataset has times."""
    return with_times(rows, version, users) if kind.reads_order() and has_times(version) else rows


def optional_digests(
    kind: type[Algorithm], version: DatasetVersion, training_digest: str, users: Users | None
) -> dict[str, Any]:
    """The part of a recipe about what the class asks for; empty for others. Raises DataError as `with_times`."""
    if not kind.needs_times:
        return item_digests(kind, version)
    times = with_times(training_rows(training_digest), version, users).times
    return {**item_digests(kind, version), "times": digest_of_arrays({"times": np.asarray(times, dtype=np.int64)})}


def item_digests(kind: type[Algorithm], version: DatasetVersion) -> dict[str, Any]:
    """The digests of the item fields that a class asks for; empty for others."""
    digests = {name: _field_digest(version.pk, version.content_hash, name) for name in sorted(kind.item_fields)}
    return {"items": digests} if digests else {}


def items_of_model(kind: type[Algorithm], digest: str, stored: Mapping[str, str]) -> Items:
    """The items of a stored model, whose metadata have the digests `stored` of its fields.

    Raises ArtefactError when no dataset that such a model was trained on has these items any more.
    """
    for version in DatasetVersion.objects.filter(models__digest=digest).distinct():
        if item_digests(kind, version)["items"] == stored:
            return items_of(version, kind.item_fields)
    raise ArtefactError(
        "model.other_items",
        f"{kind.title} asks for item fields ({', '.join(sorted(kind.item_fields))}), and no dataset of the model "
        f"{digest[:12]} has the fields that it was trained with. Train the model again.",
        {"digest": digest},
    )


@lru_cache(maxsize=VERSIONS_KEPT * len(ITEM_FIELDS))
def _field_digest(version_id: int, content_hash: str, name: str) -> str:
    field = field_of(DatasetVersion.objects.get(pk=version_id), name)
    if name == "features":
        return features_digest(features=field)
    return digest_of(field.tolist() if name == "years" else field)


def features_digest(*, features: ItemFeatures) -> str:
    """Return the hash of item features: terms and counts."""
    matrix = features.item_terms
    counts = digest_of_arrays(
        {
            "indptr": np.asarray(matrix.indptr, dtype=np.int64),
            "indices": np.asarray(matrix.indices, dtype=np.int32),
            "counts": np.asarray(matrix.data, dtype=np.float32),
        }
    )
    return digest_of([counts, [list(term) for term in features.terms]])
