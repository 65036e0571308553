"""The model of taste gives back what was planted in it, and the same ratings every time."""

from __future__ import annotations

import numpy as np
import pytest

from catalog.demo.taste import draw_tastes, synthetic_ratings
from catalog.demo.works import demo_films
from core.errors import ParameterError

pytestmark = pytest.mark.unit

N_USERS = 1500
SEED = 2012


@pytest.fixture(scope="module")
def ratings():
    return synthetic_ratings(n_users=N_USERS, seed=SEED)


@pytest.fixture(scope="module")
def in_genre():
    return np.array([[genre in film.genres for genre in demo_films().genres] for film in demo_films().works])


def dense(users, items, values):
    matrix = np.zeros((N_USERS, len(demo_films().works)))
    matrix[users, items] = values
    return matrix


def test_ratings_same_seed_are_identical(ratings):
    again = synthetic_ratings(n_users=N_USERS, seed=SEED)
    assert all(np.array_equal(one, other) for one, other in zip(ratings, again, strict=True))


def test_ratings_another_seed_differ(ratings):
    other = synthetic_ratings(n_users=N_USERS, seed=SEED + 1)
    assert not np.array_equal(ratings.items[:1000], other.items[:1000])


def test_ratings_growing_population_keeps_its_users(ratings):
    few = synthetic_ratings(n_users=50, seed=SEED)
    first = ratings.users < 50
    assert np.array_equal(few.items, ratings.items[first])
    assert np.array_equal(few.values, ratings.values[first])


def test_ratings_leave_the_global_generator_alone():
    before = np.random.get_state()[1].copy()  # noqa: NPY002 - read to show that nobody touched it
    synthetic_ratings(n_users=5, seed=1)
    assert np.array_equal(before, np.random.get_state()[1])  # noqa: NPY002 - as above


def test_ratings_are_well_formed(ratings):
    keys = ratings.users * len(demo_films().works) + ratings.items
    assert (np.diff(keys) > 0).all()  # sorted, and no pair twice
    assert ratings.items.min() >= 0
    assert ratings.items.max() < len(demo_films().works)
    assert {array.dtype for array in ratings} == {np.dtype(np.int64)}
    counts = np.bincount(ratings.users, minlength=N_USERS)
    assert counts.min() >= 20
    assert counts.max() <= 120


def test_ratings_look_like_ratings(ratings):
    assert 80_000 <= len(ratings.values) <= 100_000
    assert 3.4 <= ratings.values.mean() <= 3.8
    shares = np.bincount(ratings.values, minlength=6) / len(ratings.values)
    assert shares[0] == 0
    assert (shares[1:] > 0.02).all()
    assert shares[4] == shares.max()


def test_popularity_is_long_tailed(ratings):
    counts = np.sort(np.bincount(ratings.items, minlength=len(demo_films().works)))[::-1]
    assert counts[: len(counts) // 10].sum() > 0.25 * counts.sum()
    assert counts[-1] >= 1


def test_popularity_grows_with_renown(ratings):
    counts = np.bincount(ratings.items, minlength=len(demo_films().works))
    renown = np.array([film.renown for film in demo_films().works])
    means = [counts[renown == step].mean() for step in range(1, 6)]
    assert means == sorted(means)


def test_preferred_genre_is_rated_higher_and_more_often(ratings, in_genre):
    """Rated higher: among the common genres, a user's ratings in the most against the least liked one."""
    tastes = draw_tastes(n_users=N_USERS, seed=SEED)
    common = np.flatnonzero(in_genre.sum(axis=0) >= 70)
    most = common[np.argmax(tastes.genres[:, common], axis=1)]
    least = common[np.argmin(tastes.genres[:, common], axis=1)]
    liked, disliked = (
        in_genre[ratings.items, most[ratings.users]],
        in_genre[ratings.items, least[ratings.users]],
    )
    only_liked, only_disliked = liked & ~disliked, disliked & ~liked
    assert ratings.values[only_liked].mean() > ratings.values[only_disliked].mean() + 0.3
    assert only_liked.sum() > 1.5 * only_disliked.sum()


def test_generous_users_rate_higher(ratings):
    tastes = draw_tastes(n_users=N_USERS, seed=SEED)
    means = np.bincount(ratings.users, ratings.values) / np.bincount(ratings.users)
    assert np.corrcoef(means, tastes.generosity)[0, 1] > 0.4


def test_what_is_rated_depends_on_hidden_tastes(ratings):
    """Not missing at random: users of like hidden tastes share more films than users of opposite ones."""
    hidden = draw_tastes(n_users=N_USERS, seed=SEED).hidden
    likeness = hidden @ hidden.T / np.outer(np.linalg.norm(hidden, axis=1), np.linalg.norm(hidden, axis=1))
    rated = dense(ratings.users, ratings.items, 1.0)
    shared = rated @ rated.T
    pairs = np.triu(np.ones_like(shared, dtype=bool), 1)
    assert shared[pairs & (likeness > 0.7)].mean() > 1.3 * shared[pairs & (likeness < -0.7)].mean()


def test_personal_factors_find_liked_films_better_than_popularity(ratings):
    """Ten factors of the other ratings rank held-out five-star films above what popularity does."""
    held_out = np.random.default_rng(7).random(len(ratings.values)) < 0.1
    cases = np.flatnonzero(held_out & (ratings.values == 5))
    known = dense(*(array[~held_out] for array in ratings))
    _, _, items = np.linalg.svd(known, full_matrices=False)
    personal = known @ items[:10].T @ items[:10]
    popular = np.broadcast_to((known > 0).sum(axis=0), known.shape)
    rated = dense(ratings.users, ratings.items, 1.0) > 0

    def share_in_first_ten(scores):
        users, films = ratings.users[cases], ratings.items[cases]
        above = (scores[users] > scores[users, films][:, None]) & ~rated[users]
        return (above.sum(axis=1) < 10).mean()

    assert share_in_first_ten(personal) > 2 * share_in_first_ten(popular)


@pytest.mark.parametrize(("n_users", "seed", "named"), [(0, 1, "n_users"), (5, -1, "seed")])
def test_ratings_refuse_impossible_parameters(n_users, seed, named):
    with pytest.raises(ParameterError, match=named):
        synthetic_ratings(n_users=n_users, seed=seed)
