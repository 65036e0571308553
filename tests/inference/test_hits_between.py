"""Hits compared between every pair of algorithms."""

from __future__ import annotations

import numpy as np
import pytest

from core.errors import DataError, ParameterError
from inference.hits_between import hit_tests_between
from inference.paired_hits import mcnemar, sign_flip
from inference.results import PairwiseResult, Undefined

pytestmark = pytest.mark.unit
A, B, C = [1, 1, 1, 0, 1, 1], [0, 0, 0, 0, 1, 1], [0, 0, 0, 0, 0, 0]


def between(values, n_cases=(1, 1, 1, 1, 1, 1), test="sign-flip", **kwargs):
    return hit_tests_between(values, n_cases, test, rng=np.random.default_rng(1), **kwargs)


def test_sums_of_users_are_those_of_their_cases():
    users = [0, 0, 0, 1, 2, 2, 3, 4]
    a, b = np.array([1, 1, 0, 1, 1, 1, 1, 0.0]), np.array([0, 1, 0, 0, 1, 0, 0, 1.0])
    counts = np.bincount(users)
    means = {name: np.bincount(users, weights=hits) / counts for name, hits in (("a", a), ("b", b))}
    (pair,) = between(means, counts).pairs
    expected = sign_flip(users, a, b, rng=np.random.default_rng(1))
    assert expected.p_method == "exact"
    assert pair.p == pair.p_unadjusted == pytest.approx(expected.p)
    assert pair.difference == pytest.approx(expected.difference)


def test_pairs_are_one_family_and_mcnemar_takes_one_case_a_user():
    found = between({"A": A, "B": B, "C": C}, test="mcnemar", correction="bonferroni")
    assert isinstance(found, PairwiseResult)
    for pair, (first, second) in zip(found.pairs, ((A, B), (A, C), (B, C)), strict=True):
        alone = mcnemar(range(6), first, second).p
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
    same = between({"A": A, "B": A})
    assert "Every user has equally many hits" in same.pairs[0].reason


def test_what_does_not_apply_is_said():
    assert "some own several" in between({"A": A, "B": B}, [2, 1, 1, 1, 1, 1], "mcnemar").reason
    assert "fractions" in between({"A": [0.5, *A[1:]], "B": B}, test="mcnemar").reason
    assert isinstance(between({"A": A}), Undefined)


def test_what_cannot_be_is_refused():
    with pytest.raises(ParameterError, match="choose sign-flip or mcnemar"):
        between({"A": A, "B": B}, test="t")
    with pytest.raises(DataError, match="number of cases"):
        between({"A": A, "B": B}, [1, 1])
