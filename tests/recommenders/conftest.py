"""Small data for the recommenders' tests: random but fixed, with an idle user and an item nobody rated."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from recommenders.data import ItemFeatures, Profiles, Ratings, Scale

HALF_STARS = Scale(0.5, 5.0, 0.5)


def random_ratings(seed: int, n_users: int, n_items: int, density: float = 0.5, scale: Scale = HALF_STARS) -> Ratings:
    """Random points of the scale; the last user and the last item have none."""
    rng = np.random.default_rng(seed)
    is_rated = rng.random((n_users, n_items)) < density
    is_rated[-1, :] = is_rated[:, -1] = False
    users, items = np.nonzero(is_rated)
    steps = round((scale.high - scale.low) / scale.step)
    values = scale.low + scale.step * rng.integers(0, steps + 1, users.size)
    return Ratings.from_triples(users, items, values, n_users, n_items, scale=scale)


def random_features(seed: int, n_items: int, n_terms: int = 8) -> ItemFeatures:
    """Random counts of terms of four kinds; the first item has none."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 3, (n_items, n_terms)).astype(np.float32)
    counts[0] = 0
    kinds = ("genre", "director", "tag", "country")
    terms = tuple((kinds[term % 4], f"value {term}") for term in range(n_terms))
    return ItemFeatures(sparse.csr_array(counts), terms)


@pytest.fixture
def ratings() -> Ratings:
    return random_ratings(1, n_users=14, n_items=10)


@pytest.fixture
def features() -> ItemFeatures:
    return random_features(2, n_items=10)


@pytest.fixture
def strangers() -> Profiles:
    """Profiles of people who are not in the training data; the last is empty."""
    return Profiles(random_ratings(3, n_users=6, n_items=10, density=0.4).user_items, HALF_STARS)


@pytest.fixture
def make_ratings():
    return random_ratings


@pytest.fixture
def make_features():
    return random_features
