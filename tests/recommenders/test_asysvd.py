from __future__ import annotations

import numpy as np
import pytest

from core.errors import ParameterError
from recommenders.asysvd import AsySVD
from recommenders.data import Profiles, Ratings, Scale

pytestmark = [pytest.mark.unit, pytest.mark.kernels]


class Reference:
    """Koren's descent as it is written down: every x_j and y_j of the profile moved at every rating."""

    def __init__(self, ratings: Ratings, params: AsySVD.Params, seed: int) -> None:
        rng = np.random.default_rng(seed)
        n_users, n_items = ratings.n_users, ratings.n_items
        users, items, values = ratings.triples()
        mean = values.mean(dtype=float)
        self.mean = mean
        self.item_bias = [sum(values[items == i] - mean) / (params.reg_item + sum(items == i)) for i in range(n_items)]
        held = set(rng.permutation(values.size)[: int(params.held_out * values.size)].tolist())
        self.profiles = [
            {int(items[t]): float(values[t]) for t in np.flatnonzero(users == u) if t not in held}
            for u in range(n_users)
        ]
        self.held = [(int(users[t]), int(items[t]), float(values[t])) for t in sorted(held)]
        self.params = params
        spread = params.spread / np.sqrt(params.factors)
        self.q = rng.normal(0.0, spread, (n_items, params.factors))
        self.x, self.y = np.zeros_like(self.q), np.zeros_like(self.q)
        self.errors: list[float] = []
        kept = []
        for _ in range(params.epochs):
            for u in rng.permutation(n_users):
                self.visit(int(u))
            self.errors.append(sum((r - self.predict(self.profiles[u], i)) ** 2 for u, i, r in self.held))
            kept.append((self.q.copy(), self.x.copy(), self.y.copy()))
            if self.held and len(self.errors) - 1 - int(np.argmin(self.errors)) == params.patience:
                break
        if self.held:
            self.q, self.x, self.y = kept[int(np.argmin(self.errors))]
        for i in range(n_items):
            if not any(i in profile for profile in self.profiles):
                self.q[i] = 0.0

    def bias(self, profile: dict[int, float]) -> float:
        left = sum(r - self.mean - self.item_bias[j] for j, r in profile.items())
        return left / (self.params.reg_user + len(profile))

    def folded(self, profile: dict[int, float]) -> np.ndarray:
        total = np.zeros(self.q.shape[1])
        offset = self.mean + self.bias(profile)
        for j, r in profile.items():
            total += (r - offset - self.item_bias[j]) * self.x[j] + self.y[j]
        return total / np.sqrt(max(len(profile), 1))

    def predict(self, profile: dict[int, float], i: int) -> float:
        return self.mean + self.bias(profile) + self.item_bias[i] + self.q[i] @ self.folded(profile)

    def visit(self, u: int) -> None:
        profile, rate, reg = self.profiles[u], self.params.learning_rate, self.params.reg
        offset = self.mean + self.bias(profile)
        for i in sorted(profile):
            error = profile[i] - self.predict(profile, i)
            norm, folded, q_old = len(profile) ** -0.5, self.folded(profile), self.q[i].copy()
            self.q[i] += rate * (error * folded - reg * q_old)
            for j, r in profile.items():
                self.x[j] += rate * (error * norm * (r - offset - self.item_bias[j]) * q_old - reg * self.x[j])
                self.y[j] += rate * (error * norm * q_old - reg * self.y[j])


def assert_same(model: AsySVD, reference: Reference) -> None:
    np.testing.assert_allclose(model.item_factors, reference.q, rtol=0, atol=1e-9)
    np.testing.assert_allclose(model.explicit_factors, reference.x, rtol=0, atol=1e-9)
    np.testing.assert_allclose(model.implicit_factors, reference.y, rtol=0, atol=1e-9)


def test_epochs_agree_with_plain_descent(make_ratings):
    ratings = make_ratings(31, 14, 10)
    params = AsySVD.Params(factors=3, epochs=3, learning_rate=0.05, reg=0.1, held_out=0.0, spread=1.0)
    model = AsySVD.fit(ratings, params, rng=np.random.default_rng(7))
    reference = Reference(ratings, params, seed=7)
    assert_same(model, reference)
    stranger = make_ratings(32, 2, 10).user_items[[0]]
    profile = dict(zip(stranger.indices.tolist(), stranger.data.tolist(), strict=True))
    scores = model.score(Profiles(stranger, ratings.scale))[0]
    expected = [reference.predict(profile, i) for i in range(9)]
    np.testing.assert_allclose(scores[:9], expected, rtol=0, atol=1e-9)


def two_tastes(seed: int, n_users: int, n_items: int) -> Ratings:
    """Every second user likes every second item, with noise: something to learn, and something to overlearn."""
    rng = np.random.default_rng(seed)
    users, items = (side.ravel() for side in np.indices((n_users, n_items)))
    is_rated = rng.random(users.size) < 0.7
    users, items = users[is_rated], items[is_rated]
    values = np.where((users + items) % 2 == 0, 4, 2) + rng.integers(-1, 2, users.size)
    return Ratings.from_triples(users, items, values, n_users, n_items, scale=Scale(1, 5, 1))


def test_best_epoch_on_held_out_ratings_is_kept():
    ratings = two_tastes(33, 24, 10)
    params = AsySVD.Params(factors=3, epochs=80, learning_rate=0.05, reg=0.0, held_out=0.2, patience=3, spread=0.5)
    model = AsySVD.fit(ratings, params, rng=np.random.default_rng(3))
    reference = Reference(ratings, params, seed=3)
    best = int(np.argmin(reference.errors))
    assert 0 < best < len(reference.errors) - 1 < params.epochs - 1  # it improved, then stopped early
    assert_same(model, reference)


def test_epochs_may_run_out_before_the_error_rises(make_ratings):
    ratings = make_ratings(34, 20, 10)
    params = AsySVD.Params(factors=2, epochs=2, learning_rate=0.01, held_out=0.2)
    assert_same(AsySVD.fit(ratings, params, rng=np.random.default_rng(1)), Reference(ratings, params, seed=1))


def test_user_and_item_with_every_rating_held_out_are_left_in_peace():
    """Half of four ratings are held out, so some user or item takes no part for some of these seeds."""
    ratings = Ratings.from_triples([0, 0, 1, 2], [0, 1, 2, 3], [5, 1, 4, 2], 3, 4, scale=Scale(1, 5, 1))
    params = AsySVD.Params(factors=2, epochs=4, learning_rate=0.1, held_out=0.5)
    for seed in range(6):
        model = AsySVD.fit(ratings, params, rng=np.random.default_rng(seed))
        assert_same(model, Reference(ratings, params, seed=seed))
        idle = ~model.item_factors.any(axis=1)
        assert idle.any()
        profile = Profiles.single([0], [5], 4, ratings.scale)
        offset = (5 - 3 - model.item_bias[0]) / 11
        np.testing.assert_allclose(model.score(profile)[0, idle], 3 + offset + model.item_bias[idle])


def test_descent_lowers_the_training_error(make_ratings):
    ratings = make_ratings(35, 30, 12)
    users, items, values = ratings.triples()
    errors = []
    for epochs in (1, 20, 200):
        params = AsySVD.Params(factors=4, epochs=epochs, learning_rate=0.02, reg=0.0, held_out=0.0)
        model = AsySVD.fit(ratings, params, rng=np.random.default_rng(0))
        errors.append(float(np.mean((model.score(Profiles.of(ratings, np.arange(30)))[users, items] - values) ** 2)))
    assert errors[0] > errors[1] > errors[2]


@pytest.mark.parametrize("held_out", [0.0, 0.2])
def test_divergence_is_told_in_words(make_ratings, held_out):
    params = AsySVD.Params(factors=3, epochs=50, learning_rate=50.0, held_out=held_out)
    with pytest.raises(ParameterError, match=r"diverged .* of 50"):
        AsySVD.fit(make_ratings(36, 20, 10), params, rng=np.random.default_rng(0))


def test_another_seed_gives_another_model(make_ratings):
    ratings = make_ratings(37, 20, 10)
    first, second = (AsySVD.fit(ratings, AsySVD.Params(factors=3), rng=np.random.default_rng(seed)) for seed in (1, 2))
    assert not np.allclose(first.item_factors, second.item_factors)
