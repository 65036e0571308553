"""The box plot of a measure by condition. Common arguments: see `charting.marks`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from charting.frame import finished, label_expression, when_narrow
from charting.plots import Plot, Rows, at, columns, expression, numbers, tip
from charting.theme import LIGHT, PERCEIVED, SMALL_TEXT_SIZE, Spec
from charting.values import (
    BOX_TOOLTIP,
    box_of,
    box_row,
    checked_values,
    described_boxes,
    swarm,
    values_per_point,
    with_points_said,
)

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
        subtitle=with_points_said(y_title, counts),
        description=f"Box plot, {y_title}. {described_boxes(checked)}",
        side="perceived",
        height=320,
    )


def _draw_boxes(plot: Plot, values: Mapping[str, list[float]], letters: Mapping[str, str]) -> None:
    boxes: Rows = [
        {
            **box_row(name, own, letters),
            "centre": column + _CENTRE,
            "left": column + _BOX[0],
            "right": column + _BOX[1],
            "cap_left": column + _CENTRE - 0.07,
            "cap_right": column + _CENTRE + 0.07,
        }
        for column, (name, own) in enumerate(values.items())
        if own
    ]
    thin = {"type": "rule", "color": PERCEIVED, "strokeWidth": 1.2}
    plot.draw(boxes, thin, x="centre", y="lower", y2="upper")
    plot.draw(boxes, thin, x="cap_left", x2="cap_right", y="lower")
    plot.draw(boxes, thin, x="cap_left", x2="cap_right", y="upper")
    box = {"type": "rect", "fill": LIGHT.perceived_wash, "stroke": PERCEIVED, "strokeWidth": 1.2}
    plot.draw(boxes, box, x="left", x2="right", y="q1", y2="q3", tooltip=BOX_TOOLTIP)
    plot.draw(boxes, {**thin, "strokeWidth": 2.6}, x="left", x2="right", y="median")
    dot = {"shape": "circle", "filled": True, "size": 46, "color": LIGHT.ink, "opacity": 1}
    rim = {"stroke": LIGHT.paper, "strokeWidth": 1}
    plot.draw(boxes, {"type": "point", **dot, **rim}, x="centre", y="mean", tooltip=BOX_TOOLTIP)
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
