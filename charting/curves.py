"""Lines over an axis of numbers: a metric by length of the list, and what was tried at values of a parameter."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from charting.estimates import Estimate, checked_estimate, checked_number, interval_text
from charting.frame import finished, number, whole_ticks
from charting.labels import LEADER, check_lines, end_label_style, label_places, stroke_style, symbol
from charting.plots import Plot, Rows, at, numbers, share_labels, tip
from charting.theme import LIGHT, OBJECTIVE, Side, Spec, colour_of

_HEIGHT = 320
_NEARLY_ALL = 0.95  # a share this high has an axis up to 1
_HOVERED = {
    "name": "hovered",
    "select": {"type": "point", "fields": ["algorithm"], "on": "pointerover", "clear": "pointerout"},
}
_DIM_UNLESS_HOVERED = {"value": 0.25, "condition": {"param": "hovered", "value": 1.0}}


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
) -> Spec:
    """Draw a metric against the length n of the recommendation list, a line an algorithm.

    Each line is named where it ends and has its own dashes and end symbol, so neither a legend nor colour is needed. On
    a page the line under the pointer stands out. `n_values` are the ascending lengths of the list, 1, 2, 3, … by
    default, with one value each; `x_title` names them where they are something else. A hairline marks `at_n`, the
    length that tables report. `is_from_zero` is not for a metric without a meaning at 0; `description` replaces the
    words for screen readers where x is no length.

    Examples
    --------
    >>> spec = curves({"TopPop": [0.05, 0.09], "LSA": [0.0, 0.01]}, title="TopPop finds more than LSA",
    ...               y_title="Recall")
    >>> spec["usermeta"]["description"]
    'Line chart, Recall by length of the list, 1 to 2. At 2: TopPop .09, LSA .01.'
    """
    check_lines(by_n)
    lengths = n_values or range(1, max(map(len, by_n.values())) + 1)
    first, last = lengths[0], lengths[-1]
    lines = {
        name: [checked_number(value, what=f"{y_title} of {name}") for value in values] for name, values in by_n.items()
    }
    every = [value for values in lines.values() for value in values]
    bottom, top = _ends(every, is_share=is_share, is_from_zero=is_from_zero)
    plot = Plot(
        numbers(
            first if first < last else first - 1,
            last,
            title=x_title,
            values=whole_ticks(first, last, about=10),
            format="d",
            labelFlush=False,
        ),
        numbers(bottom, top, grid=True, tickCount=5, **share_labels(is_share=is_share)),
    )
    if at_n is not None:
        plot.draw([{"n": at_n}], {"type": "rule", "color": LIGHT.quiet, "strokeDash": [3, 3]}, x="n")
    heights = label_places([values[-1] for values in lines.values()], top - bottom, _HEIGHT)
    tooltip = [
        tip("algorithm"),
        tip("n", "n" if x_title.startswith("n,") else x_title.lower(), number=""),
        tip("text", "value"),
    ]
    colour = colour_of(side)
    for index, ((name, values), label_y) in enumerate(zip(lines.items(), heights, strict=True)):
        points = [
            {"algorithm": name, "n": n, "value": value, "text": number(value, decimals, is_share=is_share)}
            for n, value in zip(lengths, values, strict=True)
        ]
        end = [{"algorithm": name, "n": last, "value": values[-1], "label_at": label_y}]
        look = stroke_style(index, colour, is_emphasised=name in emphasised)
        dot = {"type": "point", "filled": True, "color": colour}
        plot.draw(points, {"type": "line", "strokeCap": "butt", **look}, x="n", y="value", opacity=_DIM_UNLESS_HOVERED)
        symbols = {**dot, "shape": symbol(index), "size": 62, "opacity": 1}
        plot.draw(end, symbols, x="n", y="value", opacity=_DIM_UNLESS_HOVERED)
        # A line has one tooltip; unseen points on it have one each. Files leave them out.
        plot.draw(points, {**dot, "size": 90, "opacity": 0, "aria": False}, x="n", y="value", tooltip=tooltip)
        plot.draw(end, LEADER, x=at("width + 6"), x2=at("width + 18"), y="value", y2="label_at")
        name_style = end_label_style(21, is_emphasised=name in emphasised)
        plot.draw(end, name_style, x="n", y="label_at", text="algorithm", opacity=_DIM_UNLESS_HOVERED)
    ends = ", ".join(f"{name} {number(values[-1], decimals, is_share=is_share)}" for name, values in lines.items())
    summary = f"Line chart, {y_title} by length of the list, {first} to {last}. At {last}: {ends}."
    return finished(
        plot.spec(_HOVERED),
        title=title,
        subtitle=y_title,
        description=description or summary,
        side=side,
        height=_HEIGHT,
        reading="drawn",
    )


def _ends(values: Sequence[float], *, is_share: bool, is_from_zero: bool) -> tuple[float, float]:
    bottom, top = min(values), max(values)
    if is_from_zero:
        bottom = min(0.0, bottom)
    if top <= bottom:
        top = bottom + 1.0
    return bottom, 1.0 if is_share and top > _NEARLY_ALL else top


_LOG_EDGE = 1.06  # room at the ends of a log axis
_TICKS = 12  # the most positions that all have a tick
_MARGIN = 0.06  # of the vertical axis, above and below what is drawn


def trace(
    estimates: Sequence[tuple[float, Sequence[float]]],
    *,
    title: str,
    x_title: str,
    y_title: str,
    chosen: int,
    line: Sequence[float] | None = None,
    is_log: bool = False,
    decimals: int = 3,
    is_share: bool = True,
) -> Spec:
    """Draw dots with their intervals at positions, and a line through them, or through the values of `line`, by steps.

    `estimates` are pairs of a position, ascending, and an estimate; an interval of no width is not drawn. The dot of
    the index `chosen` is filled, the others are hollow. A log scale has no place for 0.

    Examples
    --------
    >>> spec = trace([(10, (0.2, 0.1, 0.3)), (50, (0.3, 0.2, 0.4))], title="50 factors are best", x_title="factors",
    ...              y_title="Recall", chosen=1)
    >>> spec["usermeta"]["description"]
    'Recall by factors. 10: .200 [.100, .300]; 50: .300 [.200, .400].'
    """
    checked = [checked_estimate(estimate, what=y_title) for _x, estimate in estimates]
    x_values = [checked_number(x_value, what=x_title) for x_value, _estimate in estimates]
    values = [checked_number(value, what=y_title) for value in line or [estimate.value for estimate in checked]]
    dots: Rows = [
        {"at": x_value, **estimate._asdict(), "text": _text(estimate, decimals, is_share=is_share)}
        for x_value, estimate in zip(x_values, checked, strict=True)
    ]
    low, high = min(estimate.low for estimate in checked), max(estimate.high for estimate in checked)
    margin = _MARGIN * (high - low) or 0.1 * max(abs(high), 0.1)
    plot = Plot(
        _x_axis(x_values, x_title, is_log=is_log),
        numbers(low - margin, high + margin, grid=True, tickCount=5, **share_labels(is_share=is_share)),
    )
    path = [{"at": x_value, "value": value} for x_value, value in zip(x_values, values, strict=True)]
    through = {"type": "line", "color": OBJECTIVE, "strokeWidth": 1.4, "opacity": 0.7}
    plot.draw(path, {**through, "interpolate": "linear" if line is None else "step-after"}, x="at", y="value")
    interval = {"type": "rule", "color": OBJECTIVE, "strokeWidth": 2, "opacity": 0.45}
    plot.draw(dots, interval, x="at", y="low", y2="high")
    tooltip = [tip("at", x_title, number=""), tip("text", "value")]
    for own, fill in ((dots[:chosen] + dots[chosen + 1 :], LIGHT.paper), ([dots[chosen]], OBJECTIVE)):
        dot = {"type": "point", "shape": "circle", "filled": True, "size": 70, "color": fill}
        rim = {"stroke": OBJECTIVE, "strokeWidth": 1.6, "opacity": 1}
        plot.draw(own, dot | rim, x="at", y="value", tooltip=tooltip)
    summary = "; ".join(f"{dot['at']:g}: {dot['text']}" for dot in dots)
    return finished(
        plot.spec(),
        title=title,
        subtitle=y_title,
        description=f"{y_title} by {x_title}. {summary}.",
        side="objective",
        height=300,
    )


def _text(estimate: Estimate, decimals: int, *, is_share: bool) -> str:
    value = number(estimate.value, decimals, is_share=is_share)
    interval = interval_text(estimate, decimals, is_share=is_share)
    return value if estimate.low == estimate.high else f"{value} {interval}"


def _x_axis(x_values: Sequence[float], title: str, *, is_log: bool) -> Spec:
    first, last = x_values[0], x_values[-1]
    edge = 0.03 * (last - first) or 1.0
    low, high = (first / _LOG_EDGE, last * _LOG_EDGE) if is_log else (first - edge, last + edge)
    ticks: dict[str, Any] = {"values": list(x_values)} if len(x_values) <= _TICKS else {"tickCount": 6}
    look = {"title": title, "grid": False, "labelFlush": False, "labelOverlap": True, "format": "~g"}
    return numbers(low, high, scale={"type": "log" if is_log else "linear"}, **look, **ticks)
