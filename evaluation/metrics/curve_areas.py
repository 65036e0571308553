"""Areas under curves by a metric's name, overall and by user."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.errors import ParameterError
from evaluation.metrics.curves import Scale, area_until, precision_recall, roc
from evaluation.metrics.customer_curves import croc
from evaluation.metrics.registry import Metric
from evaluation.metrics.user_curves import eleven_points, roc_areas
from evaluation.metrics.user_means import Overall, mean_of_users

AREAS = ("average-precision", "precision-recall-11", "roc-area", "groc-area", "croc-area")


def _scale(metric: Metric) -> Scale:
    return "raw" if metric.option("scale") == "raw" else "standardised"


def user_values(
    metric: Metric, people: ArrayLike, scores: ArrayLike, is_good: ArrayLike, *, n_users: int
) -> NDArray[np.float64] | None:
    """Return the area under each user's own curve, shape (n_users,), NaN for users without one. None for metrics of one
    pooled curve, which have no values by user.

    `people`: int array, shape (n_observations,); in 0 to n_users - 1. `scores`: float array, shape (n_observations,);
    NaN ranks below every score. `is_good`: bool array, shape (n_observations,). Raises ParameterError or DataError:
    another metric; as the curve itself.

    Examples
    --------
    >>> from evaluation.metrics.registry import metric
    >>> user_values(metric("roc-area"), [0, 0, 1], [2, 1, 3], [True, False, True], n_users=2).tolist()
    [1.0, nan]
    """
    if metric.key not in AREAS:
        raise ParameterError(f"{metric} is not an area under a curve. Available: {', '.join(AREAS)}.")
    if metric.key == "roc-area":
        until = float(metric.option("until"))
        return roc_areas(people, scores, is_good, n_users=n_users, until=until, scale=_scale(metric))
    if metric.key == "precision-recall-11":
        averaged = eleven_points(people, scores, is_good, n_users=n_users)
        return np.full(n_users, np.nan) if averaged is None else np.asarray(averaged.user_values.mean(axis=1))
    return None


def overall(metric: Metric, people: ArrayLike, scores: ArrayLike, is_good: ArrayLike, *, n_users: int) -> Overall:
    """Return the overall area: of one pooled curve, or the mean over users.

    Parameters and errors as for `user_values`. For a pooled curve, `n_users` counts the users with observations and
    `n_empty` the others.
    """
    values = user_values(metric, people, scores, is_good, n_users=n_users)
    if values is not None:
        return mean_of_users(values)
    n_people = len(np.unique(np.asarray(people)))
    value: float | None
    if metric.key == "average-precision":
        pooled = precision_recall(scores, is_good)
        value = None if pooled is None else pooled.area
    else:
        if metric.key == "groc-area":
            curve = roc(scores, is_good, name="GROC")
        else:
            customer_curves = croc(people, scores, is_good)
            curve = None if customer_curves is None else customer_curves.curve
        value = None if curve is None else area_until(curve, float(metric.option("until")), _scale(metric))
    return Overall(value=value, n_users=n_people, n_empty=n_users - n_people)
