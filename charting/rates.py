"""Rates: hits against false alarms, a line an algorithm (ROC and its kin). Common arguments: see `charting.marks`."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from charting.estimates import checked_number
from charting.frame import finished, number
from charting.named_lines import check_lines, label_places, line_look, name_look
from charting.plots import Plot, Rows, at, numbers, share_labels, tip
from charting.theme import LIGHT, OBJECTIVE, Spec

_HEIGHT = 380
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
        look = line_look(index, OBJECTIVE, is_emphasised=name in emphasised)
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
        plot.draw(label, name_look(39, is_emphasised=name in emphasised), x="x", y="y", text="algorithm")
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
