"""Random words named by seed, purpose and counters."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evaluation.splitting.draws import draw_keys, mixed, smallest, stream_key

pytestmark = pytest.mark.unit


def test_mixed_gives_the_published_sequence():
    # SplitMix64 from state 0 (Steele, Lea & Flood 2014; the first outputs of the reference program in C).
    states = np.arange(1, 4, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    assert [hex(int(word)) for word in mixed(states)] == [
        "0xe220a8397b1dcdaf",
        "0x6e789e6aa1b965f4",
        "0x6c45d188009454f",
    ]


def test_draw_keys_does_not_depend_on_company():
    key = stream_key(7, "probe")
    users, items = np.divmod(np.arange(600), 30)
    together = draw_keys(key, users, items)
    one_by_one = np.concatenate([draw_keys(key, [u], [i]) for u, i in zip(users, items, strict=True)])
    assert np.array_equal(together, one_by_one)
    assert len(np.unique(together)) == 600


def test_draw_keys_differ_by_seed_purpose_and_order_of_counters():
    words = {
        int(draw_keys(stream_key(seed, purpose), [a], [b])[0])
        for seed in (1, 2, -1, 2**80)
        for purpose in ("probe", "reserve")
        for a, b in ((3, 4), (4, 3))
    }
    assert len(words) == 16


def test_draw_keys_are_uniform_in_every_byte():
    words = draw_keys(stream_key(3, "probe"), np.arange(1000)[:, None], np.arange(200)[None, :])
    for shift in range(0, 64, 8):
        counts = np.bincount(((words >> np.uint64(shift)) & np.uint64(255)).ravel().astype(int), minlength=256)
        assert stats.chisquare(counts).pvalue > 1e-5


@settings(deadline=None)
@given(st.lists(st.integers(0, 5), max_size=30), st.data())
def test_smallest_marks_exactly_n_and_none_larger_than_the_rest(values, data):
    n = data.draw(st.integers(0, len(values)))
    keys = np.array(values, dtype=np.uint64)
    chosen = smallest(keys, n)
    assert chosen.sum() == n
    if 0 < n < len(values):
        border = keys[chosen].max()
        assert border <= keys[~chosen].min()
        # Of equal keys at the border the first in order are taken.
        at_border = np.flatnonzero(keys == border)
        taken = chosen[at_border]
        assert not (~taken[:-1] & taken[1:]).any()
