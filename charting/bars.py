"""Horizontal bars with intervals: a metric by algorithm. Common arguments: see `charting.marks`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from charting.estimates import Estimate, checked_estimates, checked_shares, same_names
from charting.frame import Width, finished, layered, number, rows
from charting.keys import Entry, key, width_of_names
from charting.lines import line_axis, line_scale
from charting.positions import positions
from charting.theme import LIGHT, SMALL_TEXT_SIZE, Side, Spec, colour_of, wash_of
from core.errors import ParameterError

if TYPE_CHECKING:
    import altair as alt

_ROW = {1: 30, 2: 46}
# Upper and lower edge of each bar around its row, in shares of a row.
_EDGES = {1: ((-0.3, 0.3),), 2: ((-0.36, -0.03), (0.03, 0.36))}


def bars(
    series: Mapping[str, Mapping[str, Sequence[float]]],
    *,
    title: str,
    x_title: str,
    side: Side = "objective",
    decimals: int = 2,
    is_share: bool = True,
    description: str | None = None,
    width: Width = None,
    height: int | None = None,
) -> Spec:
    """Draw a metric by algorithm as horizontal bars from zero, each with its interval and its number.

    One series fills its bars; a second (the same metric at the participants' profile length, say) is drawn below the
    first in outline, so greyscale tells them apart. `series` maps the name of each to estimates of the same algorithms.
    Raises DataError for series with other algorithms, and ParameterError unless there are one or two.

    Examples
    --------
    >>> spec = bars({"as measured": {"PureSVD50": (0.29, 0.28, 0.30), "LSA": (0.01, 0.0, 0.02)}},
    ...             title="PureSVD50 finds most", x_title="Recall at 5")
    >>> spec["usermeta"]["description"]
    'Bar chart, Recall at 5, as measured. PureSVD50: .29 [.28, .30]. LSA: .01 [.00, .02].'
    """
    if len(series) not in _ROW:
        raise ParameterError(f"A bar chart draws one or two series; got {len(series)}.")
    checked = {word: checked_estimates(values, what=f"{x_title} ({word})") for word, values in series.items()}
    first, last = next(iter(checked.values())), list(checked.values())[-1]
    same_names(first, last, what="Two series of bars")
    every = [estimate for values in checked.values() for estimate in values.values()]
    if is_share:
        checked_shares((estimate.value for estimate in every), what=x_title)
    lowest_drawn = min(0.0, *(estimate.low for estimate in every))
    highest_drawn = max(0.0, *(estimate.high for estimate in every))
    if lowest_drawn == highest_drawn:
        highest_drawn = 1.0
    names = list(first)
    chart = _layers(
        checked,
        names=names,
        ends=(lowest_drawn, highest_drawn),
        x_title=x_title,
        side=side,
        decimals=decimals,
        is_share=is_share,
    )
    return finished(
        chart,
        title=title,
        subtitle=x_title,
        description=description or _description(checked, x_title, decimals, is_share=is_share),
        side=side,
        width=width,
        height=height or _ROW[len(series)] * len(names),
        reading="down",
    )


def _layers(
    series: Mapping[str, Mapping[str, Estimate]],
    *,
    names: Sequence[str],
    ends: tuple[float, float],
    x_title: str,
    side: Side,
    decimals: int,
    is_share: bool,
) -> Spec:
    import altair as alt

    colour = colour_of(side)
    x_scale = alt.Scale(domain=list(ends), nice=False, zero=True)
    label = "replace(datum.label, '0.', '.')" if is_share else "datum.label"
    x_axis = alt.Axis(title=None, grid=True, tickCount=4, format=f".{decimals}f", labelExpr=label, labelFlush=False)
    y_scale = line_scale(len(names))
    y_axis = line_axis(names)
    along, row_at = positions(x_scale, x_axis, y_scale, y_axis)
    looks: list[dict[str, Any]] = [
        {"fill": colour, "stroke": colour, "strokeWidth": 1},
        {"fill": wash_of(side), "stroke": colour, "strokeWidth": 1.2},
    ]
    layers: list[alt.Chart] = []
    for look, edges, (word, values) in zip(looks, _EDGES[len(series)], series.items(), strict=False):
        bars = alt.Chart(rows(_bar_rows(values, names, edges, word, decimals, is_share=is_share)))
        tooltip = [
            alt.Tooltip("algorithm:N"),
            alt.Tooltip("series:N", title="measured"),
            alt.Tooltip("text:N", title="value"),
            alt.Tooltip("interval:N", title="95% CI"),
        ]
        layers += [
            bars.mark_rect(**look).encode(
                x=along("start"), x2=alt.X2("value"), y=row_at("upper"), y2=alt.Y2("lower"), tooltip=tooltip
            ),
            # The interval has a rim, or it would vanish on the bar it crosses.
            bars.mark_rule(color=LIGHT.paper, strokeWidth=4, aria=False).encode(
                x=along("low"), x2=alt.X2("high"), y=row_at("middle")
            ),
            bars.mark_rule(color=LIGHT.ink, strokeWidth=1.5).encode(
                x=along("low"), x2=alt.X2("high"), y=row_at("middle")
            ),
            bars.mark_text(align="left", baseline="middle", dx=7, fontSize=SMALL_TEXT_SIZE).encode(
                x=along("far"), y=row_at("middle"), text=alt.Text("text:N")
            ),
        ]
    if len(series) > 1:
        entries = [Entry(word, look) for word, look in zip(series, looks, strict=True)]
        layers += key(entries, left=-width_of_names(names), above=16)
    return layered(layers)


def _bar_rows(
    values: Mapping[str, Estimate],
    names: Sequence[str],
    edges: tuple[float, float],
    word: str,
    decimals: int,
    *,
    is_share: bool,
) -> list[dict[str, Any]]:
    bars = []
    for row, name in enumerate(names):
        value, low, high = values[name]
        bars.append(
            {
                "algorithm": name,
                "series": word,
                "start": 0,
                "value": value,
                "low": low,
                "high": high,
                "far": max(high, 0.0),
                "upper": round(row + edges[0], 6),
                "lower": round(row + edges[1], 6),
                "middle": round(row + sum(edges) / 2, 6),
                "text": number(value, decimals, is_share=is_share),
                "interval": _interval(values[name], decimals, is_share=is_share),
            }
        )
    return bars


def _interval(estimate: Estimate, decimals: int, *, is_share: bool) -> str:
    low = number(estimate.low, decimals, is_share=is_share)
    return f"[{low}, {number(estimate.high, decimals, is_share=is_share)}]"


def _description(series: Mapping[str, Mapping[str, Estimate]], x_title: str, decimals: int, *, is_share: bool) -> str:
    sentences = []
    for word, values in series.items():
        summary = " ".join(
            f"{name}: {number(estimate.value, decimals, is_share=is_share)} "
            f"{_interval(estimate, decimals, is_share=is_share)}."
            for name, estimate in values.items()
        )
        sentences.append(f"{x_title}, {word}. {summary}")
    return f"Bar chart, {' '.join(sentences)}"
