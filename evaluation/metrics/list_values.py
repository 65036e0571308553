"""Metrics of one list per user by name: values by user and overall."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.errors import ParameterError
from evaluation.metrics.graded import average_precision, dcg, ndcg, reciprocal_rank, utility
from evaluation.metrics.half_life import HalfLife, half_life, probabilities
from evaluation.metrics.ranks import Floats, Ranks
from evaluation.metrics.registry import Metric
from evaluation.metrics.top_n import (
    capped_recall,
    f_beta,
    f_of,
    false_discovery_rate,
    false_positive_rate,
    hit_rate,
    precision,
    recall,
)


@dataclass(frozen=True, slots=True)
class Overall:
    """The overall value of a metric."""

    value: float | None  # None if no user has a value
    n_users: int  # users with a value
    n_empty: int  # users without a value, who are excluded


def mean_of_users(values: NDArray[np.float64]) -> Overall:
    """Average over the users with a value. Its value is None if no user has one. `values`: float array, shape
    (n_users,); NaN for users without a value.

    Examples
    --------
    >>> mean_of_users(np.array([0.5, np.nan, 1.0]))
    Overall(value=0.75, n_users=2, n_empty=1)
    """
    known = values[~np.isnan(values)]
    mean = float(known.mean()) if len(known) else None
    return Overall(value=mean, n_users=len(known), n_empty=len(values) - len(known))


_BY_KEY: Mapping[str, Callable[..., Floats]] = {
    "precision": precision,
    "recall": recall,
    "capped-recall": capped_recall,
    "hit-rate": hit_rate,
    "rr": reciprocal_rank,
    "utility": utility,
    "fpr": false_positive_rate,
    "fdr": false_discovery_rate,
    "f-beta": f_beta,
    "ap": average_precision,
    "dcg": dcg,
    "ndcg": ndcg,
}


def user_values(metric: Metric, ranks: Ranks) -> Floats:
    """Compute a metric for every user.

    Raises ParameterError when the metric is not one of lists; recall with another rule for ties than "expected", as a
    list has no ties left.

    Returns a float array, shape (n_users,), in the metric's range; NaN where a user has no value.

    Examples
    --------
    >>> from evaluation.metrics.registry import metric
    >>> user_values(metric("ap@5"), Ranks.of([0, 0], [4, 5], n_listed=[5])).round(3).tolist()
    [0.325]
    """
    if metric.ties != "expected":
        raise ParameterError(f"{metric} states how ties count, but a finished list has no ties.")
    if metric.key == "half-life":
        return _half_life(metric, ranks).user_values
    if metric.key not in _BY_KEY:
        raise ParameterError(f"{metric} is not a metric of one list per user.")
    # How ties count is settled above, and of what F is taken matters to the overall value alone.
    choices = {name: value for name, value in metric.options if name not in ("ties", "of")}
    return _BY_KEY[metric.key](ranks, [metric.n or 1], **choices)[:, 0]


def overall(metric: Metric, ranks: Ranks) -> Overall:
    """Compute the overall metric: the mean over users, except for half-life utility (a ratio of sums) and F of the
    means. `n_empty` counts the users without a value. Raises ParameterError as `user_values` does.

    Examples
    --------
    >>> from evaluation.metrics.registry import metric
    >>> overall(metric("recall@5"), Ranks.of([0, 1], [4, 0], n_listed=[5, 5, 5]))
    Overall(value=0.5, n_users=2, n_empty=1)
    """
    values = user_values(metric, ranks)
    means = mean_of_users(values)
    if means.value is None:
        return means
    value: float | None = means.value
    if metric.key == "half-life":
        # Its sources define the overall value as a ratio of sums and not as the mean of users' shares.
        value = _half_life(metric, ranks).value
    elif metric.key == "f-beta" and metric.option("of") == "means":
        ns = [metric.n or 1]
        of_means = [mean_of_users(kind(ranks, ns)[:, 0]).value for kind in (precision, recall)]
        value = float(f_of(np.array(of_means[0]), np.array(of_means[1]), float(metric.option("beta"))))
    return Overall(value=value, n_users=means.n_users, n_empty=means.n_empty)


def _half_life(metric: Metric, ranks: Ranks) -> HalfLife:
    choices = dict(metric.options)
    default = float(choices["default"])
    if "viewed" in choices:
        return half_life(ranks, default=default, viewed=probabilities(str(choices["viewed"])))
    return half_life(ranks, alpha=float(choices["alpha"]), default=default)
