"""Cronbach's alpha against published digits, another way to compute it, and how often its interval is right."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import DataError
from inference.reliability import ReliabilityResult, cronbach_alpha
from inference.results import Undefined

pytestmark = pytest.mark.unit

# The example in the documentation of pingouin 0.5 (`cronbach_alpha`): 0.7734375, interval [0.336, 0.939].
PUBLISHED = list(
    zip(
        [1, 2, 2, 3, 2, 2, 3, 3, 2, 3],
        [1, 1, 1, 2, 3, 3, 2, 3, 3, 3],
        [1, 1, 2, 1, 2, 3, 3, 3, 2, 3],
        strict=True,
    )
)


@pytest.mark.reference
def test_the_published_example_comes_out_to_its_digits() -> None:
    found = cronbach_alpha(PUBLISHED)
    assert isinstance(found, ReliabilityResult)
    assert found.alpha == pytest.approx(0.7734375, rel=1e-12)
    assert (round(found.ci_low, 3), round(found.ci_high, 3)) == (0.336, 0.939)
    assert (found.n, found.k, found.n_left_out) == (10, 3, 0)


@given(
    st.integers(2, 5).flatmap(
        lambda k: st.lists(st.lists(st.integers(1, 7), min_size=k, max_size=k), min_size=3, max_size=20)
    )
)
def test_alpha_is_one_minus_the_ratio_of_mean_squares(answers: list[list[int]]) -> None:
    """Hoyt (1941): the same number from the analysis of variance of participants by questions."""
    found = cronbach_alpha(answers)
    table = np.array(answers, dtype=float)
    n, k = table.shape
    total = table.mean()
    people = k * ((table.mean(axis=1) - total) ** 2).sum() / (n - 1)
    rest = table - table.mean(axis=1, keepdims=True) - table.mean(axis=0, keepdims=True) + total
    residual = (rest**2).sum() / ((n - 1) * (k - 1))
    if isinstance(found, Undefined):
        assert people == pytest.approx(0, abs=1e-12)
        return
    assert found.alpha == pytest.approx(1 - residual / people, rel=1e-9, abs=1e-9)
    assert found.ci_low <= found.alpha <= found.ci_high or found.alpha == 1


def test_the_interval_holds_the_true_alpha_as_often_as_it_says() -> None:
    rng = np.random.default_rng(4)
    k, rho = 4, 0.5
    true = k * rho / (1 + (k - 1) * rho)
    covered = 0
    for _ in range(400):
        common = rng.normal(size=(25, 1)) * rho**0.5
        answers = common + rng.normal(size=(25, k)) * (1 - rho) ** 0.5
        found = cronbach_alpha([[round(float(x), 6) for x in row] for row in answers])
        assert isinstance(found, ReliabilityResult)
        covered += found.ci_low <= true <= found.ci_high
    assert 0.92 <= covered / 400 <= 0.98


def test_missing_answers_leave_a_participant_out_and_are_counted() -> None:
    found = cronbach_alpha([*PUBLISHED, (1, None, 3)])
    assert isinstance(found, ReliabilityResult)
    assert (found.alpha, found.n, found.n_left_out) == (pytest.approx(0.7734375), 10, 1)


def test_what_each_question_does_to_the_scale() -> None:
    found = cronbach_alpha([[1, 2, 5], [2, 3, 5], [4, 5, 5], [3, 4, 5]])
    assert isinstance(found, ReliabilityResult)
    assert found.constant == (2,)
    assert found.alpha_without[2] == 1
    assert found.correlation_with_rest[2] is None
    two = cronbach_alpha([[1, 2], [2, 2], [4, 5]])
    assert isinstance(two, ReliabilityResult)
    assert two.alpha_without == (None, None)


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ([], "fewer than two questions"),
        ([[1], [2]], "fewer than two questions"),
        ([[1, 2], [None, 3]], "at least two participants"),
        ([[1, 3], [3, 1]], "the same sum"),
    ],
)
def test_what_has_no_alpha_says_why(answers: list[list[int | None]], said: str) -> None:
    found = cronbach_alpha(answers)
    assert isinstance(found, Undefined)
    assert said in found.reason


def test_fractions_are_exact_and_wrong_input_is_refused() -> None:
    half = cronbach_alpha([[Fraction(x, 3) for x in row] for row in PUBLISHED])
    assert isinstance(half, ReliabilityResult)
    assert half.alpha == 0.7734375
    with pytest.raises(DataError):
        cronbach_alpha([[1, float("nan")], [1, 2]])
