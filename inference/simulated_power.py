"""Simulated power for answers on a bounded discrete scale, for which there is no formula."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from inference.power import check_design, check_participants, effect_of_means
from inference.results import Interval

SCALE = (1, 5)  # ends of the scale of answers


@dataclass(frozen=True)
class SimulatedPower:
    """Power estimated by simulation."""

    power: float  # share of simulated studies with a significant F
    interval: Interval  # 95% Wilson interval of that share: the Monte Carlo error
    repetitions: int  # simulated studies
    undefined: int  # simulated studies without any variance, whose F is undefined; counted as not significant


def simulated_power(
    means: Sequence[float],
    sd: float,
    n_per_condition: int,
    *,
    rng: np.random.Generator,
    items: int = 1,
    alpha: float = 0.05,
    repetitions: int = 2000,
) -> SimulatedPower:
    """Power of a one-way ANOVA on discrete answers, by simulating studies under stated effects.

    Each participant has a latent value drawn from a normal distribution around the condition's mean; each of their
    `items` answers is that value plus an error of equal variance, rounded to the scale 1 to 5 and clipped to its ends;
    the participant's value is the mean of the answers. Floor and ceiling effects therefore compress the means, as with
    real answers. `means` (at least two) and `sd` are those of a single answer before rounding, in points of the scale;
    half of its variance is between participants. Raises ParameterError for fewer than 2 participants in each condition
    or another number out of range. Source of the interval: Wilson (1927), Journal of the American Statistical
    Association 22(158):209-212.

    Examples
    --------
    >>> found = simulated_power([3.0, 3.0, 4.0], 1.0, 30, rng=np.random.default_rng(1), repetitions=500)
    >>> found.power > 0.9
    True
    """
    from scipy import special

    effect_of_means(means, sd)
    check_design(len(means), alpha)
    check_participants(n_per_condition)
    k, n = len(means), n_per_condition
    critical = float(special.fdtri(k - 1, k * (n - 1), 1 - alpha))
    spread = sd / math.sqrt(2)
    hits = undefined = 0
    for _ in range(repetitions):
        leaning = np.asarray(means, dtype=np.float64)[:, None] + rng.normal(0.0, spread, (k, n))
        answers = np.clip(np.rint(leaning[..., None] + rng.normal(0.0, spread, (k, n, items))), *SCALE)
        sums = answers.sum(axis=2)  # whole numbers: equal participants are equal exactly
        centres = sums.mean(axis=1)
        within = float(np.square(sums - centres[:, None]).sum())
        between = float(n * np.square(centres - centres.mean()).sum())
        if within == 0.0:
            undefined += 1
        elif between / (k - 1) >= critical * within / (k * (n - 1)):
            hits += 1
    return SimulatedPower(hits / repetitions, wilson(hits, repetitions), repetitions, undefined)


def wilson(hits: int, n: int) -> Interval:
    """The 95% interval of Wilson (1927) for a share of `hits` in `n`."""
    from scipy import stats

    limits = stats.binomtest(hits, n).proportion_ci(method="wilson")
    return Interval(float(limits.low), float(limits.high))
