"""Item features as the models that learn from a person's items need them: counts by item, kept as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from recommenders.data import ItemFeatures
from recommenders.data_limits import SILENT_KINDS

CONTENT_ARRAYS = ("feature_counts", "feature_numbers", "feature_starts")


@dataclass(frozen=True, eq=False)
class Content:
    """What each item is made of.

    Examples
    --------
    >>> counts = sparse.csr_array(np.array([[1.0, 1.0], [2.0, 0.0]]))
    >>> Content.of(ItemFeatures(counts, (("genre", "War"), ("alias", "WP")))).item_terms.toarray().tolist()
    [[1.0, 0.0], [2.0, 0.0]]
    """

    # Sparse float64 array, shape (n_items, n_features); counts; columns are those of the item features, and empty where
    # they are of a kind that says nothing of what an item is like (its other titles).
    item_terms: sparse.csr_array

    @classmethod
    def of(cls, features: ItemFeatures) -> Self:
        """The content of item features."""
        speaks = np.array([kind not in SILENT_KINDS for kind, _ in features.terms], dtype=np.float64)
        item_terms = sparse.csr_array(features.item_terms.astype(np.float64) @ sparse.diags_array(speaks))
        item_terms.eliminate_zeros()
        return cls(item_terms)

    @classmethod
    def from_arrays(
        cls,
        feature_counts: NDArray[Any],
        feature_numbers: NDArray[Any],
        feature_starts: NDArray[Any],
        n_features: int,
    ) -> Self:
        """The content from its arrays, which are not copied."""
        shape = (feature_starts.shape[0] - 1, n_features)
        return cls(sparse.csr_array((feature_counts, feature_numbers, feature_starts), shape=shape))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays a model keeps, named as in `CONTENT_ARRAYS`."""
        parts = (self.item_terms.data, self.item_terms.indices, self.item_terms.indptr)
        return dict(zip(CONTENT_ARRAYS, parts, strict=True))
