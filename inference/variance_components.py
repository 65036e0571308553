r"""Restricted maximum likelihood for answers with two random intercepts, of participants and of items.

.. math:: y = X\mu + Z_p u + Z_i v + e, \quad V / \sigma^2 = I + \lambda_p Z_p Z_p' + \lambda_i Z_i Z_i'

The deviance is a function of two variance ratios. As functions of standard deviations, such deviances have a slope of
zero at zero whatever the data, so that a descent which touches zero stays there. Here they are functions of
:math:`\lambda / (1 + \lambda)`, whose slope at zero is that of the data, and the descent starts at every local minimum
of a grid.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import product

import numpy as np
from scipy import sparse

from inference.results import Floats, Integers

LARGEST_RATIO = 1e6  # of a random intercept's variance to the residual's
LARGEST_SHARE = LARGEST_RATIO / (1 + LARGEST_RATIO)
GRID = (0.0, 0.05, 0.2, 0.5, 0.8, 0.97)
STEP = 1e-6  # of the numerical slope
MOST_DENSE = 10_000  # cells of a matrix that is quicker as an array than as a sparse matrix
SMALLEST_SHARE = 1e-5  # below, zero is tried


@dataclass(frozen=True)
class Design:
    """Answers with whole numbers from 0 for condition, participant, item and part; arrays of shape (n_answers,).

    Parts have no participant and no item in common.
    """

    values: Floats
    condition: Integers
    person: Integers
    item: Integers
    part: Integers
    # Further fixed effects beside the conditions' means, shape (n_answers, n_covariates), their columns independent.
    covariates: Floats = field(default_factory=lambda: np.zeros((0, 0)))

    def fixed(self) -> Floats:
        """Indicators of the conditions and the covariates, shape (n_answers, n_conditions + n_covariates)."""
        indicators = np.eye(int(self.condition.max()) + 1)[self.condition]
        return np.hstack([indicators, self.covariates]) if self.covariates.size else indicators

    def sizes(self) -> list[int]:
        """Of each part the number of its participants or of its items, whichever is smaller."""
        return [
            min(len(np.unique(self.person[here])), len(np.unique(self.item[here])))
            for here in (self.part == part for part in np.unique(self.part))
        ]


@dataclass(frozen=True)
class Fit:
    """The fit at two variance ratios."""

    ratios: tuple[float, float]  # variance of participants and of items over the residual variance
    # Means of the conditions, at 0 of all covariates, and behind them the slopes of covariates: shape (n_fixed,).
    means: Floats
    covariance: Floats  # shape (n_fixed, n_fixed); of the same
    variance: float  # of the residual
    log_likelihood: float  # restricted

    @property
    def is_at_limit(self) -> bool:
        """Whether a ratio is as large as it may become: the answers leave no residual."""
        return max(self.ratios) > 0.9 * LARGEST_RATIO


class RestrictedLikelihood:
    """The restricted likelihood of answers with a mean for each condition.

    Examples
    --------
    >>> person, item = np.repeat(np.arange(4), 3), np.tile(np.arange(3), 4)
    >>> values = np.array([1.0, 2, 4, 2, 4, 4, 1, 3, 3, 3, 3, 5])
    >>> likelihood = RestrictedLikelihood(Design(values, person // 2, person, item, 0 * person))
    >>> [round(ratio, 2) for ratio in likelihood.maximum().ratios]
    [1.33, 2.8]
    """

    def __init__(self, design: Design) -> None:
        fixed = design.fixed()
        self.k = fixed.shape[1]
        self.df = len(design.values) - self.k
        # One over the answers per participant and per item: ratios well below say little.
        levels = (design.person, design.item)
        self.small_ratios = np.array([len(np.unique(of)) for of in levels]) / len(design.values)
        shift = float(design.values.mean())
        self.shift = np.where(np.arange(self.k) <= design.condition.max(), shift, 0.0)
        columns = np.column_stack([fixed, design.values - shift])
        self.parts = [_Part(design, columns, np.flatnonzero(design.part == part)) for part in np.unique(design.part)]

    def deviance(self, ratios: tuple[float, float]) -> float:
        """Minus twice the restricted log likelihood, with the best residual variance."""
        return -2 * self.at(ratios).log_likelihood

    def at(self, ratios: tuple[float, float]) -> Fit:
        """The fit at these variance ratios of participants and items."""
        from scipy import linalg

        k, products, log_determinant = self.k, np.zeros((self.k + 1, self.k + 1)), 0.0
        for part in self.parts:
            own, own_determinant = part.products(ratios)
            products += own
            log_determinant += own_determinant
        design = linalg.cholesky(products[:k, :k], lower=True)
        log_determinant += 2 * float(np.log(np.diag(design)).sum())
        means = linalg.cho_solve((design, True), products[:k, k])
        variance = max(float(products[k, k] - products[:k, k] @ means), 1e-300) / self.df
        deviance = self.df * (math.log(2 * math.pi * variance) + 1) + log_determinant
        covariance = variance * linalg.cho_solve((design, True), np.eye(k))
        return Fit(ratios, means + self.shift, covariance, variance, -deviance / 2)

    def maximum(self) -> Fit:
        """The fit at the largest restricted likelihood."""
        from scipy import optimize

        def deviance(shares: Floats) -> float:
            return self.deviance(_ratios(shares))

        grid = np.array([[deviance(np.array([a, b])) for b in GRID] for a in GRID])
        ends = [
            optimize.minimize(
                deviance, start, method="L-BFGS-B", bounds=[(0.0, LARGEST_SHARE)] * 2,
                options={"ftol": 1e-13, "gtol": 1e-6, "eps": STEP},
            ).x
            for start in _starts(grid)
        ]  # fmt: skip
        # A hair above zero is zero.
        ends += [np.where(end < SMALLEST_SHARE, 0.0, end) for end in ends if end.min() < SMALLEST_SHARE]
        return max((self.at(_ratios(end)) for end in reversed(ends)), key=lambda fit: fit.log_likelihood)


def _ratios(shares: Floats) -> tuple[float, float]:
    persons, items = (float(share) / (1 - float(share)) for share in shares)
    return persons, items


def _starts(grid: Floats) -> list[Floats]:
    """The points of the grid below all their neighbours."""
    padded = np.pad(grid, 1, constant_values=np.inf)
    return [
        np.array([GRID[row], GRID[column]])
        for row, column in product(range(len(GRID)), repeat=2)
        if grid[row, column] <= padded[row : row + 3, column : column + 3].min()
    ]


class _Part:
    """One part's sums over answers.

    Of participants and items, the more numerous are eliminated in closed form: with the ratio a, one of n answers has
    the inverse covariance I - w 1 1', w = a / (1 + n a). A dense matrix as wide as the others are many remains.
    """

    def __init__(self, design: Design, all_columns: Floats, here: Integers) -> None:
        levels = [np.unique(numbers[here], return_inverse=True)[1] for numbers in (design.person, design.item)]
        self.eliminated = 0 if levels[0].max() >= levels[1].max() else 1
        gone, remaining = levels[self.eliminated], levels[1 - self.eliminated]
        columns = all_columns[here]
        self.plain = columns.T @ columns
        self.gone_sizes, self.kept_sizes = np.bincount(gone).astype(float), np.bincount(remaining).astype(float)
        shape = (len(self.kept_sizes), len(self.gone_sizes))
        shared = sparse.csr_array((np.ones(len(here)), (remaining, gone)), shape=shape)
        self.shared = shared.toarray() if math.prod(shape) <= MOST_DENSE else shared
        self.gone_sums, self.kept_sums = np.zeros((shape[1], columns.shape[1])), np.zeros((shape[0], columns.shape[1]))
        np.add.at(self.gone_sums, gone, columns)
        np.add.at(self.kept_sums, remaining, columns)

    def products(self, ratios: tuple[float, float]) -> tuple[Floats, float]:
        """Products of design and answers weighted by the inverse covariance, and the log determinant of the latter."""
        from scipy import linalg

        gone, remaining = ratios[self.eliminated], ratios[1 - self.eliminated]
        weights = gone / (1 + gone * self.gone_sizes)
        weighted = weights[:, np.newaxis] * self.gone_sums
        products: Floats = self.plain - self.gone_sums.T @ weighted
        log_determinant = float(np.log1p(gone * self.gone_sizes).sum())
        if remaining:
            shared = self.shared
            if isinstance(shared, np.ndarray):
                inner = (shared * (-remaining * weights)) @ shared.T
            else:
                inner = (shared @ sparse.diags_array(-remaining * weights) @ shared.T).toarray()
            inner[np.diag_indices_from(inner)] += 1 + remaining * self.kept_sizes
            factor = linalg.cholesky(inner, lower=True, overwrite_a=True, check_finite=False)
            log_determinant += 2 * float(np.log(np.diag(factor)).sum())
            sums = self.kept_sums - self.shared @ weighted
            half = linalg.solve_triangular(factor, sums, lower=True, check_finite=False)
            products -= remaining * (half.T @ half)
        return products, log_determinant
