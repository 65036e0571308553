"""Exact numbers: values as the decimals they were written as; 0.2 is one fifth, not its nearest binary fraction."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from numbers import Rational
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from core.errors import DataError
from inference.results import Floats

Number = float | Fraction | Decimal | np.floating[Any] | np.integer[Any]

# Squares of anything inside these bounds, and ratios of squares, stay within the range of a float.
LARGEST = Fraction(10) ** 60
SMALLEST = 1 / LARGEST


def finite(values: ArrayLike, message: str) -> Floats:
    """The values as an array of floats. Raises DataError with the message where one is not a finite number."""
    array = np.asarray(values, dtype=np.float64)
    if not np.isfinite(array).all():
        raise DataError(message)
    return array


def exact(value: object, where: str = "the data") -> Fraction:
    """Read one value as the decimal it was written as: 0.1 is one tenth. Raises DataError when the value is not a
    number, not finite, or neither 0 nor between 1e-60 and 1e60 in size.

    Examples
    --------
    >>> exact(0.1) + exact(0.2) == exact(0.3)
    True
    """
    if isinstance(value, Rational):
        fraction = Fraction(int(value.numerator), int(value.denominator))
    elif isinstance(value, float | np.floating | Decimal):
        if not math.isfinite(value):
            raise DataError(f"A value in {where} is {value}, not a finite number: exclude missing answers first.")
        fraction = Fraction(str(value))
    else:
        raise DataError(f"A value in {where} is {value!r}, which is not a number.")
    if fraction and not SMALLEST <= abs(fraction) <= LARGEST:
        raise DataError(f"The value {value} in {where} lies outside 1e-60 to 1e60: use another unit.")
    return fraction
