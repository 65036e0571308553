"""Power of the primary test of a study: a rank correlation of the two sides, or a planned contrast."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.errors import ParameterError
from inference.agreement import MOST_COUNTED
from inference.permutations import concordance_without_ties, pair_places
from inference.power import check_design, check_effect, check_participants
from inference.results import Interval, Result
from inference.simulated_power import wilson

REPETITIONS = 10_000


@dataclass(frozen=True)
class RankPower(Result):
    """Power of Kendall's tau-b between participants' means and an offline metric, by simulation."""

    power: float  # share of simulated studies whose tau-b is significant and positive
    interval: Interval  # 95% Wilson interval of that share: the Monte Carlo error
    ceiling: float  # the same share if participants' means were known without error
    repetitions: int
    least_tau: float | None  # smallest significant tau-b without ties; None: not even 1 is significant
    # Concordant pairs of conditions that this tau-b takes, of `n_pairs`: without ties the tests of tau-b and of
    # concordance are one test.
    least_concordant: int | None = None
    n_pairs: int = 0


def rank_power(
    offline: Sequence[float],
    errors: Sequence[float],
    n_per_condition: int,
    f: float,
    *,
    rng: np.random.Generator,
    alpha: float = 0.05,
    repetitions: int = REPETITIONS,
) -> RankPower:
    """Power of a two-sided test of tau-b when participants truly rank the algorithms as the metric does.

    The true perceived means are evenly spaced in the order of `offline`, with effect size `f`. A simulated study draws
    the mean of each condition with the standard error of `n_per_condition` participants, and each offline value with
    its own, independently of the others; the p of tau-b is exact, without ties. Raises ParameterError for a number
    outside its range, or lists of different length.

    Parameters
    ----------
    offline : sequence of float, length 2 to 50
        Value of the metric for each condition; equal values are ordered as given.
    errors : sequence of float, same length
        Standard error of each value, 0 where it is known exactly.
    f : float
        Cohen's f of the perceived means, above 0.

    Examples
    --------
    >>> found = rank_power([0.1, 0.2, 0.3, 0.4, 0.5], [0.0] * 5, 50, 0.4, rng=np.random.default_rng(1))
    >>> found.least_tau, found.ceiling, 0.7 < found.power < 0.9
    (1.0, 1.0, True)
    """
    k = len(offline)
    check_design(k, alpha)
    check_participants(n_per_condition)
    check_effect(f, may_be_zero=False)
    if k > MOST_COUNTED or repetitions < 100:
        raise ParameterError(
            f"A simulation takes at most {MOST_COUNTED} conditions and at least 100 repetitions; got {k} and "
            f"{repetitions}."
        )
    values, spread = np.asarray(offline, dtype=np.float64), np.asarray(errors, dtype=np.float64)
    if spread.shape != values.shape or not np.isfinite([values, spread]).all() or (spread < 0).any():
        raise ParameterError("Each condition has a finite offline value and a standard error of at least 0.")
    order = np.argsort(values, kind="stable")
    means = np.empty(k)
    means[order] = _evenly_spaced(k) * f
    least = concordance_without_ties(k).distances().smallest_with_tail_below(alpha)
    if least is None:
        return RankPower(0.0, wilson(0, repetitions), 0.0, repetitions, None)
    measured = values + spread * rng.standard_normal((repetitions, k))
    drawn = means + rng.standard_normal((repetitions, k)) / math.sqrt(n_per_condition)
    hits = int((_concordance(measured, drawn) >= least).sum())
    ceiling = float((_concordance(measured, means) >= least).mean())
    n_pairs = k * (k - 1) // 2
    return RankPower(
        power=hits / repetitions,
        interval=wilson(hits, repetitions),
        ceiling=ceiling,
        repetitions=repetitions,
        least_tau=least / n_pairs,
        least_concordant=(n_pairs + least) // 2,
        n_pairs=n_pairs,
    )


def _evenly_spaced(k: int) -> NDArray[np.float64]:
    steps = np.arange(k) - (k - 1) / 2
    return np.asarray(steps / steps.std())


def _concordance(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Concordant minus discordant pairs in each row; a tie of two values counts as in their order of position."""
    first, second = pair_places(x.shape[-1])
    of_x = np.where(x[..., second] >= x[..., first], 1.0, -1.0)
    of_y = np.where(y[..., second] >= y[..., first], 1.0, -1.0)
    return np.asarray((of_x * of_y).sum(axis=-1))


@dataclass(frozen=True)
class ContrastPower(Result):
    """Power of a planned contrast of two sets of conditions, by the noncentral t distribution."""

    power: float
    difference: float  # between the mean of the two sets, in standard deviations
    df: int
    noncentrality: float


def contrast_power(
    higher: int, lower: int, conditions: int, n_per_condition: int, f: float, *, sides: int = 2, alpha: float = 0.05
) -> ContrastPower:
    r"""Power of a t test of one set of conditions against another, with the variance pooled over all conditions.

    .. math:: d = f \sqrt{k\,(a + b) / (a b)}, \qquad \lambda = d \sqrt{n\, a b / (a + b)}

    with a and b conditions in the sets, the conditions of a set at one mean, and all others at the grand mean. Raises
    ParameterError for a number outside its range. Source: Cohen (1988), Statistical Power Analysis for the Behavioral
    Sciences, chapters 2 and 8.

    Parameters
    ----------
    higher, lower : int
        Conditions in each set, at least 1.
    f : float
        Cohen's f over all conditions, above 0.
    sides : int
        1 or 2.

    Examples
    --------
    >>> round(contrast_power(1, 1, 2, 64, 0.25).power, 4), contrast_power(1, 1, 2, 64, 0.25).difference
    (0.8015, 0.5)
    """
    from scipy import special

    check_design(conditions, alpha)
    check_participants(n_per_condition)
    check_effect(f, may_be_zero=False)
    if higher < 1 or lower < 1 or higher + lower > conditions or sides not in (1, 2):
        raise ParameterError(
            f"A contrast has at least one of the {conditions} conditions in each set and 1 or 2 sides; got "
            f"{higher}, {lower} and {sides}."
        )
    difference = f * math.sqrt(conditions * (higher + lower) / (higher * lower))
    df = conditions * (n_per_condition - 1)
    noncentrality = difference * math.sqrt(n_per_condition * higher * lower / (higher + lower))
    critical = float(special.stdtrit(df, 1 - alpha / sides))
    power = 1 - float(special.nctdtr(df, noncentrality, critical))
    if sides == 2:
        power += float(special.nctdtr(df, noncentrality, -critical))
    return ContrastPower(min(1.0, max(0.0, power)), difference, df, noncentrality)
