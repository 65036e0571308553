"""Friedman's test and Nemenyi's comparisons."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from core.errors import DataError
from inference.paired import friedman, nemenyi
from inference.results import Undefined

pytestmark = pytest.mark.unit
nan = float("nan")
VALUES = {"A": [1, 2, 1, 4, 1], "B": [2, 1, 2, 3, nan], "C": [3, 3, 2, 2, 5]}


def test_users_without_all_values_are_left_out():
    found = friedman(VALUES)
    expected = stats.friedmanchisquare(*(column[:4] for column in VALUES.values()))
    assert found.chi_squared == pytest.approx(expected.statistic)
    assert found.p == pytest.approx(expected.pvalue)
    compared = nemenyi(VALUES)
    assert compared.n == dict.fromkeys(VALUES, 4)


def test_small_values_are_ranked_as_in_any_other_unit():
    complete = {name: column[:4] for name, column in VALUES.items()}
    small = friedman({name: np.array(column) * 1e-12 for name, column in complete.items()})
    assert small.chi_squared == friedman(complete).chi_squared
    on_paper = nemenyi({"A": [0.1 + 0.2, 1.0, 1.0], "B": [0.3, 0.0, 0.0]})
    assert on_paper.locations == {"A": pytest.approx(5.5 / 3), "B": pytest.approx(3.5 / 3)}


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"A": [1, 2]}, "two algorithms"),
        ({"A": [1, nan], "B": [1, 2]}, "Fewer than two users"),
        ({"A": [1, 2], "B": [1, 2]}, "nothing to rank"),
    ],
)
def test_there_may_be_nothing_to_test(values, reason):
    for found in (friedman(values), nemenyi(values)):
        assert isinstance(found, Undefined)
        assert reason in found.reason


def test_what_cannot_be_is_refused():
    with pytest.raises(DataError, match="different numbers of users"):
        friedman({"A": [1, 2], "B": [1, 2, 3]})
