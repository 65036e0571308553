from __future__ import annotations

import numpy as np
import pytest

from recommenders import layout
from recommenders.association import ItemItem
from recommenders.data import Profiles, Ratings, Scale

pytestmark = [pytest.mark.unit, pytest.mark.kernels]

USED = Scale(1, 1, 1)
HOW = ("max", "sum", "noisy-or")


def fitted(ratings: Ratings, how: str = "max", **options: object) -> ItemItem:
    return ItemItem.fit(ratings, ItemItem.Params(aggregate=how, **options), rng=np.random.default_rng(0))


def baskets() -> Ratings:
    """Four baskets: {0, 1, 2}, {0, 2}, {0}, {1, 3}."""
    users, items = [0, 0, 0, 1, 1, 2, 3, 3], [0, 1, 2, 0, 2, 0, 1, 3]
    return Ratings.from_triples(users, items, [1] * 8, 4, 5, scale=USED)


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        # pr(2|0) = 2/3, pr(2|1) = 1/2; pr(3|1) = 1/2; pr(1|0) = 1/3, pr(0|1) = 1/2
        ("max", [1 / 2, 1 / 3, 2 / 3, 1 / 2, -np.inf]),
        ("sum", [1 / 2, 1 / 3, 7 / 6, 1 / 2, -np.inf]),
        ("noisy-or", [1 / 2, 1 / 3, 5 / 6, 1 / 2, -np.inf]),
    ],
)
def test_baskets_by_hand(how, expected):
    scores = fitted(baskets(), how).score(Profiles.single([0, 1], [1, 1], 5, USED))
    assert scores[0].tolist() == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("half", [0, 6000])
def test_scores_agree_with_loops(make_ratings, monkeypatch, how, half):
    monkeypatch.setattr(layout, "HALF_ITEMS", half)
    monkeypatch.setattr(layout, "BLOCK_WORDS", 30)
    ratings = make_ratings(51, 30, 13)
    profiles = Profiles(make_ratings(52, 12, 13, density=0.4).user_items, ratings.scale)
    scores = fitted(ratings, how, positive_from=3.5).score(profiles)
    # 3.5 lies 5/8 up the scale from 1 to 5, as 3.3125 does from 0.5 to 5, where 3.5 is the first point above.
    likes, rows = ratings.user_items.toarray() >= 3.5, profiles.user_items.toarray() >= 3.5
    for u in range(12):
        for j in range(13):
            given = []
            for other in np.flatnonzero(rows[u] & likes.any(axis=0)):
                both = int((likes[:, j] & likes[:, other]).sum())
                if other != j and both:
                    given.append(both / likes[:, other].sum())
            if not given:
                assert np.isneginf(scores[u, j])
                continue
            expected = {"max": max(given), "sum": sum(given), "noisy-or": 1 - np.prod([1 - p for p in given])}[how]
            assert scores[u, j] == pytest.approx(expected, abs=1e-9)
    assert np.isfinite(scores).any()


@pytest.mark.parametrize("how", HOW)
def test_scores_do_not_depend_on_company_to_the_last_bit(make_ratings, how):
    ratings = make_ratings(53, 40, 12)
    model = fitted(ratings, how)
    together = model.score(Profiles.of(ratings, np.arange(40)))
    for user in range(40):
        assert model.score(Profiles.of(ratings, [user]))[0].tobytes() == together[user].tobytes()


def test_probabilities_stay_probabilities_and_order_of_aggregates_holds(make_ratings):
    """max <= noisy-or <= sum, and the first two are at most 1."""
    ratings = make_ratings(54, 40, 12, density=0.9)
    everybody = Profiles.of(ratings, np.arange(40))
    largest, noisy, total = (fitted(ratings, how).score(everybody) for how in ("max", "noisy-or", "sum"))
    has_score = np.isfinite(largest)
    assert (has_score == np.isfinite(noisy)).all()
    assert (has_score == np.isfinite(total)).all()
    assert (largest[has_score] <= noisy[has_score] + 1e-12).all()
    assert (noisy[has_score] <= total[has_score] + 1e-12).all()
    assert noisy[has_score].max() <= 1
    assert total[has_score].max() > 1


def test_dislikes_say_nothing():
    ratings = Ratings.from_triples([0, 0], [0, 1], [5, 4], 1, 2, scale=Scale(1, 5, 1))
    model = fitted(ratings)
    assert model.score(Profiles.single([0], [4], 2, ratings.scale)).tolist() == [[-np.inf, 1.0]]
    assert np.isneginf(model.score(Profiles.single([0], [3], 2, ratings.scale))).all()


def test_training_without_a_like_gives_no_score():
    ratings = Ratings.from_triples([0, 0], [0, 1], [1, 2], 1, 2, scale=Scale(1, 5, 1))
    assert np.isneginf(fitted(ratings).score(Profiles.single([0], [5], 2, ratings.scale))).all()


def test_highest_possible_scores():
    profiles = Profiles.of(baskets(), [0, 2]).user_items
    assert fitted(baskets(), "max").highest(profiles).tolist() == [1.0, 1.0]
    assert fitted(baskets(), "noisy-or").highest(profiles).tolist() == [1.0, 1.0]
    assert fitted(baskets(), "sum").highest(profiles).tolist() == [3.0, 1.0]
