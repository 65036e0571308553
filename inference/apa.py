"""Strings for a paper, after the seventh edition of APA's Publication Manual.

Plain text: two decimals for statistics, p to three and never past its threshold, no leading zero for what
cannot exceed 1. Italics are left to whoever prints.
"""

from __future__ import annotations

from inference.results import (
    AgreementResult,
    AnovaResult,
    Interval,
    KruskalResult,
    Pair,
    SignTestResult,
    WelchResult,
)


def p_value(p: float, alpha: float | None = 0.05) -> str:
    """Write a p value.

    Parameters
    ----------
    p : float
        In [0, 1].
    alpha : float or None
        Where rounding would hide on which side of alpha p lies, more digits are printed; None: never.

    Returns
    -------
    str

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
    """Write a quantity that can exceed 1, with its leading zero and without a negative zero.

    Parameters
    ----------
    value : float
        Finite.
    digits : int
        After the decimal point.

    Returns
    -------
    str

    Examples
    --------
    >>> number(0.746), number(-0.001)
    ('0.75', '0.00')
    """
    text = f"{value:.{digits}f}"
    return text.lstrip("-") if float(text) == 0 else text


def share(value: float, digits: int = 2) -> str:
    """Write a quantity that cannot exceed 1 in size, without a leading zero.

    Parameters
    ----------
    value : float
        In [-1, 1].
    digits : int
        After the decimal point.

    Returns
    -------
    str

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
    eta_squared: float | None = None,
    interval: Interval | None = None,
) -> str:
    """Write an F test, with eta squared and its interval where given.

    Parameters
    ----------
    f, p : float
        The statistic, and its p in [0, 1].
    df_between : int
    df_within : int or float
        A float is written with two digits.
    eta_squared : float, optional
        In [0, 1].
    interval : Interval, optional
        Its 95 % interval.

    Returns
    -------
    str

    Examples
    --------
    >>> f_test(11.364, 6, 203, 6e-11, 0.2514, Interval(0.1405, 0.3343))
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
    """Write a one-way analysis of variance; the interval is effectsize's.

    Parameters
    ----------
    result : AnovaResult

    Returns
    -------
    str

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
        result.eta_squared,
        result.eta_squared_ci,
    )


def welch(result: WelchResult) -> str:
    """Write Welch's analysis of variance.

    Parameters
    ----------
    result : WelchResult

    Returns
    -------
    str

    Examples
    --------
    >>> welch(WelchResult(8.1234, 1.2e-06, 6, 90.2345, 210, 7, ()))
    "Welch's F(6, 90.23) = 8.12, p < .001"
    """
    return f"Welch's {f_test(result.f, result.df_between, result.df_within, result.p)}"


def kruskal(result: KruskalResult) -> str:
    """Write a Kruskal-Wallis test; ε² is the rank epsilon squared.

    Parameters
    ----------
    result : KruskalResult

    Returns
    -------
    str

    Examples
    --------
    >>> kruskal(KruskalResult(46.8123, 6, 2e-08, 1.0, {}, 0.224, 0.2, 210, ()))
    'H(6) = 46.81, p < .001, ε² = .22'
    """
    return f"H({result.df}) = {number(result.h)}, {p_value(result.p)}, ε² = {share(result.rank_epsilon_squared)}"


def post_hoc(pair: Pair, test: str = "Tukey", confidence: str = "95%") -> str:
    """Write one comparison of means with its simultaneous interval.

    Parameters
    ----------
    pair : Pair
        Its difference in the unit of the data.
    test : str
        Printed with the p.
    confidence : str
        Of the interval, as printed.

    Returns
    -------
    str

    Examples
    --------
    >>> post_hoc(Pair("PureSVD", "CorNgbr", 0.7467, 0.00012, True, ci_low=0.26, ci_high=1.23))
    'PureSVD – CorNgbr: mean difference 0.75, 95% CI [0.26, 1.23], p_Tukey < .001'
    """
    text = f"{pair.a} – {pair.b}: mean difference {number(pair.difference)}"
    if pair.ci_low is not None and pair.ci_high is not None:
        text += f", {confidence} CI [{number(pair.ci_low)}, {number(pair.ci_high)}]"
    if pair.p is None:
        return f"{text}, not tested"
    return f"{text}, {p_value(pair.p).replace('p', f'p_{test}', 1)}"


def effect(g: float, interval: Interval | None = None, confidence: str = "95%") -> str:
    """Write Hedges' g, which can exceed 1, with its interval where there is one.

    Parameters
    ----------
    g : float
        In standard deviations.
    interval : Interval, optional
    confidence : str
        Of the interval, as printed.

    Returns
    -------
    str

    Examples
    --------
    >>> effect(1.23, Interval(0.68, 1.78))
    'g = 1.23, 95% CI [0.68, 1.78]'
    """
    ends = "" if interval is None else f", {confidence} CI [{number(interval.low)}, {number(interval.high)}]"
    return f"g = {number(g)}{ends}"


def correlation(r: float, df: int, p: float, interval: Interval | None = None) -> str:
    """Write Pearson's correlation with the degrees of freedom of its t.

    Parameters
    ----------
    r : float
        In [-1, 1].
    df : int
    p : float
        In [0, 1].
    interval : Interval, optional
        Its 95 % interval.

    Returns
    -------
    str

    Examples
    --------
    >>> correlation(0.4384, 208, 2.8e-11, Interval(0.3221, 0.5416))
    'r(208) = .44, p < .001, 95% CI [.32, .54]'
    """
    ends = "" if interval is None else f", 95% CI [{share(interval.low)}, {share(interval.high)}]"
    return f"r({df}) = {share(r)}, {p_value(p)}{ends}"


def likelihood_ratio(lr: float, df: int, p: float) -> str:
    """Write a likelihood ratio test.

    Parameters
    ----------
    lr : float
        >= 0.
    df : int
    p : float
        In [0, 1].

    Returns
    -------
    str

    Examples
    --------
    >>> likelihood_ratio(21.9934, 6, 0.001214)
    'LR χ²(6) = 21.99, p = .001'
    """
    return f"LR χ²({df}) = {number(lr)}, {p_value(p)}"


def tau(result: AgreementResult) -> str:
    """Write Kendall's tau-b.

    Parameters
    ----------
    result : AgreementResult
        Of `inference.agreement.kendall`.

    Returns
    -------
    str

    Examples
    --------
    >>> tau(AgreementResult(1 / 7, 0.7726, "exact permutation", 7, 0.714))
    'τ_b = .14, p = .773 (exact, n = 7)'
    """
    method = "exact" if result.p_method.startswith("exact") else result.p_method
    return f"τ_b = {share(result.coefficient)}, {p_value(result.p)} ({method}, n = {result.n})"


def sign(result: SignTestResult, name: str = "A") -> str:
    """Write a sign test from the side of the first algorithm.

    Parameters
    ----------
    result : SignTestResult
    name : str
        The first algorithm.

    Returns
    -------
    str

    Examples
    --------
    >>> sign(SignTestResult(15, 6, 4, 0, 0.03918, "greater"))
    '15 of 21 users favoured A, exact sign test, one-sided p = .039'
    """
    sided = "one-sided" if result.alternative == "greater" else "two-sided"
    n = result.n_a + result.n_b
    return f"{result.n_a} of {n} users favoured {name}, exact sign test, {sided} {p_value(result.p)}"
