"""Simulated studies of seven conditions under six designs, for `supplement_characteristics.py`.

Perceived values are those of a study: five answers from 1 to 5 for each participant, with half of the variance between
participants. The offline side is 500 users with a share of hits each.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy import stats

K, N, ITEMS, USERS, CASES = 7, 30, 5, 500, 4
POOL = 12  # items that the recommender of a condition chooses from
NAMES = tuple("ABCDEFG")
SD = 1.0  # of a single answer before rounding
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Design:
    """One way in which the seven conditions may differ."""

    name: str
    meaning: str
    perceived: tuple[float, ...]  # means of single answers before rounding
    offline: tuple[float, ...]  # chances of a hit
    n: tuple[int, ...] = (N,) * K
    sd: tuple[float, ...] = (SD,) * K

    @cached_property
    def means(self) -> Floats:
        """True means of the conditions, after rounding to the scale."""
        inner = np.arange(1.5, 5.0)
        above = [stats.norm.sf(inner, mean, sd).sum() for mean, sd in zip(self.perceived, self.sd, strict=True)]
        return 1.0 + np.array(above)

    @property
    def equal_pairs(self) -> set[tuple[str, str]]:
        """Pairs of conditions with one true mean."""
        return {
            (NAMES[i], NAMES[j])
            for i, j in combinations(range(K), 2)
            if math.isclose(self.means[i], self.means[j], abs_tol=1e-12)
        }


def _spread(f: float, steps: tuple[float, ...]) -> tuple[float, ...]:
    """Means around 3 whose spread is f standard deviations of a participant's mean of five answers."""
    centred = np.array(steps) - np.mean(steps)
    of_participant = SD * math.sqrt(0.5 + 0.5 / ITEMS)
    return tuple(3.0 + centred / centred.std() * f * of_participant) if centred.any() else (3.0,) * K


STEPS = (0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0)
TIED = (0.0, 0.0, 1.0, 1.0, 1.0, 2.0, 2.0)
FLAT = (0.0,) * K
RISING = tuple(0.20 + 0.02 * step for step in STEPS)
DESIGNS = (
    Design("null", "no difference on either side", _spread(0, FLAT), (0.26,) * K),
    Design(
        "weak", "f = 0.10, evenly spaced; hit rates from .20 to .32 in the same order", _spread(0.10, STEPS), RISING
    ),
    Design("strong", "f = 0.40, evenly spaced; hit rates as in weak", _spread(0.40, STEPS), RISING),
    Design(
        "tied",
        "f = 0.25 between groups of two, three and two equal conditions, on both sides",
        _spread(0.25, TIED),
        tuple(0.20 + 0.06 * step for step in TIED),
    ),
    Design(
        "unequal n",
        "no perceived difference, 15 to 60 participants per condition; hit rates as in weak",
        _spread(0, FLAT),
        RISING,
        n=(15, 20, 25, 30, 40, 50, 60),
    ),
    Design(
        "unequal spread",
        "no perceived difference, standard deviations from 0.3 to 1.5; hit rates as in weak",
        _spread(0, FLAT),
        RISING,
        sd=(0.3, 0.5, 0.7, 0.9, 1.1, 1.3, 1.5),
    ),
)


@dataclass(frozen=True)
class SimulatedStudy:
    """A simulated study."""

    answers: tuple[NDArray[np.int64], ...]  # of each condition, shape (n, ITEMS)
    items: tuple[NDArray[np.int64], ...]  # the same shape: which item was judged
    own: tuple[Floats, ...]  # of each condition, shape (n,): what participants differ by, before rounding
    users: Floats  # shape (USERS, K): share of hits

    @cached_property
    def groups(self) -> dict[str, list[float]]:
        return {name: (of.sum(axis=1) / ITEMS).tolist() for name, of in zip(NAMES, self.answers, strict=True)}

    @cached_property
    def by_user(self) -> dict[str, Floats]:
        return {name: self.users[:, column] for column, name in enumerate(NAMES)}


def draw(design: Design, rng: np.random.Generator) -> SimulatedStudy:
    """Draw a study: participants' latent values, their answers rounded to the scale, and users' hits."""
    answers, items, effects = [], [], []
    for position, (mean, sd, n) in enumerate(zip(design.perceived, design.sd, design.n, strict=True)):
        own = rng.normal(0.0, sd * math.sqrt(0.5), (n, 1))
        value = mean + own + rng.normal(0.0, sd * math.sqrt(0.5), (n, ITEMS))
        answers.append(np.clip(np.rint(value), 1, 5).astype(np.int64))
        effects.append(own[:, 0])
        items.append(100 * position + np.array([rng.choice(POOL, ITEMS, replace=False) for _ in range(n)]))
    ease = rng.beta(2.0, 2.0, (USERS, 1)) * 2.0  # users differ; their mean factor is 1
    hits = rng.binomial(CASES, np.clip(ease * np.array(design.offline), 0.0, 1.0))
    return SimulatedStudy(tuple(answers), tuple(items), tuple(effects), hits / CASES)
