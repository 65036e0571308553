from __future__ import annotations

import numpy as np
import pytest

from recommenders.data import Profiles, Ratings, Scale
from recommenders.popularity import TopPop

pytestmark = pytest.mark.unit


def test_number_of_ratings_counts_and_not_their_height():
    scale = Scale(1, 5, 1)
    ratings = Ratings.from_triples([0, 1, 2, 0], [0, 0, 0, 1], [1, 1, 1, 5], 3, 3, scale=scale)
    model = TopPop.fit(ratings, rng=np.random.default_rng(0))
    scores = model.score(Profiles.of(ratings, [0, 2]))
    assert scores.tolist() == [[3.0, 1.0, -np.inf]] * 2
