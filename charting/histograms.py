"""The histogram: ratings by value. Common arguments: see `charting.marks`."""

from __future__ import annotations

from collections.abc import Mapping

from charting.estimates import checked_number
from charting.frame import finished, label_expression, when_narrow, whole_ticks
from charting.plots import Plot, Rows, columns, expression, numbers, tip
from charting.theme import LIGHT, SMALL_TEXT_SIZE, Spec
from core.errors import DataError

_SHARES_ON_A_PHONE = 11


def histogram(
    counts: Mapping[float, int],
    *,
    title: str,
    x_title: str,
    y_title: str = "Number and share of each value",
    limits: tuple[float, float] | None = None,
) -> Spec:
    """Draw how often each value occurs, a bar a value, in ascending order; values that could occur and do not come with
    0. `x_title` names the values, `y_title` what is counted; `limits`: solid from the first, outlined to the second.

    Examples
    --------
    >>> spec = histogram({1: 5, 2: 15}, title="Most ratings are high", x_title="Rating")
    >>> spec["usermeta"]["description"]
    'Histogram, Rating. 1: 5 (25%), 2: 15 (75%).'
    """
    if not counts:
        raise DataError(f"There is no {x_title} to count.")
    ordered = sorted((checked_number(value, what=x_title), int(count)) for value, count in counts.items())
    total = sum(count for _, count in ordered)
    bars: Rows = [
        {
            "place": index,
            "value": f"{value:g}",
            "count": count,
            "share": f"{100 * count / total:.0f}%" if total else "0%",
            "start": 0,
            "left": round(index - 0.4, 6),
            "right": round(index + 0.4, 6),
        }
        for index, (value, count) in enumerate(ordered)
    ]
    highest = max(count for _, count in ordered) or 1
    plot = Plot(
        columns(
            len(bars),
            title=x_title,
            labelExpr=label_expression([str(row["value"]) for row in bars]),
            labelAngle=0,
            labelOverlap=True,
            labelSeparation=5,
            labelColor=LIGHT.ink,
        ),
        numbers(0, highest, grid=True, values=whole_ticks(0, highest), format=",d"),
    )
    tooltip = [tip("value", x_title), tip("count", number=",d"), tip("share")]
    outlined, grey = {"fill": LIGHT.paper, "stroke": LIGHT.ink}, {"fill": LIGHT.line, "stroke": LIGHT.quiet}
    looks: list[Spec] = [{"fill": LIGHT.quiet}] if limits is None else [{"fill": LIGHT.ink}, outlined, grey]
    kinds = [0 if limits is None or value >= limits[0] else 1 if value <= limits[1] else 2 for value, _ in ordered]
    for kind, look in enumerate(looks):
        of_kind = [bar for bar, of_bar in zip(bars, kinds, strict=True) if of_bar == kind]
        plot.draw(of_kind, {"type": "rect", **look}, x="left", x2="right", y="start", y2="count", tooltip=tooltip)
    text: Spec = {"type": "text", "baseline": "bottom", "dy": -4, "color": LIGHT.quiet}
    text["fontSize"] = expression(when_narrow("10", str(SMALL_TEXT_SIZE)))
    # More shares than a phone has room for: its table says them.
    text["opacity"] = expression(when_narrow("0", "1")) if len(bars) > _SHARES_ON_A_PHONE else 1
    plot.draw(bars, text, x="place", y="count", text="share")
    summary = ", ".join(f"{row['value']}: {row['count']:,} ({row['share']})" for row in bars)
    return finished(
        plot.spec(), title=title, subtitle=y_title, description=f"Histogram, {x_title}. {summary}.", height=220
    )
