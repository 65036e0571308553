from __future__ import annotations

import numpy as np
import pytest

from recommenders.data import Profiles, Ratings, Scale
from recommenders.popularity import PopularityLikes

pytestmark = pytest.mark.unit

FIVE = Scale(1, 5, 1)


def by_hand() -> Ratings:
    """Item 0: 5, 4, 1; item 1: 4; item 2: 3; item 3: nobody."""
    return Ratings.from_triples([0, 1, 2, 0, 1], [0, 0, 0, 1, 2], [5, 4, 1, 4, 3], 3, 4, scale=FIVE)


def scores_of(profile: Profiles, **options: object) -> list[float]:
    model = PopularityLikes.fit(by_hand(), PopularityLikes.Params(**options), rng=np.random.default_rng(0))
    return model.score(profile)[0].tolist()


def nobody() -> Profiles:
    return Profiles.single([], [], 4, FIVE)


def test_number_of_likes_by_hand():
    assert scores_of(nobody()) == [2.0, 1.0, 0.0, -np.inf]
    assert scores_of(nobody(), positive_from=3) == [2.0, 1.0, 1.0, -np.inf]
    assert scores_of(nobody(), positive_from=5) == [1.0, 0.0, 0.0, -np.inf]


def test_damped_share_by_hand():
    """3 of 5 ratings are likes; with 2 more of that kind item 0 has (2 + 1.2) / 5, item 1 (1 + 1.2) / 3."""
    assert scores_of(nobody(), measure="share", damping=2) == pytest.approx([0.64, 2.2 / 3, 0.4, -np.inf], abs=1e-12)
    assert scores_of(nobody(), measure="share", damping=0) == [2 / 3, 1.0, 0.0, -np.inf]


def test_people_who_like_more_come_first_in_the_order_of_pairs():
    likes_two = Profiles.single([1, 2, 3], [4, 5, 2], 4, FIVE)
    assert scores_of(likes_two, by_people=True) == [4.0, 2.0, 0.0, -np.inf]
    likes_none = Profiles.single([1], [2], 4, FIVE)
    assert scores_of(likes_none, by_people=True) == [-np.inf] * 4
    assert scores_of(likes_none, by_people=False) == [2.0, 1.0, 0.0, -np.inf]


@pytest.mark.parametrize("measure", ["number", "share"])
@pytest.mark.parametrize("by_people", [False, True])
def test_scores_agree_with_loops(make_ratings, measure, by_people):
    ratings = make_ratings(31, 30, 12)
    profiles = Profiles(make_ratings(32, 8, 12).user_items, ratings.scale)
    params = PopularityLikes.Params(measure=measure, damping=7.0, by_people=by_people)
    scores = PopularityLikes.fit(ratings, params, rng=np.random.default_rng(0)).score(profiles)
    matrix, rows = ratings.user_items.toarray(), profiles.user_items.toarray()
    overall = (matrix >= 4).sum() / (matrix > 0).sum()
    for u in range(8):
        liked = (rows[u] >= 4).sum()
        for i in range(12):
            expected = float((matrix[:, i] >= 4).sum())
            count = (matrix[:, i] > 0).sum()
            if count == 0 or (by_people and liked == 0):
                assert np.isneginf(scores[u, i])
                continue
            if measure == "share":
                expected = (expected + 7 * overall) / (count + 7)
            assert scores[u, i] == pytest.approx(expected * (liked if by_people else 1), abs=1e-9)


def test_everything_counts_in_usage_data():
    ratings = Ratings.from_triples([0, 1, 1], [0, 0, 1], [1, 1, 1], 2, 2, scale=Scale(1, 1, 1))
    model = PopularityLikes.fit(ratings, rng=np.random.default_rng(0))
    assert model.score(Profiles.single([], [], 2, ratings.scale)).tolist() == [[2.0, 1.0]]


def test_people_alone_order_pairs_of_old_and_new_items():
    scale = Scale(1, 5, 1)
    ratings = Ratings.from_triples([0, 1, 1], [0, 0, 1], [5, 4, 1], n_users=2, n_items=3, scale=scale)
    params = PopularityLikes.Params(measure="none", by_people=True)
    model = PopularityLikes.fit(ratings, params, rng=np.random.default_rng(0))
    assert model.score(Profiles.single([0, 1], [5, 4], 3, scale)).tolist() == [[2.0, 2.0, 2.0]]
    assert np.isneginf(model.score(Profiles.single([0], [1], 3, scale))).all()
