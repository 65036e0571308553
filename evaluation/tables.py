"""How numbers of a run are written: pure, the same on pages and in the terminal."""

from __future__ import annotations


def share(value: float | None) -> str:
    """Write a value between 0 and 1 with three decimals and no leading zero; a dash where there is none.

    Examples
    --------
    >>> share(0.41666), share(1.0), share(None)
    ('.417', '1.000', '–')
    """
    if value is None:
        return "–"
    text = f"{value:.3f}"
    return text[1:] if text.startswith("0") else text


def seconds(value: float) -> str:
    """Write a time that something took, in seconds.

    Examples
    --------
    >>> seconds(0.00312), seconds(12.345)
    ('0.00', '12.35')
    """
    return f"{value:.2f}"


def duration(value: float) -> str:
    """Write a time as people say it.

    Examples
    --------
    >>> duration(8.4), duration(95), duration(7260)
    ('8 s', '1 min 35 s', '2 h 1 min')
    """
    whole = round(value)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def facts(counts: dict[str, int]) -> list[tuple[str, str]]:
    """Write counts in words as (what, how many), nothing left out.

    Examples
    --------
    >>> facts({"reserved users": 1200})
    [('reserved users', '1,200')]
    """
    return [(what, f"{count:,}") for what, count in counts.items()]


def score(value: float | None, decimals: int = 3) -> str:
    """Write a model's score, whatever its unit; a dash where there is none.

    Examples
    --------
    >>> score(4.25), score(-0.0004), score(-1234.5), score(None)
    ('4.250', '0.000', '−1,234.500', '–')
    >>> score(302.0, decimals=0)
    '302'
    """
    if value is None:
        return "–"
    text = f"{abs(value):,.{decimals}f}"
    return f"−{text}" if value < 0 and float(text.replace(",", "")) else text


def signed(value: float) -> str:
    """Write what is added to a score, or taken from it.

    Examples
    --------
    >>> signed(0.5), signed(-0.25), signed(0.0)
    ('+0.500', '−0.250', '+0.000')
    """
    return f"{'−' if value < 0 else '+'}{abs(value):,.3f}"
