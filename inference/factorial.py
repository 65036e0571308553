r"""Factorial designs and doses: contrasts of the conditions' means with a variance of their own for each condition.

.. math:: L = \sum_j c_j \bar y_j, \qquad se^2 = \sum_j c_j^2 s_j^2 / n_j, \qquad t = L / se

with Satterthwaite's degrees of freedom. The conditions are the full product of the factors' levels; a marginal mean
gives every condition of its level the same weight, however many participants it has. Several contrasts at once are
tested by the approximation of Welch and James in Johansen's form, which is t squared for one contrast and Welch's
analysis of variance for all differences of one factor. The type III analysis of variance has one pooled variance.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from inference.anova import why_not_pooled
from inference.groups import Groups, GroupValues, in_words
from inference.results import Floats, Integers, Interval, Undefined
from inference.studentized_range import critical_range, upper_tail
from inference.t_tests import satterthwaite_df, t_test

Weights = Mapping[str, float]  # of the conditions in a contrast; one that is missing has 0
Cells = Mapping[str, Mapping[str, str]]  # condition -> its level of every factor; the full product of the levels
TIMES = " × "  # between factors of an interaction
SINGULAR = 1e-12  # of the largest eigenvalue


@dataclass(frozen=True)
class CellMeans:
    """Mean, squared standard error and number of participants of each condition, shape (k,); two or more in each."""

    names: tuple[str, ...]
    means: Floats
    squared_errors: Floats
    ns: Integers

    @classmethod
    def of_groups(cls, groups: GroupValues, names: Sequence[str]) -> CellMeans | Undefined:
        """The conditions named, in this order; undefined where one has fewer than two observations."""
        members = {group.name: group for group in Groups.read(groups, least_n=2).members}
        if missing := [name for name in names if name not in members]:
            return Undefined(f"Too few participants in {in_words(missing)}: the design needs every condition.")
        own = [members[name] for name in names]
        return cls(
            tuple(names),
            np.array([float(group.mean) for group in own]),
            np.array([group.variance / group.n for group in own]),
            np.array([group.n for group in own]),
        )

    def vector(self, weights: Weights) -> Floats:
        """The weights in the order of the conditions."""
        return np.array([weights.get(name, 0.0) for name in self.names])


@dataclass(frozen=True)
class MeanContrast:
    """A weighted sum of conditions' means, with its two-sided t test."""

    value: float  # in points of the measure; of a trend, in points for each unit of the dose
    se: float
    df: float
    t: float
    p: float  # of this contrast alone
    interval: Interval  # coverage 1 - α, of this contrast alone
    p_family: float  # adjusted for all contrasts of the family; the same as `p` for a family of one
    family_interval: Interval  # holds together with those of the family


@dataclass(frozen=True)
class JointTest:
    """Whether several contrasts are all 0."""

    f: float
    df: int
    df_within: float
    p: float


@dataclass(frozen=True)
class LevelMean:
    """The marginal mean of a level, every condition of it weighted alike; the limits are of this mean alone."""

    level: str
    mean: float
    interval: Interval | None  # None where nobody's value differs within the level's conditions


@dataclass(frozen=True)
class LevelPair:
    """The marginal difference of two levels, `a` minus `b`; `a` is the later one."""

    a: str
    b: str
    contrast: MeanContrast | Undefined


@dataclass(frozen=True)
class FactorEffect:
    """A factor with its marginal means, every pair of its levels, and the joint test of all differences."""

    factor: str
    levels: tuple[LevelMean, ...]
    pairs: tuple[LevelPair, ...]
    joint: JointTest | Undefined


@dataclass(frozen=True)
class InteractionContrast:
    """By how much the difference of two levels of the first factor, `a` minus `b`, is larger at the level `at` of the
    second than at `than`.
    """

    a: str
    b: str
    at: str
    than: str
    contrast: MeanContrast | Undefined


@dataclass(frozen=True)
class Interaction:
    """The interaction of two factors, averaged over the levels of all others."""

    factors: tuple[str, str]
    contrasts: tuple[InteractionContrast, ...]
    joint: JointTest | Undefined


@dataclass(frozen=True)
class AnovaTerm:
    """A line of the analysis of variance; several factors are joined by "×"."""

    term: str
    ss: float
    df: int
    f: float
    p: float


@dataclass(frozen=True)
class FactorialAnova:
    """Type III analysis of variance with sum coding and one pooled variance."""

    terms: tuple[AnovaTerm, ...]
    ss_within: float
    df_within: int


@dataclass(frozen=True)
class Trend:
    """The linear trend over doses, every dose weighted alike."""

    slope: MeanContrast | Undefined  # in points for each unit of the dose
    in_sd: float | None  # the trend from the lowest to the highest dose, in standard deviations within conditions
    departure: JointTest | Undefined  # whether the means leave the straight line


def levels_of(cells: Cells, factor: str) -> tuple[str, ...]:
    """The levels of a factor, in the order of the conditions."""
    return tuple(dict.fromkeys(levels[factor] for levels in cells.values()))


def marginal_weights(cells: Cells, factor: str) -> dict[str, dict[str, float]]:
    """The weights of the marginal mean of each level.

    Examples
    --------
    >>> marginal_weights({"A1": {"x": "A"}, "A2": {"x": "A"}, "B": {"x": "B"}}, "x")
    {'A': {'A1': 0.5, 'A2': 0.5}, 'B': {'B': 1.0}}
    """
    members = {level: [name for name in cells if cells[name][factor] == level] for level in levels_of(cells, factor)}
    return {level: dict.fromkeys(names, 1 / len(names)) for level, names in members.items()}


def difference(plus: Weights, minus: Weights) -> dict[str, float]:
    """The weights of a difference of two weighted sums."""
    return {name: plus.get(name, 0.0) - minus.get(name, 0.0) for name in {**plus, **minus}}


def interaction_weights(cells: Cells, first: tuple[str, str, str], second: tuple[str, str, str]) -> dict[str, float]:
    """The weights of a difference of differences; each argument is a factor with its levels `a` and `b`.

    Examples
    --------
    >>> cells = {x + y: {"x": x, "y": y} for x in "AB" for y in "12"}
    >>> interaction_weights(cells, ("x", "B", "A"), ("y", "2", "1"))
    {'B2': 1.0, 'A2': -1.0, 'B1': -1.0, 'A1': 1.0}
    """
    (factor, a, b), (other, at, than) = first, second
    simple = []
    for level in (at, than):
        weights = marginal_weights({name: own for name, own in cells.items() if own[other] == level}, factor)
        simple.append(difference(weights[a], weights[b]))
    return difference(*simple)


def trend_weights(doses: Mapping[str, float]) -> dict[str, float]:
    """The weights of the least-squares slope over the doses of the conditions; conditions of one dose share its weight.

    Examples
    --------
    >>> trend_weights({"none": 0.0, "some": 0.5, "much": 1.0})
    {'none': -1.0, 'some': 0.0, 'much': 1.0}
    """
    values = list(doses.values())
    levels = sorted(set(values))
    centre = math.fsum(levels) / len(levels)
    spread = math.fsum((level - centre) ** 2 for level in levels)
    return {name: (dose - centre) / spread / values.count(dose) for name, dose in doses.items()}


def mean_contrast(
    cells: CellMeans, weights: Weights, *, alpha: float = 0.05, n_means: int = 2, n_tests: int = 1
) -> MeanContrast | Undefined:
    """Test a contrast of means without assuming equal variances.

    For all pairs of `n_means` means the family is adjusted by the studentized range, as by Games and Howell; otherwise
    by Bonferroni for `n_tests` contrasts. Undefined where no weighted condition has any variance. Sources: Welch
    (1938), Biometrika 29:350-362; Satterthwaite (1946), Biometrics Bulletin 2(6):110-114; Games & Howell (1976),
    Journal of Educational Statistics 1(2):113-125.

    Examples
    --------
    >>> groups = {"A": [1, 2, 3], "B": [2, 4, 6], "C": [5, 6, 7]}
    >>> found = mean_contrast(CellMeans.of_groups(groups, "ABC"), {"A": -0.5, "B": -0.5, "C": 1.0})
    >>> found.value, round(found.df, 3), round(found.p, 4)
    (3.0, 4.909, 0.0185)
    """
    vector = cells.vector(weights)
    parts = vector**2 * cells.squared_errors
    if not parts.any():
        return Undefined("Within the compared conditions all values are equal.")
    value, se = float(vector @ cells.means), math.sqrt(parts.sum())
    df = satterthwaite_df(zip(parts.tolist(), (cells.ns - 1).tolist(), strict=True))
    p, interval = t_test(value, se, df, 1 - alpha)
    p_family, wide = p, interval
    if n_means > 2 or n_tests > 1:
        p_family = min(1.0, n_tests * upper_tail(math.sqrt(2) * abs(value / se), n_means, df))
        half = critical_range(alpha / n_tests, n_means, df) / math.sqrt(2) * se
        wide = Interval(value - half, value + half)
    return MeanContrast(value, se, df, value / se, p, interval, p_family, wide)


def joint_test(cells: CellMeans, contrasts: Sequence[Weights]) -> JointTest | Undefined:
    r"""Test whether several linearly independent contrasts are all 0, without assuming equal variances.

    .. math::
        T = (Cm)'(CSC')^{-1}Cm, \quad A = \sum_j \frac{M_{jj}^2}{n_j - 1}, \quad M = SC'(CSC')^{-1}C, \quad
        F = T \Big/ \Big(q + 2A - \frac{6A}{q + 2}\Big)

    with q contrasts and q(q + 2) / (3A) degrees of freedom. Undefined where the conditions vary too little to tell the
    contrasts apart. Sources: Johansen (1980), Biometrika 67(1):85-92; Lix & Keselman (1995), Psychological Bulletin
    117(3):547-560.

    Examples
    --------
    >>> cells = CellMeans.of_groups({"A": [1, 2, 3], "B": [2, 4, 6]}, "AB")
    >>> found = joint_test(cells, [{"A": -1.0, "B": 1.0}])
    >>> contrast = mean_contrast(cells, {"A": -1.0, "B": 1.0})
    >>> math.isclose(found.f, contrast.t**2), math.isclose(found.df_within, contrast.df)
    (True, True)
    """
    from scipy import special

    matrix = np.array([cells.vector(weights) for weights in contrasts])
    spread = (matrix * cells.squared_errors) @ matrix.T
    eigenvalues = np.linalg.eigvalsh(spread)
    if eigenvalues[0] <= SINGULAR * eigenvalues[-1]:
        return Undefined("Too many conditions have no variance for a joint test.")
    values, q = matrix @ cells.means, len(matrix)
    shares = np.einsum("ij,ij->j", matrix, np.linalg.solve(spread, matrix)) * cells.squared_errors
    uncertainty = float((shares**2 / (cells.ns - 1)).sum())
    f = float(values @ np.linalg.solve(spread, values)) / (q + 2 * uncertainty - 6 * uncertainty / (q + 2))
    df_within = q * (q + 2) / (3 * uncertainty)
    return JointTest(f, q, df_within, float(special.fdtrc(q, df_within, f)))


def factor_effect(means: CellMeans, cells: Cells, factor: str, *, alpha: float = 0.05) -> FactorEffect:
    """The marginal means of a factor with two or more levels, every pair of them, and their joint test."""
    weights = marginal_weights(cells, factor)
    levels = list(weights)
    margins = {level: mean_contrast(means, weights[level], alpha=alpha) for level in levels}
    pairs = tuple(
        LevelPair(a, b, mean_contrast(means, difference(weights[a], weights[b]), alpha=alpha, n_means=len(levels)))
        for b, a in combinations(levels, 2)
    )
    return FactorEffect(
        factor,
        tuple(
            LevelMean(
                level,
                float(means.vector(weights[level]) @ means.means),
                None if isinstance(margin, Undefined) else margin.interval,
            )
            for level, margin in margins.items()
        ),
        pairs,
        joint_test(means, [difference(weights[level], weights[levels[0]]) for level in levels[1:]]),
    )


def interaction(means: CellMeans, cells: Cells, first: str, second: str, *, alpha: float = 0.05) -> Interaction:
    """The interaction contrasts of two factors with two or more levels each, and their joint test.

    With more than two levels, every pair of levels of one factor with every pair of the other, corrected by Bonferroni.
    """
    ours, theirs = levels_of(cells, first), levels_of(cells, second)
    tetrads = [(a, b, at, than) for b, a in combinations(ours, 2) for than, at in combinations(theirs, 2)]
    weights = {each: interaction_weights(cells, (first, *each[:2]), (second, *each[2:])) for each in tetrads}
    return Interaction(
        (first, second),
        tuple(
            InteractionContrast(*each, mean_contrast(means, weights[each], alpha=alpha, n_tests=len(tetrads)))
            for each in tetrads
        ),
        joint_test(means, [weights[a, ours[0], at, theirs[0]] for a in ours[1:] for at in theirs[1:]]),
    )


def factorial_anova(groups: GroupValues, cells: Cells) -> FactorialAnova | Undefined:
    """Type III analysis of variance of all factors with two or more levels, by statsmodels with sum coding.

    Undefined where a condition has no observation, and where one-way analysis of variance is. Source: Maxwell, Delaney
    & Kelley (2018), Designing Experiments and Analyzing Data, chapter 7.

    Examples
    --------
    >>> cells = {x + y: {"x": x, "y": y} for x in "AB" for y in "12"}
    >>> found = factorial_anova({"A1": [1, 2], "A2": [2, 3], "B1": [3, 4], "B2": [1, 1]}, cells)
    >>> [(each.term, round(each.f, 4)) for each in found.terms]
    [('x', 0.3333), ('y', 3.0), ('x × y', 16.3333)]
    """
    import pandas as pd
    from statsmodels.formula.api import ols
    from statsmodels.stats.anova import anova_lm

    read = Groups.read({name: list(groups[name]) for name in cells if name in groups})
    if missing := [name for name in cells if name not in read.names]:
        return Undefined(f"Nobody took part in {in_words(missing)}: the design needs every condition.")
    if undefined := why_not_pooled(read):
        return undefined
    factors = [factor for factor in next(iter(cells.values())) if len(levels_of(cells, factor)) > 1]
    columns = {f"C(f{place}, Sum)": factor for place, factor in enumerate(factors)}
    data = pd.DataFrame(
        [
            {"y": value, **{f"f{place}": cells[group.name][factor] for place, factor in enumerate(factors)}}
            for group in read.members
            for value in group.floats
        ]
    )
    table = anova_lm(ols(f"y ~ {' * '.join(columns)}", data).fit(), typ=3)
    lines = {name: table.loc[name] for name in table.index if name not in ("Intercept", "Residual")}
    return FactorialAnova(
        tuple(
            AnovaTerm(
                TIMES.join(columns[part] for part in name.split(":")),
                float(line["sum_sq"]),
                int(line["df"]),
                float(line["F"]),
                float(line["PR(>F)"]),
            )
            for name, line in lines.items()
        ),
        float(table.loc["Residual", "sum_sq"]),
        int(table.loc["Residual", "df"]),
    )


def linear_trend(means: CellMeans, doses: Mapping[str, float], *, alpha: float = 0.05) -> Trend:
    """The linear trend over two or more doses, and whether three or more leave the straight line.

    `means` are of the conditions of `doses`. The joint test of the departure is over any contrasts of the doses' means
    that a straight line does not change.
    """
    slope = mean_contrast(means, trend_weights(doses), alpha=alpha)
    levels = sorted(set(doses.values()))
    variance = float((means.squared_errors * means.ns).mean())
    in_sd = None if isinstance(slope, Undefined) else slope.value * (levels[-1] - levels[0]) / math.sqrt(variance)
    if len(levels) < 3:
        return Trend(slope, in_sd, Undefined("Two doses always lie on a straight line."))
    line = np.vander(np.array(levels), 2)
    # What remains of an orthogonal basis beside the straight line.
    rest = np.linalg.qr(line, mode="complete")[0][:, 2:].T
    n_at = {level: list(doses.values()).count(level) for level in levels}
    curves = [{name: float(row[levels.index(dose)]) / n_at[dose] for name, dose in doses.items()} for row in rest]
    return Trend(slope, in_sd, joint_test(means, curves))
