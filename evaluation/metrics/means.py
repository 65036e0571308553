"""One value for everyone out of users' own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Overall:
    """One value for everyone.

    Parameters
    ----------
    value : float or None
        None where no user has a value.
    n_users : int
        Users who have one.
    n_empty : int
        Users who have none, left out.
    """

    value: float | None
    n_users: int
    n_empty: int


def mean_of_users(values: NDArray[np.float64]) -> Overall:
    """The mean over users who have a value.

    Parameters
    ----------
    values : float array, shape (n_users,)
        NaN for users without a value.

    Returns
    -------
    Overall
        Its value is None where nobody has one.

    Examples
    --------
    >>> mean_of_users(np.array([0.5, np.nan, 1.0]))
    Overall(value=0.75, n_users=2, n_empty=1)
    """
    known = values[~np.isnan(values)]
    mean = float(known.mean()) if len(known) else None
    return Overall(value=mean, n_users=len(known), n_empty=len(values) - len(known))
