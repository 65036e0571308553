"""Random: an order by chance, which every other order has to beat."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Self

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy import sparse

from recommenders.base import Algorithm
from recommenders.data import ItemFeatures, Ratings
from recommenders.parameters import Parameters
from recommenders.progress import Progress

# Codes are compared in thousandths of a step, so that float32 noise of a mapped scale changes no order.
CODE_PARTS = 1000


class Random(Algorithm):
    """A random order of the rated items, drawn afresh for each profile.

    The order follows from the seed and from the profile (its items and ratings) alone: the same person gets the same
    list again, in any batch and by any worker. Two people with the same profile, the empty one too, get the same order.
    An unrated item has no score. Source: Schein, Popescul, Ungar & Pennock (2005), Electronic Commerce Research
    5:51-74, section 3.2: the reference line of both curves. doi:10.1023/B:ELEC.0000045973.51289.8c.

    Cost: a fit learns nothing; a profile costs one random number per item.

    Examples
    --------
    >>> from recommenders.data import Profiles, Scale
    >>> scale = Scale(1, 5, 1)
    >>> ratings = Ratings.from_triples([0, 1, 1], [0, 0, 1], [5, 1, 4], n_users=2, n_items=3, scale=scale)
    >>> model = Random.fit(ratings, rng=np.random.default_rng(0))
    >>> profile = Profiles.single([0], [5], n_items=3, scale=scale)
    >>> model.score(profile).tolist() == model.score(profile).tolist()
    True
    """

    key = "random"
    name = "Random"
    title = "Random order (Random)"
    version = 1
    score_kind = "order"
    asks_profile = False
    asks_numbers = True
    arrays = ("seed",)

    @dataclass(frozen=True)
    class Params(Parameters):
        """Random has no parameters; its seed comes with the fit."""

    params: Params
    seed: NDArray[np.int64]  # shape (1,)

    @classmethod
    def _fit(
        cls, ratings: Ratings, params: Params, features: ItemFeatures | None, rng: Generator, progress: Progress
    ) -> Self:
        return cls._with(seed=rng.integers(0, np.iinfo(np.int64).max, size=1, dtype=np.int64))

    @classmethod
    def fit_bytes(
        cls, n_users: int, n_items: int, n_ratings: int, params: Any, *, n_terms: int = 0, n_item_terms: int = 0
    ) -> int:
        """Only the counts, which every model has."""
        return 16 * n_items

    def _score(self, user_items: sparse.csr_array) -> NDArray[np.float64]:
        scores = np.full(user_items.shape, -np.inf)
        is_known = self.popularity > 0
        items = user_items.indices.astype("<i8")
        codes = np.rint(CODE_PARTS * self.scale.codes(user_items.data)).astype("<i8")
        for row in range(user_items.shape[0]):
            own = slice(user_items.indptr[row], user_items.indptr[row + 1])
            digest = blake2b(self.seed.astype("<i8").tobytes(), digest_size=16)
            digest.update(items[own].tobytes())
            digest.update(codes[own].tobytes())
            # A counter-based generator starts at no cost; every item draws, so that a draw belongs to its number.
            generator = np.random.Generator(np.random.Philox(key=int.from_bytes(digest.digest(), "little")))
            scores[row, is_known] = generator.random(self.n_items)[is_known]
        return scores
