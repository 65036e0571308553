from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from core.errors import DataError, ParameterError
from recommenders import registry
from recommenders.base import Algorithm
from recommenders.data import ItemFeatures, Profiles, Ratings, Scale
from recommenders.expected_utility import UTILITY_KIND, with_utilities

pytestmark = pytest.mark.unit

FIVE = Scale(1, 5, 1)
ExpUtility = registry.algorithm("expected-utility")


def table(values: list[float], *more: tuple[str, str]) -> ItemFeatures:
    """A given table of utilities, and other terms that every item has."""
    columns = [values, *([1.0] * len(values) for _ in more)]
    return ItemFeatures(sparse.csr_array(np.array(columns).T), (("utility", "profit"), *more))


def by_hand() -> Ratings:
    """Of two who liked item 0 both liked item 1 and one item 2; item 3 was disliked by both."""
    users, items = [0, 0, 0, 0, 1, 1, 1], [0, 1, 2, 3, 0, 1, 3]
    return Ratings.from_triples(users, items, [5, 4, 5, 1, 5, 5, 2], 2, 5, scale=FIVE)


def fitted(ratings: Ratings, features: ItemFeatures | None = None, **options: str) -> Algorithm:
    return ExpUtility.fit(ratings, ExpUtility.Params(**options), features=features, rng=np.random.default_rng(0))


def test_mean_rating_as_utility_by_hand():
    """pr(1|0) = 1 and pr(2|0) = 1/2, worth 4.5 and 5."""
    scores = fitted(by_hand()).score(Profiles.single([0], [5], 5, FIVE))[0]
    assert scores.tolist() == [-np.inf, 4.5, 2.5, -np.inf, -np.inf]


def test_given_table_turns_the_order_and_leaves_out_what_it_has_not():
    profile = Profiles.single([0], [5], 5, FIVE)
    given = fitted(by_hand(), table([1, 2, 9, 1, 1], ("genre", "Drama")), utility="given")
    assert given.score(profile)[0].tolist() == [-np.inf, 2.0, 4.5, -np.inf, -np.inf]
    partly = fitted(by_hand(), table([1, 0, 9, 1, 1]), utility="given")
    assert partly.score(profile)[0].tolist() == [-np.inf, -np.inf, 4.5, -np.inf, -np.inf]


@pytest.mark.parametrize(
    ("features", "count"),
    [
        (None, 0),
        (ItemFeatures(sparse.csr_array(np.ones((5, 1))), (("genre", "Drama"),)), 0),
        (table([1, 1, 1, 1, 1], ("utility", "turnover")), 2),
    ],
)
def test_given_table_that_is_not_there_is_asked_for(features, count):
    with pytest.raises(DataError, match=rf"have {count}\."):
        fitted(by_hand(), features, utility="given")


@pytest.mark.parametrize(
    "scorer",
    [
        "itemitem",
        "itemitem:aggregate=sum",
        "itemitem:aggregate=noisy-or;positive_from=3",
        "userknn-pearson:neighbours=3;among=all",
        "corngr:shrinkage=2",
        "puresvd:factors=2",
        "toppop",
    ],
)
def test_scores_are_shares_of_the_highest_times_utility(make_ratings, scorer):
    ratings = make_ratings(91, 25, 11)
    profiles = Profiles(make_ratings(92, 8, 11).user_items, ratings.scale)
    key, params = registry.parse(scorer.replace(";", ","))
    plain = registry.algorithm(key).fit(ratings, params, rng=np.random.default_rng(0)).score(profiles)
    scores = fitted(ratings, scorer=scorer).score(profiles)
    matrix, rows = ratings.user_items.toarray().astype(float), profiles.user_items.toarray()
    for u in range(8):
        if key in {"userknn-pearson", "corngr"}:
            highest = 5.0
        elif key == "itemitem":
            highest = (rows[u] >= 4).sum() if "sum" in scorer else 1.0
        else:
            highest = plain[u].max()
        for i in range(11):
            if np.isneginf(plain[u, i]):
                assert np.isneginf(scores[u, i])
                continue
            worth = matrix[matrix[:, i] > 0, i].mean()
            assert scores[u, i] == pytest.approx(max(plain[u, i], 0) / highest * worth, abs=1e-9)
    assert np.isfinite(scores).any()


def test_equal_utilities_keep_the_scorers_order(make_ratings):
    ratings = make_ratings(93, 30, 12)
    everybody = Profiles.of(ratings, np.arange(30))
    model = fitted(ratings, table([3.0] * 12), utility="given")
    np.testing.assert_allclose(model.score(everybody), 3.0 * model.scorer.score(everybody), rtol=0, atol=1e-12)


def test_scorer_is_saved_with_it(make_ratings):
    ratings = make_ratings(94, 20, 9)
    model = fitted(ratings, scorer="puresvd:factors=2")
    assert set(model.state()) == {"popularity", "utility", "scorer_item_factors"}
    again = ExpUtility.from_state(model.state(), model.params, model.scale)
    everybody = Profiles.of(ratings, np.arange(20))
    assert again.score(everybody).tobytes() == model.score(everybody).tobytes()


def test_scorer_that_needs_features_gets_them():
    model = fitted(by_hand(), table([1, 2, 9, 1, 1], ("genre", "Drama")), scorer="lsa:factors=1", utility="given")
    scores = model.score(Profiles.single([0], [5], 5, FIVE))[0]
    assert scores.tolist() == pytest.approx([1, 2, 9, 1, 1], rel=1e-6)
    with pytest.raises(DataError, match="item features"):
        fitted(by_hand(), scorer="lsa:factors=1")


@pytest.mark.parametrize(
    ("scorer", "complaint"),
    [
        ("expected-utility", "cannot be another expected utility"),
        ("nobody", "no algorithm 'nobody'"),
        ("puresvd:factors=0", "factors must be at least 1"),
    ],
)
def test_impossible_scorers_are_refused(scorer, complaint):
    with pytest.raises(ParameterError, match=complaint):
        fitted(by_hand(), scorer=scorer)


def test_profile_to_which_the_scorer_gives_nothing_has_no_score():
    for scorer in ("itemitem", "itemitem:aggregate=sum", "userknn-cosine", "puresvd:factors=1"):
        assert np.isneginf(fitted(by_hand(), scorer=scorer).score(Profiles.single([], [], 5, FIVE))).all()


def test_features_are_taken_where_utilities_are_given_or_the_scorer_takes_them():
    assert not ExpUtility.uses_features(ExpUtility.Params())
    assert ExpUtility.uses_features(ExpUtility.Params(utility="given"))
    assert ExpUtility.uses_features(ExpUtility.Params(scorer="lsa"))


def test_another_table_of_utilities_takes_the_place_of_the_first():
    matrix = sparse.csr_array(np.array([[9.0, 1.0], [8.0, 0.0]]))
    features = ItemFeatures(matrix, ((UTILITY_KIND, "given"), ("genre", "Comedy")))
    changed = with_utilities(features, np.array([-1.0, 2.0]))
    assert changed.terms == (("genre", "Comedy"), (UTILITY_KIND, "given"))
    assert changed.item_terms.toarray().tolist() == [[1.0, 0.0], [0.0, 2.0]]
