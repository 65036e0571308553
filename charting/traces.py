"""Traces: what was tried one after the other, or at ascending values of a parameter. Common arguments: see
`charting.marks`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from charting.estimates import Estimate, checked_estimate, checked_number, interval_text
from charting.frame import finished, number
from charting.plots import Plot, Rows, numbers, share_labels, tip
from charting.theme import LIGHT, OBJECTIVE, Spec

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
