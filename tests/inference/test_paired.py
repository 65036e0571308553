from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import DataError, ParameterError
from inference.paired import sign_test, sign_tests_between
from inference.partial_order import partial_order
from inference.results import Undefined

users = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=40)


@given(users)
def test_sign_test_is_symmetric_and_a_binomial_tail(rows: list[tuple[int, int]]) -> None:
    a, b = (np.array(column) for column in zip(*rows, strict=True))
    found, mirrored = sign_test(a, b), sign_test(b, a)
    if isinstance(found, Undefined):
        assert (a == b).all()
        assert mirrored == found
        return
    assert (found.n_a, found.n_b, found.n_ties, found.p) == (
        mirrored.n_b,
        mirrored.n_a,
        mirrored.n_ties,
        mirrored.p,
    )
    n = found.n_a + found.n_b
    tail = sum(math.comb(n, i) for i in range(max(found.n_a, found.n_b), n + 1)) / 2**n
    assert found.p == pytest.approx(min(1, 2 * tail), rel=1e-12)


def test_sign_test_holds_beyond_the_users_at_which_powers_of_a_half_underflow() -> None:
    a, b = np.zeros(5000), np.zeros(5000)
    a[:2600], b[2600:] = 1, 1
    expected = sum(math.comb(5000, i) for i in range(2600, 5001)) / 2**5000
    assert sign_test(a, b).p == pytest.approx(2 * expected, rel=1e-10)


def test_values_equal_on_paper_are_ties_whatever_their_rounding() -> None:
    found = sign_test([0.1 + 0.2, 0.6 - 0.4, 1.0], [0.3, 0.2, 0.0])
    assert (found.n_a, found.n_b, found.n_ties) == (1, 0, 2)
    small = sign_test([3e-10, 2e-10, 3e-10 * (1 + 1e-15)], [2e-10, 1e-10, 3e-10])
    assert (small.n_a, small.n_b, small.n_ties) == (2, 0, 1)


def test_users_without_a_value_are_left_out_and_counted() -> None:
    nan = float("nan")
    found = sign_test([1, nan, 1, nan], [0, 0, nan, nan])
    assert (found.n_a, found.n_b, found.n_ties, found.n_left_out) == (1, 0, 0, 3)


@pytest.mark.parametrize(("a", "b"), [([], []), ([1, 1], [1, 1]), ([float("nan")], [1.0])])
def test_sign_test_is_undefined_when_no_user_separates_the_two(a: list[float], b: list[float]) -> None:
    found = sign_test(a, b)
    assert isinstance(found, Undefined)
    assert "Every user has equal values" in found.reason


def test_sign_test_refuses_what_it_cannot_pair() -> None:
    with pytest.raises(DataError, match="different numbers of users"):
        sign_test([1, 2], [1, 2, 3])
    with pytest.raises(DataError, match="the first algorithm are not one finite number"):
        sign_test([[1, 2]], [1, 2])
    with pytest.raises(DataError, match="the second algorithm are not one finite number"):
        sign_test([1, 2], [1, float("inf")])


def test_tests_between_algorithms_adjust_only_the_pairs_that_were_tested() -> None:
    rng = np.random.default_rng(3)
    base = rng.integers(0, 2, size=60).astype(float)
    values = {"TopPop": base, "Same": base.copy(), "LSA": rng.integers(0, 2, size=60), "none": [np.nan] * 60}
    found = sign_tests_between(values, "bonferroni")
    assert found.left_out == ("none",)
    assert found.test == "Sign test (bonferroni)"
    same, top_lsa, same_lsa = found.pairs
    assert (same.p, same.is_significant, same.n_ties, same.n_left_out) == (None, False, 60, 0)
    assert same.reason.startswith("Every user has equal values")
    assert top_lsa.p == min(1.0, 2 * top_lsa.p_unadjusted)
    assert top_lsa.difference == same_lsa.difference == (top_lsa.n_a - top_lsa.n_b) / 60
    assert found.locations["TopPop"] == base.mean()


def test_order_by_sign_tests_follows_the_users_not_the_means() -> None:
    # Two users love A beyond measure, the other eighteen fare a little better with B.
    a, b = np.zeros(20), np.full(20, 0.1)
    a[:2] = 10
    found = sign_tests_between({"A": a, "B": b})
    assert found.locations["A"] > found.locations["B"]
    assert partial_order(found.locations, found).dominates == {"A": (), "B": ("A",)}


def test_tests_between_fewer_than_two_algorithms_are_undefined() -> None:
    assert isinstance(sign_tests_between({"A": [1, 2]}), Undefined)
    assert "two algorithms" in sign_tests_between({"A": [1.0], "B": [float("nan")]}).reason
    with pytest.raises(ParameterError, match="holm, bonferroni, sidak"):
        sign_tests_between({"A": [1], "B": [2]}, "hs")  # type: ignore[arg-type]
