r"""Restricted maximum likelihood for answers with two random intercepts, of participants and of items, and means of
conditions under this model with Satterthwaite's degrees of freedom.

.. math:: y = X\mu + Z_p u + Z_i v + e, \quad V / \sigma^2 = I + \lambda_p Z_p Z_p' + \lambda_i Z_i Z_i'

The deviance is a function of two variance ratios. As functions of standard deviations, such deviances have a slope of
zero at zero whatever the data, so that a descent which touches zero stays there. Here they are functions of
:math:`\lambda / (1 + \lambda)`, whose slope at zero is that of the data, and the descent starts at every local minimum
of a grid.

.. math:: \nu = 2 v^2 / \operatorname{var}(v), \quad \operatorname{var}(v) \approx \nabla v' \, (2 H^{-1}) \, \nabla v

where v is the variance of a contrast of means, a function of the two variance ratios and of the logarithm of the
residual variance, and H the curvature of the restricted deviance in them. A ratio of zero is left out. Ratios move in
steps of at least a thousandth of one over the answers per level, however small they are: in proportion to a ratio near
zero, a change of the deviance would be rounding.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import combinations_with_replacement, product

import numpy as np
from scipy import sparse

from inference.results import Floats, Integers
from inference.t_tests import Contrast, t_test

LARGEST_RATIO = 1e6  # of a random intercept's variance to the residual's
LARGEST_SHARE = LARGEST_RATIO / (1 + LARGEST_RATIO)
GRID = (0.0, 0.05, 0.2, 0.5, 0.8, 0.97)
SINGLE_GRID = 40  # starts of the search where one ratio is free
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
        # Answers are centred, or their squares would drown the residuals that are a difference of such sums.
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
        # Rounding may leave a perfect fit below 0, of which there is no logarithm.
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
        padded = np.pad(grid, 1, constant_values=np.inf)
        # The points of the grid below all their neighbours.
        starts = [
            np.array([GRID[row], GRID[column]])
            for row, column in product(range(len(GRID)), repeat=2)
            if grid[row, column] <= padded[row : row + 3, column : column + 3].min()
        ]
        ends = [
            optimize.minimize(
                deviance,
                start,
                method="L-BFGS-B",
                bounds=[(0.0, LARGEST_SHARE)] * 2,
                options={"ftol": 1e-13, "gtol": 1e-6, "eps": STEP},
            ).x
            for start in starts
        ]
        # A hair above zero is zero.
        ends += [np.where(end < SMALLEST_SHARE, 0.0, end) for end in ends if end.min() < SMALLEST_SHARE]
        # Reversed, so that of equal likelihoods the variance of exactly zero wins.
        return max((self.at(_ratios(end)) for end in reversed(ends)), key=lambda fit: fit.log_likelihood)

    def maximum_of_one(self, which: int) -> Fit:
        """The fit at the largest restricted likelihood with one variance ratio, 0 for participants and 1 for items, and
        none of the other.
        """
        from scipy import optimize

        def ratios(share: float) -> tuple[float, float]:
            ratio = share / (1 - share)
            return (0.0, ratio) if which else (ratio, 0.0)

        def deviance(share: float) -> float:
            return self.deviance(ratios(share))

        grid = np.append(np.linspace(0, 0.975, SINGLE_GRID), LARGEST_SHARE)
        best = int(np.argmin([deviance(share) for share in grid]))
        bounds = (grid[max(best - 1, 0)], grid[min(best + 1, SINGLE_GRID)])
        end = optimize.minimize_scalar(deviance, bounds=bounds, method="bounded", options={"xatol": 1e-10}).x
        return max(
            (self.at(ratios(share)) for share in (0.0, float(end), LARGEST_SHARE)), key=lambda fit: fit.log_likelihood
        )


def _ratios(shares: Floats) -> tuple[float, float]:
    persons, items = (float(share) / (1 - float(share)) for share in shares)
    return persons, items


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
        # log1p, because near a variance of zero 1 + x keeps nothing of a small x.
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


RATIO_STEP = 1e-3  # of a variance ratio and one over the answers per level
SMALLEST_CURVATURE = 1e-6  # below, the deviance is flat


@dataclass(frozen=True)
class Estimates:
    """Means of the conditions and how certain they are."""

    means: Floats  # shape (n_conditions,); in the unit of the answers
    covariance: Floats  # shape (n_conditions, n_conditions); of the means
    # Derivatives of the covariance by each free variance ratio, in units of its step, and by log residual variance.
    gradients: tuple[Floats, ...]
    inverse: Floats  # inverse curvature of the deviance in the same parameters

    def df(self, contrast: Floats) -> float:
        """Degrees of freedom of one contrast of the means; `contrast` of shape (n_conditions,)."""
        variance = float(contrast @ self.covariance @ contrast)
        gradient = np.array([contrast @ change @ contrast for change in self.gradients])
        return variance**2 / float(gradient @ self.inverse @ gradient)

    def test(self, contrast: Floats) -> Contrast:
        """The t test of one contrast of the means; `contrast` of shape (n_conditions,)."""
        se = math.sqrt(contrast @ self.covariance @ contrast)
        value, df = float(contrast @ self.means), self.df(contrast)
        return Contrast(value, se, df, *t_test(value, se, df))

    def first(self, n: int) -> Estimates:
        """Of the conditions and covariates the first `n`."""
        gradients = tuple(change[:n, :n] for change in self.gradients)
        return Estimates(self.means[:n], self.covariance[:n, :n], gradients, self.inverse)

    def joint(self, contrasts: Floats) -> tuple[float, float]:
        """F of several contrasts together, shape (n_contrasts, n_conditions), and its denominator's df. Source: Fai &
        Cornelius (1996), Journal of Statistical Computation and Simulation 54(4):363-378.
        """
        values, vectors = np.linalg.eigh(contrasts @ self.covariance @ contrasts.T)
        rotated = vectors.T @ contrasts
        q, f = len(values), float(((rotated @ self.means) ** 2 / values).mean())
        single = np.array([self.df(row) for row in rotated])
        # With equal degrees of freedom the formula divides 0 by 0 up to rounding; its limit is their common value.
        if np.ptp(single) < 1e-8:
            return f, float(single.mean())
        # Of F with no more than two denominator degrees of freedom there is no mean to match.
        if single.min() <= 2:
            return f, 2.0
        expected = float((single / (single - 2)).sum())
        return f, 2 * expected / (expected - q)


def model_estimates(likelihood: RestrictedLikelihood, fit: Fit) -> Estimates:
    """Generalised least squares means, as a mixed model has them. Source: Kuznetsova, Brockhoff & Christensen (2017),
    Journal of Statistical Software 82(13), section 2.2.

    Examples
    --------
    >>> person, item = np.repeat(np.arange(4), 3), np.tile(np.arange(3), 4)
    >>> values = np.array([1.0, 2, 4, 2, 4, 4, 1, 3, 3, 3, 3, 5])
    >>> likelihood = RestrictedLikelihood(Design(values, person // 2, person, item, 0 * person))
    >>> round(model_estimates(likelihood, likelihood.maximum()).df(np.array([1.0, -1.0])), 2)
    2.0
    """
    moves = [(_moved(likelihood, fit, step), _moved(likelihood, fit, -step)) for step in _steps(likelihood, fit)]
    gradients = [
        fit.variance * (up.covariance / up.variance - down.covariance / down.variance) / (2 * RATIO_STEP)
        for up, down in moves
    ]
    return Estimates(fit.means, fit.covariance, (*gradients, fit.covariance), _inverse_curvature(likelihood, fit))


def observed_estimates(design: Design, likelihood: RestrictedLikelihood, fit: Fit) -> Estimates:
    """Observed means over participants, with the covariance that the fitted variances imply.

    Each participant has the same weight, and within participants each answer. Items count as often as they were shown,
    so the means stay unbiased where items that are shown more often are also rated better. Generalised least squares
    would give items more equal weights. With covariates these weights are those of a weighted least squares fit. On
    clusters whose size is informative: Seaman, Pavlou & Copas (2014), Statistics in Medicine 33(30):5371-5387.
    """
    lengths, fixed = np.bincount(design.person).astype(float), design.fixed()
    weighted = fixed / lengths[design.person][:, np.newaxis]
    weights = (
        weighted @ np.linalg.inv(fixed.T @ weighted) if design.covariates.size else weighted / weighted.sum(axis=0)
    )
    parts = []
    for levels in (design.person, design.item):
        sums = np.zeros((int(levels.max()) + 1, weights.shape[1]))
        np.add.at(sums, levels, weights)
        parts.append(fit.variance * sums.T @ sums)
    persons, items = fit.ratios
    covariance = persons * parts[0] + items * parts[1] + fit.variance * weights.T @ weights
    # A row of steps is a step of one ratio alone.
    steps = _steps(likelihood, fit) / RATIO_STEP
    gradients = (*(step[0] * parts[0] + step[1] * parts[1] for step in steps), covariance)
    return Estimates(weights.T @ design.values, covariance, gradients, _inverse_curvature(likelihood, fit))


def _steps(likelihood: RestrictedLikelihood, fit: Fit) -> Floats:
    """One step of each variance ratio above zero; shape (n_free, 2)."""
    ratios = np.array(fit.ratios)
    return np.asarray(np.diag(ratios + likelihood.small_ratios)[ratios > 0] * RATIO_STEP)


def _moved(likelihood: RestrictedLikelihood, fit: Fit, step: Floats) -> Fit:
    """The fit at ratios beside those of another one."""
    persons, items = (np.array(fit.ratios) + step).tolist()
    return likelihood.at((persons, items))


def _deviance(likelihood: RestrictedLikelihood, fit: Fit, step: Floats) -> float:
    nearby, df = _moved(likelihood, fit, step), likelihood.df
    determinant = -2 * nearby.log_likelihood - df * (math.log(2 * math.pi * nearby.variance) + 1)
    return float(determinant + nearby.variance * df / fit.variance)


def _inverse_curvature(likelihood: RestrictedLikelihood, fit: Fit) -> Floats:
    """The inverse of the second derivatives of the deviance, where it is curved."""
    steps = _steps(likelihood, fit)
    n = len(steps)
    curvature = np.zeros((n + 1, n + 1))
    curvature[n, n] = likelihood.df
    for row, step in enumerate(steps):
        change = _moved(likelihood, fit, -step).variance - _moved(likelihood, fit, step).variance
        curvature[row, n] = curvature[n, row] = change * likelihood.df / (2 * RATIO_STEP * fit.variance)
    for row, column in combinations_with_replacement(range(n), 2):
        corners = [
            up * right * _deviance(likelihood, fit, up * steps[row] + right * steps[column])
            for up, right in product((1, -1), repeat=2)
        ]
        curvature[row, column] = curvature[column, row] = sum(corners) / (4 * RATIO_STEP**2)
    values, vectors = np.linalg.eigh(curvature)
    is_curved = values > SMALLEST_CURVATURE
    return np.asarray((vectors[:, is_curved] / values[is_curved]) @ vectors[:, is_curved].T)
