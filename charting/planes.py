"""Lines in a plane of two shares: precision against recall, a point for each length of the list."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from charting.estimates import checked_number, checked_shares
from charting.frame import Width, finished, layered, number, rows
from charting.labels import spread
from charting.theme import LIGHT, TEXT_SIZE, Side, Spec, colour_of
from core.errors import DataError

if TYPE_CHECKING:
    import altair as alt

Line = tuple[Sequence[float], Sequence[float]]

_DASHES: tuple[tuple[int, ...], ...] = ((1, 0), (7, 3), (2, 2), (10, 3, 2, 3), (4, 2), (12, 4), (6, 2, 2, 2, 2, 2))
_SYMBOLS = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right")
_LABEL_HEIGHT = TEXT_SIZE + 3


def plane(
    lines: Mapping[str, Line],
    *,
    title: str,
    x_title: str,
    y_title: str,
    point_labels: Sequence[str] = (),
    emphasised: Collection[str] = (),
    side: Side = "objective",
    description: str | None = None,
    width: Width = None,
    height: int = 380,
) -> Spec:
    """Draw lines of two shares against each other, each with dashes of its own and its name at the right.

    `lines` holds two sequences of one length for each algorithm; points are joined in their order. `point_labels` say
    in tooltips what each point of a line is (a list length); with them the points are marked. Raises DataError for a
    value that is no share, or sequences of unequal length.

    Examples
    --------
    >>> spec = plane({"TopPop": ([0.1, 0.2], [0.4, 0.3])}, title="Precision falls", x_title="Recall",
    ...              y_title="Precision")
    >>> spec["usermeta"]["description"]
    'Line chart, Precision by Recall. Last points: TopPop .20, .30.'
    """
    import altair as alt

    unknown = sorted(set(emphasised) - set(lines))
    if unknown:
        raise DataError(f"Lines to emphasise are not drawn: {', '.join(unknown)}.")
    if not lines:
        raise DataError("There is no line to draw.")
    checked = {name: _checked(name, line, x_title, y_title) for name, line in lines.items()}
    for name in lines:
        if point_labels and len(checked[name][0]) != len(point_labels):
            raise DataError(f"The line of {name} has {len(checked[name][0])} points for {len(point_labels)} labels.")
    most_x, most_y = (max(max(line[axis]) for line in checked.values()) for axis in (0, 1))
    x_scale = alt.Scale(domain=[0, most_x or 1])
    y_scale = alt.Scale(domain=[0, most_y or 1])
    axis: dict[str, Any] = {"grid": True, "tickCount": 5, "labelExpr": "replace(datum.label, '0.', '.')"}
    across = alt.X("x", type="quantitative", scale=x_scale, axis=alt.Axis(title=x_title, **axis))
    up = alt.Y("y", type="quantitative", scale=y_scale, axis=alt.Axis(title=None, **axis))
    top = most_y or 1.0
    heights = spread([line[1][-1] for line in checked.values()], top * _LABEL_HEIGHT / height)
    colour = colour_of(side)
    layers: list[alt.Chart] = []
    for index, ((name, (xs, ys)), label_at) in enumerate(zip(checked.items(), heights, strict=True)):
        dash, shape = list(_DASHES[index % len(_DASHES)]), _SYMBOLS[index % len(_SYMBOLS)]
        weight = 3.0 if name in emphasised else 1.6
        labels = list(point_labels) or [""] * len(xs)
        line = alt.Chart(
            rows(
                {"algorithm": name, "x": x, "y": y, "order": at, "point": label}
                for at, (x, y, label) in enumerate(zip(xs, ys, labels, strict=True))
            )
        )
        tooltip = [alt.Tooltip("algorithm:N")]
        if point_labels:
            tooltip.append(alt.Tooltip("point:N"))
        layers.append(
            line.mark_line(color=colour, strokeWidth=weight, strokeDash=dash, strokeCap="butt").encode(
                x=across, y=up, order=alt.Order("order:Q"), tooltip=tooltip
            )
        )
        if point_labels:
            layers.append(
                line.mark_point(shape=shape, filled=True, size=48, color=colour, opacity=1).encode(
                    x=across, y=up, tooltip=tooltip
                )
            )
        end = alt.Chart(rows([{"algorithm": name, "x": xs[-1], "y": ys[-1], "label_at": label_at}]))
        layers += [
            end.mark_rule(color=LIGHT.quiet, strokeWidth=0.8, opacity=0.7, aria=False).encode(
                x=across, x2=alt.X2Value(alt.ExprRef("width + 18")), y=up, y2=alt.Y2("label_at")
            ),
            end.mark_text(
                align="left", baseline="middle", dx=21, fontWeight=600 if name in emphasised else "normal"
            ).encode(
                x=alt.XValue(alt.ExprRef("width")),
                y=alt.Y("label_at", type="quantitative", scale=y_scale),
                text=alt.Text("algorithm:N"),
            ),
        ]
    ends = "; ".join(
        f"{name} {number(checked[name][0][-1], 2, is_share=True)}, {number(checked[name][1][-1], 2, is_share=True)}"
        for name in lines
    )
    summary = f"Line chart, {y_title} by {x_title}. Last points: {ends}."
    return finished(
        layered(layers),
        title=title,
        subtitle=y_title,
        description=description or summary,
        side=side,
        width=width,
        height=height,
        reading="drawn",
    )


def _checked(name: str, line: Line, x_title: str, y_title: str) -> tuple[list[float], list[float]]:
    xs, ys = (
        [checked_number(value, what=f"{words} of {name}") for value in values]
        for values, words in zip(line, (x_title, y_title), strict=True)
    )
    if len(xs) != len(ys) or not xs:
        raise DataError(f"The line of {name} has {len(xs)} and {len(ys)} values; it needs equally many, at least one.")
    checked_shares(xs, what=x_title)
    checked_shares(ys, what=y_title)
    return xs, ys
