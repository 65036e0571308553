"""Compiled reading of lines of numbers; import it through `catalog.importers.lazy` only.

It takes plain decimal digits, a minus sign before them and a point among them, and nothing else: whatever is
written otherwise, right or wrong, is for the reader by line. With ``NUMBA_DISABLE_JIT=1`` this is the plain
Python function it looks like.
"""

from __future__ import annotations

import numba
import numpy as np
from numba import float64, int64, uint8
from numpy.typing import NDArray

__all__ = ["parse_numbers"]

MOST_DIGITS_WHOLE = 18  # any such number fits 64 bits
MOST_DIGITS = 15  # of a number with a fraction: digits and power of ten are both exact, so is their quotient
POWERS = 10.0 ** np.arange(MOST_DIGITS + 1)
NUMBER, ID = 0, 2  # kinds of column; any other holds whole numbers
READ_BYTES = numba.types.Array(uint8, 1, "C", readonly=True)


@numba.njit(int64(READ_BYTES, READ_BYTES, READ_BYTES, int64[:, ::1], float64[:, ::1]), cache=True, nogil=True)
def parse_numbers(
    data: NDArray[np.uint8],
    kinds: NDArray[np.uint8],
    delimiter: NDArray[np.uint8],
    wholes: NDArray[np.int64],
    numbers: NDArray[np.float64],
) -> int:
    """Write the fields of whole lines, column by column; return the rows read, or -1 at anything unusual.

    `kinds` says of each column whether it holds numbers (0), whole numbers (1) or ids in digits (2).
    """
    n = data.shape[0]
    n_columns = kinds.shape[0]
    width = delimiter.shape[0]
    position = 0
    row = 0
    while position < n:
        of_wholes = 0
        of_numbers = 0
        for column in range(n_columns):
            is_negative = position < n and data[position] == 45
            if is_negative:
                position += 1
            start = position
            value = 0
            while position < n:
                digit = int(data[position]) - 48
                if digit < 0 or digit > 9:
                    break
                if position - start >= MOST_DIGITS_WHOLE:
                    return -1
                value = value * 10 + digit
                position += 1
            digits = position - start
            if digits == 0:
                return -1
            if kinds[column] == ID and (is_negative or (digits > 1 and data[start] == 48)):
                return -1  # as text "007" is not "7"
            if kinds[column] != NUMBER:
                wholes[of_wholes, row] = -value if is_negative else value
                of_wholes += 1
            else:
                decimals = 0
                if position < n and data[position] == 46:
                    position += 1
                    start = position
                    while position < n:
                        digit = int(data[position]) - 48
                        if digit < 0 or digit > 9:
                            break
                        if digits + position - start >= MOST_DIGITS:
                            return -1
                        value = value * 10 + digit
                        position += 1
                    decimals = position - start
                    if decimals == 0:
                        return -1
                if digits + decimals > MOST_DIGITS:
                    return -1
                number = value / POWERS[decimals]
                numbers[of_numbers, row] = -number if is_negative else number
                of_numbers += 1
            if column < n_columns - 1:
                for place in range(width):
                    if position >= n or data[position] != delimiter[place]:
                        return -1
                    position += 1
            else:
                if position < n and data[position] == 13:
                    position += 1
                if position >= n or data[position] != 10:
                    return -1
                position += 1
        row += 1
    return row
