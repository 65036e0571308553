"""Small data for the recommenders' tests: those of `recommenders.testing`, as fixtures."""

from __future__ import annotations

import pytest

from recommenders.data import ItemFeatures, Profiles, Ratings
from recommenders.testing.trial import (
    new_profiles,
    random_features,
    random_ratings,
    sample_features,
    sample_ratings,
)


@pytest.fixture
def ratings() -> Ratings:
    return sample_ratings()


@pytest.fixture
def features() -> ItemFeatures:
    return sample_features()


@pytest.fixture
def strangers() -> Profiles:
    """Profiles of people who are not in the training data; the last is empty."""
    return new_profiles()


@pytest.fixture
def make_ratings():
    return random_ratings


@pytest.fixture
def make_features():
    return random_features
