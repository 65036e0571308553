from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inference import ordinal
from inference.results import Undefined

groups = st.dictionaries(
    st.sampled_from("ABC"), st.lists(st.integers(1, 4), min_size=1, max_size=8), min_size=2, max_size=3
)


@settings(max_examples=40)
@given(groups)
def test_a_model_is_finite_or_says_why_not(answers: dict[str, list[int]]) -> None:
    found = ordinal.cumulative_link(answers)
    if isinstance(found, Undefined):
        assert found.reason.endswith(".")
        return
    numbers = [found.lr, found.p, *(one.estimate for one in found.effects), *(one.se for one in found.effects)]
    assert all(map(math.isfinite, numbers))
    assert all(sum(shares) == pytest.approx(1) for shares in found.shares.values())
    assert [one.estimate for one in found.thresholds] == sorted(one.estimate for one in found.thresholds)
    # The likelihood equations of the shifts: mean cumulative shares are matched, so nobody is far outside.
    assert found.log_likelihood >= found.log_likelihood_null - 1e-7
    assert max(abs(one.estimate) for one in found.effects) < 30


def test_two_categories_are_a_logistic_regression() -> None:
    found = ordinal.cumulative_link({"A": [0, 0, 1, 1, 1], "B": [0, 0, 0, 1]})
    odds = math.log((1 / 3) / (3 / 2))
    assert found.effects[0].estimate == pytest.approx(odds, abs=1e-5)
    assert found.effects[0].se == pytest.approx(math.sqrt(1 / 2 + 1 / 3 + 1 / 3 + 1), abs=1e-3)
    assert found.proportional_lr is None
    assert found.shares["B"] == pytest.approx((0.75, 0.25), abs=1e-5)


def test_pairs_are_differences_of_shifts_whatever_the_reference() -> None:
    rng = np.random.default_rng(2)
    answers = {name: rng.integers(1, 6, 40).tolist() for name in "ABC"}
    one = ordinal.cumulative_link(answers)
    other = ordinal.cumulative_link({name: answers[name] for name in "CBA"})
    of_one = {(pair.a, pair.b): pair for pair in one.pairs.pairs}
    for pair in other.pairs.pairs:
        same = of_one[pair.b, pair.a]
        assert pair.difference == pytest.approx(-same.difference, abs=1e-5)
        assert pair.p == pytest.approx(same.p, abs=1e-4)
    assert (one.reference, other.reference) == ("A", "C")


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        ({"A": [1, 2]}, "two conditions with answers; there are 1"),
        ({"A": [], "B": []}, "there are 0"),
        ({"A": [3, 3], "B": [3]}, "gave the same answer"),
        ({"A": list(range(101)), "B": list(range(101))}, "101 different answers; the model takes at most 60"),
        ({"A": [1, 1], "B": [1, 2, 3]}, "Everyone in A gave the lowest answer that occurs, 1"),
        ({"A": [5, 5], "B": [1, 2, 5]}, "Everyone in A gave the highest answer that occurs, 5"),
        ({"A": [1, 2], "B": [3, 4]}, "No answer of A is above an answer of B"),
        ({"A": [1, 2], "B": [2, 3]}, "No answer of A is above an answer of B"),
        ({"A": [1, 2, 1], "B": [3, 2], "C": [2, 1]}, "No answer of A and C is above an answer of B"),
    ],
)
def test_answers_without_a_maximum_are_refused_by_name(answers: dict[str, list[int]], words: str) -> None:
    found = ordinal.cumulative_link(answers)
    assert isinstance(found, Undefined)
    assert words in found.reason


def test_a_condition_of_one_middle_answer_is_fitted() -> None:
    found = ordinal.cumulative_link({"A": [2, 2, 2], "B": [1, 2, 3, 1], "C": []}, scale=(1, 2, 3, 4, 5))
    assert found.left_out == ("C",)
    assert found.empty_categories == (4.0, 5.0)
    assert found.counts == {"A": (0, 3, 0), "B": (2, 1, 1)}


def test_a_fit_that_has_not_arrived_is_no_result(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ordinal, "LARGEST_GRADIENT", -1.0)
    found = ordinal.cumulative_link({"A": [1, 2, 3], "B": [2, 3, 1, 2]})
    assert found.reason == "The maximum likelihood fit did not converge."
