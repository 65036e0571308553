"""Numbers with their intervals, and the checks that every chart makes before it draws."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from core.errors import DataError


class Estimate(NamedTuple):
    """A value and the ends of its interval, in one unit; ``low <= value <= high``."""

    value: float
    low: float
    high: float


def checked_number(value: float, *, what: str) -> float:
    """Return a number as a float if it is finite.

    Parameters
    ----------
    value : float
        Any real number.
    what : str
        Names it in the error.

    Returns
    -------
    float
        The same number.

    Raises
    ------
    DataError
        The number is NaN or infinite.

    Examples
    --------
    >>> checked_number(3, what="the mean of TopPop")
    3.0
    """
    converted = float(value)
    if not math.isfinite(converted):
        raise DataError(f"A chart cannot draw {converted} for {what}: omit it, or state why there is no value.")
    return converted


def checked_estimates(estimates: Mapping[str, Sequence[float]], *, what: str) -> dict[str, Estimate]:
    """Return estimates by name if there are any and all are finite and in order.

    Parameters
    ----------
    estimates : mapping of str to (value, low, high)
        In the order in which they are drawn.
    what : str
        Names the quantity in the error.

    Returns
    -------
    dict of str to Estimate
        In the same order.

    Raises
    ------
    DataError
        Nothing to draw, a number that is not finite, or a value outside its interval.

    Examples
    --------
    >>> checked_estimates({"LSA": (0.01, 0.0, 0.02)}, what="recall")
    {'LSA': Estimate(value=0.01, low=0.0, high=0.02)}
    """
    if not estimates:
        raise DataError(f"There is no {what} to draw.")
    checked: dict[str, Estimate] = {}
    for name, numbers in estimates.items():
        if len(numbers) != 3:
            raise DataError(f"The {what} of {name} needs a value and two ends; got {len(numbers)} numbers.")
        value, low, high = (checked_number(part, what=f"the {what} of {name}") for part in numbers)
        # Sums taken in another order may differ in the last digit.
        slack = 1e-9 * max(1.0, abs(value))
        if not low - slack <= value <= high + slack:
            raise DataError(f"The {what} of {name} is {value:g}, outside its interval from {low:g} to {high:g}.")
        checked[name] = Estimate(value, low, high)
    return checked


def same_names(left: Iterable[str], right: Iterable[str], *, what: str) -> None:
    """Refuse two sets of names that differ.

    Parameters
    ----------
    left, right : iterable of str
        Names of algorithms or conditions.
    what : str
        Says in the error what the second should match.

    Raises
    ------
    DataError
        Some name is in one of them only.
    """
    lonely = sorted(set(left) ^ set(right))
    if lonely:
        raise DataError(f"{what} need the same names on both sides; on one side only: {', '.join(lonely)}.")


def known_names(pairs: Iterable[Sequence[str]], names: Iterable[str], *, what: str) -> list[tuple[str, str]]:
    """Return pairs of names if all of them are known.

    Parameters
    ----------
    pairs : iterable of (str, str)
        For example the edges of an order.
    names : iterable of str
        The names that exist.
    what : str
        Names the pairs in the error.

    Returns
    -------
    list of (str, str)
        The pairs, in the order given.

    Raises
    ------
    DataError
        A pair names something that is not there, or one thing twice.
    """
    known = set(names)
    checked = []
    for first, second in pairs:
        for name in (first, second):
            if name not in known:
                raise DataError(f"The {what} name {name}, which is not in the chart.")
        if first == second:
            raise DataError(f"The {what} pair {first} with itself.")
        checked.append((first, second))
    return checked


def checked_shares(values: Iterable[float], *, what: str) -> None:
    """Refuse values that cannot be shares, which are printed without a leading zero.

    Parameters
    ----------
    values : iterable of float
        Finite.
    what : str
        Names the quantity in the error.

    Raises
    ------
    DataError
        A value lies outside [-1, 1].
    """
    for value in values:
        if abs(value) > 1 + 1e-9:
            raise DataError(f"The {what} has the value {value:g}, which is no proportion; pass is_share=False.")
