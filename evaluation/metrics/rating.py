"""Errors of predicted ratings: MAE, MSE, RMSE, NMAE, MAE on the extremes, and how much was predicted."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.errors import DataError, ParameterError
from evaluation.metrics.means import Overall, mean_of_users
from evaluation.metrics.registry import Metric

Floats = NDArray[np.float64]
RATING = ("mae", "mse", "rmse", "nmae", "mae-extremes", "prediction-coverage")


@dataclass(frozen=True, eq=False)
class Predictions:
    """Test ratings and what was predicted for them.

    Parameters
    ----------
    users : int array, shape (n_ratings,)
        In 0 to n_users - 1, in any order.
    actual : float array, shape (n_ratings,)
        Finite.
    predicted : float array, shape (n_ratings,)
        NaN where nothing was predicted; else finite.
    n_users : int
    low, high : float
        The declared scale of the ratings, low < high.

    Raises
    ------
    ParameterError, DataError
        A scale without extent; arrays of different lengths, users out of range, ratings that are not finite.

    Examples
    --------
    >>> Predictions.of([0, 0, 1], [4, 2, 5], [3, 2, np.nan], n_users=2, low=1, high=5).is_predicted.tolist()
    [True, True, False]
    """

    users: NDArray[np.int64]
    actual: Floats
    predicted: Floats
    n_users: int
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
        """Predictions from anything array-like.

        Parameters
        ----------
        users, actual, predicted : array-like, shape (n_ratings,)
            As for `Predictions`, and so are the others.
        n_users : int
        low, high : float

        Returns
        -------
        Predictions

        Raises
        ------
        ParameterError, DataError
            As `Predictions`.
        """
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


def _terms(metric: Metric, given: Predictions) -> tuple[NDArray[np.int64], Floats]:
    """The users and terms whose mean the metric is (RMSE: before its root)."""
    if metric.key not in RATING:
        raise ParameterError(f"{metric} is no metric of predicted ratings; those are {', '.join(RATING)}.")
    if metric.key == "prediction-coverage":
        return given.users, given.is_predicted.astype(np.float64)
    counts = given.is_predicted
    if metric.key == "mae-extremes":
        negative, positive = float(metric.option("negative")), float(metric.option("positive"))
        if not negative < positive:
            raise ParameterError(f"{metric} has no middle: its limit for negative ratings has to be the lower one.")
        counts = counts & ((given.actual <= negative) | (given.actual >= positive))
    error = np.abs(given.predicted[counts] - given.actual[counts])
    if metric.key in ("mse", "rmse"):
        error = error**2
    if metric.key == "nmae":
        error = error / (given.high - given.low)
    return given.users[counts], error


def user_values(metric: Metric, given: Predictions) -> Floats:
    """The metric over each user's own test ratings.

    Parameters
    ----------
    metric : Metric
        One of `RATING`.
    given : Predictions

    Returns
    -------
    float array, shape (n_users,)
        In rating points, their square (MSE), or a share (NMAE, coverage); NaN for users without a rating that
        counts.

    Raises
    ------
    ParameterError
        Another metric; extremes without a middle.

    References
    ----------
    As for `overall`.

    Examples
    --------
    >>> from evaluation.metrics.registry import metric
    >>> given = Predictions.of([0, 0, 1], [4, 2, 5], [3, 2, np.nan], n_users=2, low=1, high=5)
    >>> user_values(metric("mae"), given).tolist()
    [0.5, nan]
    """
    users, terms = _terms(metric, given)
    counts = np.bincount(users, minlength=given.n_users)
    sums = np.bincount(users, weights=terms, minlength=given.n_users)
    means = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
    return np.sqrt(means) if metric.key == "rmse" else means


def overall(metric: Metric, given: Predictions) -> Overall:
    r"""The metric over all test ratings, or (``over=users``) the mean of users' own values.

    .. math:: \mathrm{MAE} = \frac{1}{|W|} \sum_{(u,i) \in W} |p_{u,i} - r_{u,i}|

    over the pairs W that were predicted; squares for MSE, their root for RMSE, divided by the extent of the
    declared scale for NMAE, over ratings up to r_neg or from r_pos on for the extremes. Coverage is |W| over
    the number of test ratings.

    Parameters
    ----------
    metric : Metric
        One of `RATING`.
    given : Predictions

    Returns
    -------
    Overall
        `n_empty` counts the users without a value.

    Raises
    ------
    ParameterError
        As for `user_values`.

    References
    ----------
    Herlocker, Konstan, Terveen & Riedl (2004), TOIS 22(1):5-53, section 4.1.

    Examples
    --------
    >>> from evaluation.metrics.registry import metric
    >>> given = Predictions.of([0, 0, 1], [4, 2, 5], [3, 2, 2], n_users=2, low=1, high=5)
    >>> overall(metric("rmse"), given).value.__round__(4), overall(metric("rmse(over=users)"), given).value.__round__(4)
    (1.8257, 1.8536)
    """
    values = user_values(metric, given)
    found = mean_of_users(values)
    if metric.option("over") == "users" or found.value is None:
        return found
    terms = _terms(metric, given)[1]
    mean = float(terms.mean())
    value = math.sqrt(mean) if metric.key == "rmse" else mean
    return Overall(value=value, n_users=found.n_users, n_empty=found.n_empty)
