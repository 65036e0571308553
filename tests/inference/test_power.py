"""Power, sample size and detectable effect: against quadrature of 30 digits, R, and by properties."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from core.errors import ParameterError
from inference import power
from inference.power import simulated_power

Cases = Callable[[str], list[dict[str, Any]]]


@pytest.mark.reference
def test_power_agrees_with_quadrature_and_r(cases: Cases) -> None:
    seen = set()
    for case in cases("power"):
        given, expected, kind = case["input"], case["expected"], case["id"].split("/")[0]
        seen.add(kind)
        if kind == "power":
            found = power.anova_power(given["groups"], given["n_per_group"], given["f"], given["alpha"])
            assert found.power == pytest.approx(expected["power_mpmath"], abs=1e-9)
            assert found.critical_f == pytest.approx(expected["f_crit"], rel=1e-12)
            assert found.noncentrality == pytest.approx(expected["lambda"], rel=1e-12)
            assert (found.df_between, found.df_within) == (expected["df1"], expected["df2"])
        elif kind == "power_n":
            found = power.participants_needed(given["groups"], given["f"], given["power"], given["alpha"])
            assert (found.n_per_condition, found.n_total) == (expected["n_per_group"], expected["n_total"])
            assert found.power == pytest.approx(expected["actual_power"], abs=3e-9)  # R's own error
        elif kind == "mde":
            least = power.detectable_effect(given["groups"], given["n_per_group"], given["power"], given["alpha"])
            assert least.f == pytest.approx(expected["f_mpmath"], rel=1e-9)
            assert least.eta_squared == pytest.approx(expected["eta_squared"], rel=1e-8)
            assert least.difference_in_sd == pytest.approx(expected["max_min_difference_in_sd_two_extreme"], rel=1e-8)
        else:
            assert power.anova_power(2, given["n_per_group"], given["d"] / 2, given["alpha"]).power == pytest.approx(
                expected["power"], abs=1e-9
            )
    assert seen == {"power", "power_n", "mde", "power_t"}


@pytest.mark.unit
def test_one_participant_fewer_is_not_enough() -> None:
    plan = power.participants_needed(4, 0.3, power=0.95)
    assert plan.power >= 0.95 > power.anova_power(4, plan.n_per_condition - 1, 0.3).power
    assert power.participants_needed(7, 50.0).n_per_condition == 2  # no smaller group has a spread


@pytest.mark.unit
def test_two_means_d_apart_have_half_of_it_as_f() -> None:
    assert power.effect_of_means([0.0, 0.6], sd=1.0) == pytest.approx(0.3)


@pytest.mark.unit
def test_no_effect_has_the_level_of_the_test_and_a_huge_one_is_certain() -> None:
    assert power.anova_power(5, 20, 0.0, alpha=0.01).power == 0.01
    assert power.anova_power(7, 1_000_000, 100.0).power == 1.0


@pytest.mark.unit
def test_unevaluated_tail_counts_as_certain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stats.ncf, "sf", lambda *_: math.nan)
    assert power.anova_power(3, 10, 5.0).power == 1.0


@pytest.mark.unit
def test_simulated_power_agrees_with_the_formula_where_rounding_is_harmless(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("inference.power.SCALE", (0, 100))
    means, sd, n = [49.0, 50.0, 51.0], 2.0, 20
    found = simulated_power(means, sd, n, rng=np.random.default_rng(4), repetitions=3000)
    rounded = math.sqrt(sd**2 + 1 / 12)  # rounding adds a twelfth to the variance
    expected = power.anova_power(3, n, power.effect_of_means(means, rounded)).power
    assert found.interval.low <= expected <= found.interval.high
    assert found.undefined == 0


@pytest.mark.unit
def test_simulated_power_under_no_effect_is_the_level() -> None:
    found = simulated_power([3.0] * 4, 1.0, 30, rng=np.random.default_rng(5), items=5, repetitions=2000)
    assert found.interval.low <= 0.05 <= found.interval.high


@pytest.mark.unit
def test_people_all_alike_are_counted_as_not_significant() -> None:
    found = simulated_power([3.0, 3.0], 1e-3, 2, rng=np.random.default_rng(6), repetitions=100)
    assert (found.power, found.undefined) == (0.0, 100)
    assert found.interval.low == pytest.approx(0.0, abs=1e-12)
    assert 0.0 < found.interval.high < 0.05


@pytest.mark.unit
def test_participants_who_meet_all_conditions_are_counted_as_by_published_examples() -> None:
    # G*Power, "repeated measures, within factors": without correlation a third of the 252 of a comparison of groups.
    assert power.participants_within(3, 0.25, 0.0, power=0.95) == 84
    assert power.participants_needed(3, 0.25, power=0.95).n_total == 3 * 84
    assert [power.participants_within(4, 0.25, 0.5, power=target) for target in (0.8, 0.95)] == [24, 36]
    # Wuensch (2005) with G*Power, whose version then took 128 instead of 126 degrees of freedom.
    assert power.within_power(3, 64, 0.1, 0.79) == pytest.approx(0.7677, abs=1e-3)
    # R's pwr.t.test(d = .5, power = .8, type = "paired") has n = 33.37.
    assert power.participants_within(2, 0.25, 0.5, contrast=True) == 34


@pytest.mark.unit
@pytest.mark.parametrize(("k", "n", "f", "rho"), [(2, 10, 0.3, 0.0), (3, 36, 0.25, 0.5), (5, 12, 0.2, 0.7)])
def test_within_power_is_that_of_the_noncentral_distributions(k: int, n: int, f: float, rho: float) -> None:
    df, critical = (n - 1) * (k - 1), stats.f.isf(0.05, k - 1, (n - 1) * (k - 1))
    assert power.within_power(k, n, f, rho) == pytest.approx(
        stats.ncf.sf(critical, k - 1, df, n * k * f**2 / (1 - rho))
    )
    # The outermost of k conditions are f √(2k) apart, and a difference has the variance 2 (1 − ρ).
    shift, t = f * math.sqrt(2 * k) / math.sqrt(2 * (1 - rho)) * math.sqrt(n), stats.t.isf(0.025, df)
    expected = stats.nct.sf(t, df, shift) + stats.nct.cdf(-t, df, shift)
    assert power.within_power(k, n, f, rho, contrast=True) == pytest.approx(expected)


@pytest.mark.unit
@pytest.mark.parametrize(("n", "share", "alpha"), [(100, 0.65, 0.05), (5, 0.9, 0.05), (6, 0.9, 0.05), (33, 0.4, 0.01)])
def test_the_power_of_a_sign_test_is_the_sum_over_all_counts_that_are_significant(
    n: int, share: float, alpha: float
) -> None:
    significant = [count for count in range(n + 1) if stats.binomtest(count, n).pvalue <= alpha]
    expected = sum(math.comb(n, count) * share**count * (1 - share) ** (n - count) for count in significant)
    assert power.sign_test_power(n, share, alpha=alpha) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("n", "share", "alpha"), [(0, 0.6, 0.05), (9, 1.0, 0.05), (9, 0.6, 0.0)])
def test_a_sign_test_without_preferences_or_with_an_impossible_share_is_refused(
    n: int, share: float, alpha: float
) -> None:
    with pytest.raises(ParameterError, match="A sign test needs a preference"):
        power.sign_test_power(n, share, alpha=alpha)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: power.anova_power(1, 30, 0.25), "at least two conditions; got 1"),
        (lambda: power.anova_power(3, 1, 0.25), "at least two participants"),
        (lambda: power.anova_power(3, 10.5, 0.25), "whole number; got 10.5"),
        (lambda: power.anova_power(3.5, 10, 0.25), "conditions is a whole number; got 3.5"),
        (lambda: power.anova_power(3, 30, -0.1), "above 0"),
        (lambda: power.anova_power(3, 30, math.nan), "above 0"),
        (lambda: power.anova_power(3, 30, 0.2, alpha=1.0), "level alpha"),
        (lambda: power.participants_needed(3, 0.0), "above 0"),
        (lambda: power.participants_needed(3, 1e-6), "more than 1,000,000 participants"),
        (lambda: power.participants_needed(3, 0.2, power=0.05), "target power"),
        (lambda: power.within_power(3, 30, 0.2, 1.0), "below 1; got 1"),
        (lambda: power.within_power(3, 30, 0.0, 0.5), "above 0"),
        (lambda: power.participants_within(1, 0.2, 0.5), "at least two conditions"),
        (lambda: power.participants_within(3, 0.2, -0.1), "at least 0"),
        (lambda: power.participants_within(3, 0.2, 0.5, power=1.0), "target power"),
        (lambda: power.detectable_effect(3, 1), "at least two participants"),
        (lambda: power.detectable_effect(3, 7.5), "participants per condition is a whole number; got 7.5"),
        (lambda: power.effect_of_means([3.0], 1.0), "at least two conditions"),
        (lambda: power.effect_of_means([3.0, math.inf], 1.0), "plain numbers"),
        (lambda: power.effect_of_means([3.0, 4.0], 0.0), "above 0"),
        (
            lambda: simulated_power([3.0, 4.0], 1.0, 1, rng=np.random.default_rng(1)),
            "at least two participants",
        ),
    ],
)
def test_impossible_plans_are_refused_in_words(call: Callable[[], object], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        call()
