from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from core.errors import DataError
from recommenders.data import ItemFeatures, Profiles, Ratings, Scale
from recommenders.lsa import LSA

pytestmark = pytest.mark.unit
FIVE = Scale(1, 5, 1)


def fit(features: ItemFeatures, **options: object) -> LSA:
    ratings = Ratings.from_triples([0], [0], [5], 1, features.n_items, scale=FIVE)
    return LSA.fit(ratings, LSA.Params(**options), features=features, rng=np.random.default_rng(0))


def table(rows: list[list[float]], *terms: tuple[str, str]) -> ItemFeatures:
    return ItemFeatures(sparse.csr_array(np.array(rows, dtype=np.float32)), tuple(terms))


def reference_vectors(features: ItemFeatures, params: LSA.Params) -> np.ndarray:
    """Weighting, decomposition and lengths, cell by cell."""
    weight = {"genre": params.genres, "director": params.people, "tag": params.tags, "country": params.other}
    counts = features.item_terms.toarray().astype(float)
    n_items = sum(1 for row in counts if row.any())
    cells = np.zeros_like(counts)
    for i, row in enumerate(counts):
        for t, count in enumerate(row):
            rarity = 1 + np.log((1 + n_items) / (1 + sum(counts[:, t] > 0)))
            cells[i, t] = count * rarity * weight[features.terms[t][0]]
        cells[i] /= np.linalg.norm(cells[i]) or 1.0
    left, values, _ = np.linalg.svd(cells, full_matrices=False)
    latent = left[:, : params.factors] * values[: params.factors]
    return np.array([row / (np.linalg.norm(row) if np.linalg.norm(row) > 1e-8 else np.inf) for row in latent])


@pytest.mark.parametrize("centre", ["middle", "mean"])
@pytest.mark.parametrize("factors", [2, 5])
def test_scores_agree_with_loops(make_features, make_ratings, factors, centre):
    features = make_features(41, 15)
    options = {"factors": factors, "centre": centre, "genres": 2.0, "people": 0.3, "other": 0.7}
    model = fit(features, **options)
    profiles = Profiles(make_ratings(42, 8, 15, scale=FIVE).user_items, FIVE)
    vectors = reference_vectors(features, model.params)
    scores = model.score(profiles)
    for u, row in enumerate(profiles.user_items.toarray().astype(float)):
        rated = np.flatnonzero(row)
        middle = 3.0 if centre == "middle" else (row[rated].mean() if rated.size else 0.0)
        liked = {j: row[j] - middle for j in rated if vectors[j].any()}
        if not any(liked.values()):
            liked = {j: row[j] for j in liked}
        for i in range(15):
            if not liked or not vectors[i].any():
                assert np.isneginf(scores[u, i])
                continue
            expected = sum(w * (vectors[i] @ vectors[j]) for j, w in liked.items()) / sum(map(abs, liked.values()))
            assert scores[u, i] == pytest.approx(expected, abs=1e-9)


def test_dislike_turns_the_order_around():
    features = table([[1, 0], [1, 0], [0, 1]], ("genre", "Comedy"), ("genre", "Horror"))
    model = fit(features, factors=2)
    liked = model.score(Profiles.single([0, 2], [5, 1], 3, FIVE))[0]
    hated = model.score(Profiles.single([0, 2], [1, 5], 3, FIVE))[0]
    np.testing.assert_allclose(liked, [0.5, 0.5, -0.5], atol=1e-12)
    np.testing.assert_allclose(hated, -liked, atol=1e-12)


@pytest.mark.parametrize(("centre", "rating"), [("middle", 3.0), ("mean", 5.0)])
def test_profile_that_centring_leaves_nothing_of_counts_by_its_ratings(centre, rating):
    features = table([[1, 0], [1, 1], [0, 1]], ("genre", "Comedy"), ("genre", "Horror"))
    model = fit(features, factors=2, centre=centre)
    scores = model.score(Profiles.single([0], [rating], 3, FIVE))[0]
    np.testing.assert_allclose(scores, [1.0, np.sqrt(0.5), 0.0], atol=1e-12)


def test_rare_term_tells_more_than_a_common_one():
    rows = [[1, 1], [1, 0], [0, 1], [1, 0], [1, 0]]  # the second term belongs to two items of five
    scores = fit(table(rows, ("tag", "common"), ("tag", "rare")), factors=2).score(Profiles.single([0], [5], 5, FIVE))[
        0
    ]
    assert scores[2] > scores[1]


def test_weights_of_kinds_decide_what_counts():
    rows = [[1, 1], [1, 0], [0, 1]]
    features = table(rows, ("genre", "Comedy"), ("director", "Somebody"))
    profile = Profiles.single([0], [5], 3, FIVE)
    by_genre = fit(features, factors=2, people=0.0).score(profile)[0]
    by_people = fit(features, factors=2, genres=0.0).score(profile)[0]
    np.testing.assert_allclose(by_genre, [1.0, 1.0, -np.inf], atol=1e-12)
    np.testing.assert_allclose(by_people, [1.0, -np.inf, 1.0], atol=1e-12)


def test_other_titles_of_an_item_do_not_count():
    features = table([[1, 1], [1, 0]], ("alias", "Also Known As"), ("genre", "Comedy"))
    assert np.isneginf(fit(features, factors=2).score(Profiles.single([0], [5], 2, FIVE))[0, 1])


@pytest.mark.parametrize(
    "features",
    [
        ItemFeatures(sparse.csr_array((2, 0), dtype=np.float32), ()),
        ItemFeatures(sparse.csr_array((2, 1), dtype=np.float32), (("genre", "Comedy"),)),
        table([[1], [1]], ("alias", "Also Known As")),
    ],
)
def test_features_that_say_nothing_are_refused(features):
    with pytest.raises(DataError, match="needs item features"):
        fit(features, factors=1)


def test_item_outside_the_kept_factors_has_no_score():
    """The one factor kept is the direction of the five alike; the sixth item lies at right angles to it."""
    rows = [[1, 0]] * 5 + [[0, 1]]
    scores = fit(table(rows, ("genre", "Comedy"), ("genre", "Horror")), factors=1).score(
        Profiles.single([0], [5], 6, FIVE)
    )[0]
    np.testing.assert_allclose(scores, [1.0] * 5 + [-np.inf], atol=1e-12)


def test_item_nobody_rated_is_recommended_by_its_features():
    features = table([[1, 0], [0, 1], [1, 0]], ("genre", "Comedy"), ("genre", "Horror"))
    assert fit(features, factors=2).score(Profiles.single([0], [5], 3, FIVE))[0].argsort()[-2:].tolist() in (
        [0, 2],
        [2, 0],
    )


def test_features_of_which_every_kind_has_weight_0_are_refused():
    with pytest.raises(DataError, match="genre, tag"):
        fit(table([[1, 0], [0, 1]], ("genre", "a"), ("tag", "b")), factors=1, genres=0.0, tags=0.0)


@pytest.mark.parametrize(
    ("kind", "weight"),
    [
        *((person, "people") for person in ("person", "director", "cast", "author", "writer", "producer", "composer")),
        *(("genre", "genres"), ("tag", "tags"), ("plot", "words"), ("decade", "decade"), ("country", "other")),
    ],
)
def test_each_kind_has_the_weight_its_name_says(kind, weight):
    """Without the weight of its only feature's kind an item has no vector; the others keep theirs."""
    other = "tag" if weight != "tags" else "genre"
    model = fit(table([[1, 0], [0, 1], [1, 1]], (kind, "a"), (other, "b")), factors=1, **{weight: 0.0})
    assert model.item_vectors.any(axis=1).tolist() == [False, True, True]
