"""Statistics as strings in the style of the APA Publication Manual, seventh edition.

Plain text: two decimals for statistics, three for p, which is never rounded across its threshold, and no leading zero
for quantities that cannot exceed 1. The caller sets italics.
"""

from __future__ import annotations

from inference.results import AnovaResult, Interval, KruskalResult


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


def kruskal(result: KruskalResult) -> str:
    """Format a Kruskal-Wallis test; ε² is the rank epsilon squared.

    Examples
    --------
    >>> kruskal(KruskalResult(46.8123, 6, 2e-08, 1.0, {}, 0.224, 0.2, 210, ()))
    'H(6) = 46.81, p < .001, ε² = .22'
    """
    return f"H({result.df}) = {number(result.h)}, {p_value(result.p)}, ε² = {share(result.rank_epsilon_squared)}"
