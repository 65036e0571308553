"""Ratings with known effects, and chains of known autocorrelation; needs NumPy alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from inference.hierarchical_ordinal import OrdinalRatings


def simulated_ratings(seed: int, *, n_persons: int = 12, n_items: int = 15, n_rated: int = 6) -> OrdinalRatings:
    """Three conditions half a residual standard deviation apart."""
    rng = np.random.default_rng(seed)
    rows, eta = [], []
    persons, items = rng.normal(0, 0.6, (3, n_persons)), rng.normal(0, 0.4, (3, n_items))
    for condition in range(3):
        for person in range(n_persons):
            for item in rng.choice(n_items, n_rated, replace=False):
                rows.append((condition, condition * n_persons + person, int(item)))
                eta.append(0.5 * condition + persons[condition, person] + items[condition, item])
    codes = np.searchsorted([-1.2, -0.3, 0.6, 1.7], np.array(eta) + rng.standard_normal(len(eta)))
    conditions, participants, numbers = (list(column) for column in zip(*rows, strict=True))
    return OrdinalRatings.of(codes, conditions, participants, numbers, 5)


def autoregressive(phi: float, shape: tuple[int, int], seed: int, apart: float = 0.0) -> NDArray[np.float64]:
    """Chains of x_t = phi x_(t-1) + noise, rounded to what JSON holds; the first one `apart` from the others."""
    noise = np.random.default_rng(seed).standard_normal(shape)
    chains = np.empty(shape)
    chains[:, 0] = noise[:, 0]
    for step in range(1, shape[1]):
        chains[:, step] = phi * chains[:, step - 1] + noise[:, step]
    chains[0] += apart
    return chains.round(6)
