"""Wilcoxon's signed rank test."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import DataError
from inference import paired
from inference.paired import share_at_least, signed_rank, signed_ranks_between
from inference.results import Undefined

pytestmark = pytest.mark.unit
nan = float("nan")


@given(st.lists(st.integers(1, 9), max_size=9), st.integers(-3, 60))
def test_shares_are_counted_over_all_subsets(weights, observed):
    sums = [
        sum(w for w, is_in in zip(weights, signs, strict=True) if is_in)
        for signs in product((0, 1), repeat=len(weights))
    ]
    expected = sum(one >= observed for one in sums) / len(sums)
    assert share_at_least(np.array(weights, dtype=np.int64), observed) == pytest.approx(expected, abs=1e-15)


@settings(deadline=None)
@given(st.lists(st.integers(-5, 5), min_size=1, max_size=12).filter(any))
def test_test_is_symmetric(differences):
    nothing = [0] * len(differences)
    one, other = signed_rank(differences, nothing), signed_rank(nothing, differences)
    assert (one.p, one.rank_biserial) == (other.p, -other.rank_biserial)
    assert 0 < one.p <= 1


def test_differences_equal_on_paper_tie():
    found = signed_rank([0.6, 0.4, 0.2], [0.4, 0.2, 0.4])
    assert found.rank_biserial == (4 - 2) / 6


def test_small_differences_are_ranked_as_in_any_other_unit():
    found = signed_rank([6e-11, 4e-11, 2e-11], [4e-11, 2e-11, 4e-11])
    assert found.rank_biserial == (4 - 2) / 6


def test_many_users_are_compared_by_the_normal_approximation(monkeypatch):
    rng = np.random.default_rng(1)
    a = rng.random(3000)
    monkeypatch.setattr(paired, "share_at_least", None)  # is not called
    assert 0 < signed_rank(a + 0.01 * rng.normal(size=3000), a).p <= 1


def test_users_without_values_are_left_out():
    found = signed_rank([1, nan, 2, 3], [0, 1, nan, 3])
    assert found.rank_biserial == found.p == 1.0
    assert isinstance(signed_rank([1, 2], [1, 2]), Undefined)
    assert isinstance(signed_rank([nan], [2]), Undefined)


def test_what_cannot_be_is_refused():
    with pytest.raises(DataError, match="different numbers of users"):
        signed_rank([1], [2, 3])


def test_pairs_are_adjusted_as_one_family():
    values = {"A": [3, 4, 5, 6, 7, 8, 9], "B": [1, 1, 1, 1, 1, 1, nan], "C": [1, 1, 1, 1, 1, 1, 1], "D": [nan] * 7}
    found = signed_ranks_between(values, "bonferroni")
    assert found.left_out == ("D",)
    assert found.n == {"A": 7, "B": 6, "C": 7}
    by_pair = {(pair.a, pair.b): pair for pair in found.pairs}
    assert by_pair["A", "B"].p == 2 * by_pair["A", "B"].p_unadjusted == 2 * 2 / 2**6
    assert by_pair["A", "C"].p == 2 * 2 / 2**7
    assert by_pair["A", "C"].is_significant
    assert by_pair["B", "C"].p is None
    assert "Every user has equal values" in by_pair["B", "C"].reason
    assert isinstance(signed_ranks_between({"A": [1.0], "B": [nan]}), Undefined)
