r"""The beta-binomial model of hits: users differ in their chance of a hit, cases of a user share it.

.. math::
    h_u \mid n_u \sim \mathrm{BetaBinomial}(n_u,\ \mu \phi,\ (1 - \mu) \phi), \qquad \rho = \frac{1}{1 + \phi}

mu is the mean chance of a hit, and rho the correlation of two cases of one user. The posterior of both is computed on a
grid, so its draws are independent.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from core.errors import DataError
from inference.results import Floats, Integers

GRID = (121, 41)  # points of the logits of mu and of rho
COARSE = (61, 21)
WIDEST = 12.0  # the first grid reaches from -12 to 12 on both logits
NEGLIGIBLE = 1e-9  # share of the highest density that the next grid leaves out
BLOCK = 200  # distinct pairs of hits and cases evaluated at once


@dataclass(frozen=True)
class HitPrior:
    """Beta distributions of the mean chance of a hit (mu) and of the correlation of a user's cases (rho)."""

    mean: tuple[float, float] = (1.0, 1.0)
    correlation: tuple[float, float] = (1.0, 1.0)


def hit_rate_draws(
    hits: ArrayLike, cases: ArrayLike, prior: HitPrior, *, draws: int, rng: np.random.Generator
) -> Floats:
    """Draw from the posterior of mu, shape (draws,); `hits` and `cases` hold one number per user.

    Users without cases say nothing and are left out. Hits that are fractions, because ties count in expectation, enter
    the likelihood through its gamma functions, which extend it to fractions. Within a grid cell draws are uniform on
    the logit. Raises DataError without any case, or for hits below 0 or above the cases. Source: Skellam (1948),
    Journal of the Royal Statistical Society B 10(2):257-261.

    Examples
    --------
    >>> rates = hit_rate_draws([1, 0, 1, 1], [1, 1, 1, 1], HitPrior(), draws=20000, rng=np.random.default_rng(1))
    >>> round(float(rates.mean()), 2)  # a Beta(4, 2)
    0.67
    """
    of_users = np.column_stack([np.asarray(hits, dtype=np.float64), np.asarray(cases, dtype=np.float64)])
    of_users = of_users[of_users[:, 1] > 0]
    if not len(of_users):
        raise DataError("No user has a case.")
    if not ((of_users[:, 0] >= 0) & (of_users[:, 0] <= of_users[:, 1] + 1e-9)).all():
        raise DataError("A user's hits lie between 0 and the number of the user's cases.")
    of_users[:, 0] = np.minimum(of_users[:, 0].round(9), of_users[:, 1])
    # Distinct pairs of hits and cases, and how many users have each.
    pairs, counts = np.unique(of_users, axis=0, return_counts=True)
    axes = (np.linspace(-WIDEST, WIDEST, COARSE[0]), np.linspace(-WIDEST, WIDEST, COARSE[1]))
    density = _log_posterior(pairs, counts, axes, prior)
    for points in (COARSE, GRID):
        axes = (
            _zoomed(axes[0], density.max(axis=1), points[0]),
            _zoomed(axes[1], density.max(axis=0), points[1]),
        )
        density = _log_posterior(pairs, counts, axes, prior)
    of_mean = np.exp(density - density.max()).sum(axis=1)
    logits = rng.choice(axes[0], draws, p=of_mean / of_mean.sum())
    logits = logits + (axes[0][1] - axes[0][0]) * rng.uniform(-0.5, 0.5, draws)
    return np.asarray(1 / (1 + np.exp(-logits)))


def _log_posterior(pairs: Floats, counts: Integers, axes: tuple[Floats, Floats], prior: HitPrior) -> Floats:
    """Log-density at every point of the grid of both logits, up to a constant, shape of the two axes."""
    from scipy import special

    mean, correlation = np.meshgrid(special.expit(axes[0]), special.expit(axes[1]), indexing="ij")
    precision = 1 / correlation - 1
    a, b = (mean * precision).ravel(), (special.expit(-axes[0])[:, None] * precision).ravel()
    density = np.zeros(a.size)
    for start in range(0, len(counts), BLOCK):
        hits, cases = pairs[start : start + BLOCK].T[:, :, None]
        terms = special.betaln(a + hits, b + cases - hits) - special.betaln(a, b)
        density += counts[start : start + BLOCK] @ terms
    # The Jacobian of a logit adds one to both parameters of a beta distribution.
    for logits, (alpha, beta), axis in ((axes[0], prior.mean, 1), (axes[1], prior.correlation, 0)):
        own = alpha * special.log_expit(logits) + beta * special.log_expit(-logits)
        density = (density.reshape(mean.shape) + np.expand_dims(own, axis)).ravel()
    return np.asarray(density.reshape(mean.shape))


def _zoomed(axis: Floats, profile: Floats, points: int) -> Floats:
    """A finer axis over the part where the density is not negligible, one coarse step wider on either side."""
    inside = np.flatnonzero(profile > profile.max() + np.log(NEGLIGIBLE))
    low, high = max(inside[0] - 1, 0), min(inside[-1] + 1, len(axis) - 1)
    return np.linspace(axis[low], axis[high], points)
