"""One-way analysis of variance, classical with pooled variance and Welch's, and its assumptions."""

from __future__ import annotations

import numpy as np

from inference.groups import Groups, GroupValues, in_words
from inference.results import AnovaResult, Interval, NormalityResult, SpreadResult, Undefined, WelchResult

CONFIDENCE = 0.95
# Beyond this F the noncentral distribution is no longer evaluated reliably, and the effect is beyond doubt.
LARGEST_F_FOR_INTERVAL = 1e6


def why_not_compared(groups: Groups) -> Undefined | None:
    """The reason why no comparison of these conditions is defined; None when one may be."""
    if groups.k < 2:
        only = f"only {groups.names[0]} has" if groups.k else "none has"
        return Undefined(f"A comparison needs two conditions with enough observations; {only}.")
    if groups.are_all_equal:
        return Undefined(f"All {groups.n} participants have the same value: nothing to compare.")
    return None


def why_not_pooled(groups: Groups) -> Undefined | None:
    """The reason why pooled-variance procedures are undefined on these data; None when they are defined.

    Examples
    --------
    >>> why_not_pooled(Groups.read({"A": [3, 3], "B": [4, 4]})).reason
    'All values within each condition are equal; without that variance the test cannot be computed.'
    """
    if undefined := why_not_compared(groups):
        return undefined
    if groups.n == groups.k:
        return Undefined("Every condition has a single observation: the variance is unknown.")
    if groups.ss_within == 0:
        return Undefined(
            "All values within each condition are equal; without that variance the test cannot be computed."
        )
    return None


def one_way(groups: GroupValues, least_n: int = 1) -> AnovaResult | Undefined:
    r"""One-way analysis of variance with pooled variance.

    .. math:: F = \frac{\sum_g n_g(\bar y_g - \bar y)^2 / (k-1)}{\sum_g\sum_i (y_{gi} - \bar y_g)^2 / (n-k)}

    Conditions with fewer than `least_n` observations are excluded and named. With 1, a condition of one observation is
    included: its mean is tested against the variance of the others. Undefined with fewer than two conditions, with one
    observation in each, when all values are equal, or when no condition has any variance. Sources: Fisher (1925),
    Statistical Methods for Research Workers; omega squared: Hays (1963); interval of eta squared: Steiger (2004),
    Psychological Methods 9(2):164-182.

    Examples
    --------
    >>> result = one_way({"A": [1, 2, 3], "B": [3, 4, 5]})
    >>> result.f, result.df_between, result.df_within, round(result.p, 4)
    (6.0, 1, 4, 0.0705)
    """
    from scipy import special

    read = Groups.read(groups, least_n)
    if undefined := why_not_pooled(read):
        return undefined
    df_between, df_within = read.k - 1, read.n - read.k
    ms_between, ms_within = read.ss_between / df_between, read.ss_within / df_within
    ss_total = read.ss_between + read.ss_within
    explained = read.ss_between - df_between * ms_within
    f = ms_between / ms_within
    noncentrality = noncentral_f_limits(f, df_between, df_within)
    return AnovaResult(
        f=f,
        p=float(special.fdtrc(df_between, df_within, f)),
        df_between=df_between,
        df_within=df_within,
        ss_between=read.ss_between,
        ss_within=read.ss_within,
        ms_between=ms_between,
        ms_within=ms_within,
        eta_squared=read.ss_between / ss_total,
        omega_squared=explained / (ss_total + ms_within),
        epsilon_squared=explained / ss_total,
        eta_squared_ci=_as_share(noncentrality, df_within),
        eta_squared_ci_steiger=_as_share(noncentrality, read.n),
        n=read.n,
        n_conditions=read.k,
        left_out=read.left_out,
        constant=read.constant,
        single=read.single,
    )


def noncentral_f_limits(
    f: float, df_between: float, df_within: float, confidence: float = CONFIDENCE
) -> Interval | None:
    """Noncentralities under which F would lie at the upper and at the lower limit of its distribution; None where F is
    too large for it. Source: Steiger (2004), Psychological Methods 9(2):164-182.

    Examples
    --------
    >>> limits = noncentral_f_limits(3.0, 6, 203, confidence=0.9)
    >>> round(limits.low, 2), round(limits.high, 2)
    (2.64, 29.12)
    """
    from scipy import optimize, special

    if f > LARGEST_F_FOR_INTERVAL:
        return None

    def limit(share: float) -> float:
        def excess(noncentrality: float) -> float:
            return float(special.ncfdtr(df_between, df_within, noncentrality, f)) - share

        # Even without an effect F would be as small in more cases: the limit is 0 by Steiger's definition.
        if float(special.fdtr(df_between, df_within, f)) <= share:
            return 0.0
        upper = f * df_between + 1.0
        # The root has to be enclosed first, as the limit grows with F without a bound in closed form.
        while excess(upper) > 0:
            upper *= 2
        return float(optimize.brentq(excess, 0.0, upper, xtol=1e-13, rtol=1e-14))

    tail = (1 - confidence) / 2
    return Interval(limit(1 - tail), limit(tail))


def _as_share(noncentrality: Interval | None, size: int) -> Interval | None:
    if noncentrality is None:
        return None
    low, high = noncentrality.low, noncentrality.high
    return Interval(low / (low + size), high / (high + size))


def welch(groups: GroupValues, leave_out_constant: bool = False) -> WelchResult | Undefined:
    """Welch's analysis of variance, which does not assume equal variances.

    A condition without variance would get infinite weight. Unless `leave_out_constant` is set the test is then
    undefined; if it is, such conditions are excluded and named, and the others are compared. Conditions with fewer than
    two observations are excluded and named. Undefined with fewer than two conditions. Source: Welch (1951), Biometrika
    38(3/4):330-336, equations 26 to 28.

    Examples
    --------
    >>> welch({"TopPop": [0, 0, 0], "LSA": [0, 1, 2]}).reason
    'TopPop has no variance: its weight would be infinite.'
    """
    from scipy import special

    read = Groups.read(groups, least_n=2)
    if read.k > 1 and read.are_all_equal:
        return Undefined(f"All {read.n} participants have the same value: nothing to compare.")
    if read.constant and not leave_out_constant:
        verb, whose = ("has", "its") if len(read.constant) == 1 else ("have", "their")
        reason = f"{in_words(read.constant)} {verb} no variance: {whose} weight would be infinite."
        return Undefined(reason)
    read = Groups(tuple(group for group in read.members if not group.is_constant), read.left_out + read.constant)
    if read.k < 2:
        reason = "Welch's test needs two conditions with two observations or more and with variance."
        return Undefined(reason)
    k, n = read.k, np.array([group.n for group in read.members])
    # Each mean weighs by its own precision, which is what frees the test of equal variances.
    weights = n / np.array([group.variance for group in read.members])
    shares = weights / weights.sum()
    # Distances from the first mean lose no digits where all means are large.
    means = np.array([float(group.mean - read.members[0].mean) for group in read.members])
    spread = float(weights @ (means - shares @ means) ** 2)
    unevenness = float(((1 - shares) ** 2 / (n - 1)).sum())
    f = spread / (k - 1) / (1 + 2 * (k - 2) * unevenness / (k * k - 1))
    df_within = (k * k - 1) / (3 * unevenness)
    return WelchResult(
        f=f,
        p=float(special.fdtrc(k - 1, df_within, f)),
        df_between=k - 1,
        df_within=df_within,
        n=read.n,
        n_conditions=k,
        left_out=read.left_out,
    )


BROWN_FORSYTHE = "Brown-Forsythe"
EQUAL_WITHIN = 1e-12  # of the largest value
FEWEST_FOR_SHAPIRO = 3
MOST_FOR_SHAPIRO = 5000  # the approximation of its p was fitted up to here


def brown_forsythe(groups: GroupValues) -> SpreadResult | Undefined:
    """Brown and Forsythe's test of equal variances: Levene's test with distances from the median.

    Empty conditions are excluded and named. A condition of one observation has distance 0 from its own median.
    Undefined with fewer than two conditions, or when the distances have no variance within the conditions (always the
    case with two observations in each). Source: Brown & Forsythe (1974), Journal of the American Statistical
    Association 69(346):364-367.

    Examples
    --------
    >>> result = brown_forsythe({"A": [1, 2, 3, 4], "B": [0, 10, 20, 30]})
    >>> round(result.f, 3), result.df_between, result.df_within
    (9.624, 1, 6)
    """
    from scipy import stats

    read = Groups.read(groups)
    if read.k < 2:
        return Undefined("A test of equal variances needs two conditions with observations.")
    points = [group.floats for group in read.members]
    apart = [np.abs(values - np.median(values)) for values in points]
    # Rounding leaves distances that are equal on paper apart by about 1e-16 of the values.
    if all(np.ptp(of) <= EQUAL_WITHIN * np.abs(values).max() for of, values in zip(apart, points, strict=True)):
        far = "Within every condition all values are equally distant from the median"
        return Undefined(f"{far}: equality of variances cannot be tested.")
    result = stats.levene(*points, center="median")
    f, p = float(result.statistic), float(result.pvalue)
    return SpreadResult(BROWN_FORSYTHE, f, p, read.k - 1, read.n - read.k, read.n, read.left_out)


def shapiro_residuals(groups: GroupValues) -> NormalityResult | Undefined:
    """Shapiro and Wilk's test of normality, on the pooled residuals of all conditions.

    With answers on a scale of few points it nearly always rejects: read it beside a plot of the residuals, and do not
    let it choose the test. Conditions with fewer than two observations are excluded and named: the residual of a single
    observation is always 0. Undefined with fewer than 3 or more than 5,000 residuals, or when none differs from 0.
    Sources: Shapiro & Wilk (1965), Biometrika 52(3/4):591-611; Royston (1995), algorithm AS R94.

    Examples
    --------
    >>> shapiro_residuals({"A": [3, 3, 3], "B": [4, 4, 4]}).reason
    'All residuals are 0: normality cannot be tested.'
    """
    from scipy import stats

    read = Groups.read(groups, least_n=2)
    if not FEWEST_FOR_SHAPIRO <= read.n <= MOST_FOR_SHAPIRO:
        reason = f"The test applies to {FEWEST_FOR_SHAPIRO:,} to {MOST_FOR_SHAPIRO:,} values; there are {read.n:,}."
        return Undefined(reason)
    if len(read.constant) == read.k:
        return Undefined("All residuals are 0: normality cannot be tested.")
    residuals = np.array([float(value - group.mean) for group in read.members for value in group.values()])
    # The statistic knows no unit; this one keeps its squares within the range of a float.
    tested = stats.shapiro(residuals / np.abs(residuals).max())
    return NormalityResult(float(tested.statistic), float(tested.pvalue), read.n, read.left_out)
