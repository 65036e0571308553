"""Groups of users by quantiles, and the share of popular items in profiles."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from core.errors import DataError
from evaluation.metrics.user_groups import popular_shares, quantile_groups

pytestmark = pytest.mark.unit


def test_groups_have_the_shares_asked_for_where_values_differ():
    values = np.random.default_rng(1).permutation(100).astype(float)
    groups, limits = quantile_groups(values, [0.2, 0.8])
    assert np.bincount(groups).tolist() == [20, 60, 20]
    assert limits == (19.0, 79.0)
    assert values[groups == 0].max() < values[groups == 1].min()


def test_equal_values_stay_together_and_users_without_a_value_are_in_no_group():
    groups, _ = quantile_groups(np.array([1, 1, 1, 2, 3, np.nan]), [1 / 3, 2 / 3])
    assert groups.tolist() == [0, 0, 0, 1, 2, -1]


@pytest.mark.parametrize("values", [[5.0] * 9, [1.0, 5.0, 5.0, 5.0], [1.0, 1.0, 1.0, 5.0]])
def test_too_many_equal_values_are_refused(values: list[float]):
    with pytest.raises(DataError, match="equal values"):
        quantile_groups(np.array(values), [1 / 3, 2 / 3])


def test_nobody_with_a_value_is_refused():
    with pytest.raises(DataError, match="No user"):
        quantile_groups(np.array([np.nan]), [0.5])


def test_popular_items_are_a_fifth_of_the_catalogue():
    counts = np.array([1, 9, 5, 9, 0, 0, 0, 0, 0, 0])  # items 1 and 3
    profiles = csr_array(np.array([[0, 4.0, 0, 1, 0, 0, 0, 0, 0, 0], [2, 1, 0, 0, 0, 0, 0, 0, 0, 3], [0] * 10]))
    assert popular_shares(profiles, counts) == pytest.approx([1.0, 1 / 3, np.nan], nan_ok=True)
