from __future__ import annotations

import pytest

from inference import anova, apa


def test_p_shows_the_side_of_any_level() -> None:
    assert apa.p_value(0.00999, alpha=0.01) == "p = .00999"
    assert apa.p_value(0.00999) == "p = .010"
    assert apa.p_value(0.05 * (1 - 1e-15)) == "p = .04999999999999995"


@pytest.mark.parametrize(("value", "text"), [(-0.0, "0.00"), (12.345, "12.35"), (-1.5, "-1.50")])
def test_numbers_keep_their_leading_zero_and_lose_a_negative_one(value: float, text: str) -> None:
    assert apa.number(value) == text


@pytest.mark.parametrize(("value", "text"), [(-1.0, "-1.00"), (0.999, "1.00"), (-0.001, ".00"), (-0.5, "-.50")])
def test_shares_have_no_leading_zero(value: float, text: str) -> None:
    assert apa.share(value) == text


def test_anova_prints_the_interval_of_its_own_result() -> None:
    result = anova.one_way({"A": [1, 2, 3, 2], "B": [3, 4, 5, 4], "C": [2, 2, 1, 4]})
    low, high = (apa.share(end) for end in (result.eta_squared_ci.low, result.eta_squared_ci.high))
    assert apa.anova(result).startswith("F(2, 9) = ")
    assert apa.anova(result).endswith(f"95% CI [{low}, {high}]")


def test_anova_without_an_interval_ends_with_eta_squared() -> None:
    result = anova.one_way({"A": [0, 0.001], "B": [1e6, 1e6]})
    assert apa.anova(result).endswith("η² = 1.00")


def test_an_f_test_alone_has_neither_effect_size_nor_interval() -> None:
    assert apa.f_test(1.0, 2, 3.5, 0.5) == "F(2, 3.50) = 1.00, p = .500"
