"""Profiles cut to the length that participants give."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.sparse import csr_array

from evaluation.splitting.short_profiles import cut_profiles

pytestmark = pytest.mark.unit


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 8), st.integers(1, 12), st.integers(1, 6), st.integers(0, 10**6))
def test_cut_profiles_keeps_n_of_each_users_own_ratings(n_users, n_items, n, seed):
    rng = np.random.default_rng(seed)
    dense = np.where(rng.random((n_users, n_items)) < 0.5, rng.integers(1, 6, (n_users, n_items)), 0)
    user_items = csr_array(dense.astype(np.float32))
    cut = cut_profiles(user_items, n=n, seed=seed)
    assert cut.has_canonical_format
    assert np.diff(cut.indptr).tolist() == np.minimum(np.diff(user_items.indptr), n).tolist()
    kept = cut.toarray()
    assert np.array_equal(kept[kept > 0], dense[kept > 0])
    longer = cut_profiles(user_items, n=n + 1, seed=seed).toarray()
    assert ((longer > 0) | (kept == 0)).all()


def test_cut_profiles_gives_a_block_what_it_gives_all():
    rng = np.random.default_rng(1)
    user_items = csr_array((rng.random((30, 40)) < 0.4).astype(np.float32))
    whole = cut_profiles(user_items, n=5, seed=2)
    users = np.array([4, 17, 29])
    block = cut_profiles(user_items[users], n=5, seed=2, users=users)
    assert np.array_equal(block.toarray(), whole[users].toarray())


def test_cut_profiles_chooses_every_set_equally_often():
    user_items = csr_array(np.ones((4000, 5), dtype=np.float32))
    cut = cut_profiles(user_items, n=2, seed=8)
    pairs = [tuple(row) for row in cut.indices.reshape(4000, 2).tolist()]
    counts = [pairs.count(pair) for pair in combinations(range(5), 2)]
    assert sum(counts) == 4000
    assert stats.chisquare(counts).pvalue > 1e-4
