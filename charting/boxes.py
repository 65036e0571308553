"""The box plot of a measure by condition, with its points laid side by side. Common arguments: see `charting.marks`."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from charting.estimates import checked_number
from charting.frame import finished, label_expression, number, when_narrow
from charting.plots import Plot, Rows, at, columns, expression, numbers, tip
from charting.theme import LIGHT, PERCEIVED, SMALL_TEXT_SIZE, Spec
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


_TOOLTIP: list[Spec] = [
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


def with_point_counts(subtitle: str, counts: Sequence[int]) -> str:
    """A subtitle that explains the points where they are not single participants.

    Examples
    --------
    >>> with_point_counts("Satisfaction, 1 to 5", [30]), with_point_counts("Satisfaction", [3000])
    ('Satisfaction, 1 to 5', 'Satisfaction; each point is 10 participants')
    """
    per_point = values_per_point(counts)
    return subtitle if per_point == 1 else f"{subtitle}; each point is {per_point} participants"


# Horizontal layout of one condition, in shares of its slot around the whole number it stands at.
_BOX = (-0.36, -0.06)
_CENTRE = sum(_BOX) / 2
_SWARM = (0.08, 0.42)


def box_plot(
    values: Mapping[str, Sequence[float]],
    *,
    title: str,
    y_title: str,
    domain: tuple[float, float],
    letters: Mapping[str, str] | None = None,
) -> Spec:
    """Draw a measure by condition as in Cremonesi et al. (2011), Figures 2 to 5, with the points beside.

    The box goes from the first to the third quartile, its line is the median, its dot the mean, the whiskers end at the
    last value within 1.5 interquartile ranges, open circles are values beyond. To the right of each box stands every
    participant as a point; points of (nearly) one height lie side by side, so their number can be seen and nothing is
    moved at random. In large conditions each point represents several participants, and the subtitle says for how many.
    An empty condition keeps its place and says that it has no values. Raises DataError for no values at all or a value
    outside the domain.

    Examples
    --------
    >>> spec = box_plot({"TopPop": [3.2, 4.0], "LSA": [2.0]}, title="TopPop is liked better",
    ...                 y_title="Perceived accuracy, 1 to 5", domain=(1, 5))
    >>> spec["usermeta"]["description"]
    'Box plot, Perceived accuracy, 1 to 5. TopPop: n = 2, M = 3.60, Mdn = 3.60. LSA: n = 1, M = 2.00, \
Mdn = 2.00.'
    """
    checked = checked_values(values, domain, what=y_title)
    counts = [len(own) for own in checked.values()]
    names = label_expression([f"{name}\nn = {len(own)}" for name, own in checked.items()], list(checked))
    x = columns(
        len(checked),
        labelExpr=names,
        labelAngle=expression(when_narrow("-42", "0")),
        labelAlign=expression(when_narrow("'right'", "'center'")),
        labelBaseline=expression(when_narrow("'middle'", "'top'")),
        labelColor=LIGHT.ink,
        labelOverlap=False,
    )
    plot = Plot(x, numbers(*domain, scale={"padding": 7}, grid=True, tickCount=5))
    _draw_boxes(plot, checked, letters or {})
    _draw_points(plot, checked, domain)
    return finished(
        plot.spec(),
        title=title,
        subtitle=with_point_counts(y_title, counts),
        description=f"Box plot, {y_title}. {described_boxes(checked)}",
        side="perceived",
        height=320,
    )


def _draw_boxes(plot: Plot, values: Mapping[str, list[float]], letters: Mapping[str, str]) -> None:
    boxes: Rows = [
        {
            "condition": name,
            "participants": len(own),
            "mean": box.mean,
            "median": box.median,
            "q1": box.first_quartile,
            "q3": box.third_quartile,
            "lower": box.lower,
            "upper": box.upper,
            "letters": letters.get(name, ""),
            "centre": column + _CENTRE,
            "left": column + _BOX[0],
            "right": column + _BOX[1],
            "cap_left": column + _CENTRE - 0.07,
            "cap_right": column + _CENTRE + 0.07,
        }
        for column, (name, own) in enumerate(values.items())
        if own
        for box in (box_of(own),)
    ]
    thin = {"type": "rule", "color": PERCEIVED, "strokeWidth": 1.2}
    plot.draw(boxes, thin, x="centre", y="lower", y2="upper")
    plot.draw(boxes, thin, x="cap_left", x2="cap_right", y="lower")
    plot.draw(boxes, thin, x="cap_left", x2="cap_right", y="upper")
    box = {"type": "rect", "fill": LIGHT.perceived_wash, "stroke": PERCEIVED, "strokeWidth": 1.2}
    plot.draw(boxes, box, x="left", x2="right", y="q1", y2="q3", tooltip=_TOOLTIP)
    plot.draw(boxes, {**thin, "strokeWidth": 2.6}, x="left", x2="right", y="median")
    dot = {"shape": "circle", "filled": True, "size": 46, "color": LIGHT.ink, "opacity": 1}
    rim = {"stroke": LIGHT.paper, "strokeWidth": 1}
    plot.draw(boxes, {"type": "point", **dot, **rim}, x="centre", y="mean", tooltip=_TOOLTIP)
    if letters:
        look = {"type": "text", "baseline": "bottom", "fontSize": SMALL_TEXT_SIZE, "fontStyle": "italic"}
        plot.draw(boxes, look, x="centre", y=at(-6), text="letters")


def _draw_points(plot: Plot, values: Mapping[str, list[float]], domain: tuple[float, float]) -> None:
    """Every value, the values beyond the whiskers, and the words of empty conditions."""
    per_point = values_per_point(map(len, values.values()))
    points = [
        {"x": column + across, "y": value, "condition": name}
        for column, (name, own) in enumerate(values.items())
        if own
        for across, value in swarm(own, domain, _SWARM, per_point=per_point)
    ]
    dot = {"type": "point", "shape": "circle", "color": PERCEIVED}
    plot.draw(points, {**dot, "filled": True, "size": 13, "opacity": 0.55, "aria": False}, x="x", y="y")
    outliers = [
        {"x": column + _CENTRE, "y": value, "condition": name}
        for column, (name, own) in enumerate(values.items())
        if own
        for value in box_of(own).outliers
    ]
    ring = {**dot, "filled": False, "size": 34, "strokeWidth": 1.2, "opacity": 1}
    plot.draw(outliers, ring, x="x", y="y", tooltip=[tip("condition"), tip("y", "outlier", number=".2f")])
    empty = [
        {"place": column, "middle": sum(domain) / 2, "says": "no values"}
        for column, own in enumerate(values.values())
        if not own
    ]
    words = {"type": "text", "angle": 270, "color": LIGHT.quiet, "fontStyle": "italic", "fontSize": SMALL_TEXT_SIZE}
    plot.draw(empty, words, x="place", y="middle", text="says")
