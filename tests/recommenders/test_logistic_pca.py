from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import sparse

from core.errors import ParameterError
from recommenders import logistic_pca
from recommenders.data import Profiles, Ratings, Scale
from recommenders.logistic_pca import LPCA, decompose, fold_in

pytestmark = pytest.mark.unit
FIVE = Scale(1, 5, 1)


def fit(ratings: Ratings, **options: object) -> LPCA:
    return LPCA.fit(ratings, LPCA.Params(**options), rng=np.random.default_rng(0))


def logistic(theta: float) -> float:
    return 1 / (1 + math.exp(-theta))


def weight(theta: float) -> float:
    return math.tanh(theta / 2) / (2 * theta) if theta else 0.25


def likelihood(x: np.ndarray, theta: np.ndarray) -> float:
    """Equation 3, cell by cell."""
    return sum(
        math.log(logistic(theta[p, m]) if x[p, m] else logistic(-theta[p, m]))
        for p in range(x.shape[0])
        for m in range(x.shape[1])
    )


def reference_fit(x: np.ndarray, start: np.ndarray, iterations: int, reg: float):
    """The alternation with one cell after the other, items by a 2 × 2 system of equations."""
    n_users, n_items = x.shape
    factors = start.shape[1]
    u, v = np.zeros((n_users, factors)), start * math.sqrt(n_items)
    delta = np.array([math.log((sum(col) + 0.5) / (n_users - sum(col) + 0.5)) for col in x.T])

    def theta(p: int, m: int, k: int) -> float:
        return sum(u[p, f] * v[m, f] for f in range(k + 1)) + delta[m]

    def people(k: int) -> None:
        for p in range(n_users):
            cells = [(theta(p, m, k), v[m, k], x[p, m]) for m in range(n_items)]
            pull = sum((one - logistic(t)) * axis for t, axis, one in cells) - reg * u[p, k]
            u[p, k] += pull / (sum(weight(t) * axis**2 for t, axis, _ in cells) + reg)

    for k in range(factors):
        for _ in range(iterations):
            people(k)
            for m in range(n_items):
                system, pull = np.diag([reg, 0.0]), np.array([-reg * v[m, k], 0.0])
                for p in range(n_users):
                    t, basis = theta(p, m, k), np.array([u[p, k], 1.0])
                    system = system + weight(t) * np.outer(basis, basis)
                    pull = pull + (x[p, m] - logistic(t)) * basis
                along = np.linalg.solve(system, pull)
                v[m, k] += along[0]
                delta[m] += along[1]
        people(k)
    return u, v, delta


def reference_fold(x: np.ndarray, v: np.ndarray, delta: np.ndarray, reg: float) -> np.ndarray:
    """Many small steps on the quadratic bound, until they are too small to matter."""
    u = np.zeros(v.shape[1])
    for _ in range(20000):
        system, pull = reg * np.eye(u.size), -reg * u
        for m in range(v.shape[0]):
            t = float(u @ v[m]) + delta[m]
            system += weight(t) * np.outer(v[m], v[m])
            pull += (x[m] - logistic(t)) * v[m]
        step = np.linalg.solve(system, pull)
        u += step
        if np.abs(step).max() < 1e-13:
            break
    return u


def test_worked_example():
    """Two people, each liking an item of their own; one axis that starts at (1, -1).

    Offsets are log(1.5/1.5) = 0. Person 1: the pull is 1·(1 - ½) - 1·(0 - ½) = 1, the bound's curvature
    ¼ + ¼, so u = 2, and -2 for the other. Item 1: the pull is 2·σ(-2) + 2·σ(-2), the curvature
    2·2²·tanh(1)/4, so v = 1 + 0.476812/1.523188; the offset stays, everything being symmetric.
    """
    start = np.array([[1.0], [-1.0]]) / math.sqrt(2)
    _, axes, offsets = decompose(sparse.csr_array(np.eye(2)), start, iterations=1, reg=0.0)
    np.testing.assert_allclose(axes[:, 0], [1.313036, -1.313036], atol=1e-6)
    np.testing.assert_allclose(offsets, [0, 0], atol=1e-12)


def test_worked_example_of_folding_in():
    """log σ(u) - u²/2 is highest where u = σ(-u)."""
    place = fold_in(sparse.csr_array([[1.0]]), np.array([[1.0]]), np.zeros(1), reg=1.0)
    np.testing.assert_allclose(place, [[0.4010581375]], atol=1e-9)
    assert place[0, 0] == pytest.approx(logistic(-place[0, 0]), abs=1e-12)


@pytest.mark.parametrize(("factors", "reg"), [(1, 1.0), (3, 0.3)])
def test_model_and_scores_agree_with_loops(make_ratings, factors, reg):
    ratings = make_ratings(11, 9, 8)
    x = (ratings.user_items.toarray() >= 4).astype(float)
    liked = np.flatnonzero(x.any(axis=0))
    assert 0 < liked.size < 8
    start = np.linalg.svd(x)[2][:factors].T[liked]
    _, v, delta = reference_fit(x[:, liked], start, 4, reg)
    model = fit(ratings, factors=factors, reg=reg, iterations=4)
    strangers = make_ratings(12, 6, 8)
    scores = model.score(Profiles(strangers.user_items, strangers.scale))
    for row, profile in zip(scores, strangers.user_items.toarray()[:, liked] >= 4, strict=True):
        expected = np.full(8, -np.inf)
        if profile.any():
            expected[liked] = v @ reference_fold(profile.astype(float), v, delta, reg) + delta
        np.testing.assert_allclose(row, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("reg", [0.0, 0.5])
def test_likelihood_never_falls(seed, reg):
    rng = np.random.default_rng(seed)
    x = (rng.random((8, 6)) < 0.4).astype(float)
    x[0] = 1.0
    columns = sparse.csr_array(x.T)
    u, v, delta = np.zeros((8, 3)), rng.standard_normal((6, 3)), np.zeros(6)
    heights = []

    def note(k: int) -> None:
        theta = u[:, : k + 1] @ v[:, : k + 1].T + delta
        heights.append(likelihood(x, theta) - reg / 2 * ((u**2).sum() + (v[:, : k + 1] ** 2).sum()))

    for k in range(3):
        note(k)
        of_stage = len(heights) - 1
        for _ in range(15):
            logistic_pca._move_people(sparse.csr_array(x), u, v, delta, k=k, reg=reg)
            note(k)
            logistic_pca._move_items(columns, u, v, delta, k=k, reg=reg)
            note(k)
        climbed = np.diff(heights[of_stage:])
        assert (climbed >= -1e-12).all()
        assert climbed.max() > 1e-3


def test_dimensions_are_fixed_once_learned(make_ratings):
    liked = sparse.csr_array(make_ratings(13, 9, 8).user_items[:, :7] >= 3).astype(np.float64)
    start = np.linalg.svd(liked.toarray())[2][:3].T
    two, three = decompose(liked, start[:, :2], 5, 0.1), decompose(liked, start, 5, 0.1)
    for part in (0, 1):
        np.testing.assert_array_equal(three[part][:, :2], two[part])


def test_folding_in_ends_at_the_top_and_never_below_the_start(make_ratings):
    model = fit(make_ratings(14, 30, 12), factors=3, reg=0.01, positive_from=3.0)
    known = np.isfinite(model.offsets)
    axes, offsets = model.axes[known], model.offsets[known]
    x = (np.random.default_rng(15).random((20, axes.shape[0])) < 0.3).astype(float)
    places = fold_in(sparse.csr_array(x), axes, offsets, 0.01)
    gradient = (x - 1 / (1 + np.exp(-places @ axes.T - offsets))) @ axes - 0.01 * places
    np.testing.assert_allclose(gradient, 0, atol=1e-9)
    assert likelihood(x, places @ axes.T + offsets) > likelihood(x, np.zeros_like(places) @ axes.T + offsets)


def test_folding_in_turns_back_when_a_step_goes_too_far():
    """Far out on the flat of the likelihood Newton's first step is a thousand times too long."""
    place = fold_in(sparse.csr_array([[1.0]]), np.array([[1.0]]), np.array([-20.0]), reg=1e-3)[0, 0]
    assert logistic(20.0 - place) == pytest.approx(1e-3 * place, abs=1e-12)


def test_folding_in_is_given_up_in_the_end(monkeypatch):
    monkeypatch.setattr(logistic_pca, "LONGEST_FOLD", 1)
    assert fold_in(sparse.csr_array([[1.0]]), np.array([[1.0]]), np.zeros(1), reg=1.0).tolist() == [[0.0]]


def test_two_tastes_are_told_apart():
    rng = np.random.default_rng(16)
    is_same = np.add.outer(np.arange(30), np.arange(12)) % 2 == 0
    x = rng.random((30, 12)) < np.where(is_same, 0.7, 0.1)
    users, items = np.nonzero(x)
    ratings = Ratings.from_triples(users, items, np.ones(users.size), 30, 12, scale=Scale(1, 1, 1))
    scores = fit(ratings, factors=2).score(Profiles.single([0, 2], [1, 1], 12, Scale(1, 1, 1)))[0]
    assert scores[4::2].min() > scores[1::2].max()


def test_item_rated_but_never_liked_has_no_score_and_disliking_is_no_evidence():
    ratings = Ratings.from_triples([0, 0, 1, 1], [0, 1, 0, 2], [5, 2, 4, 4], 2, 3, scale=FIVE)
    model = fit(ratings, factors=1)
    scores = model.score(Profiles(sparse.csr_array([[0.0, 5.0, 4.0], [2.0, 5.0, 3.0]]), FIVE))
    assert np.isneginf(scores[0]).tolist() == [False, True, False]
    assert np.isneginf(scores[1]).all()  # the one item liked is unknown


def test_item_liked_by_everybody_and_unused_dimensions_stay_finite():
    everything = np.indices((3, 4)).reshape(2, -1)
    ratings = Ratings.from_triples(*everything, np.ones(12), 3, 4, scale=Scale(1, 1, 1))
    model = fit(ratings, factors=3, iterations=200, reg=1e-3)
    assert not model.axes[:, 1:].any()  # X has rank 1
    assert np.isfinite(model.score(Profiles.single([1], [1], 4, Scale(1, 1, 1)))).all()


def test_weight_of_squares_cannot_be_nothing():
    with pytest.raises(ParameterError, match=r"at least 0\.001"):
        LPCA.Params(reg=0.0)
