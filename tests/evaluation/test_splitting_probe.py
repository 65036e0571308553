"""The probe split: exact numbers, no leak, the same whatever the block."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.sparse import csr_array

from evaluation.splitting import rows as rating_rows
from evaluation.splitting.holdout import share_of_all
from evaluation.splitting.rows import RatingRows, reserve
from tests.factories.splits import probe

pytestmark = pytest.mark.unit


def ratings_of(rng: np.random.Generator, n_users: int, n_items: int, density: float) -> csr_array:
    is_rated = rng.random((n_users, n_items)) < density
    return csr_array(np.where(is_rated, rng.integers(1, 6, (n_users, n_items)), 0).astype(np.float32))


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 12), st.integers(1, 12), st.floats(0, 0.99), st.integers(0, 10**9))
def test_probe_hides_exactly_the_share_and_leaks_nothing(n_users, n_items, share, seed):
    user_items = ratings_of(np.random.default_rng(seed), n_users, n_items, 0.5)
    split = probe(user_items, share=share, seed=seed)
    assert len(split.hidden_values) == round(share * user_items.nnz) == split.is_hidden.sum()
    hidden = csr_array((split.hidden_values, (split.hidden_users, split.hidden_items)), shape=user_items.shape)
    # No hidden rating is in training, and the two together are what was split.
    assert (hidden.multiply(split.train)).nnz == 0
    assert (hidden + split.train != user_items).nnz == 0
    assert split.train.nnz + hidden.nnz == user_items.nnz
    assert split.train.has_canonical_format
    trained_users, trained_items = (
        np.diff(split.train.indptr),
        np.bincount(split.train.indices, minlength=n_items),
    )
    assert split.left_out == {
        "hidden ratings of users without training ratings": sum(trained_users[u] == 0 for u in split.hidden_users),
        "hidden ratings of items without training ratings": sum(trained_items[i] == 0 for i in split.hidden_items),
    }


def test_probe_does_not_depend_on_blocks(monkeypatch):
    user_items = ratings_of(np.random.default_rng(1), 50, 40, 0.3)
    whole = probe(user_items, share=0.2, seed=9)
    assert not np.array_equal(probe(user_items, share=0.2, seed=10).is_hidden, whole.is_hidden)
    for block in (1, 7, 100):
        monkeypatch.setattr(rating_rows, "AT_ONCE", block)
        assert np.array_equal(probe(user_items, share=0.2, seed=9).is_hidden, whole.is_hidden)


def test_probe_hides_more_when_asked_without_changing_what_it_hid():
    user_items = ratings_of(np.random.default_rng(2), 50, 40, 0.3)
    few = probe(user_items, share=0.1, seed=3).is_hidden
    many = probe(user_items, share=0.3, seed=3).is_hidden
    assert (many | ~few).all()


def test_probe_chooses_every_rating_equally_often():
    user_items = csr_array(np.ones((20, 10), dtype=np.float32))
    times = sum(probe(user_items, share=0.5, seed=seed).is_hidden.astype(int) for seed in range(400))
    # Half of 200 without replacement: the counts' variance is that of 400 coins, slightly less free.
    statistic = ((times - 200) ** 2 / (400 * 0.25)).sum() * 199 / 200
    assert 1e-4 < stats.chi2.sf(statistic, 199) < 1 - 1e-4


def test_probe_hides_no_rating_of_a_reserved_user():
    user_items = ratings_of(np.random.default_rng(4), 60, 30, 0.4)
    reserved = reserve(60, 0.15, seed=1)
    rows = RatingRows.of(user_items, reserved=reserved)
    partition = share_of_all(rows, share=0.3, seed=1, purpose="probe")
    assert len(reserved) == 9
    sides = np.concatenate([partition.train, partition.hidden])
    assert not np.isin(rows.users[sides], reserved).any()
    others = np.setdiff1d(np.arange(60), reserved)
    assert len(np.unique(sides)) == len(sides) == user_items[others].nnz
