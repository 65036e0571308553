"""Effect sizes of the sign test, against scipy's exact interval."""

from __future__ import annotations

import pytest
from scipy import stats

from inference.paired import SignEffect, sign_effect
from inference.results import Undefined

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(("n_a", "n_b"), [(1, 0), (0, 4), (12, 30), (500, 481), (3, 3)])
def test_limits_are_those_of_clopper_and_pearson(n_a: int, n_b: int) -> None:
    found = sign_effect(n_a, n_b, 5)
    assert isinstance(found, SignEffect)
    exact = stats.binomtest(n_a, n_a + n_b).proportion_ci(0.95, method="exact")
    assert (found.interval.low, found.interval.high) == pytest.approx((exact.low, exact.high), rel=1e-9)
    assert found.tied == 5 / (n_a + n_b + 5)
    assert found.superiority == n_a / (n_a + n_b)


@pytest.mark.parametrize("n", [12, 37])
def test_interval_excludes_one_half_where_the_sign_test_is_significant(n: int) -> None:
    for n_a in range(n + 1):
        found = sign_effect(n_a, n - n_a, 0)
        assert isinstance(found, SignEffect)
        is_outside = not found.interval.low <= 0.5 <= found.interval.high
        assert is_outside == (stats.binomtest(n_a, n).pvalue < 0.05)


def test_ties_alone_have_no_effect_size() -> None:
    assert isinstance(sign_effect(0, 0, 9), Undefined)
