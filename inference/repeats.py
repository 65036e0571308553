r"""A metric over repeated random splits and training seeds, with users as clusters.

The repetitions share their users and most of their training ratings, so their values are not independent: dividing the
variance of R values by R understates it (Nadeau & Bengio 2003, Machine Learning 52:239-281). Here the hits of one user
are one cluster over all repetitions, and the repetitions, each with its own split and seeds, are another:

.. math:: V = V_{users} + \left(V_{repetitions} - V_{cells}\right)_+

with the sums of squares of Cameron, Gelbach & Miller (2011), Journal of Business & Economic Statistics 29(2):238-249,
equation 2.8. The positive part is their correction for a variance that is not positive semidefinite, applied to what
repetitions add. The inference is about other users and other splits and seeds of this dataset; a dataset of other
ratings is another question.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from inference.groups import finite
from inference.results import Floats, Interval, Undefined
from inference.t_tests import t_test


@dataclass(frozen=True)
class RepeatedValue:
    """A pooled metric, or a difference of two, over repetitions."""

    value: float  # hits over cases, of all repetitions together
    se: float  # over users, and over splits and seeds
    df: float  # Satterthwaite's degrees of freedom
    interval: Interval  # 95%, by Student's t
    se_users: float  # clustered by user, for just these repetitions


class RepeatedRatios:
    """Ratios of sums, such as recall, of k algorithms in R repetitions on U users.

    `values` has shape (k,); `users` and `repetitions` are the two parts of their covariance, shape (k, k).
    """

    def __init__(self, hits: Floats, cases: Floats) -> None:
        n_repeats, n_users, k = hits.shape
        total = cases.sum()
        self.values: Floats = hits.sum(axis=(0, 1)) / total
        self.by_repetition: Floats = hits.sum(axis=1) / cases.sum(axis=1)[:, None]  # shape (R, k)
        self.n_repeats, self.n_users = n_repeats, n_users
        # How each cell of user and repetition moves the ratio.
        cells = (hits - self.values * cases[:, :, None]) / total
        self.users: Floats = n_users / (n_users - 1) * _squares(cells.sum(axis=0))
        added = n_repeats / (n_repeats - 1) * _squares(cells.sum(axis=1)) - _squares(cells.reshape(-1, k))
        values, vectors = np.linalg.eigh(added)
        self.repetitions: Floats = (vectors * np.clip(values, 0.0, None)) @ vectors.T  # its positive part

    def estimate(self, weights: ArrayLike) -> RepeatedValue:
        """A weighted sum of the values: one algorithm (a single 1), or a difference (1 and -1)."""
        vector = np.asarray(weights, dtype=np.float64)
        users, repetitions = (max(0.0, float(vector @ part @ vector)) for part in (self.users, self.repetitions))
        df, value, se = self._df(users, repetitions), float(vector @ self.values), math.sqrt(users + repetitions)
        return RepeatedValue(value, se, df, t_test(value, se, df)[1], math.sqrt(users))

    def _df(self, users: float, repetitions: float) -> float:
        """Satterthwaite's degrees of freedom of a sum of the two parts."""
        parts = users**2 / (self.n_users - 1) + repetitions**2 / (self.n_repeats - 1)
        return (users + repetitions) ** 2 / parts if parts > 0 else float(self.n_users - 1)

    def draws(self, resamples: int, rng: np.random.Generator) -> Floats:
        """Draw the values from their sampling distribution, shape (resamples, k).

        It is a multivariate t with the smallest degrees of freedom of any difference.
        """
        values, vectors = np.linalg.eigh(self.users + self.repetitions)
        root = vectors * np.sqrt(np.clip(values, 0.0, None))
        normal = rng.standard_normal((resamples, self.values.size)) @ root.T
        first, second = np.triu_indices(self.values.size, 1)
        of_pairs = [
            np.maximum(part[first, first] + part[second, second] - 2 * part[first, second], 0.0).tolist()
            for part in (self.users, self.repetitions)
        ]
        df = min(map(self._df, *of_pairs), default=float(self.n_users - 1))
        return np.asarray(self.values + normal / np.sqrt(rng.chisquare(df, (resamples, 1)) / df))


def repeated_ratios(hits: ArrayLike, cases: ArrayLike) -> RepeatedRatios | Undefined:
    """Pool a ratio of sums over repetitions.

    `hits` has shape (R, U, k): what user u adds to the hits of algorithm j in repetition r. `cases` has shape (R, U); 0
    where a user has no case in a repetition, who then has no hits either. Undefined with fewer than two repetitions or
    two users with cases, or with a repetition without cases. Raises DataError for values that are not finite.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> hits = rng.binomial(4, 0.5, (5, 200, 1))
    >>> found = repeated_ratios(hits, np.full((5, 200), 4)).estimate([1])
    >>> round(found.value, 2), 0.006 < found.se < 0.012
    (0.51, True)
    """
    needed = "Hits and cases of every user are finite."
    of_hits, of_cases = finite(hits, needed), finite(cases, needed)
    has_cases = of_cases.any(axis=0)
    if len(of_cases) < 2 or has_cases.sum() < 2:
        return Undefined("Inference over repetitions needs at least two of them, and two users with cases.")
    if not of_cases.any(axis=1).all():
        return Undefined("A repetition has no case of this kind.")
    return RepeatedRatios(of_hits[:, has_cases], of_cases[:, has_cases])


def _squares(rows: Floats) -> Floats:
    return np.asarray(rows.T @ rows)
