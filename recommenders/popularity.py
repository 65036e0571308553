"""TopPop: the items with most ratings, the same list for everyone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy import sparse

from recommenders.base import Algorithm
from recommenders.data import ItemFeatures, Ratings
from recommenders.parameters import Parameters
from recommenders.progress import Progress


class TopPop(Algorithm):
    """Order by number of training ratings, independent of their values and of the profile.

    An unrated item has no score; an empty profile gets the same scores as any other. Source: Cremonesi, Koren & Turrin
    (2010), RecSys, section 4, doi:10.1145/1864708.1864721.

    Cost: a fit counts the ratings once; a profile costs one copy of the counts.

    Examples
    --------
    >>> from recommenders.data import Profiles, Scale
    >>> scale = Scale(1, 5, 1)
    >>> ratings = Ratings.from_triples([0, 1, 1], [0, 0, 1], [5, 1, 4], n_users=2, n_items=3, scale=scale)
    >>> model = TopPop.fit(ratings, rng=np.random.default_rng(0))
    >>> model.score(Profiles.single([], [], n_items=3, scale=scale)).tolist()
    [[2.0, 1.0, -inf]]
    """

    key = "toppop"
    name = "TopPop"
    title = "Most popular (TopPop)"
    version = 1
    score_kind = "order"
    asks_profile = False
    arrays = ()

    @dataclass(frozen=True)
    class Params(Parameters):
        """TopPop has no parameters."""

    @classmethod
    def _fit(
        cls, ratings: Ratings, params: Params, features: ItemFeatures | None, rng: Generator, progress: Progress
    ) -> Self:
        return cls._with()

    @classmethod
    def fit_bytes(
        cls, n_users: int, n_items: int, n_ratings: int, params: Any, *, n_terms: int = 0, n_item_terms: int = 0
    ) -> int:
        """Only the counts."""
        return 16 * n_items

    def _score(self, user_items: sparse.csr_array) -> NDArray[np.float64]:
        row = np.where(self.popularity > 0, self.popularity.astype(np.float64), -np.inf)
        return np.tile(row, (user_items.shape[0], 1))
