from __future__ import annotations

import itertools

import numpy as np
import pytest

from recommenders.data import Profiles, Ratings, Scale
from recommenders.user_neighbours import UserKNNCosine, UserKNNPearson

pytestmark = [pytest.mark.unit, pytest.mark.kernels]

FIVE = Scale(1, 5, 1)


def correlation(one: np.ndarray, other: np.ndarray) -> tuple[float, int]:
    """Sums over common items of departures from the means over all of a row's ratings."""
    both = (one > 0) & (other > 0)
    if not both.any():
        return 0.0, 0
    x, y = one[both] - one[one > 0].mean(), other[both] - other[other > 0].mean()
    x[np.abs(x) < 1e-9], y[np.abs(y) < 1e-9] = 0, 0
    size = (x**2).sum() * (y**2).sum()
    return (float((x * y).sum() / np.sqrt(size)) if size > 0 else 0.0), int(both.sum())


def cosine(one: np.ndarray, other: np.ndarray, middle: float) -> tuple[float, int]:
    x, y = np.where(one > middle, one, 0), np.where(other > middle, other, 0)
    both = int(((x > 0) & (y > 0)).sum())
    return (float(x @ y / (np.linalg.norm(x) * np.linalg.norm(y))) if both else 0.0), both


def reference_scores(model, ratings: Ratings, profiles: Profiles) -> np.ndarray:
    """Everything again, person by person and item by item, from the formulas."""
    params, matrix = model.params, ratings.user_items.toarray().astype(float)
    n_users, n_items = matrix.shape
    is_rated = matrix > 0
    means = [row[row > 0].mean() if row.any() else 0.0 for row in matrix]
    scores = np.full(profiles.user_items.shape, -np.inf)
    for a, row in enumerate(profiles.user_items.toarray().astype(float)):
        if isinstance(model, UserKNNPearson):
            found = [correlation(row, other) for other in matrix]
        else:
            found = [cosine(row, other, ratings.scale.middle) for other in matrix]
        weights = [round(weight, 12) for weight, _ in found]
        near = sorted((u for u in range(n_users) if weights[u]), key=lambda u: (-weights[u], -found[u][1], u))
        for j in range(n_items):
            if params.among == "raters":
                chosen = [u for u in near if is_rated[u, j]][: params.neighbours]
            else:
                chosen = near[: params.neighbours]
            if params.prediction == "zero" and params.among == "all":
                if chosen and is_rated[:, j].any():
                    top = sum(weights[u] * matrix[u, j] for u in chosen)
                    scores[a, j] = top / sum(weights[u] for u in chosen)
                continue
            chosen = [u for u in chosen if is_rated[u, j]]
            if not chosen:
                continue
            is_centred = params.prediction == "centred"
            top = sum(weights[u] * (matrix[u, j] - (means[u] if is_centred else 0)) for u in chosen)
            scores[a, j] = top / sum(abs(weights[u]) for u in chosen) + (row[row > 0].mean() if is_centred else 0)
    return scores


VARIANTS = [
    *((UserKNNPearson, {"prediction": what}) for what in ("centred", "raw")),
    *((UserKNNCosine, {"prediction": what}) for what in ("left-out", "zero", "centred")),
]


@pytest.mark.parametrize("among", ["raters", "all"])
@pytest.mark.parametrize("neighbours", [1, 4, 25])
@pytest.mark.parametrize(("algorithm", "option"), VARIANTS)
def test_scores_agree_with_loops(make_ratings, algorithm, option, neighbours, among):
    ratings = make_ratings(81, 35, 14, density=0.4)
    profiles = Profiles(make_ratings(82, 12, 14, density=0.35).user_items, ratings.scale)
    params = algorithm.Params(neighbours=neighbours, among=among, **option)
    model = algorithm.fit(ratings, params, rng=np.random.default_rng(0))
    expected = reference_scores(model, ratings, profiles)
    assert np.isfinite(expected).any()
    np.testing.assert_allclose(model.score(profiles), expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize(("algorithm", "option"), VARIANTS)
@pytest.mark.parametrize("neighbours", [1, 3, 8])
def test_rare_items_are_looked_up_with_the_same_result(make_ratings, algorithm, option, neighbours):
    """Twelve items that most rated and two that few did: those few are found without a walk over everybody."""
    users, items, values = make_ratings(86, 120, 14, density=0.9).triples()
    is_kept = (items < 11) | (users % 24 == 5)
    ratings = Ratings.from_triples(users[is_kept], items[is_kept], values[is_kept], 120, 14, scale=Scale(0.5, 5, 0.5))
    profiles = Profiles(make_ratings(87, 10, 14).user_items, ratings.scale)
    model = algorithm.fit(ratings, algorithm.Params(neighbours=neighbours, **option), rng=np.random.default_rng(0))
    expected = reference_scores(model, ratings, profiles)
    assert np.isfinite(expected[:, 11]).any()
    np.testing.assert_allclose(model.score(profiles), expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("prediction", ["centred", "raw"])
@pytest.mark.parametrize("neighbours", [1, 4, 99])
def test_missing_as_zero_agrees_with_correlations_of_whole_rows(make_ratings, neighbours, prediction):
    ratings = make_ratings(88, 30, 14, density=0.4)
    profiles = Profiles(make_ratings(89, 10, 14, density=0.35).user_items, ratings.scale)
    params = UserKNNPearson.Params(neighbours=neighbours, prediction=prediction, missing="zero")
    scores = UserKNNPearson.fit(ratings, params, rng=np.random.default_rng(0)).score(profiles)
    matrix, rows = ratings.user_items.toarray().astype(float), profiles.user_items.toarray().astype(float)
    for a, row in enumerate(rows[:-1]):
        weights = [np.corrcoef(row, other)[0, 1] if other.any() else 0.0 for other in matrix]
        near = [u for u in sorted(range(30), key=lambda u: -weights[u]) if weights[u]][:neighbours]
        for j in range(13):
            offsets = matrix.mean(axis=1) if prediction == "centred" else np.zeros(30)
            total = sum(weights[u] * (matrix[u, j] - offsets[u]) for u in near) / sum(abs(weights[u]) for u in near)
            expected = total + (row.mean() if prediction == "centred" else 0)
            assert scores[a, j] == pytest.approx(expected, abs=1e-9)
    assert np.isneginf(scores[:, 13]).all()
    assert np.isneginf(scores[-1]).all()  # an empty profile


def test_usage_data_correlate_with_missing_as_zero_only():
    """A stranger uses item 0 of four, user 0 items 0 and 1, user 1 item 2: w = (1 - 4/8) / √(3/4 · 1) and
    (0 - 1/4) / (3/4).
    """
    ratings = Ratings.from_triples([0, 0, 1], [0, 1, 2], [1, 1, 1], 2, 4, scale=Scale(1, 1, 1))
    stranger = Profiles.single([0], [1], 4, ratings.scale)
    left_out = UserKNNPearson.fit(ratings, rng=np.random.default_rng(0))
    assert np.isneginf(left_out.score(stranger)).all()
    whole = UserKNNPearson.fit(ratings, UserKNNPearson.Params(missing="zero"), rng=np.random.default_rng(0))
    first, second = 1 / np.sqrt(3), -1 / 3
    divisor = first - second
    expected = [
        1 / 4 + (first * (1 / 2) + second * (-1 / 4)) / divisor,
        1 / 4 + (first * (1 / 2) + second * (-1 / 4)) / divisor,
        1 / 4 + (first * (-1 / 2) + second * (3 / 4)) / divisor,
        -np.inf,
    ]
    assert whole.score(stranger)[0].tolist() == pytest.approx(expected, abs=1e-12)
    everything = Profiles.single([0, 1, 2, 3], [1, 1, 1, 1], 4, ratings.scale)
    assert np.isneginf(whole.score(everything)).all()  # no variance


def test_defaults_are_those_of_the_survey():
    pearson, cosine_ = UserKNNPearson.Params(), UserKNNCosine.Params()
    assert (pearson.neighbours, pearson.among, pearson.prediction) == (25, "raters", "centred")
    assert (cosine_.neighbours, cosine_.among, cosine_.prediction) == (25, "raters", "left-out")


def by_hand() -> Ratings:
    """Means 3, 3 and 3; users 0 and 1 rate item 0 above and item 1 below it, user 2 the other way round."""
    users, items = [0, 0, 0, 1, 1, 1, 2, 2, 2], [0, 1, 2, 0, 1, 3, 0, 1, 2]
    return Ratings.from_triples(users, items, [4, 1, 4, 5, 2, 2, 1, 4, 4], 3, 4, scale=FIVE)


def test_correlation_by_hand():
    """A stranger rates items 0 and 1 with 5 and 3, so by +1 and -1 of a mean of 4.

    User 0 departs by +1 and -2: w = 3 / √(2 · 5). User 1 by +2 and -1: the same. User 2 by -2 and +1: minus
    that. Item 2: users 0 and 2 depart by +1 each, so the weights cancel: 4 + (w - w) / 2w. Item 3: user 1
    departs by -1, so 4 - 1.
    """
    model = UserKNNPearson.fit(by_hand(), rng=np.random.default_rng(0))
    scores = model.score(Profiles.single([0, 1], [5, 3], 4, FIVE))[0]
    assert scores[2:].tolist() == pytest.approx([4.0, 3.0], abs=1e-12)
    nearest = UserKNNPearson.fit(by_hand(), UserKNNPearson.Params(neighbours=1), rng=np.random.default_rng(0))
    assert nearest.score(Profiles.single([0, 1], [5, 3], 4, FIVE))[0, 2] == pytest.approx(5.0)
    raw = UserKNNPearson.fit(by_hand(), UserKNNPearson.Params(prediction="raw"), rng=np.random.default_rng(0))
    assert raw.score(Profiles.single([0, 1], [5, 3], 4, FIVE))[0, 3] == pytest.approx(2.0)


def test_neighbours_among_all_by_hand():
    """The two nearest are users 0 and 1 (equal weights); item 2 is then user 0's alone: 4 + 1."""
    params = UserKNNPearson.Params(neighbours=2, among="all")
    model = UserKNNPearson.fit(by_hand(), params, rng=np.random.default_rng(0))
    scores = model.score(Profiles.single([0, 1], [5, 3], 4, FIVE))[0]
    assert scores[2:].tolist() == pytest.approx([5.0, 3.0], abs=1e-12)


@pytest.mark.parametrize(
    ("prediction", "expected"),
    # Likes (ratings above 3): user 0 {0: 4, 2: 4}, user 1 {0: 5}, user 2 {1: 4, 2: 4}; the stranger {0: 5}.
    # Weights √½, 1 and 0. Item 2: user 0 gave 4 (mean 3); item 3: user 1 gave 2 (mean 3); the stranger's mean 4.
    [
        ("left-out", [4.0, 2.0]),
        ("zero", [4 * np.sqrt(0.5) / (1 + np.sqrt(0.5)), 2 / (1 + np.sqrt(0.5))]),
        ("centred", [5.0, 3.0]),
    ],
)
def test_cosine_by_hand(prediction, expected):
    params = UserKNNCosine.Params(among="all", prediction=prediction)
    model = UserKNNCosine.fit(by_hand(), params, rng=np.random.default_rng(0))
    scores = model.score(Profiles.single([0, 1], [5, 3], 4, FIVE))[0]
    assert scores[2:].tolist() == pytest.approx(expected, abs=1e-12)


def test_binary_cosine_is_that_of_sets():
    """A stranger uses items 0 and 1: user 0 {0, 1, 2} weighs 2 / √6, user 1 {1, 3} weighs 1 / 2."""
    ratings = Ratings.from_triples([0, 0, 0, 1, 1], [0, 1, 2, 1, 3], [1] * 5, 2, 4, scale=Scale(1, 1, 1))
    params = UserKNNCosine.Params(among="all", prediction="zero")
    model = UserKNNCosine.fit(ratings, params, rng=np.random.default_rng(0))
    weights = np.array([2 / np.sqrt(6), 0.5])
    scores = model.score(Profiles.single([0, 1], [1, 1], 4, ratings.scale))[0]
    np.testing.assert_allclose(scores[2:], weights / weights.sum(), rtol=0, atol=1e-12)


def test_one_width_of_ratings_correlates_with_nobody():
    """Whoever rates everything alike has no departures, in training or as a stranger."""
    ratings = Ratings.from_triples([0, 0, 1, 1], [0, 1, 0, 1], [3, 3, 1, 5], 2, 3, scale=FIVE)
    model = UserKNNPearson.fit(ratings, UserKNNPearson.Params(), rng=np.random.default_rng(0))
    assert np.isneginf(model.score(Profiles.single([0, 1], [4, 4], 3, FIVE))).all()
    only_flat = Ratings.from_triples([0, 0], [0, 1], [3, 3], 1, 3, scale=FIVE)
    model = UserKNNPearson.fit(only_flat, rng=np.random.default_rng(0))
    assert np.isneginf(model.score(Profiles.single([0, 1], [1, 5], 3, FIVE))).all()


def test_stranger_who_likes_nothing_has_no_cosine():
    model = UserKNNCosine.fit(
        by_hand(), UserKNNCosine.Params(among="all", prediction="zero"), rng=np.random.default_rng(0)
    )
    assert np.isneginf(model.score(Profiles.single([0, 1], [3, 1], 4, FIVE))).all()


def test_scaling_ratings_changes_no_cosine_and_shifting_no_correlation(make_ratings):
    """Ratings twice as high give predictions twice as high; 3 points more give 3 points more."""
    ratings = make_ratings(83, 30, 12)
    profiles = make_ratings(84, 8, 12)
    twice, more = Scale(1, 10, 1), Scale(3.5, 8, 0.5)

    def changed(given: Ratings, scale: Scale, change) -> Ratings:
        users, items, values = given.triples()
        return Ratings.from_triples(users, items, change(values), given.n_users, given.n_items, scale=scale)

    def scores(algorithm, training: Ratings, people: Ratings) -> np.ndarray:
        model = algorithm.fit(training, algorithm.Params(neighbours=99), rng=np.random.default_rng(0))
        return model.score(Profiles(people.user_items, people.scale))

    doubled = [changed(one, twice, lambda values: 2 * values) for one in (ratings, profiles)]
    shifted = [changed(one, more, lambda values: values + 3) for one in (ratings, profiles)]
    np.testing.assert_allclose(
        scores(UserKNNCosine, *doubled), 2 * scores(UserKNNCosine, ratings, profiles), rtol=0, atol=1e-9
    )
    np.testing.assert_allclose(
        scores(UserKNNPearson, *shifted), 3 + scores(UserKNNPearson, ratings, profiles), rtol=0, atol=1e-9
    )


@pytest.mark.parametrize(
    ("algorithm", "option", "among"), [(*one, among) for one, among in itertools.product(VARIANTS, ("raters", "all"))]
)
def test_scores_do_not_depend_on_company_to_the_last_bit(make_ratings, algorithm, option, among):
    ratings = make_ratings(85, 30, 12)
    params = algorithm.Params(neighbours=3, among=among, **option)
    model = algorithm.fit(ratings, params, rng=np.random.default_rng(0))
    together = model.score(Profiles.of(ratings, np.arange(30)))
    for user in range(30):
        assert model.score(Profiles.of(ratings, [user]))[0].tobytes() == together[user].tobytes()


def test_common_items_of_usage_data_make_neighbours_of_those_who_share_most():
    """All who share an item correlate by 1, so the nearest are those with the most common items."""
    used = Scale(1, 1, 1)
    users, items = [0, 0, 0, 1, 1, 2], [0, 1, 2, 0, 3, 4]
    ratings = Ratings.from_triples(users, items, [1] * 6, n_users=3, n_items=5, scale=used)
    profile = Profiles.single([0, 1], [1, 1], n_items=5, scale=used)

    def scores(**params):
        chosen = UserKNNPearson.Params(missing="zero-common", prediction="raw", **params)
        return UserKNNPearson.fit(ratings, chosen, rng=np.random.default_rng(0)).score(profile)[0]

    assert scores(neighbours=1).round(9).tolist() == [1.0, 1.0, 1.0, 0.0, 0.0]
    assert scores().round(9).tolist() == [1.0, 0.5, 0.5, 0.5, 0.0]
