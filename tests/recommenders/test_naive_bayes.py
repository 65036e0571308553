from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import sparse

from recommenders import naive_bayes
from recommenders.data import ItemFeatures, Profiles, Ratings, Scale
from recommenders.naive_bayes import NaiveBayes

pytestmark = pytest.mark.unit
FIVE = Scale(1, 5, 1)


def fit(features: ItemFeatures, scale: Scale = FIVE, against: str = "rated", **options: object) -> NaiveBayes:
    ratings = Ratings.from_triples([0], [0], [scale.high], 1, features.n_items, scale=scale)
    return NaiveBayes.fit(
        ratings, NaiveBayes.Params(against=against, **options), features=features, rng=np.random.default_rng(0)
    )


def table(rows: list[list[float]]) -> ItemFeatures:
    counts = sparse.csr_array(np.array(rows, dtype=np.float32))
    return ItemFeatures(counts, tuple(("genre", f"name {column}") for column in range(counts.shape[1])))


def reference(liked: list[set[int]], other: list[set[int]], item: set[int], smoothing: float) -> float:
    """Log odds that an item is of the first class; items are sets of features."""

    def chance(feature: int, kind: list[set[int]]) -> float:
        return (sum(feature in one for one in kind) + smoothing) / (len(kind) + 2 * smoothing)

    odds = math.log((len(liked) + smoothing) / (len(other) + smoothing))
    for feature in set().union(*liked, *other):
        first, second = chance(feature, liked), chance(feature, other)
        odds += math.log(first / second) if feature in item else math.log((1 - first) / (1 - second))
    return odds


def test_worked_example():
    """Liked: two comedies, one of them old. Not: one horror film, old. New: an old comedy.

    P(liked) = 3/5. Comedy: 3/4 to 1/3; horror, absent: 3/4 to 1/3; old: 2/4 to 2/3.
    """
    features = table([[1, 0, 1], [1, 0, 0], [0, 1, 1], [1, 0, 1]])
    score = fit(features).score(Profiles.single([0, 1, 2], [5, 4, 3], 4, FIVE))[0, 3]
    expected = (3 / 2) * (3 / 4) / (1 / 3) * (3 / 4) / (1 / 3) * (2 / 4) / (2 / 3)
    assert score == pytest.approx(math.log(expected), abs=1e-12)


@pytest.mark.parametrize("against", ["rated", "all"])
@pytest.mark.parametrize(("smoothing", "block"), [(1.0, naive_bayes.BLOCK_CELLS), (0.3, 20)])
def test_scores_agree_with_sets(make_ratings, make_features, monkeypatch, against, smoothing, block):
    monkeypatch.setattr(naive_bayes, "BLOCK_CELLS", block)
    features, strangers = make_features(51, 14), make_ratings(52, 9, 14)
    items = [set(np.flatnonzero(row).tolist()) for row in features.item_terms.toarray()]
    model = fit(features, strangers.scale, against=against, smoothing=smoothing)
    scores = model.score(Profiles(strangers.user_items, strangers.scale))
    for row, profile in zip(scores, strangers.user_items.toarray(), strict=True):
        liked = [items[m] for m in range(14) if profile[m] >= 4 and items[m]]
        rated = [m for m in range(14) if profile[m] and items[m]]
        others = rated if against == "rated" else [m for m in range(14) if items[m]]
        other = [items[m] for m in others if profile[m] < 4]
        for m in range(14):
            if not rated or not items[m]:
                assert np.isneginf(row[m])
            else:
                assert row[m] == pytest.approx(reference(liked, other, items[m], smoothing), abs=1e-9)


def test_usage_data_are_set_against_all_other_items(make_features):
    features = make_features(53, 12)
    used = Scale(1, 1, 1)
    profile = Profiles.single([1, 2, 5], [1, 1, 1], 12, used)
    scores = fit(features, used).score(profile)
    assert np.ptp(scores[np.isfinite(scores)]) > 0.1
    np.testing.assert_array_equal(scores, fit(features, used, against="all").score(profile))


def test_liked_items_are_set_against_all_others_unless_told_otherwise(make_ratings, make_features):
    """A profile without a dislike has an order too: the common feature says less than the rare one it shares."""
    assert NaiveBayes.Params().against == "all"
    features = table([[1, 1], [1, 0], [1, 0], [1, 0], [0, 1]])
    scores = fit(features, against="all").score(Profiles.single([0], [5], 5, FIVE))[0]
    assert scores[4] > scores[1]


def test_how_often_a_feature_is_counted_makes_no_difference():
    profile = Profiles.single([0, 1], [5, 1], 3, FIVE)
    once, often = table([[1, 0], [0, 1], [1, 0]]), table([[7, 0], [0, 3], [2, 0]])
    np.testing.assert_array_equal(fit(once).score(profile), fit(often).score(profile))


def test_features_that_none_of_the_rated_items_has_make_no_difference():
    """Item 2 is like item 0 but for a feature the person has never met."""
    features = table([[1, 0, 0], [0, 1, 0], [1, 0, 1]])
    scores = fit(features).score(Profiles.single([0, 1], [5, 1], 3, FIVE))[0]
    assert scores[2] == scores[0] > 0 > scores[1]


def test_people_who_like_all_or_nothing_have_finite_scores():
    features = table([[1, 0], [0, 1], [1, 1]])
    scores = fit(features).score(Profiles(sparse.csr_array([[5.0, 5.0, 0.0], [1.0, 2.0, 0.0]]), FIVE))
    assert np.isfinite(scores).all()
    assert scores[0].min() > 0 > scores[1].max()


def test_rated_item_without_features_is_no_evidence():
    features = table([[1, 0], [0, 1], [0, 0]])
    model = fit(features)
    with_it = model.score(Profiles.single([0, 1, 2], [5, 1, 1], 3, FIVE))
    without = model.score(Profiles.single([0, 1], [5, 1], 3, FIVE))
    np.testing.assert_array_equal(with_it, without)
    assert np.isneginf(model.score(Profiles.single([2], [5], 3, FIVE))).all()
