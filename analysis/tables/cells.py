"""Cells of tables, and numbers, p values and lists as they stand in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from documents.tables import Cell
from inference import apa

NONE = "–"
MISSING = Cell(NONE, None)


def whole(value: int | None) -> Cell:
    """A cell with a count.

    Examples
    --------
    >>> whole(1200).text, whole(None).text
    ('1,200', '–')
    """
    return Cell(NONE if value is None else f"{value:,}", value)


def written(value: float, digits: int = 2, is_share: bool = False) -> str:
    """A number as readers of papers expect it; no leading zero for what cannot exceed 1, and a true minus.

    Examples
    --------
    >>> written(0.294, 3, is_share=True), written(-0.5), written(0.5)
    ('.294', '−0.50', '0.50')
    """
    text = apa.share(value, digits) if is_share else apa.number(value, digits)
    return text.replace("-", "−")


def decimal(value: float | None, digits: int = 2, is_share: bool = False) -> Cell:
    """A cell with a number."""
    return Cell(NONE if value is None else written(value, digits, is_share), value)


def probability(p: float | None) -> Cell:
    """A cell with a p value, under a heading that says p.

    Examples
    --------
    >>> probability(0.0391).text, probability(0.00002).text, probability(None).text
    ('.039', '< .001', '–')
    """
    return Cell(NONE if p is None else p_alone(p), p)


def p_alone(p: float) -> str:
    """A p value without its letter."""
    return apa.p_value(p).removeprefix("p ").removeprefix("= ")


def interval(low: float | None, high: float | None, digits: int = 2, is_share: bool = False) -> Cell:
    """A cell with a confidence interval.

    Examples
    --------
    >>> interval(-0.1, 0.25).text
    '[−0.10, 0.25]'
    """
    if low is None or high is None:
        return MISSING
    return Cell(bracketed(low, high, digits, is_share), f"{low!r} {high!r}")


def bracketed(low: float, high: float, digits: int = 2, is_share: bool = False) -> str:
    """The limits of an interval within a sentence.

    Examples
    --------
    >>> bracketed(0.05, 0.617, is_share=True)
    '[.05, .62]'
    """
    return f"[{written(low, digits, is_share)}, {written(high, digits, is_share)}]"


def span(low: float, high: float, digits: int = 2, is_share: bool = False) -> Cell:
    """A cell with the smallest and the largest of some values.

    Examples
    --------
    >>> span(1, 4.5).text
    '1.00 to 4.50'
    """
    return Cell(f"{written(low, digits, is_share)} to {written(high, digits, is_share)}", f"{low!r} {high!r}")


def percent(share: float) -> str:
    """A share in percent.

    Examples
    --------
    >>> percent(0.256)
    '26%'
    """
    return f"{100 * share:.0f}%"


def lasting(seconds: float) -> str:
    """A duration in minutes and seconds.

    Examples
    --------
    >>> lasting(374.6), lasting(2)
    ('6:15', '0:02')
    """
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes:,}:{rest:02}"


def share_cell(share: float | None) -> Cell:
    """A cell with a share in percent."""
    return MISSING if share is None else Cell(percent(share), share)


def equals(p: float) -> str:
    """A p value with its sign, to follow the letter.

    Examples
    --------
    >>> equals(0.0391), equals(0.0001)
    ('= .039', '< .001')
    """
    alone = p_alone(p)
    return alone if alone[0] in "<>" else f"= {alone}"


def capital(words: str) -> str:
    """Words as a sentence begins."""
    return words[0].upper() + words[1:]


def f_statistic(df_between: int, df_within: float, f: float) -> str:
    """An F with its degrees of freedom.

    Examples
    --------
    >>> f_statistic(2, 12, 4.5), f_statistic(2, 9.25, 4.5)
    ('F(2, 12) = 4.50', 'F(2, 9.25) = 4.50')
    """
    within = f"{df_within}" if isinstance(df_within, int) else written(df_within)
    return f"F({df_between}, {within}) = {written(f)}"


def relation(pairs: Iterable[Sequence[str]], preposition: str = "over") -> str:
    """Pairs in order, in a sentence.

    Examples
    --------
    >>> relation([("A", "B"), ("A", "C")])
    'A over B and A over C'
    """
    return listed([f"{above} {preposition} {below}" for above, below in pairs])


def listed(names: Sequence[str], last: str = "and") -> str:
    """Names in a sentence; `last` stands before the last.

    Examples
    --------
    >>> listed(["A", "B", "C"]), listed(["A"]), listed([])
    ('A, B and C', 'A', 'none')
    """
    if not names:
        return "none"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {last} {names[-1]}"
