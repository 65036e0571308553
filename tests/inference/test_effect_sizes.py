from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from core.errors import DataError
from inference.effect_sizes import exact_correction, hedges_g_between, noncentral_t_limits
from inference.results import Undefined

sample = st.lists(st.integers(1, 5), min_size=2, max_size=12)


@given(sample, sample)
def test_turning_the_pair_round_turns_the_effect_and_its_interval(a: list[int], b: list[int]) -> None:
    assume(len(set(a)) > 1 or len(set(b)) > 1)
    (one,), (other,) = hedges_g_between({"a": a, "b": b}), hedges_g_between({"b": b, "a": a})
    assert one.g == -other.g
    if one.interval is not None:
        assert one.interval.low == pytest.approx(-other.interval.high, abs=1e-9)
        assert one.interval.low <= one.g <= one.interval.high


@given(sample, sample)
def test_the_interval_of_d_holds_0_where_the_t_test_is_not_significant(a: list[int], b: list[int]) -> None:
    assume(len(set(a)) > 1 and len(set(b)) > 1)
    (found,) = hedges_g_between({"a": a, "b": b})
    p = stats.ttest_ind(a, b).pvalue
    assume(found.interval is not None and abs(p - 0.05) > 1e-6)
    assert (found.interval.low <= 0 <= found.interval.high) == (p > 0.05)


@pytest.mark.parametrize("df", [2, 3, 8, 58, 5998])
@pytest.mark.parametrize("t", [0.0, 0.3, -2.0, 7.3, 60.0])
def test_limits_put_t_at_the_ends_of_its_distribution(t: float, df: int) -> None:
    limits = noncentral_t_limits(t, df)
    # 1e-7: what scipy's own noncentral t gives in its tails.
    assert stats.nct.cdf(t, df, limits.low) == pytest.approx(0.975, abs=1e-7)
    assert stats.nct.cdf(t, df, limits.high) == pytest.approx(0.025, abs=1e-7)


def test_an_effect_beyond_evaluation_has_no_interval() -> None:
    assert noncentral_t_limits(1e4, 10) is None
    (found,) = hedges_g_between({"a": [0, 1e-9], "b": [1, 1]})
    assert found.interval is None
    assert math.isfinite(found.g)


def test_the_correction_grows_to_1_and_has_no_value_at_one_degree_of_freedom() -> None:
    assert exact_correction(1) == 0.0
    found = [exact_correction(df) for df in (2, 10, 100, 10_000)]
    assert found == sorted(found)
    assert found[-1] == pytest.approx(1 - 3 / (4 * 10_000 - 1), abs=1e-8)


def test_pairs_without_an_effect_say_why() -> None:
    found = hedges_g_between({"A": [3, 3], "B": [4, 4], "C": [1], "D": [], "E": [1, 2]})
    reasons = [one.reason for one in found if isinstance(one, Undefined)]
    assert reasons[0].startswith("Neither A nor B has any variance")
    assert "C has one observation: an effect size needs two." in reasons
    assert "D has no observations: an effect size needs two." in reasons
    assert [(one.a, one.b) for one in found if not isinstance(one, Undefined)] == [("A", "E"), ("B", "E")]


def test_values_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(DataError):
        hedges_g_between({"A": [np.nan, 1], "B": [1, 2]})
