from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from core.errors import ParameterError
from recommenders.aspect import AspectContent
from recommenders.data import ItemFeatures, Profiles, Ratings, Scale

pytestmark = pytest.mark.unit
FIVE = Scale(1, 5, 1)


def fit(ratings: Ratings, features: ItemFeatures, *, seed: int = 0, **options: object) -> AspectContent:
    params = AspectContent.Params(**options)
    return AspectContent.fit(ratings, params, features=features, rng=np.random.default_rng(seed))


def table(rows: list[list[float]], kind: str = "cast") -> ItemFeatures:
    counts = sparse.csr_array(np.array(rows, dtype=np.float32))
    return ItemFeatures(counts, tuple((kind, f"name {column}") for column in range(counts.shape[1])))


def reference_fold(counts: np.ndarray, of_class: np.ndarray, steps: int, beta: float = 1.0) -> np.ndarray:
    """Equations 7 and 8 for one item or person, feature by feature."""
    n_classes = of_class.shape[1]
    places = np.full(n_classes, 1 / n_classes)
    for _ in range(steps):
        gathered = np.zeros(n_classes)
        for a in np.flatnonzero(counts):
            belongs = np.array([(of_class[a, z] * places[z]) ** beta for z in range(n_classes)])
            if belongs.sum():
                gathered += counts[a] * belongs / belongs.sum()
        if gathered.any():
            places = gathered / gathered.sum()
    return places


def reference_learn(counts: np.ndarray, n_classes: int, steps: int):
    overall, columns = counts.sum(axis=0) / counts.sum(), []
    for vector in np.linalg.svd(counts)[2][:n_classes]:
        side = max((np.maximum(vector, 0), np.maximum(-vector, 0)), key=np.linalg.norm)
        columns.append(overall + (side / side.sum()) * (overall > 0))
    right = np.array(columns).T
    right /= right.sum(axis=0)
    left = np.full((counts.shape[0], n_classes), 1 / n_classes)
    for _ in range(steps):
        of_row, of_column = np.zeros_like(left), np.zeros_like(right)
        for p, a in zip(*np.nonzero(counts), strict=True):
            belongs = left[p] * right[a]
            of_row[p] += counts[p, a] * belongs / belongs.sum()
            of_column[a] += counts[p, a] * belongs / belongs.sum()
        left = np.array([row / row.sum() if row.any() else before for row, before in zip(of_row, left, strict=True)])
        right = of_column / of_column.sum(axis=0)
    return left, right


def test_worked_example():
    """Classes: the first gives actors 1 and 2 a half each, the second 2 and 3; P(z) is 3/4 and 1/4.

    Items with actor 1, with actor 3, with both: P(z|m) is (1, 0), (0, 1) and halves, at once. Somebody who
    likes the first item, one of 4 observations: P(p|z) is 1·(1/4)/(3/4) = 1/3 in the first class, and 0.
    """
    arrays = {
        "features_of_class": np.array([[0.5, 0.0], [0.5, 0.5], [0.0, 0.5]]),
        "classes_of_item": np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]]),
        "class_shares": np.array([0.75, 0.25]),
        "beta": np.ones(1),
        "n_observations": np.array([4.0]),
        "feature_counts": np.ones(4),
        "feature_numbers": np.array([0, 2, 0, 2]),
        "feature_starts": np.array([0, 1, 2, 4]),
        "popularity": np.array([3, 1, 0]),
    }
    model = AspectContent.from_state(arrays, AspectContent.Params(classes=2), FIVE)
    scores = model.score(Profiles(sparse.csr_array([[5.0, 1.0, 0.0], [5.0, 5.0, 0.0]]), FIVE))
    # The second person has 2 of 4 observations and half of each class: ½·½/(3/4) = 1/3 and ½·½/(1/4) = 1.
    np.testing.assert_allclose(scores, [[1 / 3, 0, 1 / 6], [1 / 3, 1, 2 / 3]], atol=1e-15)


@pytest.mark.parametrize("n_classes", [1, 3])
def test_scores_agree_with_loops(make_ratings, make_features, n_classes):
    ratings, strangers, features = make_ratings(41, 12, 9), make_ratings(42, 7, 9), make_features(43, 9)
    items = features.item_terms.toarray().astype(float)
    x = (ratings.user_items.toarray() >= 4).astype(float)
    observed = x @ items
    left, right = reference_learn(observed, n_classes, 6)
    of_person = observed.sum(axis=1) / observed.sum()
    of_class = of_person @ left
    model = fit(ratings, features, classes=n_classes, iterations=6, held_out=0, fold_iterations=4)
    scores = model.score(Profiles(strangers.user_items, strangers.scale))
    for row, profile in zip(scores, strangers.user_items.toarray() >= 4, strict=True):
        own = profile.astype(float) @ items
        if not own.any():
            assert np.isneginf(row).all()
            continue
        of_z = reference_fold(own, right, 4) * own.sum() / observed.sum() / of_class
        for m in range(9):
            if not items[m].any():
                assert np.isneginf(row[m])
                continue
            expected = sum(of_z * reference_fold(items[m], right, 4))  # equation 9
            assert row[m] == pytest.approx(expected, abs=1e-9)


def test_training_people_share_out_an_item_between_them(make_ratings, make_features):
    """P(p|m) over all people is 1 when each is folded in to where EM has settled."""
    ratings, features = make_ratings(44, 8, 9, density=0.8), make_features(45, 9)
    model = fit(ratings, features, classes=2, iterations=3000, held_out=0, fold_iterations=3000)
    scores = model.score(Profiles.of(ratings, np.arange(8)))
    known = np.isfinite(scores).any(axis=0)
    has_profile = np.isfinite(scores).any(axis=1)
    np.testing.assert_allclose(scores[has_profile][:, known].sum(axis=0), 1, atol=1e-6)


def test_new_items_are_told_apart_by_their_features():
    """Actors come from two troupes, people like the films of one; the last two films nobody has rated."""
    rng = np.random.default_rng(46)
    troupe = np.arange(22) % 2
    cast = (rng.random((22, 12)) < np.where(np.equal.outer(troupe, np.arange(12) % 2), 0.6, 0.05)).astype(float)
    cast[20:] = 0
    cast[20, [0, 2, 4]] = cast[21, [1, 3, 5]] = 1
    users, items = np.nonzero(np.equal.outer(np.arange(30) % 2, troupe) & (rng.random((30, 22)) < 0.5))
    keep = items < 20
    ratings = Ratings.from_triples(users[keep], items[keep], np.ones(keep.sum()), 30, 22, scale=Scale(1, 1, 1))
    model = fit(ratings, table(cast.tolist()), classes=2)
    assert model.popularity[20:].tolist() == [0, 0]
    scores = model.score(Profiles.of(ratings, [0, 1]))
    assert scores[0, 20] > scores[0, 21]
    assert scores[1, 21] > scores[1, 20]


def test_items_and_people_of_whom_nothing_is_known_have_no_score():
    """Item 2 has an actor nobody liked, item 3 none, item 4 only another title."""
    counts = sparse.csr_array(np.array([[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 0], [0, 0, 1]], dtype=np.float32))
    features = ItemFeatures(counts, (("cast", "Ann"), ("cast", "Bob"), ("alias", "Otherwise")))
    ratings = Ratings.from_triples([0, 0, 0, 0], [0, 2, 3, 4], [5, 1, 5, 5], 1, 5, scale=FIVE)
    model = fit(ratings, features, classes=1, held_out=0)
    scores = model.score(
        Profiles(sparse.csr_array(np.array([[0, 4, 0, 0, 0], [0, 0, 5, 5, 5], [3, 0, 0, 0, 0]])), FIVE)
    )
    np.testing.assert_allclose(scores[0], [1, 1, -np.inf, -np.inf, -np.inf])
    assert np.isneginf(scores[1:]).all()


def test_nothing_liked_gives_no_score():
    ratings = Ratings.from_triples([0], [0], [1], 1, 2, scale=FIVE)
    model = fit(ratings, table([[1.0], [1.0]]), classes=1)
    assert np.isneginf(model.score(Profiles.single([0], [5], 2, FIVE))).all()


def test_more_classes_than_features_are_refused():
    ratings = Ratings.from_triples([0, 1, 2], [0, 0, 0], [5, 5, 5], 3, 2, scale=FIVE)
    with pytest.raises(ParameterError, match=r"classes=2 .* is 1"):
        fit(ratings, table([[1.0], [1.0]]), classes=2)
