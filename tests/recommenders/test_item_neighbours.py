from __future__ import annotations

import numpy as np
import pytest

from core.errors import ParameterError
from recommenders import item_neighbours
from recommenders.base import Algorithm
from recommenders.data import Profiles, Ratings, Scale
from recommenders.item_neighbours import CorNgr, NNCosNgr

pytestmark = [pytest.mark.unit, pytest.mark.kernels]


def similarity_reference(model, matrix: np.ndarray, kind: str, shrinkage: float, values: np.ndarray) -> np.ndarray:
    """Dense shrunk similarities by the definition; 0 for no neighbours."""
    n_items = matrix.shape[1]
    result = np.zeros((n_items, n_items))
    for i in range(n_items):
        for j in range(n_items):
            both = (matrix[:, i] > 0) & (matrix[:, j] > 0)
            if i == j or not both.any():
                continue
            if kind == "cosine":
                norm = np.linalg.norm(matrix[:, i]) * np.linalg.norm(matrix[:, j])
                value = matrix[:, i] @ matrix[:, j] / norm
            else:
                x, y = values[both, i], values[both, j]
                if np.ptp(x) < 1e-9 or np.ptp(y) < 1e-9:
                    continue
                value = np.corrcoef(x, y)[0, 1]
            result[i, j] = both.sum() / (both.sum() + shrinkage) * value
            if getattr(model.params, "negative", "drop") == "drop":
                result[i, j] = max(0.0, result[i, j])
    return result


def reference_scores(model, ratings: Ratings, profiles: Profiles) -> np.ndarray:
    """Everything again, profile by profile and item by item, from the formulas."""
    params = model.params
    matrix = ratings.user_items.toarray().astype(float)
    n_users, n_items = matrix.shape
    rated = matrix > 0
    mean = matrix[rated].mean()
    item_bias = [(matrix[rated[:, i], i] - mean).sum() / (params.reg_item + rated[:, i].sum()) for i in range(n_items)]

    def bias_of(row):
        items = np.flatnonzero(row)
        return sum(row[i] - mean - item_bias[i] for i in items) / (params.reg_user + len(items))

    values = matrix
    if getattr(params, "correlate", "") == "residuals":
        values = np.array(
            [[matrix[u, i] - mean - bias_of(matrix[u]) - item_bias[i] for i in range(n_items)] for u in range(n_users)]
        )
    kind = "pearson" if isinstance(model, CorNgr) else "cosine"
    close = similarity_reference(model, matrix, kind, params.shrinkage, values)
    scores = np.full(profiles.user_items.shape, -np.inf)
    for u, row in enumerate(profiles.user_items.toarray().astype(float)):
        for i in range(n_items):
            if params.neighbourhood == "rated":
                candidates = [j for j in np.flatnonzero(row) if close[i, j] != 0]
                chosen = sorted(candidates, key=lambda j: (-close[i, j], j))[: params.neighbours]
            else:
                others = [j for j in range(n_items) if close[i, j] != 0]
                nearest = sorted(others, key=lambda j: (-close[i, j], j))[: params.neighbours]
                chosen = [j for j in nearest if row[j] > 0]
            if not chosen:
                continue
            if getattr(params, "sum_of", "residuals") == "ratings":
                scores[u, i] = sum(close[i, j] * row[j] for j in chosen)
                continue
            departures = [close[i, j] * (row[j] - mean - bias_of(row) - item_bias[j]) for j in chosen]
            total = sum(departures)
            if kind == "pearson":
                total /= sum(abs(close[i, j]) for j in chosen)
            scores[u, i] = mean + bias_of(row) + item_bias[i] + total
    return scores


@pytest.mark.parametrize("neighbourhood", ["rated", "item"])
@pytest.mark.parametrize("neighbours", [1, 3, 200])
@pytest.mark.parametrize(
    ("algorithm", "option"),
    [
        (CorNgr, {"correlate": "ratings"}),
        (CorNgr, {"correlate": "residuals"}),
        (CorNgr, {"negative": "keep"}),
        (NNCosNgr, {"sum_of": "residuals"}),
        (NNCosNgr, {"sum_of": "ratings"}),
    ],
)
@pytest.mark.parametrize("many", [1, 1000])
def test_scores_agree_with_loops(make_ratings, monkeypatch, algorithm, option, neighbours, neighbourhood, many):
    monkeypatch.setattr(item_neighbours, "MANY", many)
    ratings = make_ratings(11, 25, 12, density=0.45)
    # Sparse profiles and dense ones, alone and in one company.
    profiles = Profiles(make_ratings(12, 21, 12, density=0.5).user_items, ratings.scale)
    params = algorithm.Params(
        neighbours=neighbours,
        neighbourhood=neighbourhood,
        shrinkage=4.0,
        reg_item=3.0,
        reg_user=2.0,
        **option,
    )
    model = algorithm.fit(ratings, params, rng=np.random.default_rng(0))
    expected = reference_scores(model, ratings, profiles)
    assert np.isfinite(expected).any()
    np.testing.assert_allclose(model.score(profiles), expected, rtol=0, atol=1e-9)


def test_defaults_are_those_of_the_papers():
    for algorithm in (CorNgr, NNCosNgr):
        params = algorithm.Params()
        assert (params.neighbours, params.shrinkage, params.neighbourhood) == (200, 100.0, "rated")
        assert (params.reg_item, params.reg_user) == (25.0, 10.0)
    assert (CorNgr.Params().correlate, CorNgr.Params().negative) == ("ratings", "drop")
    assert NNCosNgr.Params().sum_of == "residuals"


def test_correlation_neighbourhood_by_hand():
    """Two common raters, ratings (1, 2) and (5, 4): correlation 1, shrunk by 2 / (2 + 2) to 1/2.

    The mean is 3, the items' offsets are 0. A stranger gives item 0 a 5: b_u = 2 / (1 + 1) = 1, the residual
    is 5 - 3 - 1 = 1, and item 1 gets 3 + 1 + (0.5 * 1) / 0.5 = 5.
    """
    ratings = Ratings.from_triples([0, 0, 1, 1], [0, 1, 0, 1], [1, 2, 5, 4], 2, 2, scale=Scale(1, 5, 1))
    params = CorNgr.Params(shrinkage=2, reg_item=0, reg_user=1)
    model = CorNgr.fit(ratings, params, rng=np.random.default_rng(0))
    assert model.neighbour_similarities.tolist() == [0.5, 0.5]
    assert model.score(Profiles.single([0], [5], 2, ratings.scale))[0, 1] == pytest.approx(5.0)


def test_cosine_neighbourhood_by_hand():
    """The same data: cosine (1*2 + 5*4) / sqrt(26 * 20), shrunk by 1/2, added to 3 + 1 without dividing."""
    ratings = Ratings.from_triples([0, 0, 1, 1], [0, 1, 0, 1], [1, 2, 5, 4], 2, 2, scale=Scale(1, 5, 1))
    params = NNCosNgr.Params(shrinkage=2, reg_item=0, reg_user=1)
    model = NNCosNgr.fit(ratings, params, rng=np.random.default_rng(0))
    expected = 3 + 1 + 0.5 * 22 / np.sqrt(520)
    assert model.score(Profiles.single([0], [5], 2, ratings.scale))[0, 1] == pytest.approx(expected)


def test_negative_correlation_is_no_neighbour():
    ratings = Ratings.from_triples([0, 0, 1, 1], [0, 1, 0, 1], [1, 5, 5, 1], 2, 2, scale=Scale(1, 5, 1))
    model = CorNgr.fit(ratings, rng=np.random.default_rng(0))
    assert np.isneginf(model.score(Profiles.single([0], [5], 2, ratings.scale))).all()


def test_negative_correlation_counts_in_the_opposite_direction_if_kept():
    """The correlation is -1, shrunk by 2 / (2 + 2) to -1/2; a 5 is 1 above the baseline of 4, so item 1 gets 1 less."""
    ratings = Ratings.from_triples([0, 0, 1, 1], [0, 1, 0, 1], [1, 5, 5, 1], 2, 2, scale=Scale(1, 5, 1))
    params = CorNgr.Params(shrinkage=2, reg_item=0, reg_user=1, negative="keep")
    model = CorNgr.fit(ratings, params, rng=np.random.default_rng(0))
    assert model.neighbour_similarities.tolist() == [-0.5, -0.5]
    profile = Profiles.single([0], [5], 2, ratings.scale)
    assert model.score(profile)[0, 1] == pytest.approx(4 + (-0.5 * 1) / 0.5)
    (explanation,) = model.explain(profile, [1])
    assert explanation.contributions.tolist() == pytest.approx([-1])


def test_recipe_of_a_model_that_drops_negative_correlations_is_as_before_the_choice():
    assert CorNgr.Params().as_dict() == {
        "neighbours": 200, "neighbourhood": "rated", "shrinkage": 100.0, "reg_item": 25.0, "reg_user": 10.0,
        "correlate": "ratings",
    }  # fmt: skip
    assert CorNgr.Params(negative="keep").as_dict() == {**CorNgr.Params().as_dict(), "negative": "keep"}
    assert CorNgr.label(CorNgr.Params(negative="keep")) == "CorNgr (negative=keep)"


@pytest.mark.parametrize("kind", [CorNgr, NNCosNgr])
@pytest.mark.parametrize("neighbours", [2, 10, 200])
def test_scores_do_not_depend_on_company_to_the_last_bit(make_ratings, kind, neighbours):
    # More profiles than are counted together, more items than are summed together.
    ratings = make_ratings(13, 80, 70, density=0.2)
    model = kind.fit(ratings, kind.Params(neighbours=neighbours), rng=np.random.default_rng(0))
    assert len(model.neighbour_items) >= item_neighbours.DENSE * 70**2
    together = model.score(Profiles.of(ratings, np.arange(80)))
    for user in range(0, 80, 5):
        assert model.score(Profiles.of(ratings, [user]))[0].tobytes() == together[user].tobytes()


@pytest.mark.parametrize("k", [1, 255, 256, 257, 300])
def test_the_nearest_are_counted_beyond_a_byte(k):
    """Item 0 has 320 neighbours; of those the profile has 310, in an order of their own."""
    from recommenders.kernels.nearest_rated import nearest_sums

    rng = np.random.default_rng(k)
    nearest = rng.permutation(np.arange(1, 321)).astype(np.int32)
    similarities = np.sort(rng.random(320))[::-1].copy()
    rated = np.sort(rng.choice(np.arange(1, 321), 310, replace=False)).astype(np.int32)
    signals = rng.normal(size=310)
    out = np.empty((1, 321))
    nearest_sums(
        np.array([0]), np.array([0, 310]), rated, signals,
        np.array([0] + [320] * 321), nearest, similarities, k, True, out,
    )  # fmt: skip
    chosen = [(d, signals[np.searchsorted(rated, j)]) for j, d in zip(nearest, similarities, strict=True) if j in rated]
    expected = sum(d * signal for d, signal in chosen[:k]) / sum(d for d, _ in chosen[:k])
    assert out[0, 0] == pytest.approx(expected, abs=1e-12)
    assert np.isneginf(out[0, 1:]).all()


@pytest.mark.parametrize("kind", [CorNgr, NNCosNgr])
def test_a_catalogue_too_large_for_all_pairs_is_refused_unless_neighbours_are_bounded(make_ratings, monkeypatch, kind):
    monkeypatch.setattr(item_neighbours, "MOST_ITEMS", 10)
    ratings = make_ratings(3, 20, 12)
    with pytest.raises(ParameterError, match=r"12 items .* neighbourhood=item"):
        kind.fit(ratings, rng=np.random.default_rng(0))
    bounded = kind.fit(ratings, kind.Params(neighbourhood="item", neighbours=3), rng=np.random.default_rng(0))
    assert np.diff(bounded.neighbour_indptr).max() == 3


@pytest.mark.parametrize("neighbourhood", ["rated", "item"])
@pytest.mark.parametrize(
    ("kind", "options"),
    [
        *((CorNgr, options) for options in ({}, {"reg_user": 0.0}, {"negative": "keep"})),
        *((NNCosNgr, options) for options in ({}, {"sum_of": "ratings"})),
    ],
)
def test_the_short_way_to_one_list_gives_the_same_bits(make_ratings, kind, options, neighbourhood):
    ratings = make_ratings(31, 40, 25, density=0.2)
    params = kind.Params(neighbourhood=neighbourhood, neighbours=6, shrinkage=2.0, **options)
    model = kind.fit(ratings, params, rng=np.random.default_rng(0))
    rng = np.random.default_rng(5)
    for size in (0, 1, 4, 6, 9):
        items = rng.choice(25, size, replace=False)
        stars = rng.integers(1, 10, size) / 2
        found = model.answer(items, stars, ratings.scale, 20)
        expected = Algorithm.answer(model, items, stars, ratings.scale, 20)
        assert found.items.tolist() == expected.items.tolist()
        assert found.scores.tobytes() == expected.scores.tobytes()
        assert found.is_filled.tolist() == expected.is_filled.tolist()


@pytest.mark.parametrize(
    ("items", "stars", "n", "words"),
    [
        ([1, 1], [3, 4], 5, "Item 1 is rated twice"),
        ([1, 25], [3, 4], 5, "no item number 25"),
        ([1, 2**32 + 2], [3, 4], 5, "no item number 4294967298"),
        ([1, 2], [3, 9], 5, "outside the scale"),
        ([1, 2], [3], 5, "equally long"),
        ([1.5, 2], [3, 4], 5, "whole numbers"),
        ([1, 2], [3, 4], 0, "at least one place"),
    ],
)
def test_the_short_way_refuses_what_the_long_one_does(make_ratings, items, stars, n, words):
    ratings = make_ratings(31, 40, 25, density=0.2)
    model = CorNgr.fit(ratings, rng=np.random.default_rng(0))
    with pytest.raises(ValueError, match=words):
        model.answer(items, stars, ratings.scale, n)
