"""Numbers and p values as text."""

from __future__ import annotations

import pytest

from documents.numbers import f_statistic, named_p, number

pytestmark = pytest.mark.unit


def test_p_shows_the_side_of_any_level() -> None:
    assert named_p(0.00999, alpha=0.01) == "p = .00999"
    assert named_p(0.00999) == "p = .010"
    assert named_p(0.05 * (1 - 1e-15)) == "p = .04999999999999995"


@pytest.mark.parametrize(("value", "text"), [(-0.0, "0.00"), (12.345, "12.35"), (-1.5, "−1.50")])
def test_numbers_keep_their_leading_zero_and_lose_a_negative_one(value: float, text: str) -> None:
    assert number(value) == text


@pytest.mark.parametrize(("value", "text"), [(-1.0, "−1.00"), (0.999, "1.00"), (-0.001, ".00"), (-0.5, "−.50")])
def test_shares_have_no_leading_zero(value: float, text: str) -> None:
    assert number(value, is_share=True) == text


def test_fractional_degrees_of_freedom_are_written_with_two_digits() -> None:
    assert f_statistic(2, 3.5, 1.0) == "F(2, 3.50) = 1.00"
