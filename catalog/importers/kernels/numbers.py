"""Compiled reading of lines of numbers.

It takes plain decimal digits, a minus sign before them and one decimal character among them, and nothing else:
whatever is written otherwise, right or wrong, is for the reader by line. With ``NUMBA_DISABLE_JIT=1`` this is the plain
Python function it looks like.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numba import float32, float64, int32, int64, uint8, uint64
from numpy.typing import NDArray

MOST_DIGITS_WHOLE = 18  # any such number fits 64 bits
MOST_IN_32_BITS = 2**31 - 1
MOST_DIGITS = 15  # of a number with a fraction: digits and power of ten are both exact, so is their quotient
POWERS = 10.0 ** np.arange(MOST_DIGITS + 1)
NUMBER, ID = 0, 2  # kinds of column; any other holds whole numbers
UNUSUAL = np.uint64(2**64 - 1)
READ_BYTES = numba.types.Array(uint8, 1, "C", readonly=True)


def _signature(whole: numba.types.Type, number: numba.types.Type) -> object:
    return uint64(READ_BYTES, READ_BYTES, READ_BYTES, uint8, whole[:, ::1], number[:, ::1])


@numba.njit([_signature(int32, float32), _signature(int64, float64)], cache=True, nogil=True)
def parse_numbers(
    data: NDArray[np.uint8],
    kinds: NDArray[np.uint8],
    delimiter: NDArray[np.uint8],
    decimal: np.uint8,
    wholes: NDArray[np.integer[Any]],
    numbers: NDArray[np.floating[Any]],
) -> np.uint64:
    """Write the fields of whole lines, column by column; return the rows read, or `UNUSUAL`.

    `kinds` says of each column whether it holds numbers (0), whole numbers (1) or ids in digits (2). `data` ends
    with a line's end, at which every run of digits stops: only where a field begins is the end looked for. A value
    that the arrays have no room for is unusual. `decimal` is the character before decimals, and no delimiter.
    """
    step = np.uint64(1)
    n = np.uint64(data.shape[0])
    n_columns = kinds.shape[0]
    width = np.uint64(delimiter.shape[0])
    position = np.uint64(0)
    row = np.uint64(0)
    while position < n:
        of_wholes = 0
        of_numbers = 0
        for column in range(n_columns):
            if position >= n:
                return UNUSUAL
            kind = kinds[column]
            is_negative = data[position] == 45
            if is_negative:
                position += step
                if position >= n:
                    return UNUSUAL
            start = position
            value = 0
            while True:
                digit = int(data[position]) - 48
                if digit < 0 or digit > 9:
                    break
                value = value * 10 + digit
                position += step
            digits = np.int64(position - start)
            if digits == 0 or digits > MOST_DIGITS_WHOLE:
                return UNUSUAL
            if kind != NUMBER:
                if kind == ID and (is_negative or (digits > 1 and data[start] == 48)):
                    return UNUSUAL  # as text "007" is not "7"
                if wholes.itemsize == 4 and value > MOST_IN_32_BITS:
                    return UNUSUAL
                wholes[of_wholes, row] = -value if is_negative else value
                of_wholes += 1
            else:
                decimals = np.int64(0)
                if data[position] == decimal:
                    position += step
                    start = position
                    while True:
                        digit = int(data[position]) - 48
                        if digit < 0 or digit > 9:
                            break
                        value = value * 10 + digit
                        position += step
                    decimals = np.int64(position - start)
                    if decimals == 0:
                        return UNUSUAL
                if digits + decimals > MOST_DIGITS:
                    return UNUSUAL
                number = value / POWERS[decimals]
                if is_negative:
                    number = -number
                numbers[of_numbers, row] = number
                if np.float64(numbers[of_numbers, row]) != number:
                    return UNUSUAL
                of_numbers += 1
            if column < n_columns - 1:
                for index in range(width):
                    if position >= n or data[position] != delimiter[index]:
                        return UNUSUAL
                    position += step
            else:
                if data[position] == 13:
                    position += step
                if position >= n or data[position] != 10:
                    return UNUSUAL
                position += step
        row += step
    return row
