"""Compiled reading of Netflix's files, where a heading ("12:") says which movie the lines below are of.

Like the reader of numbers it parses the usual notation and leaves everything else to the line reader.
"""

from __future__ import annotations

import numba
import numpy as np
from numba import int32, int64
from numpy.typing import NDArray

from catalog.importers.kernels.numbers import READ_BYTES

MOST_DIGITS = 9  # any such number fits 32 bits
A_DAY = 86_400


@numba.njit(
    int64(READ_BYTES, int32[::1], int32[::1], int32[::1], int32[::1], int64[::1], int64[::1]), cache=True, nogil=True
)
def parse_sections(
    data: NDArray[np.uint8],
    users: NDArray[np.int32],
    values: NDArray[np.int32],
    seconds: NDArray[np.int32],
    headings: NDArray[np.int32],
    heading_rows: NDArray[np.int64],
    n_headings: NDArray[np.int64],
) -> int:
    """Write users, ratings, times and headings with the row each comes before; return the rows, or -1."""
    n = data.shape[0]
    lengths = np.array([31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])
    position = 0
    row = 0
    n_met = 0
    while position < n:
        start = position
        value = 0
        while position < n and 48 <= data[position] <= 57 and position - start < MOST_DIGITS:
            value = value * 10 + int(data[position]) - 48
            position += 1
        if position == start or position >= n:
            return -1
        if data[position] == 58:
            position += 1
            headings[n_met] = value
            heading_rows[n_met] = row
            n_met += 1
        else:
            # ",4,2005-09-06"
            if n - position < 14 or data[position] != 44 or data[position + 2] != 44:
                return -1
            rating = int(data[position + 1]) - 48
            if rating < 0 or rating > 9:
                return -1
            date = data[position + 3 : position + 13]
            for index in range(10):
                if index in (4, 7):
                    if date[index] != 45:
                        return -1
                elif date[index] < 48 or date[index] > 57:
                    return -1
            month = (int(date[5]) - 48) * 10 + int(date[6]) - 48
            day = (int(date[8]) - 48) * 10 + int(date[9]) - 48
            year = 0
            for index in range(4):
                year = year * 10 + int(date[index]) - 48
            if year < 1970 or year > 2037 or month < 1 or month > 12:  # so that seconds fit 32 bits
                return -1
            is_leap = year % 4 == 0  # in these years
            days = (year - 1970) * 365 + (year - 1969) // 4 + day - 1
            if day < 1 or day > lengths[month - 1] + (1 if is_leap and month == 2 else 0):
                return -1
            for earlier in range(month - 1):
                days += lengths[earlier]
            if is_leap and month > 2:
                days += 1
            users[row] = value
            values[row] = rating
            seconds[row] = days * A_DAY
            row += 1
            position += 13
        if position < n and data[position] == 13:
            position += 1
        if position >= n or data[position] != 10:
            return -1
        position += 1
    n_headings[0] = n_met
    return row
