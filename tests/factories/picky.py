"""An algorithm of a third party that takes whole profiles of its own data, and no rating between its points."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray
from scipy import sparse

from recommenders.popularity import Random

OFF_GRID = "A rating is off the grid."


class Picky(Random):
    """Random, except that a rating off the grid of the training data ends it."""

    key = "picky"
    name = "Picky"
    title = "Picky (in tests)"

    def _score(self, user_items: sparse.csr_array) -> NDArray[Any]:
        if not self.scale.holds(user_items.data).all():
            raise ValueError(OFF_GRID)
        return super()._score(user_items)
