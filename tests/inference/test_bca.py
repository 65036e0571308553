from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from core.errors import DataError, ParameterError
from inference import bca, bootstrap
from inference.groups import ExactGroups
from inference.results import Undefined


def test_the_interval_of_a_mean_is_scipys_for_the_same_resamples() -> None:
    values = np.array([1.0, 2.0, 2.0, 3.0, 5.0, 8.0, 13.0, 4.0])
    expected = stats.bootstrap(
        (values,), np.mean, n_resamples=4000, method="BCa", rng=np.random.default_rng(3), vectorized=True
    )
    found = bca.bca_of_mean(values, expected.bootstrap_distribution)
    interval = expected.confidence_interval
    assert (found.interval.low, found.interval.high) == pytest.approx((interval.low, interval.high), rel=1e-6)


def test_symmetric_resamples_give_the_percentile_interval() -> None:
    values = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    drawn = np.concatenate([np.linspace(2, 3, 200), 6 - np.linspace(2, 3, 200)])
    found = bca.bca_of_mean(values, drawn)
    (plain,) = bootstrap.percentile_intervals(drawn[:, None])
    assert (found.bias, found.acceleration) == (0.0, 0.0)
    assert found.interval == plain


def test_conditions_all_alike_and_lopsided_resamples_have_reasons() -> None:
    assert "observations are equal" in bca.bca_of_mean([3.0, 3.0], [3.0, 3.0]).reason
    assert "two observations" in bca.bca_of_mean([3.0], [3.0]).reason
    assert "one side" in bca.bca_of_mean([1.0, 2.0], [5.0, 6.0]).reason
    assert isinstance(bca.bca_of_mean([1.0, 2.0], [5.0, 5.0]), Undefined)


def test_values_that_cannot_be_used_are_refused() -> None:
    with pytest.raises(DataError, match="one list of values"):
        bca.bca_of_mean([1.0, 2.0], [])
    with pytest.raises(DataError, match="finite"):
        bca.bca_of_mean([1.0, 2.0], [np.inf])


def test_exact_groups_are_read_as_they_are() -> None:
    groups = ExactGroups({"A": [3, 4, 5], "B": []}, 1)
    assert groups.without_empty().groups[0].name == "A"
    assert list(groups) == ["A", "B"]
    assert len(groups) == 2
    assert groups.points("A") == (3, 4, 5)
    with pytest.raises(ParameterError, match="scale is 0"):
        ExactGroups({}, 0)
