"""Words, numbers and cells that several topics share."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from documents import numbers
from documents.numbers import (
    NONE,
    Limits,
    coefficient,
    p_with_sign,
    percent,
)
from documents.tables import Cell
from inference.results import AgreementResult, Undefined

T = TypeVar("T")

# Sentences


def method(tau: AgreementResult) -> str:
    """How a p value was computed: exactly, or from random orders."""
    return "exact" if tau.p_method.startswith("exact") else tau.p_method


def tau_b(tau: AgreementResult, symbol: str = "τ_b") -> str:
    """A rank correlation with its p value; `symbol` is for titles of charts, which have no subscripts.

    Examples
    --------
    >>> tau_b(AgreementResult(0.39, 0.3, "exact permutation", 7, 0.714))
    'τ_b = .39, exact p = .300'
    """
    return f"{symbol} = {coefficient(tau.coefficient)}, {method(tau)} p {p_with_sign(tau.p)}"


def length_words(length: int) -> str:
    """A profile length in a sentence."""
    return f"with profiles of {length} ratings" if length else "with whole profiles"


# Tables


MISSING = Cell(NONE, None)


def whole(value: int | None) -> Cell:
    """A cell with a count."""
    return Cell(numbers.count(value), value)


def decimal(value: float | None, digits: int = 2, is_share: bool = False) -> Cell:
    """A cell with a number."""
    return Cell(numbers.number(value, digits, is_share), value)


def probability(p: float | None) -> Cell:
    """A cell with a p value, under a heading that says p."""
    return Cell(numbers.p_value(p), p)


def interval_cell(low: float | None, high: float | None, digits: int = 2, is_share: bool = False) -> Cell:
    """A cell with a confidence interval.

    Examples
    --------
    >>> interval_cell(-0.1, 0.25).text
    '[−0.10, 0.25]'
    """
    if low is None or high is None:
        return MISSING
    return Cell(numbers.interval(low, high, digits, is_share), f"{low!r} {high!r}")


def limits(of: Limits | Undefined | None, digits: int = 2, is_share: bool = False) -> Cell:
    """A cell with the limits of a result that may not exist."""
    return cell_of(of, lambda ends: interval_cell(ends.low, ends.high, digits, is_share))


def cell_of(result: T | Undefined | None, write: Callable[[T], Cell]) -> Cell:
    """A cell of a result; a dash where there is none."""
    return MISSING if result is None or isinstance(result, Undefined) else write(result)


def span(low: float, high: float, digits: int = 2, is_share: bool = False) -> Cell:
    """A cell with the smallest and the largest of some values.

    Examples
    --------
    >>> span(1, 4.5).text
    '1.00 to 4.50'
    """
    text = f"{numbers.number(low, digits, is_share)} to {numbers.number(high, digits, is_share)}"
    return Cell(text, f"{low!r} {high!r}")


def ranks_cell(ranks: tuple[int, int]) -> Cell:
    """A cell with the best and the worst of some ranks.

    Examples
    --------
    >>> ranks_cell((1, 1)).text, ranks_cell((2, 5)).text
    ('1', '2 to 5')
    """
    low, high = ranks
    return Cell(f"{low}" if low == high else f"{low} to {high}", low)


def share_cell(share: float | None) -> Cell:
    """A cell with a share in percent."""
    return MISSING if share is None else Cell(percent(share), share)


def coverage(alpha: float) -> str:
    """The coverage of intervals that belong to tests at this level.

    Examples
    --------
    >>> coverage(0.05), coverage(0.005)
    ('95%', '99.5%')
    """
    return f"{round(100 * (1 - alpha), 4):g}%"
