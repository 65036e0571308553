"""Planned contrasts: some conditions against others, by one question that was asked before the data were seen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from inference.anova import why_not_pooled
from inference.average_advantage import MeanEstimates
from inference.effect_sizes import noncentral_t_limits
from inference.groups import Groups, GroupValues, in_words
from inference.results import Interval, Undefined
from inference.t_tests import satterthwaite_df


@dataclass(frozen=True)
class ContrastTest:
    """A t test of one contrast."""

    # `t`, `df`, `p`: the statistic, its degrees of freedom, and p by the number of sides asked for.
    t: float
    df: float
    p: float
    se: float  # standard error of the difference
    ci_low: float  # lower limit of the difference at the level of the test
    ci_high: float | None  # upper limit; None where the test has one side, and so its interval one end


@dataclass(frozen=True)
class ContrastResult:
    """A planned contrast of means."""

    # `higher`, `lower`: conditions of the two sets; those of `higher` are expected to have the larger mean.
    higher: tuple[str, ...]
    lower: tuple[str, ...]
    sides: int  # 1 where only a larger mean of `higher` counts, else 2
    # `higher_mean`, `lower_mean`, `difference`: unweighted means of the conditions' means, and the first minus the
    # second.
    higher_mean: float
    lower_mean: float
    difference: float
    pooled: ContrastTest  # the planned test: with the variance pooled over all conditions, or by a model
    welch: ContrastTest | None  # with each condition's own variance; None where none of the conditions varies
    d: float  # the difference in pooled standard deviations
    d_interval: Interval | None  # two-sided, by the noncentral t distribution; None for a |t| over 500
    n: int  # observations behind the pooled variance


def planned_contrast(
    groups: GroupValues,
    higher: Sequence[str],
    lower: Sequence[str],
    *,
    alpha: float = 0.05,
    sides: int = 2,
    least_n: int = 2,
) -> ContrastResult | Undefined:
    r"""Test the mean of some conditions against the mean of others; each condition counts alike within its set.

    .. math::
        t = \frac{\sum_g c_g \bar y_g}{\sqrt{MS_\mathrm{within} \sum_g c_g^2 / n_g}},
        \qquad c_g = \tfrac{1}{|H|}\ (g \in H),\ -\tfrac{1}{|L|}\ (g \in L),\ 0 \text{ else}

    All conditions give the pooled variance; those with fewer than `least_n` observations are left out. With one of two
    `sides` the alternative is that `higher` has the larger mean. Undefined where a condition of the contrast has too
    few observations, or no condition any spread. `higher` and `lower` name conditions of the data, each once. Sources:
    Maxwell, Delaney & Kelley (2018), Designing Experiments and Analyzing Data, chapter 4; without equal variances Welch
    (1938), Biometrika 29:350-362, with Satterthwaite's degrees of freedom.

    Examples
    --------
    >>> found = planned_contrast({"A": [4, 5, 5], "B": [1, 2, 2], "C": [2, 3, 2]}, ["A"], ["B", "C"])
    >>> round(found.difference, 4), round(found.pooled.t, 4), found.pooled.df, round(found.pooled.p, 5)
    (2.6667, 6.532, 6.0, 0.00061)
    """
    sets = (higher, lower)
    read = Groups.read(groups, least_n)
    if missing := [name for name in (*higher, *lower) if name in read.left_out]:
        return Undefined(f"Too few participants in {in_words(missing)} for the planned contrast.")
    if undefined := why_not_pooled(read):
        return undefined
    members = {group.name: group for group in read.members}
    # Fractions, so that sets whose means are equal on paper differ by exactly 0.
    higher_mean, lower_mean = (sum(members[name].mean for name in names) / Fraction(len(names)) for names in sets)
    difference, df = float(higher_mean - lower_mean), read.n - read.k
    weighted = [(1 / len(names) ** 2, members[name]) for names in sets for name in names]
    unit = math.sqrt(math.fsum(squared / group.n for squared, group in weighted))
    pooled = _tested(difference, math.sqrt(read.ss_within / df) * unit, df, alpha, sides)
    limits = noncentral_t_limits(pooled.t, df, 1 - alpha)
    parts = [(squared * group.variance / group.n, group.n - 1) for squared, group in weighted]
    error = math.sqrt(math.fsum(part for part, _df in parts))
    return ContrastResult(
        higher=tuple(higher),
        lower=tuple(lower),
        sides=sides,
        higher_mean=float(higher_mean),
        lower_mean=float(lower_mean),
        difference=difference,
        pooled=pooled,
        welch=_tested(difference, error, satterthwaite_df(parts), alpha, sides) if error else None,
        d=pooled.t * unit,
        d_interval=None if limits is None else Interval(limits.low * unit, limits.high * unit),
        n=read.n,
    )


def contrast_of_means(
    estimates: MeanEstimates,
    higher: Sequence[str],
    lower: Sequence[str],
    sd: float,
    n: int,
    alpha: float = 0.05,
    sides: int = 2,
) -> ContrastResult:
    """The same of estimates with a covariance, such as a mixed model's, by their own degrees of freedom; `sd` is the
    unit of `d`, `n` the number of observations.

    Examples
    --------
    >>> means = MeanEstimates(("A", "B"), np.array([2.0, 1.0]), np.diag([0.09, 0.16]), lambda _contrast: 20.0)
    >>> found = contrast_of_means(means, ["A"], ["B"], sd=2.0, n=22)
    >>> found.d, found.pooled.t, round(found.pooled.p, 4)
    (0.5, 2.0, 0.0593)
    """
    sets = [np.array([(name in names) / len(names) for name in estimates.names]) for names in (higher, lower)]
    first, second = (float(weights @ estimates.means) for weights in sets)
    contrast, difference = sets[0] - sets[1], first - second
    error = math.sqrt(contrast @ estimates.covariance @ contrast)
    test = _tested(difference, error, estimates.df(contrast), alpha, sides)
    sets_of = tuple(higher), tuple(lower)
    return ContrastResult(*sets_of, sides, first, second, difference, test, None, difference / sd, None, n)


def _tested(difference: float, error: float, df: float, alpha: float, sides: int) -> ContrastTest:
    from scipy import special

    t = difference / error
    # With one side a difference in the other direction has a p near 1: it is no evidence, however large.
    p = float(special.stdtr(df, -t if sides == 1 else -abs(t))) * sides
    half = float(special.stdtrit(df, 1 - alpha / sides)) * error
    return ContrastTest(
        t=t,
        df=float(df),
        p=p,
        se=error,
        ci_low=difference - half,
        ci_high=None if sides == 1 else difference + half,
    )
