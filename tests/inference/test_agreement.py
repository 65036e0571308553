from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from core.errors import DataError, ParameterError
from inference import agreement
from inference.agreement import Verdict
from inference.partial_order import partial_order
from inference.permutations import concordance_variance, concordance_without_ties
from inference.results import Pair, Undefined

short = st.integers(2, 6).flatmap(lambda n: st.tuples(*[st.lists(st.integers(0, 4), min_size=n, max_size=n)] * 2))
long = st.integers(9, 14).flatmap(lambda n: st.tuples(*[st.lists(st.integers(0, 5), min_size=n, max_size=n)] * 2))


@given(short)
def test_coefficients_and_p_are_those_of_all_orders_taken_one_by_one(lists) -> None:
    x, y = lists
    tau, rho, pairs = agreement.kendall(x, y), agreement.spearman(x, y), agreement.pair_directions(x, y)
    if min(len(set(x)), len(set(y))) == 1:
        assert all(isinstance(found, Undefined) for found in (tau, rho, pairs))
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
    n = len(x)

    def n_same(order) -> int:
        return sum((x[i] - x[j]) * (order[i] - order[j]) > 0 for i in range(n) for j in range(i))

    assert pairs.same == n_same(y)
    assert pairs.same + pairs.opposite + pairs.tied == pairs.n_pairs == n * (n - 1) // 2
    orders = list(set(permutations(y)))
    assert pairs.p == pytest.approx(np.mean([n_same(order) >= pairs.same for order in orders]), abs=1e-12)


@settings(max_examples=50)
@given(long)
def test_longer_lists_agree_with_scipy(lists) -> None:
    x, y = lists
    tau, rho = agreement.kendall(x, y), agreement.spearman(x, y)
    if isinstance(tau, Undefined):
        return
    expected = stats.kendalltau(x, y, method="asymptotic")
    assert tau.coefficient == pytest.approx(expected.statistic, abs=1e-12)
    assert tau.p == pytest.approx(expected.pvalue, rel=1e-9)
    assert rho.coefficient == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-12)
    if abs(rho.coefficient) < 1:
        assert rho.p == pytest.approx(stats.spearmanr(x, y).pvalue, rel=1e-7)


def test_longer_lists_without_ties_are_counted_exactly() -> None:
    rng = np.random.default_rng(5)
    x, y = rng.permutation(12), rng.permutation(12)
    found, expected = agreement.kendall(x, y), stats.kendalltau(x, y, method="exact")
    assert (found.p_method, found.p) == (agreement.COUNTED, pytest.approx(expected.pvalue, rel=1e-12))
    pairs = agreement.pair_directions(x, y)
    assert pairs.p_method == agreement.COUNTED
    assert pairs.p == pytest.approx(stats.kendalltau(x, y, method="exact", alternative="greater").pvalue, rel=1e-12)


def test_pair_directions_of_longer_lists_with_ties_use_the_normal_approximation() -> None:
    x, y = [1, 1, 2, 3, 4, 5, 6, 7, 8], [2, 1, 3, 3, 4, 6, 5, 8, 7]
    found = agreement.pair_directions(x, y)
    expected = stats.kendalltau(x, y, method="asymptotic", alternative="greater").pvalue
    assert (found.p_method, found.tied) == (agreement.NORMAL, 2)
    assert found.p == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("y", "ways"),
    [
        (range(9), 2),
        (range(8, -1, -1), 2),
        ([0, 0, 1, 2, 3, 4, 5, 6, 7], 2),
        ([0, 0, 1, 2, 3, 4, 5, 6, 6], 8),
    ],
)
def test_perfect_spearman_of_longer_lists_is_counted_not_printed_as_zero(y, ways: int) -> None:
    x = y if y[0] < y[-1] else range(9)
    found = agreement.spearman(x, y)
    assert abs(found.coefficient) == 1
    assert found.p == pytest.approx(ways / math.factorial(9))


def test_smallest_detectable_of_approximations_has_p_at_alpha() -> None:
    x, y = [1, 1, 2, 3, 4, 5, 6, 7, 8, 9], [3, 1, 2, 3, 6, 5, 9, 7, 8, 4]
    tau, rho = agreement.kendall(x, y, alpha=0.1), agreement.spearman(x, y, alpha=0.1)
    t = rho.smallest_detectable * math.sqrt(8 / (1 - rho.smallest_detectable**2))
    assert 2 * stats.t.sf(t, 8) == pytest.approx(0.1)
    error = math.sqrt(concordance_variance([0, 0, 1, 2, 3, 4, 5, 6, 7, 8], [2, 0, 1, 2, 5, 4, 8, 6, 7, 3]))
    z = tau.smallest_detectable * math.sqrt(44 * 44) / error
    assert 2 * stats.norm.sf(z) == pytest.approx(0.1)


def test_nothing_is_detectable_among_four_or_in_nine_that_are_almost_all_tied() -> None:
    assert agreement.kendall(range(4), range(4)).smallest_detectable is None
    assert agreement.kendall([0] * 8 + [1], [1] + [0] * 8, alpha=0.001).smallest_detectable is None


def test_inversions_of_n_values_cover_all_orders() -> None:
    null = concordance_without_ties(9)
    assert null.total == math.factorial(9)
    assert null.counts[36] == null.counts[-36] == 1


@pytest.mark.parametrize("procedure", [agreement.kendall, agreement.spearman, agreement.pair_directions])
def test_agreement_names_the_reason_when_it_is_undefined(procedure) -> None:
    assert "there are 1" in procedure([1], [2]).reason
    assert "on the first measure" in procedure([1, 1], [1, 2]).reason
    found = procedure([1, 2, 3], [4, 4, 4])
    assert isinstance(found, Undefined)
    assert "on the second measure" in found.reason
    with pytest.raises(DataError, match="2 algorithms on one side and 3"):
        procedure([1, 2], [1, 2, 3])
    with pytest.raises(DataError, match="second measure is nan"):
        procedure([1, 2], [1, float("nan")])


@pytest.mark.parametrize("procedure", [agreement.kendall, agreement.spearman])
def test_agreement_refuses_a_level_outside_zero_to_one(procedure) -> None:
    with pytest.raises(ParameterError):
        procedure([1, 2, 3], [1, 2, 3], alpha=1.5)


def order_of(edges: dict[tuple[str, str], float], names: str = "ABCDE"):
    locations = {name: float(-place) for place, name in enumerate(names)}
    return partial_order(locations, [Pair(a, b, 1.0, p, p < 0.05) for (a, b), p in edges.items()])


def test_orders_are_compared_pair_by_pair() -> None:
    people = order_of({("A", "B"): 0.01, ("A", "C"): 0.02, ("D", "B"): 0.03, ("B", "C"): 0.4})
    recall = order_of({("A", "B"): 0.04, ("C", "A"): 0.001, ("D", "C"): 0.002}, names="ABCDX")
    found = agreement.orders_compared(people, recall)
    by_pair = {frozenset((pair.a, pair.b)): pair for pair in found.pairs}
    assert len(by_pair) == 6
    assert by_pair[frozenset("AB")].verdict is Verdict.AGREED
    assert by_pair[frozenset("AD")].verdict is Verdict.NEITHER
    assert by_pair[frozenset("CD")].verdict is Verdict.OBJECTIVE_ONLY
    assert (by_pair[frozenset("CD")].a, by_pair[frozenset("CD")].b) == ("D", "C")
    assert by_pair[frozenset("BD")].verdict is Verdict.PERCEIVED_ONLY
    assert (by_pair[frozenset("BD")].a, by_pair[frozenset("BD")].perceived_p) == ("D", 0.03)
    (contradiction,) = found.of(Verdict.CONTRADICTED)
    assert (contradiction.a, contradiction.b) == ("A", "C")
    assert (contradiction.perceived_p, contradiction.objective_p) == (0.02, 0.001)
    assert found.counts == {
        "agreed": 1,
        "perceived only": 1,
        "objective only": 1,
        "contradicted": 1,
        "neither": 2,
    }
    assert found.left_out == ("E", "X")
