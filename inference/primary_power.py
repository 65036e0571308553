"""Power of the primary test of a study: the average advantage, or a planned contrast."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from core.errors import ParameterError
from inference.power import check_design, check_effect, check_participants, fewest_participants


@dataclass(frozen=True)
class ContrastPower:
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

    with a and b conditions in the sets, `higher` and `lower`, at least 1 each; the conditions of a set are at one mean,
    and all others at the grand mean. `f` is Cohen's f over all conditions, above 0; `sides` is 1 or 2. Raises
    ParameterError for a number outside its range. Source: Cohen (1988), Statistical Power Analysis for the Behavioral
    Sciences, chapters 2 and 8.

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
    if sides == 2:
        return ContrastPower(_two_sided(noncentrality, df, alpha), difference, df, noncentrality)
    power = 1 - float(special.nctdtr(df, noncentrality, float(special.stdtrit(df, 1 - alpha))))
    return ContrastPower(min(1.0, max(0.0, power)), difference, df, noncentrality)


def advantage_power(conditions: int, n_per_condition: int, f: float, *, alpha: float = 0.05) -> float:
    r"""Power of the two-sided t test of the average advantage.

    The conditions' true means rise evenly in the order of the metric, which separates every pair. The weights are then
    proportional to the means, so that :math:`\lambda = f \sqrt{kn}`. Equal variances; the degrees of freedom are those
    of the pooled variance. Raises ParameterError for a number outside its range.

    Examples
    --------
    >>> [round(advantage_power(k, n, 0.25), 3) for k, n in ((3, 43), (5, 26), (7, 19))]
    [0.804, 0.807, 0.816]
    """
    check_design(conditions, alpha)
    check_participants(n_per_condition)
    check_effect(f, may_be_zero=False)
    return _two_sided(f * math.sqrt(conditions * n_per_condition), conditions * (n_per_condition - 1), alpha)


def participants_for_advantage(conditions: int, f: float, *, power: float, alpha: float = 0.05) -> int:
    """The fewest participants per condition that give the average advantage this power.

    Raises ParameterError for a number outside its range, and where a million would not suffice.

    Examples
    --------
    >>> [participants_for_advantage(k, 0.25, power=0.8) for k in (3, 5, 7)]
    [43, 26, 19]
    """
    if not 0 < power < 1:
        raise ParameterError(f"The power is between 0 and 1; got {power!r}.")
    return fewest_participants(lambda n: advantage_power(conditions, n, f, alpha=alpha), power, f)


def _two_sided(noncentrality: float, df: int, alpha: float) -> float:
    """The probability that |t| exceeds its critical value."""
    from scipy import special

    critical = float(special.stdtrit(df, 1 - alpha / 2))
    # Far out scipy's series gives up with NaN; there, nothing is left below the critical value.
    upper, lower = np.nan_to_num(special.nctdtr(df, noncentrality, [critical, -critical]))
    return min(1.0, max(0.0, float(1 - upper + lower)))
