"""Friedman's test and Nemenyi's comparisons."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from core.errors import DataError, ParameterError
from inference.friedman import friedman, nemenyi
from inference.results import Undefined

pytestmark = pytest.mark.unit
nan = float("nan")
VALUES = {"A": [1, 2, 1, 4, 1], "B": [2, 1, 2, 3, nan], "C": [3, 3, 2, 2, 5]}


def test_users_without_all_values_are_left_out():
    found = friedman(VALUES)
    assert (found.n, found.n_left_out) == (4, 1)
    expected = stats.friedmanchisquare(*(column[:4] for column in VALUES.values()))
    assert found.chi_squared == pytest.approx(expected.statistic)
    assert found.p == pytest.approx(expected.pvalue)
    compared = nemenyi(VALUES)
    assert compared.n == dict.fromkeys(VALUES, 4)
    assert compared.locations == found.mean_ranks


def test_small_values_are_ranked_as_in_any_other_unit():
    complete = {name: column[:4] for name, column in VALUES.items()}
    small = friedman({name: np.array(column) * 1e-12 for name, column in complete.items()})
    assert small.chi_squared == friedman(complete).chi_squared
    on_paper = friedman({"A": [0.1 + 0.2, 1.0, 1.0], "B": [0.3, 0.0, 0.0]})
    assert on_paper.mean_ranks == {"A": pytest.approx(5.5 / 3), "B": pytest.approx(3.5 / 3)}


def test_users_who_all_agree_give_no_f():
    found = friedman({"A": [1, 1, 1], "B": [2, 2, 2]})
    assert (found.kendalls_w, found.iman_davenport_f, found.iman_davenport_p) == (1.0, None, None)


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
    with pytest.raises(ParameterError, match="alpha"):
        nemenyi(VALUES, 0)
