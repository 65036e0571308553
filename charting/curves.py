"""Curves: a metric against the length of the recommendation list. Common arguments: see `charting.marks`."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from charting.estimates import checked_number, checked_shares
from charting.frame import Width, finished, layered, number, rows, whole_ticks
from charting.labels import spread
from charting.positions import positions
from charting.theme import LIGHT, TEXT_SIZE, Side, Spec, colour_of
from core.errors import DataError, ParameterError

if TYPE_CHECKING:
    import altair as alt

_DASHES: tuple[tuple[int, ...], ...] = ((1, 0), (7, 3), (2, 2), (10, 3, 2, 3), (4, 2), (12, 4), (6, 2, 2, 2, 2, 2))
_SYMBOLS = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right")
_LABEL_HEIGHT = TEXT_SIZE + 3
_NEARLY_ALL = 0.95  # a share this high has an axis up to 1
_HOVERED = {
    "name": "hovered",
    "select": {"type": "point", "fields": ["algorithm"], "on": "pointerover", "clear": "pointerout"},
}


def curves(
    by_n: Mapping[str, Sequence[float]],
    *,
    title: str,
    y_title: str,
    n_values: Sequence[int] | None = None,
    x_title: str = "n, length of the list",
    at_n: int | None = None,
    emphasised: Collection[str] = (),
    side: Side = "objective",
    is_share: bool = True,
    is_from_zero: bool = True,
    decimals: int = 2,
    description: str | None = None,
    width: Width = None,
    height: int = 320,
) -> Spec:
    """Draw a metric against the length n of the recommendation list, a line an algorithm.

    Each line is named where it ends and has its own dashes and end symbol, so neither a legend nor colour is needed. On
    a page the line under the pointer stands out. `n_values` are the ascending lengths of the list, 1, 2, 3, … by
    default, with one value each; `x_title` names them where they are something else. A hairline marks `at_n`, the
    length that tables report. `is_from_zero` is not for a metric without a meaning at 0. Raises DataError for lines of
    unequal length, and ParameterError when `n_values` are not ascending or `at_n` is not within them.

    Examples
    --------
    >>> spec = curves({"TopPop": [0.05, 0.09], "LSA": [0.0, 0.01]}, title="TopPop finds more than LSA",
    ...               y_title="Recall")
    >>> spec["usermeta"]["description"]
    'Line chart, Recall by length of the list, 1 to 2. At 2: TopPop .09, LSA .01.'
    """
    lengths = _lengths(by_n, n_values)
    if at_n is not None and not lengths[0] <= at_n <= lengths[-1]:
        raise ParameterError(f"The lengths in the chart are {lengths[0]} to {lengths[-1]}; {at_n} is not among them.")
    unknown = sorted(set(emphasised) - set(by_n))
    if unknown:
        raise DataError(f"Lines to emphasise are not drawn: {', '.join(unknown)}.")
    lines = {
        name: [checked_number(value, what=f"{y_title} of {name}") for value in values] for name, values in by_n.items()
    }
    if is_share:
        checked_shares((value for values in lines.values() for value in values), what=y_title)
    chart = _curve_layers(
        lines,
        lengths,
        height=height,
        at_n=at_n,
        emphasised=emphasised,
        side=side,
        is_share=is_share,
        is_from_zero=is_from_zero,
        decimals=decimals,
        x_title=x_title,
    )
    ends = ", ".join(f"{name} {number(values[-1], decimals, is_share=is_share)}" for name, values in lines.items())
    summary = f"Line chart, {y_title} by length of the list, {lengths[0]} to {lengths[-1]}. At {lengths[-1]}: {ends}."
    return finished(
        chart,
        title=title,
        subtitle=y_title,
        description=description or summary,
        side=side,
        width=width,
        height=height,
        reading="drawn",
    )


def _lengths(by_n: Mapping[str, Sequence[float]], n_values: Sequence[int] | None) -> list[int]:
    if not by_n:
        raise DataError("There is no line to draw.")
    counts = {name: len(values) for name, values in by_n.items()}
    lengths = list(n_values) if n_values is not None else list(range(1, max(counts.values()) + 1))
    for name, count in counts.items():
        if count != len(lengths) or not count:
            raise DataError(f"The line of {name} has {count} values for {len(lengths)} lengths of the list.")
    if any(after <= before for before, after in itertools.pairwise(lengths)):
        raise ParameterError("The lengths of the list must be in ascending order.")
    return lengths


def _curve_layers(
    lines: Mapping[str, Sequence[float]],
    lengths: Sequence[int],
    *,
    height: int,
    at_n: int | None,
    emphasised: Collection[str],
    side: Side,
    is_share: bool,
    is_from_zero: bool,
    decimals: int,
    x_title: str,
) -> Spec:
    import altair as alt

    colour = colour_of(side)
    top = max(max(values) for values in lines.values())
    bottom = min(min(values) for values in lines.values())
    if is_from_zero:
        bottom = min(0.0, bottom)
    if top <= bottom:
        top = bottom + 1.0
    if is_share and top > _NEARLY_ALL:
        top = 1.0
    ends = whole_ticks(lengths[0], lengths[-1], about=10)
    x_axis = alt.Axis(title=x_title, values=ends, format="d", labelFlush=False)
    first, last = lengths[0], lengths[-1]
    x_scale = alt.Scale(domain=[first, last] if last > first else [first - 1, first], nice=False, zero=False)
    label = "replace(datum.label, '0.', '.')" if is_share else "datum.label"
    y_axis = alt.Axis(title=None, grid=True, tickCount=5, labelExpr=label)
    y_scale = alt.Scale(domain=[bottom, top], nice=False)
    across, up = positions(x_scale, x_axis, y_scale, y_axis)
    layers: list[alt.Chart] = []
    if at_n is not None:
        layers.append(
            alt.Chart(rows([{"n": at_n}])).mark_rule(color=LIGHT.quiet, strokeDash=[3, 3]).encode(x=across("n"))
        )
    heights = spread([values[-1] for values in lines.values()], (top - bottom) * _LABEL_HEIGHT / height)
    for index, ((name, values), label_at) in enumerate(zip(lines.items(), heights, strict=True)):
        line = alt.Chart(
            rows(
                {
                    "algorithm": name,
                    "n": n,
                    "value": value,
                    "text": number(value, decimals, is_share=is_share),
                }
                for n, value in zip(lengths, values, strict=True)
            )
        )
        end = alt.Chart(rows([{"algorithm": name, "n": last, "value": values[-1], "label_at": label_at}]))
        weight = 3.0 if name in emphasised else 1.6
        dim = alt.OpacityValue(0.25, condition={"param": _HOVERED["name"], "value": 1.0})
        tooltip = [
            alt.Tooltip("algorithm:N"),
            alt.Tooltip("n:Q", title="n" if x_title.startswith("n,") else x_title.lower()),
            alt.Tooltip("text:N", title="value"),
        ]
        layers += [
            line.mark_line(
                color=colour, strokeWidth=weight, strokeDash=list(_DASHES[index % len(_DASHES)]), strokeCap="butt"
            ).encode(x=across("n"), y=up("value"), opacity=dim),
            end.mark_point(shape=_SYMBOLS[index % len(_SYMBOLS)], filled=True, size=62, color=colour, opacity=1).encode(
                x=across("n"), y=up("value"), opacity=dim
            ),
            # A line has one tooltip; unseen points on it have one each. Files leave them out.
            line.mark_point(filled=True, size=90, color=colour, opacity=0, aria=False).encode(
                x=across("n"), y=up("value"), tooltip=tooltip
            ),
            end.mark_rule(color=LIGHT.quiet, strokeWidth=0.8, opacity=0.7, aria=False).encode(
                x=alt.XValue(alt.ExprRef("width + 6")),
                x2=alt.X2Value(alt.ExprRef("width + 18")),
                y=up("value"),
                y2=alt.Y2("label_at"),
            ),
            end.mark_text(
                align="left", baseline="middle", dx=21, fontWeight=600 if name in emphasised else "normal"
            ).encode(x=across("n"), y=up("label_at"), text=alt.Text("algorithm:N"), opacity=dim),
        ]
    return layered(layers, selection=_HOVERED)
