"""Sign flips of whole users, and McNemar's test."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import DataError, ParameterError
from inference import paired_hits, sign_flips
from inference.paired_hits import mcnemar, sign_flip
from inference.results import Undefined

pytestmark = pytest.mark.unit


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 5), st.booleans(), st.booleans()), min_size=1, max_size=16))
def test_p_is_the_share_of_all_flips_of_users(cases):
    users, a, b = (np.array(column) for column in zip(*cases, strict=True))
    sums = [float((a[users == user].astype(int) - b[users == user].astype(int)).sum()) for user in np.unique(users)]
    if not any(sums):
        assert isinstance(sign_flip(users, a, b, rng=np.random.default_rng(1)), Undefined)
        return
    flipped = [sum(s * d for s, d in zip(signs, sums, strict=True)) for signs in product((-1, 1), repeat=len(sums))]
    for alternative, far in (
        ("greater", [one >= sum(sums) for one in flipped]),
        ("two-sided", [abs(one) >= abs(sum(sums)) for one in flipped]),
    ):
        found = sign_flip(users, a, b, alternative, rng=np.random.default_rng(1))
        assert found.p == pytest.approx(np.mean(far))
        assert found.difference == pytest.approx(np.mean(a.astype(int) - b.astype(int)))
        assert found.n_tied_users == sums.count(0.0)


@pytest.mark.parametrize("alternative", ["greater", "two-sided"])
def test_hits_in_expectation_are_flipped_at_random(monkeypatch, alternative):
    rng = np.random.default_rng(2)
    users = np.repeat(np.arange(11), 3)
    a, b = rng.random(33), 0.8 * rng.random(33)
    sums = np.bincount(users, weights=a - b)
    signs = np.array(list(product((-1, 1), repeat=11)))
    flipped = signs @ sums
    far = flipped >= sums.sum() - 1e-9 if alternative == "greater" else np.abs(flipped) >= abs(sums.sum()) - 1e-9
    monkeypatch.setattr(paired_hits, "CELLS", 5_000)  # in blocks
    found = sign_flip(users, a, b, alternative, rng=np.random.default_rng(3), resamples=40_000)
    assert found.p_method == "random signs"
    assert abs(found.p - far.mean()) < 5 * found.p_standard_error
    again = sign_flip(users, a, b, alternative, rng=np.random.default_rng(3), resamples=40_000)
    assert again == found


def test_too_many_to_count_are_flipped_at_random(monkeypatch):
    monkeypatch.setattr(sign_flips, "CELLS", 3)
    users, a = np.arange(6), np.ones(6)
    found = sign_flip(users, a, np.zeros(6), rng=np.random.default_rng(1), resamples=5_000)
    assert found.p_method == "random signs"
    assert found.p == pytest.approx(2 / 64, abs=0.01)


def test_clusters_count_once():
    """One user's twenty hits are one observation, not twenty."""
    found = sign_flip([7] * 20, np.ones(20), np.zeros(20), rng=np.random.default_rng(1))
    assert (found.p, found.n_users, found.n_cases) == (1.0, 1, 20)


def test_what_cannot_be_is_refused():
    rng = np.random.default_rng(1)
    with pytest.raises(ParameterError, match="'less' is unknown"):
        sign_flip([0], [1], [0], "less", rng=rng)
    with pytest.raises(ParameterError, match="1 or more"):
        sign_flip([0], [1], [0], rng=rng, resamples=0)
    with pytest.raises(DataError, match="give one of each"):
        sign_flip([0, 1], [1], [0], rng=rng)
    with pytest.raises(DataError, match="outside 0 to 1"):
        sign_flip([0], [1.5], [0], rng=rng)
    with pytest.raises(DataError, match="or missing"):
        sign_flip([0], [np.nan], [0], rng=rng)
    assert isinstance(sign_flip([], [], [], rng=rng), Undefined)
    with pytest.raises(DataError, match="sign flips of whole users instead"):
        mcnemar([0, 0], [1, 0], [0, 1])
    with pytest.raises(DataError, match="neither 0 nor 1"):
        mcnemar([0, 1], [1, 0.5], [0, 1])
    with pytest.raises(DataError, match="give one of each"):
        mcnemar([0, 1], [1], [0])
    assert "no discordant users" in mcnemar([0, 1], [1, 0], [1, 0]).reason
