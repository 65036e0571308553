"""Small data for tests: random but fixed, with a user without ratings and an item without ratings."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from recommenders.data import ItemFeatures, Profiles, Ratings, Scale

HALF_STARS = Scale(0.5, 5.0, 0.5)
N_USERS, N_ITEMS = 14, 10
KINDS = ("genre", "director", "tag", "country")


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
    terms = tuple((KINDS[term % len(KINDS)], f"value {term}") for term in range(n_terms))
    return ItemFeatures(sparse.csr_array(counts), terms)


def uniform_features(n_items: int) -> ItemFeatures:
    """One term that every item has."""
    return ItemFeatures(sparse.csr_array(np.ones((n_items, 1), dtype=np.float32)), (("genre", "Drama"),))


def sample_ratings() -> Ratings:
    """The training ratings of the checks."""
    return random_ratings(1, N_USERS, N_ITEMS)


def sample_features() -> ItemFeatures:
    """Features of the same items."""
    return random_features(2, N_ITEMS)


def new_profiles() -> Profiles:
    """Six profiles of people who are not in the training data; the last is empty."""
    return Profiles(random_ratings(3, 6, N_ITEMS, density=0.4).user_items, HALF_STARS)


def checkerboard(n_users: int = 24, n_items: int = 12) -> tuple[Ratings, ItemFeatures]:
    """Ratings and features in which even users love even items and hate odd ones, and odd users the reverse.

    Each user has one item of either kind left to rate.
    """
    users, items = (side.ravel() for side in np.indices((n_users, n_items)))
    is_hidden = (items // 2) == (users // 2) % (n_items // 2)
    values = np.where((users + items) % 2 == 0, 5.0, 1.0)
    ratings = Ratings.from_triples(
        users[~is_hidden], items[~is_hidden], values[~is_hidden], n_users, n_items, scale=Scale(1, 5, 1)
    )
    parity = np.zeros((n_items, 2), dtype=np.float32)
    parity[np.arange(n_items), np.arange(n_items) % 2] = 1
    return ratings, ItemFeatures(sparse.csr_array(parity), (("genre", "even"), ("genre", "odd")))
