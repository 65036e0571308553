r"""Means of conditions under a model with two random intercepts, with Satterthwaite's degrees of freedom.

.. math:: \nu = 2 v^2 / \operatorname{var}(v), \quad \operatorname{var}(v) \approx \nabla v' \, (2 H^{-1}) \, \nabla v

where v is the variance of a contrast of means, a function of the two variance ratios and of the logarithm of the
residual variance, and H the curvature of the restricted deviance in them. A ratio of zero is left out. Ratios move in
steps of at least a thousandth of one over the answers per level, however small they are: in proportion to a ratio near
zero, a change of the deviance would be rounding.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations_with_replacement, product

import numpy as np

from inference.results import Floats
from inference.t_tests import Contrast, t_test
from inference.variance_components import Design, Fit, RestrictedLikelihood

STEP = 1e-3  # of a variance ratio and one over the answers per level
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
        if single.min() <= 2:
            return f, 2.0
        if np.ptp(single) < 1e-8:
            return f, float(single.mean())
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
        fit.variance * (up.covariance / up.variance - down.covariance / down.variance) / (2 * STEP)
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
    steps = _steps(likelihood, fit) / STEP
    gradients = (*(step[0] * parts[0] + step[1] * parts[1] for step in steps), covariance)
    return Estimates(weights.T @ design.values, covariance, gradients, _inverse_curvature(likelihood, fit))


def _steps(likelihood: RestrictedLikelihood, fit: Fit) -> Floats:
    """One step of each variance ratio above zero; shape (n_free, 2)."""
    ratios = np.array(fit.ratios)
    return np.asarray(np.diag(ratios + likelihood.small_ratios)[ratios > 0] * STEP)


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
        curvature[row, n] = curvature[n, row] = change * likelihood.df / (2 * STEP * fit.variance)
    for row, column in combinations_with_replacement(range(n), 2):
        corners = [
            up * right * _deviance(likelihood, fit, up * steps[row] + right * steps[column])
            for up, right in product((1, -1), repeat=2)
        ]
        curvature[row, column] = curvature[column, row] = sum(corners) / (4 * STEP**2)
    values, vectors = np.linalg.eigh(curvature)
    is_curved = values > SMALLEST_CURVATURE
    return np.asarray((vectors[:, is_curved] / values[is_curved]) @ vectors[:, is_curved].T)
