"""The forest plot: pairwise differences with their simultaneous intervals. Common arguments: see `charting.marks`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from charting.estimates import checked_number
from charting.frame import Width, finished, layered, number, rows, when_narrow
from charting.lines import line_axis, line_scale
from charting.positions import positions
from charting.theme import LIGHT, SHAPES, SMALL_TEXT_SIZE, Side, Spec, colour_of
from core.errors import DataError

if TYPE_CHECKING:
    import altair as alt

_ROW = 23


class Difference(NamedTuple):
    """A difference ``a - b`` with its interval, its adjusted p as text, and whether it is significant.

    With an empty `b` it is one value that `a` names.
    """

    a: str
    b: str
    value: float
    low: float
    high: float
    p: str
    is_significant: bool


def forest(
    differences: Sequence[Difference],
    *,
    title: str,
    x_title: str,
    side: Side = "perceived",
    decimals: int = 2,
    is_share: bool = False,
    interval_name: str = "simultaneous 95% CI",
    description: str | None = None,
    width: Width = None,
    height: int | None = None,
) -> Spec:
    """Forest plot of pairwise differences, one row per pair in the order given, with a line at zero.

    Significant differences have a filled symbol, a heavy interval and bold text; the others are hollow and light.
    `x_title` also says what a value above 0 means; `interval_name` is what tooltips call the interval.

    Examples
    --------
    >>> spec = forest([Difference("TopPop", "LSA", 0.5, 0.1, 0.9, "= .004", True)],
    ...               title="TopPop and LSA differ", x_title="Difference in perceived accuracy")
    >>> spec["usermeta"]["description"]
    'Forest plot, Difference in perceived accuracy. TopPop − LSA: 0.50 [0.10, 0.90], p = .004, significant.'
    """
    table = _rows(differences, decimals, is_share=is_share)
    summary = " ".join(f"{row['pair']}: {row['numbers']}, p {row['p']}, {row['verdict']}." for row in table)
    return finished(
        _layers(table, side=side, decimals=decimals, is_share=is_share, interval_name=interval_name),
        title=title,
        subtitle=x_title,
        description=description or f"Forest plot, {x_title}. {summary}",
        side=side,
        width=width,
        height=height or _ROW * len(table),
        reading="down",
    )


def _rows(differences: Sequence[Difference], decimals: int, *, is_share: bool) -> list[dict[str, Any]]:
    if not differences:
        raise DataError("There is no difference to draw.")
    table = []
    for index, difference in enumerate(differences):
        pair = f"{difference.a} − {difference.b}" if difference.b else difference.a
        value, low, high = (checked_number(part, what=f"the difference {pair}") for part in difference[2:5])
        slack = 1e-9 * max(1.0, abs(value))
        if not low - slack <= value <= high + slack:
            raise DataError(f"The difference {pair} is {value:g}, outside its interval from {low:g} to {high:g}.")
        texts = [number(part, decimals, is_share=is_share) for part in (value, low, high)]
        table.append(
            {
                "pair": pair,
                "lines": f"{difference.a}\n− {difference.b}" if difference.b else difference.a,
                "row": index,
                "value": value,
                "low": low,
                "high": high,
                "numbers": f"{texts[0]} [{texts[1]}, {texts[2]}]",
                "value_text": texts[0],
                "interval": f"[{texts[1]}, {texts[2]}]",
                "p": difference.p,
                "is_significant": difference.is_significant,
                "verdict": "significant" if difference.is_significant else "not significant",
            }
        )
    return table


def _layers(
    differences: list[dict[str, Any]], *, side: Side, decimals: int, is_share: bool, interval_name: str
) -> Spec:
    import altair as alt

    colour = colour_of(side)
    low = min(0.0, *(row["low"] for row in differences))
    high = max(0.0, *(row["high"] for row in differences))
    margin = 0.04 * (high - low) or 1.0
    x_scale = alt.Scale(domain=[low - margin, high + margin], nice=False, zero=False)
    y_scale = line_scale(len(differences))
    shown = "replace(replace(datum.label, '0.', '.'), '-', '−')" if is_share else "datum.label"
    x_axis = alt.Axis(title=None, grid=True, tickCount=5, labelExpr=shown, labelFlush=False)
    y_axis = line_axis([row["pair"] for row in differences], labelFontSize=SMALL_TEXT_SIZE, labelLimit=400)
    along, row_at = positions(x_scale, x_axis, y_scale, y_axis)
    tooltip = [
        alt.Tooltip("pair:N"),
        alt.Tooltip("value_text:N", title="difference"),
        alt.Tooltip("interval:N", title=interval_name),
        alt.Tooltip("p:N"),
        alt.Tooltip("verdict:N"),
    ]
    layers: list[alt.Chart] = [
        alt.Chart(rows([{"value": 0}]))
        .mark_rule(color=LIGHT.quiet, strokeWidth=1.2, strokeDash=[4, 3], aria=False)
        .encode(x=along("value"))
    ]
    looks: tuple[tuple[bool, dict[str, Any], dict[str, Any]], ...] = (
        (True, {"strokeWidth": 2.6}, {"fill": colour, "size": 74}),
        (False, {"strokeWidth": 1.1}, {"fill": LIGHT.paper, "size": 54}),
    )
    for is_significant, rule, point in looks:
        own = [row for row in differences if row["is_significant"] is is_significant]
        if not own:
            continue
        chart = alt.Chart(rows(own))
        layers += [
            chart.mark_rule(color=colour, aria=False, **rule).encode(
                x=along("low"), x2=alt.X2("high"), y=row_at("row")
            ),
            chart.mark_point(
                shape=SHAPES[side], filled=True, stroke=colour, strokeWidth=1.4, opacity=1, **point
            ).encode(x=along("value"), y=row_at("row"), tooltip=tooltip),
            chart.mark_text(
                align="left",
                baseline="middle",
                fontSize=SMALL_TEXT_SIZE,
                fontWeight=600 if is_significant else "normal",
                text=alt.ExprRef(when_narrow("datum.value_text", "datum.numbers")),
            ).encode(x=alt.XValue(alt.ExprRef("width + 6")), y=row_at("row")),
        ]
    return layered(layers)
