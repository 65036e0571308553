"""Lines in a plane of two shares: precision against recall, a point for each length of the list."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from charting.estimates import checked_number
from charting.frame import finished, number
from charting.named_lines import LEADER, check_lines, label_places, line_look, name_look, symbol
from charting.plots import Plot, at, numbers, share_labels, tip
from charting.theme import OBJECTIVE, Spec

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
        look = {"type": "line", "strokeCap": "butt", **line_look(index, OBJECTIVE, is_emphasised=name in emphasised)}
        plot.draw(points, look, x="x", y="y", order=in_order, tooltip=tooltip)
        if point_labels:
            dot = {"type": "point", "shape": symbol(index), "filled": True, "size": 48}
            plot.draw(points, {**dot, "color": OBJECTIVE, "opacity": 1}, x="x", y="y", tooltip=tooltip)
        end = [{"algorithm": name, "x": xs[-1], "y": ys[-1], "label_at": label_y}]
        plot.draw(end, LEADER, x="x", x2=at("width + 18"), y="y", y2="label_at")
        name_style = name_look(21, is_emphasised=name in emphasised)
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
