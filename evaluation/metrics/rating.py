"""Errors of predicted ratings: MAE, MSE, RMSE, NMAE, MAE on the extremes, and prediction coverage."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.errors import DataError, ParameterError
from evaluation.metrics.list_values import Overall, mean_of_users
from evaluation.metrics.registry import Metric

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Predictions:
    """Test ratings and their predictions. Raises ParameterError or DataError for a scale without extent; arrays of
    different lengths, users out of range, ratings that are not finite.

    Examples
    --------
    >>> Predictions.of([0, 0, 1], [4, 2, 5], [3, 2, np.nan], n_users=2, low=1, high=5).is_predicted.tolist()
    [True, True, False]
    """

    users: NDArray[np.int64]  # shape (n_ratings,); in 0 to n_users - 1, in any order
    actual: Floats  # shape (n_ratings,); finite
    predicted: Floats  # shape (n_ratings,); NaN without a prediction; otherwise finite
    n_users: int
    # `low`, `high`: the declared scale of the ratings, low < high.
    low: float
    high: float

    def __post_init__(self) -> None:
        if not -math.inf < self.low < self.high < math.inf:
            raise ParameterError(f"A scale from {self.low} to {self.high} has no extent.")
        if not len(self.users) == len(self.actual) == len(self.predicted):
            raise DataError(
                f"There are {len(self.users)} users, {len(self.actual)} ratings and {len(self.predicted)} "
                "predictions: give one of each for every test rating."
            )
        if len(self.users) and (self.users.min() < 0 or self.users.max() >= self.n_users):
            raise DataError(f"A test rating names a user outside 0 to {self.n_users - 1}.")
        if not np.isfinite(self.actual).all() or np.isinf(self.predicted).any():
            raise DataError("A rating is not a finite number, or a prediction is infinite.")

    @classmethod
    def of(
        cls, users: ArrayLike, actual: ArrayLike, predicted: ArrayLike, *, n_users: int, low: float, high: float
    ) -> Predictions:
        """Build predictions from array-likes. Raises ParameterError or DataError as `Predictions` does."""
        return cls(
            np.asarray(users, dtype=np.int64),
            np.asarray(actual, dtype=np.float64),
            np.asarray(predicted, dtype=np.float64),
            n_users,
            float(low),
            float(high),
        )

    @property
    def is_predicted(self) -> NDArray[np.bool_]:
        """Which test ratings have a prediction."""
        return ~np.isnan(self.predicted)


def _terms(metric: Metric, predictions: Predictions) -> tuple[NDArray[np.int64], Floats]:
    """Return the users and the terms whose mean is the metric (RMSE: before the root)."""
    if metric.definition.group != "rating":
        raise ParameterError(f"{metric} is not a metric of predicted ratings.")
    if metric.key == "prediction-coverage":
        return predictions.users, predictions.is_predicted.astype(np.float64)
    counts = predictions.is_predicted
    if metric.key == "mae-extremes":
        negative, positive = float(metric.option("negative")), float(metric.option("positive"))
        if not negative < positive:
            raise ParameterError(
                f"The limit for negative ratings in {metric} must be below the limit for positive ratings."
            )
        counts = counts & ((predictions.actual <= negative) | (predictions.actual >= positive))
    error = np.abs(predictions.predicted[counts] - predictions.actual[counts])
    if metric.key in ("mse", "rmse"):
        error = error**2
    if metric.key == "nmae":
        # By the declared scale and not the observed range, so that data sets of one scale are comparable.
        error = error / (predictions.high - predictions.low)
    return predictions.users[counts], error


def user_values(metric: Metric, predictions: Predictions) -> Floats:
    """Compute the metric over each user's own test ratings.

    Raises ParameterError for another metric; extremes without a middle.

    Returns a float array, shape (n_users,), in rating points, their square (MSE), or a share (NMAE, coverage); NaN for
    users without a rating that counts.

    References
    ----------
    As for `overall`.
    """
    users, terms = _terms(metric, predictions)
    counts = np.bincount(users, minlength=predictions.n_users)
    sums = np.bincount(users, weights=terms, minlength=predictions.n_users)
    means = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
    # The root of each user's mean: RMSE over all ratings is another number than the mean of these.
    return np.sqrt(means) if metric.key == "rmse" else means


def overall(metric: Metric, predictions: Predictions) -> Overall:
    r"""Compute the metric over all test ratings, or (``over=users``) the mean over users.

    .. math:: \mathrm{MAE} = \frac{1}{|W|} \sum_{(u,i) \in W} |p_{u,i} - r_{u,i}|

    over the pairs W that were predicted; squares for MSE, their root for RMSE, divided by the extent of the
    declared scale for NMAE, over ratings up to r_neg or from r_pos on for the extremes. Coverage is ``|W|`` over
    the number of test ratings.

    `n_empty` counts the users without a value. Raises ParameterError as `user_values` does. Source: Herlocker, Konstan,
    Terveen & Riedl (2004), TOIS 22(1):5-53, section 4.1.

    Examples
    --------
    >>> from evaluation.metrics.registry import metric
    >>> predictions = Predictions.of([0, 0, 1], [4, 2, 5], [3, 2, 2], n_users=2, low=1, high=5)
    >>> [round(overall(metric(name), predictions).value, 4) for name in ("rmse", "rmse(over=users)")]
    [1.8257, 1.8536]
    """
    values = user_values(metric, predictions)
    means = mean_of_users(values)
    if metric.option("over") == "users" or means.value is None:
        return means
    terms = _terms(metric, predictions)[1]
    mean = float(terms.mean())
    value = math.sqrt(mean) if metric.key == "rmse" else mean
    return Overall(value=value, n_users=means.n_users, n_empty=means.n_empty)
