from __future__ import annotations

import numpy as np
import pytest

from recommenders.data import Profiles, Ratings, Scale
from recommenders.popularity import Random

pytestmark = pytest.mark.unit

FIVE = Scale(1, 5, 1)


@pytest.fixture
def model(make_ratings) -> Random:
    return Random.fit(make_ratings(41, 60, 200), rng=np.random.default_rng(7))


def test_order_does_not_depend_on_company_or_on_place(make_ratings, model):
    people = make_ratings(42, 40, 200)
    together = model.score(Profiles.of(people, np.arange(40)))
    backwards = model.score(Profiles.of(people, np.arange(40)[::-1]))[::-1]
    assert together.tobytes() == backwards.tobytes()
    for user in (0, 17, 39):
        assert model.score(Profiles.of(people, [user]))[0].tobytes() == together[user].tobytes()


def test_profiles_get_orders_of_their_own(model):
    def scores(items, ratings):
        return model.score(Profiles.single(items, ratings, 200, model.scale))[0].tobytes()

    assert scores([3, 5], [4, 2]) == scores([5, 3], [2, 4])
    different = {scores([3, 5], [4, 2]), scores([3, 5], [2, 4]), scores([3], [4]), scores([5], [4]), scores([], [])}
    assert len(different) == 5


def test_another_seed_gives_another_order_and_the_same_seed_the_same(make_ratings, model):
    ratings = make_ratings(41, 60, 200)
    profile = Profiles.of(ratings, [0])
    same = Random.fit(ratings, rng=np.random.default_rng(7)).score(profile)
    other = Random.fit(ratings, rng=np.random.default_rng(8)).score(profile)
    assert same.tobytes() == model.score(profile).tobytes()
    assert other.tobytes() != same.tobytes()


def test_every_rated_item_is_equally_likely_to_come_first(make_ratings):
    """4,000 people over 8 items: first places are binomial with mean 500 and deviation 21."""
    ratings = Ratings.from_triples(np.arange(8), np.arange(8), [3] * 8, 8, 9, scale=Scale(1, 4000, 1))
    model = Random.fit(ratings, rng=np.random.default_rng(3))
    rows = np.zeros((4000, 9))
    rows[:, 0] = np.arange(1, 4001)
    users, items = np.nonzero(rows)
    people = Ratings.from_triples(users, items, rows[users, items], 4000, 9, scale=ratings.scale)
    scores = model.score(Profiles(people.user_items, people.scale))
    firsts = np.bincount(scores.argmax(axis=1), minlength=9)
    assert firsts[8] == 0  # nobody rated it
    assert np.isneginf(scores[:, 8]).all()
    assert np.abs(firsts[:8] - 500).max() < 5 * 21
    assert scores[:, :8].min() >= 0
    assert scores[:, :8].max() < 1
