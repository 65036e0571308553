"""Equivalence and minimum-effect tests: R's values, coverage of the null, letters, and the detectable difference."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from inference.equivalence import bound_test, detectable_in_errors, equivalence
from inference.results import Undefined

pytestmark = pytest.mark.unit


@pytest.mark.reference
def test_pairs_agree_with_r(cases: Callable[[str], list[dict[str, Any]]]) -> None:
    for case in cases("equivalence"):
        a, b, bound = (case["input"][name] for name in ("a", "b", "bound"))
        result = equivalence({name: case["groups"][name] for name in (a, b)}, bound)
        assert not isinstance(result, Undefined)
        test = result.pairs[0].test
        assert not isinstance(test, Undefined)
        found = {**vars(test), "ci_low": test.interval.low, "ci_high": test.interval.high}
        for name, value in case["expected"].items():
            assert found[name] == pytest.approx(value, rel=1e-9, abs=1e-12), (case["id"], name)


def test_interval_within_the_bounds_is_a_significant_equivalence_test() -> None:
    for difference in np.linspace(-1, 1, 41):
        test = bound_test(float(difference), 0.2, 30, 0.6)
        assert (test.p_equivalence < 0.05) == (test.interval.low > -0.6 and test.interval.high < 0.6)


def test_error_rates_at_the_bound_are_nominal() -> None:
    """True differences exactly at the bound: each test is significant in at most about 5% of studies."""
    rng = np.random.default_rng(11)
    repetitions, n = 4000, 40
    difference = 0.5 + rng.normal(size=repetitions) * np.sqrt(2 / n)
    se = np.sqrt(2 / n * rng.chisquare(2 * n - 2, repetitions) / (2 * n - 2))
    tests = [bound_test(float(d), float(s), 2 * n - 2, 0.5) for d, s in zip(difference, se, strict=True)]
    assert 0.035 < np.mean([test.p_equivalence < 0.05 for test in tests]) < 0.06
    assert np.mean([test.p_minimum < 0.05 for test in tests]) < 0.035  # two-sided: α / 2 at either bound


def test_holm_letters_and_conditions_without_variance() -> None:
    result = equivalence({"A": [3, 3, 3], "B": [3, 3, 3], "C": [3, 3.1, 2.9], "D": [1]}, 1)
    assert not isinstance(result, Undefined)
    assert result.left_out == ("D",)
    untested, *tested = result.pairs
    assert isinstance(untested.test, Undefined)
    assert not untested.is_equivalent
    assert untested.p_equivalence is None
    assert all(pair.is_equivalent for pair in tested)
    assert not set(result.letters["A"]) & set(result.letters["B"])  # never tested, so not claimed
    assert isinstance(equivalence({"A": [1, 2]}, 1), Undefined)


def test_detectable_difference_is_detected_in_eighty_percent() -> None:
    df, rng = 60, np.random.default_rng(3)
    critical = float(stats.t.isf(0.025, df))
    shift = detectable_in_errors(critical, df)
    t = (rng.normal(shift, 1, 20_000)) / np.sqrt(rng.chisquare(df, 20_000) / df)
    assert np.mean(np.abs(t) > critical) == pytest.approx(0.80, abs=0.01)
    assert shift > 1.3 * critical
