"""Statistics as strings in the style of the APA Publication Manual, seventh edition.

Plain text: two decimals for statistics, three for p, which is never rounded across its threshold, and no leading zero
for quantities that cannot exceed 1. The caller sets italics.
"""

from __future__ import annotations

from inference.results import (
    AgreementResult,
    AnovaResult,
    Interval,
    KruskalResult,
    SignTestResult,
    WelchResult,
)


def p_value(p: float, alpha: float | None = 0.05) -> str:
    """Format a p value, with more digits where rounding would hide on which side of `alpha` it lies (None: never).

    Examples
    --------
    >>> p_value(0.0391), p_value(0.0004), p_value(0.0499)
    ('p = .039', 'p < .001', 'p = .0499')
    """
    if p < 0.001:
        return "p < .001"
    if p > 0.9995:
        return "p > .999"
    digits = 3
    if alpha is not None and p != alpha:
        while digits < 17 and float(f"{p:.{digits}f}") == alpha:
            digits += 1
    return f"p = {share(p, digits)}"


def number(value: float, digits: int = 2) -> str:
    """Format a quantity that can exceed 1, with its leading zero and without a negative zero.

    Examples
    --------
    >>> number(0.746), number(-0.001)
    ('0.75', '0.00')
    """
    text = f"{value:.{digits}f}"
    return text.lstrip("-") if float(text) == 0 else text


def share(value: float, digits: int = 2) -> str:
    """Format a quantity that cannot exceed 1 in size, without a leading zero.

    Examples
    --------
    >>> share(0.25), share(-0.142857), share(1.0)
    ('.25', '-.14', '1.00')
    """
    text = number(value, digits)
    return text.replace("0.", ".", 1) if text.removeprefix("-").startswith("0.") else text


def f_test(
    f: float,
    df_between: int,
    df_within: float,
    p: float,
    *,
    eta_squared: float | None = None,
    interval: Interval | None = None,
) -> str:
    """Format an F test, with eta squared and its 95 % interval where given; a float `df_within` is written with two
    digits.

    Examples
    --------
    >>> f_test(11.364, 6, 203, 6e-11, eta_squared=0.2514, interval=Interval(0.1405, 0.3343))
    'F(6, 203) = 11.36, p < .001, η² = .25, 95% CI [.14, .33]'
    """
    within = str(df_within) if isinstance(df_within, int) else number(df_within)
    text = f"F({df_between}, {within}) = {number(f)}, {p_value(p)}"
    if eta_squared is not None:
        text += f", η² = {share(eta_squared)}"
    if interval is not None:
        text += f", 95% CI [{share(interval.low)}, {share(interval.high)}]"
    return text


def anova(result: AnovaResult) -> str:
    """Format a one-way analysis of variance; the interval is effectsize's.

    Examples
    --------
    >>> from inference.anova import one_way
    >>> anova(one_way({"A": [1, 2, 3], "B": [3, 4, 5]}))
    'F(1, 4) = 6.00, p = .070, η² = .60, 95% CI [.00, .86]'
    """
    return f_test(
        result.f,
        result.df_between,
        result.df_within,
        result.p,
        eta_squared=result.eta_squared,
        interval=result.eta_squared_ci,
    )


def welch(result: WelchResult) -> str:
    """Format Welch's analysis of variance.

    Examples
    --------
    >>> welch(WelchResult(8.1234, 1.2e-06, 6, 90.2345, 210, 7, ()))
    "Welch's F(6, 90.23) = 8.12, p < .001"
    """
    return f"Welch's {f_test(result.f, result.df_between, result.df_within, result.p)}"


def kruskal(result: KruskalResult) -> str:
    """Format a Kruskal-Wallis test; ε² is the rank epsilon squared.

    Examples
    --------
    >>> kruskal(KruskalResult(46.8123, 6, 2e-08, 1.0, {}, 0.224, 0.2, 210, ()))
    'H(6) = 46.81, p < .001, ε² = .22'
    """
    return f"H({result.df}) = {number(result.h)}, {p_value(result.p)}, ε² = {share(result.rank_epsilon_squared)}"


def effect(g: float, interval: Interval | None = None, confidence: str = "95%") -> str:
    """Format Hedges' g, which can exceed 1, with its interval where there is one.

    Examples
    --------
    >>> effect(1.23, Interval(0.68, 1.78))
    'g = 1.23, 95% CI [0.68, 1.78]'
    """
    ends = "" if interval is None else f", {confidence} CI [{number(interval.low)}, {number(interval.high)}]"
    return f"g = {number(g)}{ends}"


def correlation(r: float, df: int, p: float, interval: Interval | None = None) -> str:
    """Format Pearson's correlation with the degrees of freedom of its t, and its 95 % interval where there is one.

    Examples
    --------
    >>> correlation(0.4384, 208, 2.8e-11, Interval(0.3221, 0.5416))
    'r(208) = .44, p < .001, 95% CI [.32, .54]'
    """
    ends = "" if interval is None else f", 95% CI [{share(interval.low)}, {share(interval.high)}]"
    return f"r({df}) = {share(r)}, {p_value(p)}{ends}"


def tau(result: AgreementResult) -> str:
    """Format the tau-b of `inference.agreement.kendall`.

    Examples
    --------
    >>> tau(AgreementResult(1 / 7, 0.7726, "exact permutation", 7, 0.714))
    'τ_b = .14, p = .773 (exact, n = 7)'
    """
    method = "exact" if result.p_method.startswith("exact") else result.p_method
    return f"τ_b = {share(result.coefficient)}, {p_value(result.p)} ({method}, n = {result.n})"


def sign(result: SignTestResult, name: str = "A") -> str:
    """Format a sign test from the side of the first algorithm, whose `name` it is.

    Examples
    --------
    >>> sign(SignTestResult(15, 6, 4, 0, 0.03918, "greater"))
    '15 of 21 users favoured A, exact sign test, one-sided p = .039'
    """
    sided = "one-sided" if result.alternative == "greater" else "two-sided"
    n = result.n_a + result.n_b
    return f"{result.n_a} of {n} users favoured {name}, exact sign test, {sided} {p_value(result.p)}"
