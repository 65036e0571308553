"""What the size of the training data allows: the largest values of parameters such as the number of factors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from recommenders.data import ItemFeatures

# Other titles of an item, and what it is worth, say nothing of what it is like.
SILENT_KINDS = frozenset({"alias", "utility"})


@dataclass(frozen=True, eq=False)
class TrainingSize:
    """The size of the data that an algorithm is to be fitted on."""

    # `n_users`, `n_items`: rows and columns of the training ratings.
    n_users: int
    n_items: int
    features: ItemFeatures | None = None  # features of the same items, for algorithms that use them
    has_counts: bool = False  # whether repeated observations of a pair are counted
    has_times: bool = False  # whether the time of each rating is known

    @property
    def has_content(self) -> bool:
        """Whether any feature describes what an item is like."""
        if self.features is None:
            return False
        describes = [at for at, (kind, _) in enumerate(self.features.terms) if kind not in SILENT_KINDS]
        return bool(np.isin(self.features.item_terms.indices, describes).any())

    @property
    def n_terms(self) -> int:
        """Number of different terms of the item features."""
        return 0 if self.features is None else len(self.features.terms)


@dataclass(frozen=True, slots=True)
class Limit:
    """The largest possible value of a parameter, and the formula it comes from."""

    largest: int
    formula: str  # for messages, such as ``"min(users, items)"``


def rank_limit(size: TrainingSize, parameter: str = "factors") -> Mapping[str, Limit]:
    """The limit of a decomposition of the users × items matrix: no more factors than its smaller side.

    Examples
    --------
    >>> rank_limit(TrainingSize(n_users=2, n_items=9))
    {'factors': Limit(largest=2, formula='min(users, items)')}
    """
    return {parameter: Limit(min(size.n_users, size.n_items), "min(users, items)")}


def informative_terms(features: ItemFeatures) -> sparse.csr_array:
    """What each item is made of: counts as float64, with the columns of the features, but empty where these are of a
    kind that says nothing of what an item is like (its other titles). Shape (n_items, n_terms).

    Examples
    --------
    >>> counts = sparse.csr_array(np.array([[1.0, 1.0], [2.0, 0.0]]))
    >>> informative_terms(ItemFeatures(counts, (("genre", "War"), ("alias", "WP")))).toarray().tolist()
    [[1.0, 0.0], [2.0, 0.0]]
    """
    speaks = np.array([kind not in SILENT_KINDS for kind, _ in features.terms], dtype=np.float64)
    item_terms = sparse.csr_array(features.item_terms.astype(np.float64) @ sparse.diags_array(speaks))
    item_terms.eliminate_zeros()
    return item_terms
