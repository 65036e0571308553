"""Numbers, p values and lists of names as text, for tables, sentences and pages.

After the APA Publication Manual, seventh edition, with true minus signs: two decimals for statistics, three for p, and
no leading zero for quantities that cannot exceed 1 ("shares").
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

NONE = "–"
WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


class Limits(Protocol):
    """An interval, or bounds."""

    @property
    def low(self) -> float: ...

    @property
    def high(self) -> float: ...


def number(value: float | None, digits: int = 2, is_share: bool = False) -> str:
    """A number, without a leading zero where it is a share; a dash if there is none.

    Examples
    --------
    >>> number(0.294, 3, is_share=True), number(-0.5), number(-0.001), number(1, is_share=True), number(None)
    ('.294', '−0.50', '0.00', '1.00', '–')
    """
    if value is None:
        return NONE
    text = f"{value:.{digits}f}"
    if float(text) == 0:
        text = text.lstrip("-")
    if is_share and text.removeprefix("-").startswith("0."):
        text = text.replace("0.", ".", 1)
    return text.replace("-", "−")


def coefficient(value: float) -> str:
    """A correlation.

    Examples
    --------
    >>> coefficient(-0.142857)
    '−.14'
    """
    return number(value, 2, is_share=True)


def count(n: int | None) -> str:
    """A count; a dash if there is none.

    Examples
    --------
    >>> count(1200), count(None)
    ('1,200', '–')
    """
    return NONE if n is None else f"{n:,}"


def named_p(p: float, alpha: float | None = 0.05) -> str:
    """A p value with its letter, with more digits where rounding would hide on which side of `alpha` it lies (None:
    never).

    Examples
    --------
    >>> named_p(0.0391), named_p(0.0004), named_p(0.0499)
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
    return f"p = {number(p, digits, is_share=True)}"


def p_value(p: float | None) -> str:
    """A p value under a heading that says p; a dash if nothing was tested.

    Examples
    --------
    >>> p_value(0.0391), p_value(0.0001), p_value(None)
    ('.039', '< .001', '–')
    """
    return NONE if p is None else named_p(p).removeprefix("p ").removeprefix("= ")


def interval(low: float, high: float, digits: int = 2, is_share: bool = False) -> str:
    """The limits of an interval.

    Examples
    --------
    >>> interval(0.05, 0.617, is_share=True)
    '[.05, .62]'
    """
    return f"[{number(low, digits, is_share)}, {number(high, digits, is_share)}]"


def percent(share: float) -> str:
    """A share in percent.

    Examples
    --------
    >>> percent(0.256)
    '26%'
    """
    return f"{100 * share:.0f}%"


def minutes(seconds: float) -> str:
    """A duration in minutes and seconds.

    Examples
    --------
    >>> minutes(374.6), minutes(2)
    ('6:15', '0:02')
    """
    whole, rest = divmod(round(seconds), 60)
    return f"{whole:,}:{rest:02}"


def f_statistic(df_between: int, df_within: float, f: float) -> str:
    """An F with its degrees of freedom, which are fractions where they are floats.

    Examples
    --------
    >>> f_statistic(2, 12, 4.5), f_statistic(2, 9.25, 4.5)
    ('F(2, 12) = 4.50', 'F(2, 9.25) = 4.50')
    """
    within = f"{df_within}" if isinstance(df_within, int) else number(df_within)
    return f"F({df_between}, {within}) = {number(f)}"


def number_word(n: int) -> str:
    """A number as a word up to twelve.

    Examples
    --------
    >>> number_word(7), number_word(21)
    ('seven', '21')
    """
    return WORDS[n] if n < len(WORDS) else str(n)


def plural(n: int, noun: str) -> str:
    """A noun with its number.

    Examples
    --------
    >>> plural(1, "pair"), plural(21, "pair")
    ('1 pair', '21 pairs')
    """
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def capital(words: str) -> str:
    """Words as a sentence begins.

    Examples
    --------
    >>> capital("no difference")
    'No difference'
    """
    return words[0].upper() + words[1:]


def listed(names: Sequence[str]) -> str:
    """Names in a sentence.

    Examples
    --------
    >>> listed(["A", "B", "C"]), listed(["A"]), listed([])
    ('A, B and C', 'A', 'none')
    """
    if not names:
        return "none"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def relation(pairs: Iterable[Sequence[str]], preposition: str = "over") -> str:
    """Pairs in order, in a sentence.

    Examples
    --------
    >>> relation([("A", "B"), ("A", "C")])
    'A over B and A over C'
    """
    return listed([f"{above} {preposition} {below}" for above, below in pairs])
