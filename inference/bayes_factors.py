"""Bayes factors with Jeffreys-Zellner-Siow priors, for t tests, planned contrasts and one-way designs.

Under the alternative, effects in standard deviations have a Cauchy distribution, of several variables in the analysis
of variance; grand mean and variance have Jeffreys' prior under both models. What remains is one integral over the
prior's mixing variance g, taken by the trapezoidal rule on log g, where it converges geometrically.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from inference.anova import why_not_pooled
from inference.contrasts import ContrastResult
from inference.groups import Groups, GroupValues
from inference.results import Floats, Undefined

SCALE_T = math.sqrt(2) / 2  # the prior's scale of a difference in standard deviations, "medium" in R's BayesFactor
SCALE_ANOVA = 0.5  # of fixed effects, "medium" in R's BayesFactor; of two conditions the same prior as `SCALE_T`
STEPS = 4000  # of the trapezoidal rule
WIDTH = 40.0  # of its range on either side of the peak, in units of log g


@dataclass(frozen=True)
class BayesFactor:
    """The evidence of the data for an effect against none."""

    log: float  # natural logarithm of the Bayes factor of the alternative, finite where the factor itself overflows
    scale: float  # the prior's scale

    @property
    def alternative(self) -> float:
        """The Bayes factor of the alternative against the null hypothesis, BF10; infinite above the largest float."""
        return math.exp(self.log) if self.log < math.log(1.7e308) else math.inf

    @property
    def null(self) -> float:
        """The Bayes factor of the null hypothesis against the alternative, BF01."""
        return math.exp(-self.log) if self.log > -math.log(1.7e308) else math.inf


def jzs_t(t: float, df: float, n_effective: float, scale: float = SCALE_T) -> BayesFactor:
    r"""Bayes factor of a two-sided t test from its statistic.

    .. math::
        BF_{10} = \frac{\int_0^\infty (1 + N g)^{-1/2} \big(1 + \tfrac{t^2}{(1 + N g)\,\nu}\big)^{-(\nu + 1)/2}
        p(g)\,dg}{(1 + t^2 / \nu)^{-(\nu + 1)/2}}, \qquad g \sim \mathrm{InvGamma}(\tfrac12, \tfrac{r^2}{2})

    `n_effective` is N: the number of pairs or observations of one sample, n1 n2 / (n1 + n2) of two samples, and 1 /
    sum(c^2 / n) of a contrast with weights c. Source: Rouder, Speckman, Sun, Morey & Iverson (2009), Psychonomic
    Bulletin & Review 16(2):225-237, eq. 1, with a scale.

    Examples
    --------
    >>> round(jzs_t(2.03, 79, 80, scale=1.0).null, 2)
    1.56
    """
    squared = t * t

    def log_ratio(g: Floats) -> Floats:
        shrunk = 1 + n_effective * g
        gain: Floats = (df + 1) / 2 * (np.log1p(squared / df) - np.log1p(squared / (shrunk * df)))
        return gain - np.log(shrunk) / 2

    return BayesFactor(_log_integral(log_ratio, scale), scale)


def jzs_contrast(contrast: ContrastResult, sizes: Sequence[int]) -> BayesFactor:
    """Bayes factor of a planned contrast, two-sided, from its pooled t.

    The difference of the two sets' means in pooled standard deviations has the Cauchy prior. `sizes` are the numbers of
    observations of the conditions in ``higher`` and then ``lower``.

    Examples
    --------
    >>> from inference.contrasts import planned_contrast
    >>> found = planned_contrast({"A": [4, 5, 5], "B": [1, 2, 2], "C": [2, 3, 2]}, ["A"], ["B", "C"])
    >>> round(jzs_contrast(found, [3, 3, 3]).alternative, 1)
    37.1
    """
    n_higher, n_lower = len(contrast.higher), len(contrast.lower)
    weights = [1 / n_higher] * n_higher + [1 / n_lower] * n_lower
    unit = sum(weight * weight / n for weight, n in zip(weights, sizes, strict=True))
    return jzs_t(contrast.pooled.t, contrast.pooled.df, 1 / unit)


def jzs_anova(groups: GroupValues, least_n: int = 2) -> BayesFactor | Undefined:
    r"""Bayes factor of any difference between the means of a one-way design with fixed effects.

    .. math::
        BF_{10} = \int_0^\infty \prod_i (1 + g \lambda_i)^{-1/2}
        \Big(1 - \tfrac{1}{SS_T} \sum_i \tfrac{g w_i^2}{1 + g \lambda_i}\Big)^{-(N - 1)/2} p(g)\,dg

    Effects sum to zero; :math:`\lambda_i` and :math:`w_i` are the eigenvalues of their information matrix and the
    projections of the data in its eigenvectors. Conditions with fewer than `least_n` observations are left out.
    Undefined with fewer than two conditions or no spread within them. Source: Rouder, Morey, Speckman & Province
    (2012), Journal of Mathematical Psychology 56(5):356-374, one-way fixed effects.

    Examples
    --------
    >>> round(jzs_anova({"A": [4, 5, 5], "B": [1, 2, 2], "C": [2, 3, 2]}).alternative, 1)
    19.7
    """
    from scipy import linalg

    read = Groups.read(groups, least_n)
    if undefined := why_not_pooled(read):
        return undefined
    sizes = np.array([group.n for group in read.members], dtype=np.float64)
    totals = np.array([float(group.mean * group.n) for group in read.members])
    ss_total = read.ss_within + read.ss_between
    contrasts = linalg.helmert(read.k).T  # orthonormal columns that sum to zero
    information = contrasts.T @ (np.diag(sizes) - np.outer(sizes, sizes) / read.n) @ contrasts
    eigenvalues, vectors = np.linalg.eigh(information)
    projected = (vectors.T @ contrasts.T @ (totals - sizes * totals.sum() / read.n)) ** 2 / ss_total

    def log_ratio(g: Floats) -> Floats:
        shrunk = 1 + g[:, None] * eigenvalues
        explained = (g[:, None] * projected / shrunk).sum(axis=1)
        return np.asarray(-np.log(shrunk).sum(axis=1) / 2 - (read.n - 1) / 2 * np.log1p(-explained))

    return BayesFactor(_log_integral(log_ratio, SCALE_ANOVA), SCALE_ANOVA)


def _log_integral(log_ratio: Callable[[Floats], Floats], scale: float) -> float:
    """Logarithm of the integral of a function of g over its inverse-gamma prior, InvGamma(1/2, scale^2 / 2)."""

    def log_integrand(x: Floats) -> Floats:
        # The density of g times g, the derivative of g by x = log g.
        prior = math.log(scale) - math.log(2 * math.pi) / 2 - x / 2 - scale**2 / 2 * np.exp(-x)
        return log_ratio(np.exp(x)) + prior

    coarse = np.linspace(-WIDTH, WIDTH, STEPS + 1) + 2 * math.log(scale)
    peak = coarse[np.argmax(log_integrand(coarse))]
    x = np.linspace(peak - WIDTH, peak + 2 * WIDTH, 3 * STEPS + 1)
    values = log_integrand(x)
    top = values.max()
    return float(top + math.log(np.exp(values - top).sum() * (x[1] - x[0])))
