"""Explanations: how parts make a score, and worked examples by hand, one for each family of algorithms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from recommenders import registry
from recommenders.base import Algorithm
from recommenders.data import ItemFeatures, Profiles, Ratings, Scale
from recommenders.explanation import Explanation

pytestmark = pytest.mark.unit
FIVE = Scale(1, 5, 1)
USED = Scale(1, 1, 1)


def fitted(text: str, ratings: Ratings, features: ItemFeatures | None = None) -> Algorithm:
    key, params = registry.parse(text)
    return registry.algorithm(key).fit(ratings, params, features=features, rng=np.random.default_rng(0))


def why(model: Algorithm, items: list[int], values: list[float], item: int, scale: Scale = FIVE) -> Explanation:
    (found,) = model.explain(Profiles.single(items, values, model.n_items, scale), [item])
    assert found is not None
    return found


def used(n_users: int, n_items: int, *pairs: tuple[int, int]) -> Ratings:
    users, items = zip(*pairs, strict=True)
    return Ratings.from_triples(users, items, [1] * len(pairs), n_users, n_items, scale=USED)


@pytest.mark.parametrize(("how", "score"), [("sum", 10.75), ("max", 10.5), ("noisy-or", 10.625)])
def test_parts_combine_as_they_say(how, score):
    assert Explanation(np.array([1, 4]), np.array([0.5, 0.25]), 10.0, how).score == score


@pytest.mark.parametrize("how", ["sum", "max", "noisy-or"])
def test_no_part_leaves_the_offset(how):
    assert Explanation(np.zeros(0, dtype=np.int64), np.zeros(0), 3.5, how).score == 3.5


def test_items_that_played_no_part_contribute_nothing():
    profile = sparse.csr_array(np.array([[4.0, 1.0, 0.0, 2.0]]))
    found = Explanation.over(profile, np.array([3, 0]), np.array([0.5, -1.0]), offset=2)
    assert found.items.tolist() == [0, 1, 3]
    assert found.contributions.tolist() == [-1.0, 0.0, 0.5]
    assert (found.offset, found.how, found.score) == (2.0, "sum", 1.5)


def test_correlation_neighbourhood():
    """Items 0 and 1 rise together for three people, item 2 against them; damping keeps the arithmetic short.

    All means are 3, so offsets are 0. Items 0 and 1 correlate by 1, and 2 is nobody's neighbour: of the ratings
    5 and 2 only the first speaks for item 1. The person's offset is (2 - 1) / 2.
    """
    users, items = np.repeat([0, 1, 2], 3), np.tile([0, 1, 2], 3)
    ratings = Ratings.from_triples(users, items, [1, 2, 5, 3, 3, 3, 5, 4, 1], 3, 3, scale=FIVE)
    model = fitted("corngr:shrinkage=0,reg_item=0,reg_user=0", ratings)
    found = why(model, [0, 2], [5, 2], item=1)
    assert found.offset == 3.5
    assert found.contributions.tolist() == [1.5, 0.0]
    assert found.how == "sum"


def test_cosine_neighbourhood_in_both_forms():
    """One person rated all three items: every cosine is 1, shrunk by 1 / (1 + 1) to a half."""
    ratings = Ratings.from_triples([0, 0, 0], [0, 1, 2], [3, 3, 3], 1, 3, scale=FIVE)
    of_ratings = why(fitted("nncosngr:shrinkage=1,sum_of=ratings", ratings), [0, 1], [5, 2], item=2)
    assert (of_ratings.offset, of_ratings.contributions.tolist()) == (0.0, [2.5, 1.0])
    # The baseline is 3 everywhere; the person's offset is (2 - 1) / 2 = 0.5, so residuals are 1.5 and -1.5.
    residuals = why(fitted("nncosngr:shrinkage=1,reg_user=0", ratings), [0, 1], [5, 2], item=2)
    assert (residuals.offset, residuals.contributions.tolist()) == (3.5, [0.75, -0.75])


def test_only_the_nearest_neighbours_play_a_part():
    """Item 0 shares two raters with item 2 and item 1 one: with one neighbour only item 0 counts."""
    ratings = Ratings.from_triples([0, 0, 1, 1, 1], [0, 2, 0, 1, 2], [4, 4, 4, 4, 4], 2, 3, scale=FIVE)
    model = fitted("nncosngr:shrinkage=1,sum_of=ratings,neighbours=1", ratings)
    found = why(model, [0, 1], [3, 5], item=2)
    assert found.contributions.tolist() == pytest.approx([2.0, 0.0])  # 2 / (2 + 1) * 1 * 3


@pytest.mark.parametrize(("aggregate", "score"), [("max", 2 / 3), ("sum", 7 / 6), ("noisy-or", 5 / 6)])
def test_conditional_probabilities(aggregate, score):
    """Of three who used item 0 two used item 2; of two who used item 1 one did."""
    ratings = used(4, 3, (0, 0), (0, 2), (1, 0), (1, 1), (1, 2), (2, 0), (3, 1))
    found = why(fitted(f"itemitem:aggregate={aggregate}", ratings), [0, 1], [1, 1], item=2, scale=USED)
    assert found.contributions.tolist() == pytest.approx([2 / 3, 1 / 2])
    assert found.how == aggregate
    assert found.score == pytest.approx(score)


def test_conditional_probability_of_a_disliked_item_is_no_part():
    ratings = Ratings.from_triples([0, 0, 0], [0, 1, 2], [5, 5, 5], 1, 3, scale=FIVE)
    assert why(fitted("itemitem", ratings), [0, 1], [5, 2], item=2).contributions.tolist() == [1.0, 0.0]


def test_expected_utility_scales_its_scorers_parts():
    """Both ratings make item 2 certain, and it was rated 4: each part is 1 · 4, or half of it for the sum."""
    ratings = Ratings.from_triples([0, 0, 0], [0, 1, 2], [5, 5, 4], 1, 3, scale=FIVE)
    largest = why(fitted("expected-utility", ratings), [0, 1], [5, 5], item=2)
    assert (largest.how, largest.contributions.tolist(), largest.score) == ("max", [4.0, 4.0], 4.0)
    total = why(fitted("expected-utility:scorer=itemitem:aggregate=sum", ratings), [0, 1], [5, 5], item=2)
    assert (total.how, total.contributions.tolist(), total.score) == ("sum", [2.0, 2.0], 4.0)


def test_puresvd_by_its_factors():
    """Items 0 and 1 make the only direction, (3, 4) / 5: 5 points for item 0 give item 1 5 · 12/25."""
    ratings = Ratings.from_triples([0, 0], [0, 1], [3, 4], 1, 2, scale=FIVE)
    found = why(fitted("puresvd:factors=1", ratings), [0], [5], item=1)
    assert found.contributions.tolist() == pytest.approx([2.4])
    assert found.offset == 0.0


def test_asysvd_gives_each_rating_its_residual_and_its_presence():
    """The model is made by hand: q = 2 for item 2; x is 1 and 3, y is 0.5 and 0 for items 0 and 1."""
    model = fitted(
        "asysvd:factors=1,epochs=1,reg_user=0", Ratings.from_triples([0, 0], [0, 1], [3, 3], 1, 3, scale=FIVE)
    )
    model.popularity = np.array([1, 1, 1])
    model.mean, model.item_bias = np.array([3.0]), np.zeros(3)
    model.item_factors = np.array([[0.0], [0.0], [2.0]])
    model.explicit_factors = np.array([[1.0], [3.0], [0.0]])
    model.implicit_factors = np.array([[0.5], [0.0], [0.0]])
    found = why(model, [0, 1], [5, 3], item=2)
    # The person's offset is 1, so residuals are 1 and -1; two ratings, so everything is over √2.
    assert found.offset == 4.0
    assert found.contributions.tolist() == pytest.approx([(1 + 0.5) * 2 / np.sqrt(2), -3 * 2 / np.sqrt(2)])


def test_ease_by_its_weights():
    """One person used items 0 and 1, another 1 and 2: with λ = 1 solved on paper.

    XᵀX + I is ((2, 1, 0), (1, 3, 1), (0, 1, 2)), of determinant 8; of its inverse P the last column is
    (1, -2, 5) / 8. So item 1 weighs 2/5 for item 2, and item 0 against it, by 1/5.
    """
    ratings = used(2, 3, (0, 0), (0, 1), (1, 1), (1, 2))
    model = fitted("ease:reg=1", ratings)
    assert why(model, [0, 1], [1, 1], item=2, scale=USED).contributions.tolist() == pytest.approx([-0.2, 0.4])
    assert why(model, [0, 1, 2], [1, 1, 1], item=2, scale=USED).contributions.tolist() == pytest.approx([-0.2, 0.4, 0])


def test_lsa_by_likeness_of_features():
    """Item 2 is a comedy like item 0 and unlike item 1: 5 stars speak for it by 2 of 3 points of liking."""
    ratings = Ratings.from_triples([0], [0], [5], 1, 3, scale=FIVE)
    counts = sparse.csr_array(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]))
    features = ItemFeatures(counts, (("genre", "Comedy"), ("genre", "Horror")))
    found = why(fitted("lsa:factors=2", ratings, features), [0, 1], [5, 2], item=2)
    assert found.contributions.tolist() == pytest.approx([2 / 3, 0.0])


def test_ials_by_the_factors_of_the_likes():
    """One factor, made by hand: q is 1, 2 and 3, and gram 10; α is 1.

    With the likes 0 and 1 the equation is (10 + 1 + 4) p = 2 (1 + 2), so p = 0.4 and item 2 scores 1.2, of
    which item 0 gave a third.
    """
    model = fitted("ials:factors=1,alpha=1", used(1, 3, (0, 0), (0, 1), (0, 2)))
    model.item_factors, model.gram = np.array([[1.0], [2.0], [3.0]]), np.array([[10.0]])
    found = why(model, [0, 1], [1, 1], item=2, scale=USED)
    assert found.contributions.tolist() == pytest.approx([0.4, 0.8])
    assert found.score == pytest.approx(1.2)


def test_item_without_a_score_has_no_explanation():
    ratings = Ratings.from_triples([0, 0], [0, 1], [5, 5], 1, 3, scale=FIVE)
    assert fitted("puresvd:factors=1", ratings).explain(Profiles.single([0], [5], 3, FIVE), [2]) == (None,)


def test_popularity_has_no_answer_in_terms_of_the_ratings():
    ratings = Ratings.from_triples([0, 0], [0, 1], [5, 5], 1, 2, scale=FIVE)
    assert fitted("toppop", ratings).explain(Profiles.single([0], [5], 2, FIVE), [1]) == (None,)
