"""Values by condition: checked, described, with the numbers of their boxes and what a pointer reads of these; and
points that would lie on each other, laid side by side: their number can be seen and nothing moves at random.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from charting.estimates import checked_number
from charting.frame import number
from charting.plots import tip
from charting.theme import Spec
from core.errors import DataError


@dataclass(frozen=True)
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
    numpy). `values`, at least one, are finite. Sources: Tukey (1977), Exploratory Data Analysis;
    Hyndman & Fan (1996), The American Statistician 50(4):361-365.

    Examples
    --------
    >>> box_of([1, 2, 3, 4, 20])
    Box(mean=6.0, median=3.0, first_quartile=2.0, third_quartile=4.0, lower=1.0, upper=4.0, outliers=(20.0,))
    """
    ordered = sorted(map(float, values))
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


def checked_values(
    values: Mapping[str, Sequence[float]], domain: tuple[float, float], *, what: str
) -> dict[str, list[float]]:
    """The values of each condition. Raises DataError when there are none, or one is not finite or outside the domain;
    `what` names the measure in the error.
    """
    checked = {name: _within(name, condition_values, domain) for name, condition_values in values.items()}
    if not any(checked.values()):
        raise DataError(f"No condition has a value of {what} to draw.")
    return checked


def _within(name: str, values: Sequence[float], domain: tuple[float, float]) -> list[float]:
    checked = [checked_number(value, what=f"condition {name}") for value in values]
    for value in checked:
        if not domain[0] - 1e-9 <= value <= domain[1] + 1e-9:
            raise DataError(
                f"Condition {name} has the value {value:g}, outside the scale from {domain[0]:g} to {domain[1]:g}."
            )
    return checked


def box_row(name: str, own: Sequence[float], letters: Mapping[str, str]) -> dict[str, Any]:
    """The numbers of a condition's box by the names that `BOX_TOOLTIP` and the charts read."""
    box = box_of(own)
    return {
        "condition": name,
        "participants": len(own),
        "mean": box.mean,
        "median": box.median,
        "q1": box.first_quartile,
        "q3": box.third_quartile,
        "lower": box.lower,
        "upper": box.upper,
        "letters": letters.get(name, ""),
    }


BOX_TOOLTIP: list[Spec] = [
    tip("condition", "condition"),
    tip("participants", "participants", number=""),
    tip("mean", number=".2f"),
    tip("median", number=".2f"),
    tip("q1", "first quartile", number=".2f"),
    tip("q3", "third quartile", number=".2f"),
]


def described_boxes(values: Mapping[str, Sequence[float]]) -> str:
    """What a screen reader says of each condition: a sentence with its size, mean and median.

    Examples
    --------
    >>> described_boxes({"LSA": [2.0], "TopPop": []})
    'LSA: n = 1, M = 2.00, Mdn = 2.00. TopPop: no values.'
    """
    parts = []
    for name, own in values.items():
        if own:
            box = box_of(own)
            parts.append(f"{name}: n = {len(own)}, M = {number(box.mean, 2)}, Mdn = {number(box.median, 2)}.")
        else:
            parts.append(f"{name}: no values.")
    return " ".join(parts)


# Points


ROWS_OF_POINTS = 60
MOST_POINTS = 300
"""Most points per condition; with more values each point represents several."""

_PITCH = 0.055


def values_per_point(counts: Iterable[int]) -> int:
    """How many values each point represents, so that no condition has more than `MOST_POINTS` points; the same for all
    conditions, so that they can be compared.

    Examples
    --------
    >>> values_per_point([30, 28]), values_per_point([3000])
    (1, 10)
    """
    return max(1, -(-max(counts, default=0) // MOST_POINTS))


def swarm(
    values: Sequence[float], domain: tuple[float, float], room: tuple[float, float], *, per_point: int = 1
) -> list[tuple[float, float]]:
    """Lay points of (nearly) one value side by side, from the first edge of the room to the second.

    `values`, at least one, lie in the domain; `room` is in shares of a condition's slot. Each point represents
    `per_point` values; a value alone in its row is drawn regardless. Returns place across and value of each point, by
    ascending value.

    Examples
    --------
    >>> swarm([2, 1, 2], (1, 5), (0.1, 0.4))
    [(0.1, 1), (0.1, 2), (0.155, 2)]
    >>> len(swarm([3] * 25, (1, 5), (0.1, 0.4), per_point=10))
    3
    """
    row_height = (domain[1] - domain[0]) / ROWS_OF_POINTS
    by_row: dict[int, list[float]] = {}
    for value in sorted(values):
        by_row.setdefault(round((value - domain[0]) / row_height), []).append(value)
    sampled = {row: own[::per_point] for row, own in by_row.items()}
    longest = max(len(own) for own in sampled.values())
    pitch = min(_PITCH, (room[1] - room[0]) / max(longest - 1, 1))
    return [
        (round(room[0] + pitch * index, 6), value)
        for _, own in sorted(sampled.items())
        for index, value in enumerate(own)
    ]


def with_points_said(subtitle: str, counts: Sequence[int]) -> str:
    """A subtitle that explains the points where they are not single participants.

    Examples
    --------
    >>> with_points_said("Satisfaction, 1 to 5", [30]), with_points_said("Satisfaction", [3000])
    ('Satisfaction, 1 to 5', 'Satisfaction; each point is 10 participants')
    """
    per_point = values_per_point(counts)
    return subtitle if per_point == 1 else f"{subtitle}; each point is {per_point} participants"
