"""A rating scale, what is on it, and the way to another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.errors import DataError

# Ratings are stored as float32, whose spacing near 5 is 5e-7; a tenth of a thousandth of a step is far wider.
GRID_TOLERANCE = 1e-4
VALUES_AT_A_TIME = 1 << 16  # what a cache holds


@dataclass(frozen=True, slots=True)
class Scale:
    """A rating scale: its lowest and highest point and the distance between neighbouring points.

    The `values` of its methods are array-like, in points of the scale. Raises DataError if the numbers do not make such
    a scale.

    Examples
    --------
    >>> Scale(0.5, 5.0, 0.5).middle
    2.75
    >>> Scale(1, 5, 1).convert(np.array([1.0, 3.0, 5.0]), Scale(0.5, 5.0, 0.5)).tolist()
    [0.5, 2.75, 5.0]
    """

    # `low`, `high`: lowest and highest rating, finite, ``0 < low <= high``. Zero is not a rating here: the matrices are
    # sparse and zero means missing, so a scale that starts at 0 is shifted when it is imported. A scale of a single
    # point (``low == high``) is how usage data (bought or not) are written.
    low: float
    high: float
    # Distance between neighbouring points, > 0; the scale's width is a whole number of steps. 0: every value between
    # the ends is a point.
    step: float

    def __post_init__(self) -> None:
        for name in ("low", "high", "step"):
            object.__setattr__(self, name, float(getattr(self, name)))
        if not np.isfinite([self.low, self.high, self.step]).all():
            raise DataError(f"A rating scale needs finite numbers; got {self}.")
        if not 0 < self.low <= self.high or self.step < 0:
            raise DataError(
                f"A rating scale needs 0 < low <= high and a step of at least 0; got low {self.low:g}, high "
                f"{self.high:g}, step {self.step:g}. Shift a scale that starts at 0 or below."
            )
        steps = (self.high - self.low) / self.resolution
        if abs(steps - round(steps)) > GRID_TOLERANCE:
            raise DataError(
                f"A scale from {self.low:g} to {self.high:g} is not a whole number of steps of {self.step:g}."
            )

    @property
    def resolution(self) -> float:
        """The step; of a scale without steps a hundredth of its width, which separates values."""
        # 1 for usage data, whose single point has neither a step nor a width.
        return self.step or (self.high - self.low) / 100 or 1.0

    @property
    def middle(self) -> float:
        """The point halfway between the lowest and the highest rating."""
        return (self.low + self.high) / 2

    def codes(self, values: ArrayLike) -> NDArray[np.float64]:
        """Steps above the lowest point. Returns a float64 array, same shape: 0, 1, 2, … for values on the scale,
        fractions for values between.
        """
        return (np.asarray(values, dtype=np.float64) - self.low) / self.resolution

    def covers(self, values: ArrayLike) -> NDArray[np.bool_]:
        """Whether each value lies between the lowest and the highest point; NaN does not. Returns a bool array, same
        shape.
        """
        codes = self.codes(values)
        highest = self.codes(self.high)
        return np.asarray((codes >= -GRID_TOLERANCE) & (codes <= highest + GRID_TOLERANCE))

    def holds(self, values: ArrayLike) -> NDArray[np.bool_]:
        """Whether each value is a point of the scale, up to the precision of float32. Returns a bool array, same shape:
        False for NaN.
        """
        numbers = np.asarray(values)
        if numbers.ndim == 1 and numbers.size > VALUES_AT_A_TIME:
            answer = np.empty(numbers.shape, dtype=np.bool_)
            for start in range(0, numbers.size, VALUES_AT_A_TIME):
                part = slice(start, start + VALUES_AT_A_TIME)
                answer[part] = self.holds(numbers[part])
            return answer
        codes = self.codes(numbers)
        highest = self.codes(self.high)
        with np.errstate(invalid="ignore"):
            is_point = np.abs(codes - np.rint(codes)) <= GRID_TOLERANCE if self.step else np.isfinite(codes)
        return np.asarray(is_point & (codes >= -GRID_TOLERANCE) & (codes <= highest + GRID_TOLERANCE))

    def nearest(self, values: ArrayLike) -> NDArray[np.float64]:
        """The point of the scale nearest to each value; halfway between two points the higher, outside the scale its
        end. Returns a float64 array, same shape.

        Examples
        --------
        >>> Scale(1, 5, 1).nearest([0.2, 2.5, 3.49, 9.0]).tolist()
        [1.0, 3.0, 3.0, 5.0]
        """
        if not self.step:
            return np.clip(np.asarray(values, dtype=np.float64), self.low, self.high)
        # Rounding first keeps an error of floating point from lowering a value that is exactly halfway.
        steps = np.floor(np.round(self.codes(values), 9) + 0.5)
        return np.asarray(self.low + np.clip(steps, 0, self.codes(self.high)) * self.step)

    def convert(self, values: ArrayLike, to: Scale) -> NDArray[np.float64]:
        """The same values on another scale, by the linear map that takes end points to end points.

        Raises DataError when one of two different scales has a single point, since no linear map joins them.

        Returns a float64 array, same shape: in points of the other scale, not rounded to them.
        """
        numbers = np.asarray(values, dtype=np.float64)
        if self == to:
            return numbers
        if self.low == self.high or to.low == to.high:
            raise DataError(
                f"Ratings from {self.low:g} to {self.high:g} cannot be put on a scale from {to.low:g} to "
                f"{to.high:g}: a scale of a single point says nothing about degrees of liking."
            )
        return to.low + (numbers - self.low) * ((to.high - to.low) / (self.high - self.low))

    def words(self) -> str:
        """The scale in words, for messages."""
        steps = f"in steps of {self.step:g}" if self.step else "without steps"
        return f"from {self.low:g} to {self.high:g} {steps}"
