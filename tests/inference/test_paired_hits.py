"""Tests of hits by sign flips of whole users, and McNemar's test."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inference import paired, paired_hits
from inference.paired import sign_test
from inference.paired_hits import flip_sums, hit_tests_between
from inference.results import PairwiseResult, Undefined

pytestmark = pytest.mark.unit
A, B, C = [1, 1, 1, 0, 1, 1], [0, 0, 0, 0, 1, 1], [0, 0, 0, 0, 0, 0]


def between(values, n_cases=(1, 1, 1, 1, 1, 1), test="sign-flip", **kwargs):
    return hit_tests_between(values, n_cases, test, rng=np.random.default_rng(1), **kwargs)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(-5, 5), min_size=1, max_size=12).filter(any))
def test_p_is_the_share_of_all_flips_of_users(sums):
    flipped = [sum(s * d for s, d in zip(signs, sums, strict=True)) for signs in product((-1, 1), repeat=len(sums))]
    p, method = flip_sums(np.array(sums, dtype=float), rng=np.random.default_rng(1))
    assert method == "exact"
    assert p == pytest.approx(np.mean([abs(one) >= abs(sum(sums)) for one in flipped]))


def test_hits_in_expectation_are_flipped_at_random(monkeypatch):
    sums = np.random.default_rng(2).normal(0.2, 1, 11)
    flipped = np.array(list(product((-1, 1), repeat=11))) @ sums
    monkeypatch.setattr(paired_hits, "CELLS", 5_000)  # in blocks
    p, method = flip_sums(sums, rng=np.random.default_rng(3))
    assert method == "random signs"
    expected = np.mean(np.abs(flipped) >= abs(sums.sum()) - 1e-9)
    assert abs(p - expected) < 5 * np.sqrt(p * (1 - p) / paired_hits.RESAMPLES)
    assert flip_sums(sums, rng=np.random.default_rng(3)) == (p, method)


def test_too_many_to_count_are_flipped_at_random(monkeypatch):
    monkeypatch.setattr(paired, "CELLS", 3)
    p, method = flip_sums(np.ones(6), rng=np.random.default_rng(1))
    assert method == "random signs"
    assert p == pytest.approx(2 / 64, abs=0.01)


def test_clusters_count_once():
    """One user's twenty hits are one observation, not twenty."""
    found = between({"A": [1.0], "B": [0.0]}, [20])
    assert (found.pairs[0].p, found.pairs[0].difference, found.n) == (1.0, 1.0, {"A": 1, "B": 1})


def test_sums_of_users_are_those_of_their_cases():
    users = [0, 0, 0, 1, 2, 2, 3, 4]
    a, b = np.array([1, 1, 0, 1, 1, 1, 1, 0.0]), np.array([0, 1, 0, 0, 1, 0, 0, 1.0])
    counts = np.bincount(users)
    means = {name: np.bincount(users, weights=hits) / counts for name, hits in (("a", a), ("b", b))}
    (pair,) = between(means, counts).pairs
    assert pair.p == pair.p_unadjusted == flip_sums(np.array([1.0, 1, 1, 1, -1]), rng=np.random.default_rng(1))[0]
    assert pair.difference == pytest.approx(np.mean(a - b))


def test_pairs_are_one_family_and_mcnemar_takes_one_case_a_user():
    found = between({"A": A, "B": B, "C": C}, test="mcnemar", correction="bonferroni")
    assert isinstance(found, PairwiseResult)
    for pair, (first, second) in zip(found.pairs, ((A, B), (A, C), (B, C)), strict=True):
        alone = sign_test(first, second).p
        assert pair.p_unadjusted == alone
        assert pair.p == min(1.0, 3 * alone)
    assert found.locations["A"] == pytest.approx(5 / 6)
    assert found.test == "McNemar (bonferroni)"


def test_users_without_a_case_take_no_part():
    found = between({"A": [*A, np.nan], "B": [*B, np.nan]}, [1] * 6 + [0])
    assert found.n == {"A": 6, "B": 6}
    none = between({"A": [np.nan], "B": [np.nan]}, [0])
    assert none.pairs[0].p is None
    assert none.locations == {"A": 0.0, "B": 0.0}
    assert "Every user has equally many hits" in between({"A": A, "B": A}).pairs[0].reason
    assert "Every user has equal values" in between({"A": A, "B": A}, test="mcnemar").pairs[0].reason


def test_what_does_not_apply_is_said():
    assert "some own several" in between({"A": A, "B": B}, [2, 1, 1, 1, 1, 1], "mcnemar").reason
    assert "fractions" in between({"A": [0.5, *A[1:]], "B": B}, test="mcnemar").reason
    assert isinstance(between({"A": A}), Undefined)
