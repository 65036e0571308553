from __future__ import annotations

import math
from itertools import combinations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from inference import posthoc, rank_tests
from inference.partial_order import compact_letters, partial_order
from inference.results import Undefined
from inference.studentized_range import critical_range, upper_tail

sample = st.lists(st.integers(0, 25).map(lambda count: count / 5), min_size=2, max_size=8)


@given(sample, sample)
def test_tukey_of_two_conditions_is_the_t_test(a: list[float], b: list[float]) -> None:
    assume(len(set(a)) > 1 and len(set(b)) > 1)
    (pair,) = posthoc.tukey_hsd({"a": a, "b": b}).pairs
    t = stats.ttest_ind(a, b)
    interval = t.confidence_interval(0.95)
    assert pair.p == pytest.approx(t.pvalue, rel=1e-8, abs=1e-300)
    assert (pair.ci_low, pair.ci_high) == pytest.approx((interval.low, interval.high), abs=1e-9)


@pytest.mark.parametrize(("q", "df"), [(0.3, 3), (2.5, 58), (4.0, 203), (9.0, 12.5)])
def test_range_of_two_means_agrees_with_the_general_quadrature(q: float, df: float) -> None:
    assert upper_tail(q, 2, df) == pytest.approx(float(stats.studentized_range.sf(q, 2, df)), abs=1e-11)


@pytest.mark.parametrize("alpha", [0.2, 0.05, 0.001])
@pytest.mark.parametrize(("k", "df"), [(2, 1), (3, 1.3), (7, 2), (7, 203), (30, 1), (30, 5000.5)])
def test_critical_range_is_exceeded_with_probability_alpha(alpha: float, k: int, df: float) -> None:
    assert upper_tail(critical_range(alpha, k, df), k, df) == pytest.approx(alpha, rel=1e-8)


@settings(max_examples=20, deadline=None)
@given(st.lists(sample, min_size=3, max_size=4), st.sampled_from([0.05, 0.2]))
def test_intervals_letters_and_order_agree_with_p(data: list[list[float]], alpha: float) -> None:
    groups = {f"c{place}": values for place, values in enumerate(data)}
    for test in (posthoc.tukey_hsd(groups, alpha), rank_tests.dunn_holm(groups, alpha)):
        if isinstance(test, Undefined):
            continue
        letters = compact_letters(test.locations, test)
        order = partial_order(test.locations, test)
        assert order.is_transitive
        for pair in test.pairs:
            assert pair.is_significant == (pair.p < alpha)
            assert bool(set(letters[pair.a]) & set(letters[pair.b])) == (pair.p >= alpha)
            above = pair.b in order.dominates[pair.a] or pair.a in order.dominates[pair.b]
            assert above == pair.is_significant
            if pair.ci_low is not None and abs(pair.p - alpha) > 1e-8:
                assert pair.is_significant == (not pair.ci_low <= 0 <= pair.ci_high)


def test_equal_means_of_fifths_differ_by_exactly_nothing() -> None:
    # 0.2 + 0.4 is not 0.6 in binary; the compositions differ, the sums do not.
    found = posthoc.tukey_hsd({"a": [0.2, 0.4, 0.6], "b": [0.0, 0.6, 0.6], "c": [0.1, 0.5, 0.6]})
    assert [pair.difference for pair in found.pairs] == [0.0, 0.0, 0.0]
    assert [pair.p for pair in found.pairs] == [1.0, 1.0, 1.0]
    ranked = rank_tests.dunn_holm({"a": [1, 4], "b": [2, 3]})
    assert (ranked.pairs[0].difference, ranked.pairs[0].statistic) == (0.0, 0.0)


def test_relabelling_and_reordering_conditions_turns_signs_only() -> None:
    groups = {"a": [1, 2, 4], "b": [3, 3, 5, 6], "c": [8, 9, 7]}
    turned = dict(reversed(groups.items()))
    for procedure in (posthoc.tukey_hsd, posthoc.games_howell, rank_tests.dunn_holm):
        one = {(pair.a, pair.b): pair for pair in procedure(groups).pairs}
        two = {(pair.b, pair.a): pair for pair in procedure(turned).pairs}
        assert one.keys() == two.keys() == set(combinations("abc", 2))
        for key, pair in one.items():
            assert (pair.difference, pair.p) == (-two[key].difference, two[key].p)


def test_tukey_stays_defined_with_a_condition_that_does_not_vary() -> None:
    found = posthoc.tukey_hsd({"TopPop": [0] * 5, "LSA": [0.2, 0.4, 0.2, 0.6, 0.4], "Asy": [0.2, 0, 0.4, 0, 0]})
    assert found.constant == ("TopPop",)
    assert found.pairs[0].p < 0.05


def test_games_howell_with_one_constant_is_a_one_sample_comparison() -> None:
    values = [0.2, 0.4, 0.2, 0.6, 0.4]
    (pair,) = posthoc.games_howell({"TopPop": [0] * 4, "LSA": values}).pairs
    t = stats.ttest_1samp(values, 0)
    assert (pair.df, pair.p) == (4, pytest.approx(t.pvalue, rel=1e-10))
    assert pair.statistic == pytest.approx(math.sqrt(2) * t.statistic)


def test_games_howell_leaves_single_observations_out_by_name() -> None:
    found = posthoc.games_howell({"a": [1, 2, 3], "b": [4], "c": [2, 6, 7]})
    assert found.left_out == ("b",)
    assert [(pair.a, pair.b) for pair in found.pairs] == [("a", "c")]
    assert found.n == {"a": 3, "c": 3}


def test_games_howell_is_undefined_when_no_condition_varies() -> None:
    found = posthoc.games_howell({"a": [1, 1], "b": [2, 2]})
    assert isinstance(found, Undefined)


def test_untested_pair_orders_nobody_and_shares_a_letter() -> None:
    found = posthoc.games_howell({"a": [0, 0, 0], "b": [9, 9, 9], "c": [4, 5, 4]})
    untested = found.pairs[0]
    assert (untested.a, untested.b, untested.p, untested.difference) == ("a", "b", None, -9.0)
    order = partial_order(found.locations, found)
    assert "a" not in order.dominates["b"]
    letters = compact_letters(found.locations, found)
    assert set(letters["a"]) & set(letters["b"])
