"""Lines in a plane of two shares: precision against recall, and hits against false alarms (ROC and its kin)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from charting.estimates import checked_number
from charting.frame import finished, number
from charting.labels import LEADER, check_lines, end_label_style, label_places, stroke_style, symbol
from charting.plots import Plot, Rows, at, numbers, share_labels, tip
from charting.theme import LIGHT, OBJECTIVE, Spec

Line = tuple[Sequence[float], Sequence[float]]

_HEIGHT = 380


def plane(
    lines: Mapping[str, Line],
    *,
    title: str,
    x_title: str,
    y_title: str,
    point_labels: Sequence[str] = (),
    emphasised: Collection[str] = (),
) -> Spec:
    """Draw lines of two shares against each other, each with dashes of its own and its name at the right.

    `lines` holds two sequences of one length for each algorithm; points are joined in their order. `point_labels` say
    in tooltips what each point of a line is (a list length); with them the points are marked.

    Examples
    --------
    >>> spec = plane({"TopPop": ([0.1, 0.2], [0.4, 0.3])}, title="Precision falls", x_title="Recall",
    ...              y_title="Precision")
    >>> spec["usermeta"]["description"]
    'Line chart, Precision by Recall. Last points: TopPop .20, .30.'
    """
    check_lines(lines)
    checked = {name: _checked(name, line, x_title, y_title) for name, line in lines.items()}
    most_x, most_y = (max(max(line[axis]) for line in checked.values()) or 1.0 for axis in (0, 1))
    ticks = {"grid": True, "tickCount": 5, **share_labels()}
    plot = Plot(numbers(0, most_x, **{**ticks, "title": x_title}), numbers(0, most_y, **ticks))
    heights = label_places([ys[-1] for _xs, ys in checked.values()], most_y, _HEIGHT)
    tooltip = [tip("algorithm"), tip("point")] if point_labels else [tip("algorithm")]
    in_order = {"field": "order", "type": "quantitative"}
    for index, ((name, (xs, ys)), label_y) in enumerate(zip(checked.items(), heights, strict=True)):
        points = [
            {"algorithm": name, "x": x, "y": y, "order": order, "point": label}
            for order, (x, y, label) in enumerate(zip(xs, ys, point_labels or [""] * len(xs), strict=True))
        ]
        look = {"type": "line", "strokeCap": "butt", **stroke_style(index, OBJECTIVE, is_emphasised=name in emphasised)}
        plot.draw(points, look, x="x", y="y", order=in_order, tooltip=tooltip)
        if point_labels:
            dot = {"type": "point", "shape": symbol(index), "filled": True, "size": 48}
            plot.draw(points, {**dot, "color": OBJECTIVE, "opacity": 1}, x="x", y="y", tooltip=tooltip)
        end = [{"algorithm": name, "x": xs[-1], "y": ys[-1], "label_at": label_y}]
        plot.draw(end, LEADER, x="x", x2=at("width + 18"), y="y", y2="label_at")
        name_style = end_label_style(21, is_emphasised=name in emphasised)
        plot.draw(end, name_style, x=at("width"), y="label_at", text="algorithm")
    ends = "; ".join(
        f"{name} {number(xs[-1], 2, is_share=True)}, {number(ys[-1], 2, is_share=True)}"
        for name, (xs, ys) in checked.items()
    )
    return finished(
        plot.spec(),
        title=title,
        subtitle=y_title,
        description=f"Line chart, {y_title} by {x_title}. Last points: {ends}.",
        side="objective",
        height=_HEIGHT,
        reading="drawn",
    )


def _checked(name: str, line: Line, x_title: str, y_title: str) -> tuple[list[float], list[float]]:
    xs, ys = (
        [checked_number(value, what=f"{words} of {name}") for value in values]
        for values, words in zip(line, (x_title, y_title), strict=True)
    )
    return xs, ys


_POINTS = 201  # of a line that has more
_NAMED_AT = 0.62  # of the height a line reaches there: past it most lines run together


def rates(
    lines: Mapping[str, tuple[ArrayLike, ArrayLike]],
    *,
    title: str,
    x_title: str = "False-alarm rate",
    y_title: str = "Hit rate",
    emphasised: Collection[str] = (),
    quiet: Collection[str] = (),
) -> Spec:
    """Draw one rate against another, both from 0 to 1, with the diagonal of chance.

    Each line has its own dashes and is named at the right, beside its height halfway; `quiet` lines, where they are
    drawn, are those that others are read against. The x values of a line never fall.

    Examples
    --------
    >>> spec = rates({"A": ([0, 0.1, 1], [0, 0.5, 1])}, title="A is better than chance")
    >>> spec["usermeta"]["description"]
    'Line chart, Hit rate against False-alarm rate. At .1: A .50.'
    """
    check_lines(lines)
    points = {name: _points(name, x, y) for name, (x, y) in lines.items()}
    ticks = {"values": [0.0, 0.2, 0.4, 0.6, 0.8, 1.0], "format": ".1f", **share_labels()}
    plot = Plot(numbers(0.0, 1.0, **{**ticks, "title": x_title}), numbers(0.0, 1.0, grid=True, **ticks))
    chance = [{"x": end, "y": end} for end in (0.0, 1.0)]
    plot.draw(chance, {"type": "line", "color": LIGHT.line, "strokeWidth": 1, "aria": False}, x="x", y="y")
    tooltip = [tip("algorithm"), tip("x", number=".2f"), tip("y", number=".2f")]
    halfway = [float(np.interp(0.25, x, y)) * _NAMED_AT for x, y in points.values()]
    heights = label_places(halfway, 1.0, _HEIGHT)
    for index, ((name, (x, y)), height) in enumerate(zip(points.items(), heights, strict=True)):
        look = stroke_style(index, OBJECTIVE, is_emphasised=name in emphasised)
        if name in quiet:
            look |= {"color": LIGHT.quiet, "strokeWidth": 1.0}
        rows: Rows = [
            {"algorithm": name, "x": round(float(a), 5), "y": round(float(b), 5), "place": order}
            for order, (a, b) in enumerate(zip(x, y, strict=True))
        ]
        in_order = {"field": "place", "type": "quantitative"}
        plot.draw(rows, {"type": "line", "strokeCap": "butt", **look}, x="x", y="y", order=in_order, tooltip=tooltip)
        label = [{"algorithm": name, "x": 1.0, "y": min(1.0, max(0.0, height))}]
        plot.draw(label, {"type": "rule", "aria": False, **look}, x=at("width + 6"), x2=at("width + 34"), y="y")
        plot.draw(label, end_label_style(39, is_emphasised=name in emphasised), x="x", y="y", text="algorithm")
    at_tenth = ", ".join(
        f"{name} {number(float(np.interp(0.1, x, y)), 2, is_share=True)}" for name, (x, y) in points.items()
    )
    return finished(
        plot.spec(),
        title=title,
        subtitle=y_title,
        description=f"Line chart, {y_title} against {x_title}. At .1: {at_tenth}.",
        side="objective",
        height=_HEIGHT,
        reading="drawn",
    )


def _points(name: str, x: ArrayLike, y: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The points of a line, thinned where there are more than can be seen."""
    across, up = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    for what, values in (("x", across), ("y", up)):
        for value in values:
            checked_number(value, what=f"{what} of {name}")
    indices = np.unique(np.linspace(0, len(across) - 1, _POINTS).round().astype(np.int64))
    return across[indices], up[indices]
