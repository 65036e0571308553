from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from core.errors import DataError
from inference import agreement
from inference.agreement import DRAWN, concordance_without_ties
from inference.results import Undefined

short = st.integers(2, 6).flatmap(lambda n: st.tuples(*[st.lists(st.integers(0, 4), min_size=n, max_size=n)] * 2))
long = st.integers(9, 14).flatmap(lambda n: st.tuples(*[st.lists(st.integers(0, 5), min_size=n, max_size=n)] * 2))


@given(short)
def test_coefficients_and_p_are_those_of_all_orders_taken_one_by_one(lists) -> None:
    x, y = lists
    tau, rho = agreement.kendall(x, y), agreement.spearman(x, y)
    if min(len(set(x)), len(set(y))) == 1:
        assert all(isinstance(found, Undefined) for found in (tau, rho))
        return
    for found, function in ((tau, stats.kendalltau), (rho, stats.spearmanr)):
        assert found.coefficient == pytest.approx(function(x, y).statistic, abs=1e-12)
        under_chance = [abs(function(x, order).statistic) for order in set(permutations(y))]
        extreme = [value for value in under_chance if value >= abs(found.coefficient) - 1e-9]
        assert found.p == pytest.approx(len(extreme) / len(under_chance), abs=1e-12)
        detectable = [value for value in under_chance if np.mean(np.array(under_chance) >= value - 1e-9) < 0.05]
        if detectable:
            assert found.smallest_detectable == pytest.approx(min(detectable))
        else:
            assert found.smallest_detectable is None


@settings(max_examples=5, deadline=None)
@given(long)
def test_longer_lists_have_the_coefficients_of_scipy_and_a_p_of_100_000_orders(lists) -> None:
    x, y = lists
    tau, rho = agreement.kendall(x, y), agreement.spearman(x, y)
    if isinstance(tau, Undefined):
        return
    assert tau.coefficient == pytest.approx(stats.kendalltau(x, y).statistic, abs=1e-12)
    assert rho.coefficient == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-12)
    for found in (tau, rho):
        assert found.p_method == agreement.SAMPLED
        n_extreme = found.p * (DRAWN + 1)
        assert n_extreme == pytest.approx(round(n_extreme), abs=1e-6)
        assert n_extreme >= 1 - 1e-6
    assert agreement.kendall(x, y) == tau  # the seed is fixed


@pytest.mark.parametrize("y", [[0, 2, 0, 1, 1, 2, 0, 1, 2], [0, 0, 0, 1, 1, 1, 2, 2, 2], [2, 1, 0, 2, 1, 0, 2, 1, 0]])
def test_random_orders_estimate_the_p_of_all_orders_of_nine(y: list[int]) -> None:
    x = [0, 0, 1, 2, 3, 4, 5, 6, 6]
    tau, rho = agreement.kendall(x, y), agreement.spearman(x, y)
    all_orders = np.array(list(set(permutations(y))))
    for found, function in ((tau, _concordance), (rho, _product)):
        under_chance = np.abs(function(x, all_orders))
        exact = np.mean(under_chance >= abs(function(x, np.array([y]))[0]) - 1e-9)
        assert found.p == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / DRAWN) + 1 / DRAWN)


def _signs(values: np.ndarray) -> np.ndarray:
    return np.sign(values[..., :, None] - values[..., None, :])


def _concordance(x: list[int], orders: np.ndarray) -> np.ndarray:
    return (_signs(np.array(x)) * _signs(orders)).sum(axis=(1, 2))


def _product(x: list[int], orders: np.ndarray) -> np.ndarray:
    ranks = stats.rankdata(orders, axis=1)
    return (ranks - ranks.mean()) @ stats.rankdata(x)


def test_longer_lists_without_ties_are_counted_exactly() -> None:
    rng = np.random.default_rng(5)
    x, y = rng.permutation(12), rng.permutation(12)
    found, expected = agreement.kendall(x, y), stats.kendalltau(x, y, method="exact")
    assert (found.p_method, found.p) == (agreement.COUNTED, pytest.approx(expected.pvalue, rel=1e-12))


@pytest.mark.parametrize("y", [range(9), range(8, -1, -1), [0, 0, 1, 2, 3, 4, 5, 6, 7]])
def test_a_perfect_correlation_of_longer_lists_is_significant_and_never_zero(y) -> None:
    x = y if y[0] < y[-1] else range(9)
    found = agreement.spearman(x, y)
    assert abs(found.coefficient) == 1
    assert 1 / (DRAWN + 1) <= found.p <= 1e-4


def test_the_smallest_detectable_coefficient_of_longer_lists_has_a_p_below_alpha() -> None:
    x = list(range(9))
    y = [0, 0, 1, 2, 3, 4, 5, 6, 7]
    least = agreement.kendall(x, y, alpha=0.1).smallest_detectable
    rng = np.random.default_rng(2)
    candidates = [agreement.kendall(x, rng.permutation(y).tolist()) for _ in range(40)]
    reached = [found.p for found in candidates if abs(found.coefficient) >= least - 1e-9]
    missed = [found.p for found in candidates if abs(found.coefficient) < least - 1e-9]
    assert 0 < max(reached) < 0.1 <= min(missed)


def test_nothing_is_detectable_among_four_or_in_nine_that_are_almost_all_tied() -> None:
    assert agreement.kendall(range(4), range(4)).smallest_detectable is None
    assert agreement.kendall([0] * 8 + [1], [1] + [0] * 8, alpha=0.001).smallest_detectable is None


def test_inversions_of_n_values_cover_all_orders() -> None:
    null = concordance_without_ties(9)
    assert null.n_orders[0] == math.factorial(9)
    assert (null.distances[-1], null.n_orders[-1]) == (36, 2)


@pytest.mark.parametrize("procedure", [agreement.kendall, agreement.spearman])
def test_agreement_names_the_reason_when_it_is_undefined(procedure) -> None:
    assert "there are 1" in procedure([1], [2]).reason
    assert "on the first measure" in procedure([1, 1], [1, 2]).reason
    found = procedure([1, 2, 3], [4, 4, 4])
    assert isinstance(found, Undefined)
    assert "on the second measure" in found.reason
    with pytest.raises(DataError, match="second measure is nan"):
        procedure([1, 2], [1, float("nan")])
