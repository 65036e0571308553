from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from core.errors import DataError, ParameterError
from recommenders.aspect import Aspect
from recommenders.data import Profiles, Ratings, Scale

pytestmark = pytest.mark.unit
FIVE = Scale(1, 5, 1)


def fit(ratings: Ratings, **options: object) -> Aspect:
    return Aspect.fit(ratings, Aspect.Params(**options), rng=np.random.default_rng(0))


def reference_start(x: np.ndarray, n_classes: int) -> np.ndarray:
    """P(m|z): half the share of each item, half the heavier side of a singular vector."""
    overall, columns = x.sum(axis=0) / x.sum(), []
    for vector in np.linalg.svd(x)[2][:n_classes]:
        sides = np.maximum(vector, 0), np.maximum(-vector, 0)
        side = max(sides, key=np.linalg.norm)
        columns.append((overall + side / side.sum()) / 2)
    return np.array(columns).T


def reference_em(x: np.ndarray, right: np.ndarray, steps: int, *, is_fixed: bool = False):
    n_classes = right.shape[1]
    left = np.full((x.shape[0], n_classes), 1 / n_classes)
    for _ in range(steps):
        of_row, of_column = np.zeros_like(left), np.zeros_like(right)
        for p, m in zip(*np.nonzero(x), strict=True):
            total = sum(left[p, z] * right[m, z] for z in range(n_classes))
            if total:
                for z in range(n_classes):
                    of_row[p, z] += x[p, m] * left[p, z] * right[m, z] / total
                    of_column[m, z] += x[p, m] * left[p, z] * right[m, z] / total
        left = np.array([row / row.sum() if row.any() else before for row, before in zip(of_row, left, strict=True)])
        right = right if is_fixed else of_column / of_column.sum(axis=0)
    return left, right


def test_worked_example_of_folding_in():
    """Classes give item 1 to 3 the shares 1/2 1/2 0 and 0 1/2 1/2; the profile holds items 1 and 2.

    Item 1 is of the first class. From halves, item 2 is of the first with 1/2: so the first class gets
    (1 + 1/2)/2 = 3/4, then (1 + 3/4)/2 = 7/8; the scores are 7/16, 7/16 + 1/16 and 1/16.
    """
    arrays = {
        "items_of_class": np.array([[0.5, 0.0], [0.5, 0.5], [0.0, 0.5]]),
        "beta": np.ones(1),
        "popularity": np.array([1, 1, 1]),
    }
    model = Aspect.from_state(arrays, Aspect.Params(fold_iterations=2), FIVE)
    scores = model.score(Profiles.single([0, 1, 2], [5, 4, 3], 3, FIVE))
    np.testing.assert_allclose(scores, [[7 / 16, 8 / 16, 1 / 16]], atol=1e-15)


@pytest.mark.parametrize("n_classes", [1, 3])
def test_scores_agree_with_loops(make_ratings, n_classes):
    ratings, strangers = make_ratings(21, 12, 9), make_ratings(22, 7, 9)
    x = (ratings.user_items.toarray() >= 4).astype(float)
    _, right = reference_em(x, reference_start(x, n_classes), 7)
    scores = fit(ratings, classes=n_classes, iterations=7, held_out=0, fold_iterations=5).score(
        Profiles(strangers.user_items, strangers.scale)
    )
    profiles = (strangers.user_items.toarray() >= 4).astype(float)
    left, _ = reference_em(profiles, right, 5, is_fixed=True)
    expected = left @ right.T
    expected[:, ~x.any(axis=0)] = -np.inf
    expected[~(profiles * x.any(axis=0)).any(axis=1)] = -np.inf
    assert np.isfinite(expected).any()
    assert np.isneginf(expected).all(axis=1).any()
    np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-9)


def test_scores_are_the_probabilities_of_the_items(make_ratings):
    scores = fit(make_ratings(23, 40, 15), classes=4, held_out=0.2).score(Profiles.single([1, 4], [5, 5], 15, FIVE))[0]
    assert scores[np.isfinite(scores)].sum() == pytest.approx(1.0, abs=1e-12)
    assert (scores[np.isfinite(scores)] >= 0).all()


def test_profile_is_folded_in_at_the_temperature_of_the_model():
    arrays = {
        "items_of_class": np.array([[0.9, 0.1], [0.1, 0.9]]),
        "beta": np.array([0.5]),
        "popularity": np.array([1, 1]),
    }
    model = Aspect.from_state(arrays, Aspect.Params(fold_iterations=1), FIVE)
    scores = model.score(Profiles.single([0], [5], 2, FIVE))[0]  # 9 to 1 is tempered to 3 to 1
    np.testing.assert_allclose(scores, [0.75 * 0.9 + 0.25 * 0.1, 0.75 * 0.1 + 0.25 * 0.9], atol=1e-15)


def test_held_out_pairs_are_drawn_from_the_generator():
    is_same = np.equal.outer(np.arange(60) % 2, np.arange(40) % 2)
    users, items = np.nonzero(np.random.default_rng(24).random((60, 40)) < np.where(is_same, 0.25, 0.03))
    ratings = Ratings.from_triples(users, items, np.ones(users.size), 60, 40, scale=Scale(1, 1, 1))
    params = Aspect.Params(classes=4, held_out=0.3)
    learned = [
        Aspect.fit(ratings, params, rng=np.random.default_rng(seed)).items_of_class.tobytes()
        for seed in (0, 0, 1, 2, 3, 4)
    ]
    assert learned[0] == learned[1]
    assert len(set(learned)) > 1


def test_more_classes_than_people_are_refused():
    ratings = Ratings.from_triples([0, 1], [0, 1], [5, 5], 2, 3, scale=FIVE)
    with pytest.raises(ParameterError, match=r"classes=3 .* is 2"):
        fit(ratings, classes=3)


def test_disliking_is_no_evidence_and_gives_no_score():
    ratings = Ratings.from_triples([0, 0, 1, 1], [0, 1, 0, 2], [5, 2, 4, 4], 2, 3, scale=FIVE)
    scores = fit(ratings, classes=1, held_out=0).score(
        Profiles(sparse.csr_array([[0.0, 5.0, 4.0], [2.0, 5.0, 3.0]]), FIVE)
    )
    np.testing.assert_allclose(scores[0], [2 / 3, -np.inf, 1 / 3])
    assert np.isneginf(scores[1]).all()


def counted(counts: np.ndarray | None, scale: Scale = FIVE) -> Ratings:
    """Ratings of 5, or uses, of three people; the counts are of each, in order."""
    matrix = sparse.csr_array(np.array([[1, 1, 0, 1], [1, 0, 1, 0], [0, 1, 1, 1]], dtype=np.float32) * scale.high)
    return Ratings(matrix, scale, counts)


COUNTS = np.array([3, 1, 1, 2, 5, 1, 1, 4], dtype=np.int32)
USED = Scale(1, 1, 1)


def test_one_class_gives_each_item_its_share_of_the_observations():
    """With a single class P(m|z) is the share of all observations that are of the item."""
    model = fit(counted(COUNTS, USED), classes=1, held_out=0.0, counts="use")
    np.testing.assert_allclose(model.items_of_class[:, 0], np.array([5, 2, 6, 5]) / 18, rtol=1e-12)
    ignored = fit(counted(COUNTS, USED), classes=1, held_out=0.0)
    np.testing.assert_allclose(ignored.items_of_class[:, 0], np.array([2, 2, 2, 2]) / 8, rtol=1e-12)


def test_counted_observations_agree_with_loops():
    table = np.zeros((3, 4))
    ratings = counted(COUNTS, USED)
    table[ratings.user_items.nonzero()] = COUNTS
    start = reference_start(table, 2)
    _, expected = reference_em(table, start, 12)
    model = fit(ratings, classes=2, held_out=0.0, iterations=12, counts="use")
    np.testing.assert_allclose(model.items_of_class, expected, atol=1e-9)


def test_counts_of_one_change_nothing_and_dislikes_have_none():
    single = fit(counted(np.ones(8)), classes=2, counts="use")
    plain = fit(counted(None), classes=2)
    np.testing.assert_array_equal(single.items_of_class, plain.items_of_class)
    disliked = Ratings.from_triples([0, 0], [0, 1], [5, 1], n_users=1, n_items=2, scale=FIVE)
    disliked = Ratings(disliked.user_items, FIVE, np.array([2, 9]))
    assert fit(disliked, classes=1, held_out=0.0, counts="use").items_of_class[:, 0].tolist() == [1.0, 0.0]


def test_counts_that_the_data_do_not_have_are_refused():
    with pytest.raises(DataError, match="counts=use"):
        fit(counted(None), classes=1, counts="use")


def test_recipe_of_models_without_counts_is_as_before():
    assert "counts" not in Aspect.Params().as_dict()
