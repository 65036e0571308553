"""Standard normal values between two limits, exact in both tails."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
FURTHEST = 37.0  # beyond, the normal distribution function underflows


def interval_mass(low: Floats, high: Floats) -> Floats:
    """Probability of a standard normal value between `low` and `high`, by the tail in which they lie.

    Examples
    --------
    >>> interval_mass(np.array([-np.inf, 8.0]), np.array([0.0, np.inf])).round(18).tolist()
    [0.5, 6.22e-16]
    """
    from scipy import special

    is_upper = low > 0
    mass: Floats = special.ndtr(np.where(is_upper, -low, high)) - special.ndtr(np.where(is_upper, -high, low))
    return mass


def truncated_normals(low: Floats, high: Floats, rng: np.random.Generator) -> Floats:
    """Draw standard normal values between `low` and `high`, by inversion in the tail in which they lie.

    The result lies within the limits; limits further than 37 from 0 count as 37. Source: Devroye (1986), Non-Uniform
    Random Variate Generation, chapter II.2.

    Examples
    --------
    >>> float(truncated_normals(np.array([30.0]), np.array([30.1]), np.random.default_rng(1))[0].round(1))
    30.0
    """
    from scipy import special

    is_upper = low > 0
    below = special.ndtr(np.clip(np.where(is_upper, -high, low), -FURTHEST, FURTHEST))
    above = special.ndtr(np.clip(np.where(is_upper, -low, high), -FURTHEST, FURTHEST))
    scores = special.ndtri(below + (above - below) * rng.uniform(size=low.shape))
    values: Floats = np.clip(np.where(is_upper, -scores, scores), low, high)
    return values
