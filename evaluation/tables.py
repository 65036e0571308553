"""How numbers of a run are written: pure, the same on pages and in the terminal."""

from __future__ import annotations


def share(value: float | None) -> str:
    """Write a value between 0 and 1 with three decimals and no leading zero; a dash where there is none.

    Examples
    --------
    >>> share(0.41666), share(1.0), share(-0.0101), share(None)
    ('.417', '1.000', '-.010', '–')
    """
    if value is None:
        return "–"
    text = f"{value:.3f}".replace("-0.", "-.")
    return text[1:] if text.startswith("0") else text.replace("-.000", ".000")


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


def p_value(value: float | None) -> str:
    """Write a p with three decimals and no leading zero; a dash where nothing was tested.

    Examples
    --------
    >>> p_value(0.0321), p_value(0.0000002), p_value(None)
    ('.032', '< .001', '–')
    """
    if value is None:
        return "–"
    return "< .001" if value < 0.001 else share(value)
