"""Errors of predicted ratings."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn import metrics as sklearn_metrics

from core.errors import DataError, ParameterError
from evaluation.metrics.rating import Predictions, overall, user_values
from evaluation.metrics.registry import metric

GIVEN = Predictions.of([0, 0, 0, 1, 1, 2], [5, 3, 1, 4, 2, 3], [4, 3, 3, np.nan, 5, np.nan], n_users=4, low=1, high=5)


@pytest.mark.unit
def test_errors_are_over_what_was_predicted():
    errors = [1, 0, 2, 3]
    assert overall(metric("mae"), GIVEN).value == sum(errors) / 4
    assert overall(metric("mse"), GIVEN).value == 14 / 4
    assert overall(metric("rmse"), GIVEN).value == math.sqrt(14 / 4)
    assert overall(metric("nmae"), GIVEN).value == sum(errors) / 4 / 4
    assert overall(metric("prediction-coverage"), GIVEN).value == 4 / 6
    # Two of the four users have a predicted rating.
    assert (overall(metric("mae"), GIVEN).n_users, overall(metric("mae"), GIVEN).n_empty) == (2, 2)
    # 3 is neutral; the others that were predicted are extreme.
    assert overall(metric("mae-extremes"), GIVEN).value == (1 + 2 + 3) / 3
    assert overall(metric("mae-extremes(negative=1,positive=5)"), GIVEN).value == (1 + 2) / 2


@pytest.mark.unit
def test_users_have_values_of_their_own():
    of_users = user_values(metric("rmse"), GIVEN)
    assert of_users[:2].tolist() == [math.sqrt(5 / 3), 3.0]
    assert np.isnan(of_users[2:]).all()
    found = overall(metric("rmse(over=users)"), GIVEN)
    assert found.value == pytest.approx((math.sqrt(5 / 3) + 3) / 2)
    assert (found.n_users, found.n_empty) == (2, 2)
    coverage = user_values(metric("prediction-coverage"), GIVEN)
    assert coverage[:3].tolist() == [1.0, 0.5, 0.0]
    nothing = Predictions.of([0], [3], [np.nan], n_users=1, low=1, high=5)
    assert overall(metric("mae"), nothing).value is None


@pytest.mark.reference
def test_values_equal_those_of_scikit_learn():
    rng = np.random.default_rng(4)
    actual, predicted = rng.integers(1, 6, 400).astype(float), rng.uniform(0, 6, 400)
    given = Predictions.of(rng.integers(0, 30, 400), actual, predicted, n_users=30, low=1, high=5)
    assert overall(metric("mae"), given).value == pytest.approx(
        sklearn_metrics.mean_absolute_error(actual, predicted), rel=1e-12
    )
    assert overall(metric("rmse"), given).value == pytest.approx(
        sklearn_metrics.root_mean_squared_error(actual, predicted), rel=1e-12
    )


@pytest.mark.unit
def test_what_cannot_be_is_refused():
    with pytest.raises(ParameterError, match="predicted ratings"):
        user_values(metric("recall@5"), GIVEN)
    with pytest.raises(ParameterError, match="below the limit"):
        overall(metric("mae-extremes(negative=4,positive=4)"), GIVEN)
    with pytest.raises(ParameterError, match="no extent"):
        Predictions.of([0], [1], [1], n_users=1, low=5, high=5)
    with pytest.raises(DataError, match="2 ratings and 1 predictions"):
        Predictions.of([0, 0], [1, 2], [1], n_users=1, low=1, high=5)
    with pytest.raises(DataError, match="outside 0 to 0"):
        Predictions.of([1], [1], [1], n_users=1, low=1, high=5)
    with pytest.raises(DataError, match="finite number"):
        Predictions.of([0], [np.nan], [1], n_users=1, low=1, high=5)
    with pytest.raises(DataError, match="prediction is infinite"):
        Predictions.of([0], [1], [np.inf], n_users=1, low=1, high=5)
