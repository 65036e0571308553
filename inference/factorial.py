r"""Factorial designs and doses: contrasts of the conditions' means with a variance of their own for each condition.

.. math:: L = \sum_j c_j \bar y_j, \qquad se^2 = \sum_j c_j^2 s_j^2 / n_j, \qquad t = L / se

with Satterthwaite's degrees of freedom. The conditions are the full product of the factors' levels; a marginal mean
gives every condition of its level the same weight, however many participants it has.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from inference.ancova import FTest
from inference.anova import why_not_pooled
from inference.groups import Groups, GroupValues, in_words
from inference.results import Floats, Integers, Interval, Undefined
from inference.studentized_range import critical_range, upper_tail
from inference.t_tests import satterthwaite_df, t_test

Weights = Mapping[str, float]  # of the conditions in a contrast; one that is missing has 0
Cells = Mapping[str, Mapping[str, str]]  # condition -> its level of every factor; the full product of the levels
TIMES = " × "  # between factors of an interaction
NEGLIGIBLE = 1e-9  # of the largest singular value


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
    p: float  # of this contrast alone, as `interval`
    interval: Interval  # coverage 1 - α
    p_family: float  # adjusted for all contrasts of the family; the same as `p` for a family of one
    family_interval: Interval  # holds together with those of the family
    weights: dict[str, float]


@dataclass(frozen=True)
class Term:
    """An effect of the design: of a factor, of two factors together, or of doses."""

    contrasts: dict[str, MeanContrast | Undefined]  # by name, the later level against the earlier one
    joint: FTest | Undefined  # whether all are 0; of a trend, whether the doses' means leave the straight line
    means: dict[str, float] | None = None  # marginal means of the levels of one factor
    in_sd: float | None = None  # of a trend: from the lowest to the highest dose, in SDs within conditions
    margins: dict[str, MeanContrast | Undefined] | None = None  # the marginal means, with their intervals


def levels_of(cells: Cells, factor: str) -> tuple[str, ...]:
    """The levels of a factor, in the order of the conditions."""
    return tuple(dict.fromkeys(levels[factor] for levels in cells.values()))


def pair_weights(cells: Cells, factor: str, a: str, b: str) -> dict[str, float]:
    """The weights of a marginal difference of two levels, `a` minus `b`."""
    own = {name: (levels[factor] == a) - (levels[factor] == b) for name, levels in cells.items()}
    return {name: sign / list(own.values()).count(sign) for name, sign in own.items() if sign}


def interaction_weights(cells: Cells, first: Weights, second: Weights) -> dict[str, float]:
    """The weights of a difference of differences, from those of a pair of each of two factors.

    Examples
    --------
    >>> cells = {x + y: {"x": x, "y": y} for x in "AB" for y in "12"}
    >>> interaction_weights(cells, pair_weights(cells, "x", "B", "A"), pair_weights(cells, "y", "2", "1"))
    {'A1': 1.0, 'A2': -1.0, 'B1': -1.0, 'B2': 1.0}
    """
    return {name: len(cells) * first[name] * second[name] for name in cells if name in first and name in second}


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
    p_family = min(1.0, n_tests * upper_tail(math.sqrt(2) * abs(value / se), n_means, df))
    half = critical_range(alpha / n_tests, n_means, df) / math.sqrt(2) * se
    wide = Interval(value - half, value + half)
    return MeanContrast(value, se, df, value / se, p, interval, p_family, wide, dict(weights))


def joint_test(cells: CellMeans, contrasts: Iterable[Weights]) -> FTest | Undefined:
    r"""Test whether several contrasts are all 0, without assuming equal variances; some may follow from the others.

    .. math::
        T = (Cm)'(CSC')^{-1}Cm, \quad A = \sum_j \frac{M_{jj}^2}{n_j - 1}, \quad M = SC'(CSC')^{-1}C, \quad
        F = T \Big/ \Big(q + 2A - \frac{6A}{q + 2}\Big)

    C holds q independent contrasts; F has q and q(q + 2) / (3A) degrees of freedom. This is t squared for one contrast,
    and Welch's analysis of variance for all differences of one factor. Undefined where conditions without variance
    leave contrasts without an error. Sources: Johansen (1980), Biometrika 67(1):85-92; Lix & Keselman (1995),
    Psychological Bulletin 117(3):547-560.

    Examples
    --------
    >>> cells = CellMeans.of_groups({"A": [1, 2, 3], "B": [2, 4, 6]}, "AB")
    >>> found, contrast = joint_test(cells, [{"A": -1.0, "B": 1.0}]), mean_contrast(cells, {"A": -1.0, "B": 1.0})
    >>> math.isclose(found.f, contrast.t**2), math.isclose(found.df_within, contrast.df)
    (True, True)
    """
    from scipy import special

    _left, sizes, rows = np.linalg.svd(np.array([cells.vector(weights) for weights in contrasts]), full_matrices=False)
    matrix = rows[sizes > NEGLIGIBLE * sizes[0]]
    spread = (matrix * cells.squared_errors) @ matrix.T
    eigenvalues = np.linalg.eigvalsh(spread)
    if eigenvalues[0] <= NEGLIGIBLE * eigenvalues[-1]:
        return Undefined("Too many conditions have no variance for a joint test.")
    values, q = matrix @ cells.means, len(matrix)
    shares = np.einsum("ij,ij->j", matrix, np.linalg.solve(spread, matrix)) * cells.squared_errors
    uncertainty = float((shares**2 / (cells.ns - 1)).sum())
    f = float(values @ np.linalg.solve(spread, values)) / (q + 2 * uncertainty - 6 * uncertainty / (q + 2))
    df_within = q * (q + 2) / (3 * uncertainty)
    return FTest(f, q, df_within, float(special.fdtrc(q, df_within, f)))


def factor_term(means: CellMeans, cells: Cells, factor: str, *, alpha: float = 0.05) -> Term:
    """A factor with two or more levels: marginal means, and every pair by Games and Howell's studentized range."""
    levels = levels_of(cells, factor)
    pairs = {f"{a} against {b}": pair_weights(cells, factor, a, b) for b, a in combinations(levels, 2)}
    contrasts = {name: mean_contrast(means, own, alpha=alpha, n_means=len(levels)) for name, own in pairs.items()}
    at = {level: [name for name in means.names if cells[name][factor] == level] for level in levels}
    weights = {level: dict.fromkeys(names, 1 / len(names)) for level, names in at.items()}
    values = {level: float(means.vector(own) @ means.means) for level, own in weights.items()}
    margins = {level: mean_contrast(means, own, alpha=alpha) for level, own in weights.items()}
    return Term(contrasts, joint_test(means, pairs.values()), values, margins=margins)


def interaction_term(means: CellMeans, cells: Cells, first: str, second: str, *, alpha: float = 0.05) -> Term:
    """By how much a difference of two levels of one factor exceeds that at another level of the other factor, averaged
    over all further factors; with more than two levels for every pair with every pair, corrected by Bonferroni.
    """
    tetrads = {
        f"{a} against {b}, {at} against {than}": interaction_weights(
            cells, pair_weights(cells, first, a, b), pair_weights(cells, second, at, than)
        )
        for b, a in combinations(levels_of(cells, first), 2)
        for than, at in combinations(levels_of(cells, second), 2)
    }
    contrasts = {name: mean_contrast(means, own, alpha=alpha, n_tests=len(tetrads)) for name, own in tetrads.items()}
    return Term(contrasts, joint_test(means, tetrads.values()))


def trend_term(means: CellMeans, doses: Mapping[str, float], *, alpha: float = 0.05) -> Term:
    """The linear trend over two or more doses, every dose weighted alike; `means` are of the conditions of `doses`."""
    slope = mean_contrast(means, trend_weights(doses), alpha=alpha)
    sd = math.sqrt(float((means.squared_errors * means.ns).mean()))
    levels = sorted(set(doses.values()))
    in_sd = None if isinstance(slope, Undefined) else slope.value * (levels[-1] - levels[0]) / sd
    line = np.vander(levels, 2)
    bends = np.eye(len(levels)) - line @ np.linalg.pinv(line)  # what a straight line leaves of each dose's mean
    at = {level: [name for name, dose in doses.items() if dose == level] for level in levels}
    curves = [
        {name: own / len(at[level]) for level, own in zip(levels, row, strict=True) for name in at[level]}
        for row in bends.tolist()
    ]
    departure = joint_test(means, curves) if len(levels) > 2 else Undefined("Two doses always lie on a straight line.")
    return Term({"trend": slope}, departure, in_sd=in_sd)


def factorial_anova(groups: GroupValues, cells: Cells) -> dict[str, FTest] | Undefined:
    """Type III analysis of variance of all factors with two or more levels, with one pooled variance, by statsmodels
    with sum coding.

    Every condition has an observation. Undefined where one-way analysis of variance is. Source: Maxwell, Delaney &
    Kelley (2018), Designing Experiments and Analyzing Data, chapter 7.

    Examples
    --------
    >>> cells = {x + y: {"x": x, "y": y} for x in "AB" for y in "12"}
    >>> found = factorial_anova({"A1": [1, 2], "A2": [2, 3], "B1": [3, 4], "B2": [1, 1]}, cells)
    >>> {term: round(test.f, 4) for term, test in found.items()}
    {'x': 0.3333, 'y': 3.0, 'x × y': 16.3333}
    """
    import pandas as pd
    from statsmodels.formula.api import ols
    from statsmodels.stats.anova import anova_lm

    read = Groups.read(groups)
    if undefined := why_not_pooled(read):
        return undefined
    factors = [factor for factor in next(iter(cells.values())) if len(levels_of(cells, factor)) > 1]
    columns = {f"C(f{number}, Sum)": factor for number, factor in enumerate(factors)}
    rows = [
        [value, *(cells[group.name][factor] for factor in factors)] for group in read.members for value in group.floats
    ]
    data = pd.DataFrame(rows, columns=["y", *(f"f{number}" for number in range(len(factors)))])
    table = anova_lm(ols(f"y ~ {' * '.join(columns)}", data).fit(), typ=3)
    return {
        TIMES.join(columns[part] for part in name.split(":")): FTest(
            float(line["F"]), int(line["df"]), int(table.loc["Residual", "df"]), float(line["PR(>F)"])
        )
        for name, line in table.iterrows()
        if name not in ("Intercept", "Residual")
    }
