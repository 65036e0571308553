"""Convergence of Markov chains: rank-normalised split R-hat and effective sample sizes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from inference.groups import finite
from inference.results import Floats

MOST_R_HAT = 1.01
LEAST_ESS = 400.0
TAILS = (0.05, 0.95)


@dataclass(frozen=True)
class Convergence:
    """Diagnostics of one quantity over several chains."""

    r_hat: float  # the larger one of rank-normalised bulk and folded R-hat; 1 where the chains agree
    ess_bulk: float  # effective number of draws for means and probabilities
    ess_tail: float  # the smaller effective number of draws for the 5% and the 95% quantile

    @property
    def has_converged(self) -> bool:
        """Whether R-hat is at most 1.01 and both effective sizes are at least 400 (Vehtari et al.)."""
        return self.r_hat <= MOST_R_HAT and min(self.ess_bulk, self.ess_tail) >= LEAST_ESS


def convergence(draws: ArrayLike) -> Convergence:
    """Diagnose the draws of one quantity, shape (n_chains, n_draws).

    There are two chains or more of eight draws or more, which differ. Raises DataError for draws that are not finite.
    Source: Vehtari, Gelman, Simpson, Carpenter & Bürkner (2021), Bayesian Analysis 16(2):667-718; the autocovariances
    are summed by Geyer's initial monotone sequence, as in Stan.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> convergence(rng.standard_normal((4, 1000))).has_converged
    True
    """
    array = finite(draws, "A chain holds a value that is not a finite number.")
    # Both halves of every chain as chains of their own; of an odd number of draws the middle one is left out.
    half = array.shape[1] // 2
    split = np.concatenate([array[:, :half], array[:, -half:]])
    bulk = _normal_scores(split)
    folded = _normal_scores(np.abs(split - np.median(split)))
    return Convergence(
        r_hat=max(_r_hat(bulk), _r_hat(folded)),
        ess_bulk=_ess(bulk),
        ess_tail=min(_ess((split <= np.quantile(array, tail)).astype(np.float64)) for tail in TAILS),
    )


def _normal_scores(draws: Floats) -> Floats:
    """Normal quantiles of the pooled ranks, Blom's fractional offset."""
    from scipy import special, stats

    ranks = stats.rankdata(draws, method="average").reshape(draws.shape)
    return np.asarray(special.ndtri((ranks - 0.375) / (draws.size + 0.25)))


def _r_hat(draws: Floats) -> float:
    n = draws.shape[1]
    within = draws.var(axis=1, ddof=1).mean()
    between = n * draws.mean(axis=1).var(ddof=1)
    return float(np.sqrt((between / within + n - 1) / n)) if within > 0 else float("inf")


def _ess(draws: Floats) -> float:
    """Effective number of draws of the mean over chains that are split already."""
    m, n = draws.shape
    # Autocovariances of every chain at all lags, divided by n.
    spectrum = np.fft.rfft(draws - draws.mean(axis=1, keepdims=True), 2 * n, axis=1)
    covariances = np.fft.irfft(spectrum * spectrum.conj(), 2 * n, axis=1)[:, :n] / n
    within = float(covariances[:, 0].mean()) * n / (n - 1)
    pooled = within * (n - 1) / n + float(draws.mean(axis=1).var(ddof=1))
    if pooled == 0:
        return float(m * n)
    correlations = 1 - (within - covariances.mean(axis=0)) / pooled
    correlations[0] = 1.0
    # Sums of neighbouring pairs are positive and fall, in theory: cut where one is not, and level those that rise.
    last = (n - 3) // 2
    pairs = correlations[: 2 * last].reshape(-1, 2).sum(axis=1)
    negative = np.flatnonzero(pairs < 0)
    end = int(negative[0]) if negative.size else last
    falling = np.minimum.accumulate(pairs[:end])
    # One even correlation behind the cut, where it is positive, lessens the variance of antithetic chains.
    odd = max(float(correlations[2 * end]), 0.0)
    time = max(-1 + 2 * float(falling.sum()) + odd, 1 / np.log10(m * n))
    return float(m * n / time)
