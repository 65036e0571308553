"""The mean over users of a metric."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


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
