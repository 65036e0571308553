"""Traces: what was tried one after the other, or at ascending values of a parameter. Common arguments: see
`charting.marks`.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from charting.estimates import Estimate, checked_estimates, checked_number
from charting.frame import Width, finished, layered, number, rows
from charting.positions import positions
from charting.theme import LIGHT, Side, Spec, colour_of
from core.errors import DataError, ParameterError

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
    side: Side = "objective",
    decimals: int = 3,
    is_share: bool = True,
    description: str | None = None,
    width: Width = None,
    height: int = 300,
) -> Spec:
    """Draw dots with their intervals at positions, and a line through them, or through the values of `line`, by steps.

    `estimates` are pairs of a position, ascending, and an estimate; an interval of no width is not drawn. The dot of
    the index `chosen` is filled, the others are hollow. Raises DataError for positions that do not ascend, and
    ParameterError for a chosen dot that is not drawn, or a position that a log scale does not have.

    Examples
    --------
    >>> spec = trace([(10, (0.2, 0.1, 0.3)), (50, (0.3, 0.2, 0.4))], title="50 factors are best", x_title="factors",
    ...              y_title="Recall", chosen=1)
    >>> spec["usermeta"]["description"]
    'Recall by factors. 10: .200 [.100, .300]; 50: .300 [.200, .400].'
    """
    checked = _checked(estimates, y_title)
    if not 0 <= chosen < len(checked):
        raise ParameterError(f"The chart has {len(checked)} dots; there is none of index {chosen}.")
    places = [checked_number(at, what=x_title) for at, _ in estimates]
    if any(after <= before for before, after in itertools.pairwise(places)):
        raise DataError(f"The values of {x_title} must be in ascending order.")
    if is_log and places[0] <= 0:
        raise ParameterError(f"A log scale has no place for {places[0]:g}; draw {x_title} on a linear scale.")
    if line is not None and len(line) != len(checked):
        raise DataError(f"The line has {len(line)} values for {len(checked)} dots.")
    values = [checked_number(value, what=y_title) for value in line or [estimate.value for estimate in checked]]
    texts = [_text(estimate, decimals, is_share=is_share) for estimate in checked]
    dots = [
        {"at": at, "value": estimate.value, "low": estimate.low, "high": estimate.high, "text": text}
        for at, estimate, text in zip(places, checked, texts, strict=True)
    ]
    summary = "; ".join(f"{at:g}: {text}" for at, text in zip(places, texts, strict=True))
    return finished(
        _layers(
            dots,
            values,
            chosen=chosen,
            x_title=x_title,
            is_log=is_log,
            is_stepped=line is not None,
            is_share=is_share,
            side=side,
        ),
        title=title,
        subtitle=y_title,
        description=description or f"{y_title} by {x_title}. {summary}.",
        side=side,
        width=width,
        height=height,
    )


def _checked(estimates: Sequence[tuple[float, Sequence[float]]], what: str) -> list[Estimate]:
    named = {f"{index}": estimate for index, (_, estimate) in enumerate(estimates)}
    return list(checked_estimates(named, what=what).values())


def _text(estimate: Estimate, decimals: int, *, is_share: bool) -> str:
    value, low, high = (number(part, decimals, is_share=is_share) for part in estimate)
    return value if estimate.low == estimate.high else f"{value} [{low}, {high}]"


def _layers(
    dots: list[dict[str, Any]],
    line: Sequence[float],
    *,
    chosen: int,
    x_title: str,
    is_log: bool,
    is_stepped: bool,
    is_share: bool,
    side: Side,
) -> Spec:
    import altair as alt

    colour = colour_of(side)
    low, high = min(dot["low"] for dot in dots), max(dot["high"] for dot in dots)
    margin = _MARGIN * (high - low) or 0.1 * max(abs(high), 0.1)
    first, last = dots[0]["at"], dots[-1]["at"]
    edge = 0.03 * (last - first) or 1.0
    ends = [first / _LOG_EDGE, last * _LOG_EDGE] if is_log else [first - edge, last + edge]
    x_scale = alt.Scale(domain=ends, nice=False, zero=False, type="log" if is_log else "linear")
    ticks = {"values": [dot["at"] for dot in dots]} if len(dots) <= _TICKS else {"tickCount": 6}
    x_axis = alt.Axis(title=x_title, grid=False, labelFlush=False, labelOverlap=True, format="~g", **ticks)
    y_axis = alt.Axis(
        title=None, grid=True, tickCount=5, labelExpr="replace(datum.label, '0.', '.')" if is_share else "datum.label"
    )
    y_scale = alt.Scale(domain=[low - margin, high + margin], nice=False, zero=False)
    across, up = positions(x_scale, x_axis, y_scale, y_axis)
    path = alt.Chart(rows({"at": dot["at"], "value": value} for dot, value in zip(dots, line, strict=True)))
    drawn = alt.Chart(rows(dots))
    looks = ((dots[:chosen] + dots[chosen + 1 :], LIGHT.paper), (dots[chosen : chosen + 1], colour))
    return layered(
        [
            path.mark_line(
                color=colour, strokeWidth=1.4, opacity=0.7, interpolate="step-after" if is_stepped else "linear"
            ).encode(x=across("at"), y=up("value")),
            drawn.mark_rule(color=colour, strokeWidth=2, opacity=0.45).encode(
                x=across("at"), y=up("low"), y2=alt.Y2("high")
            ),
            *(
                alt.Chart(rows(some))
                .mark_point(shape="circle", filled=True, size=70, color=fill, stroke=colour, strokeWidth=1.6, opacity=1)
                .encode(
                    x=across("at"),
                    y=up("value"),
                    tooltip=[alt.Tooltip("at:Q", title=x_title), alt.Tooltip("text:N", title="value")],
                )
                for some, fill in looks
            ),
        ]
    )
