"""The numbers of a box plot."""

from __future__ import annotations

import dataclasses
import math
import statistics
from collections.abc import Sequence

from charting.estimates import checked_number
from core.errors import DataError


@dataclasses.dataclass(frozen=True)
class Box:
    """The numbers of one box, in the unit of the values."""

    mean: float
    median: float
    first_quartile: float
    third_quartile: float
    lower: float  # last values within 1.5 interquartile ranges of the box, as `upper`
    upper: float
    outliers: tuple[float, ...]  # values beyond them, ascending


def box_of(values: Sequence[float]) -> Box:
    """The numbers of one box; a single value, or equal values, give one without height.

    Quartiles interpolate between order statistics at ``(n - 1) p`` (type 7 of Hyndman and Fan, the default of R and
    numpy). Raises DataError for no value, or one that is not finite. Sources: Tukey (1977), Exploratory Data Analysis;
    Hyndman & Fan (1996), The American Statistician 50(4):361-365.

    Examples
    --------
    >>> box_of([1, 2, 3, 4, 20])
    Box(mean=6.0, median=3.0, first_quartile=2.0, third_quartile=4.0, lower=1.0, upper=4.0, outliers=(20.0,))
    """
    ordered = sorted(checked_number(value, what="a box plot") for value in values)
    if not ordered:
        raise DataError("A box needs at least one value.")
    quartiles = statistics.quantiles(ordered, n=4, method="inclusive") if len(ordered) > 1 else [ordered[0]] * 3
    first, median, third = quartiles
    # Fifths are not exact in binary: a value on the fence belongs inside it.
    reach = 1.5 * (third - first) + 1e-9
    within = [value for value in ordered if first - reach <= value <= third + reach]
    return Box(
        mean=math.fsum(ordered) / len(ordered),
        median=median,
        first_quartile=first,
        third_quartile=third,
        # In small samples an interpolated quartile can lie outside the values that are no outliers.
        lower=min(within[0], first),
        upper=max(within[-1], third),
        outliers=tuple(value for value in ordered if not first - reach <= value <= third + reach),
    )
