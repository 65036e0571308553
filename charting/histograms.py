"""Counts of a catalogue: ratings by value, and how they spread over items. Common arguments: see `charting.marks`."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from charting.estimates import checked_number
from charting.frame import finished, label_expression, when_narrow, whole_ticks
from charting.plots import Plot, Rows, at, columns, expression, numbers, tip
from charting.theme import LIGHT, SMALL_TEXT_SIZE, Spec, wash_colour
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


_POINTS_OF_TAIL = 240


def long_tail(rating_counts: Sequence[int], *, title: str) -> Spec:
    """Draw how the ratings of a catalogue spread over its items, the most rated first.

    A hairline marks the fewest items that together hold half of the ratings. Long catalogues are drawn by about 240 of
    their items, dense where the curve bends. Raises DataError for no rating.

    Examples
    --------
    >>> spec = long_tail([1, 8, 1], title="One film holds most ratings")
    >>> spec["usermeta"]["description"]
    'Ratings by item, most rated first: 3 items, 10 ratings. Half of the ratings are of the 1 most rated \
(33%); the median item has 1.'
    """
    ordered = sorted((int(count) for count in rating_counts), reverse=True)
    if not ordered or ordered[0] <= 0:
        raise DataError("The catalogue has no ratings to draw.")
    totals = itertools.accumulate(ordered)
    half = next(rank for rank, total in enumerate(totals, start=1) if total >= sum(ordered) / 2)
    share = f"{100 * half / len(ordered):.0f}%"
    plot = Plot(
        numbers(
            1,
            max(len(ordered), 2),
            title="items, most rated first",
            values=whole_ticks(1, len(ordered)),
            labelFlush=False,
            format=",d",
        ),
        numbers(0, ordered[0], grid=True, values=whole_ticks(0, ordered[0]), format=",d"),
    )
    points = [{"item": rank, "ratings": ordered[rank - 1]} for rank in _thinned(len(ordered))]
    area = {"type": "area", "color": wash_colour("neutral"), "opacity": 1, "aria": False}
    plot.draw(points, area, x="item", y="ratings")
    tooltip = [tip("item", number=",d"), tip("ratings", number=",d")]
    line = {"type": "line", "color": LIGHT.ink, "strokeWidth": 1.8}
    plot.draw(points, line, x="item", y="ratings", tooltip=tooltip)
    says = [
        f"{half:,} {'item' if half == 1 else 'items'} ({share})",
        f"{'holds' if half == 1 else 'hold'} half of the ratings",
    ]
    mark = [{"item": half, "says": says}]
    plot.draw(mark, {"type": "rule", "color": LIGHT.quiet, "strokeDash": [3, 3]}, x="item")
    # The label is on the side with room.
    is_early = half < 0.5 * len(ordered) or len(ordered) < 3
    side = {"align": "left", "dx": 7} if is_early else {"align": "right", "dx": -7}
    words = {"type": "text", "baseline": "top", "dy": 2, "color": LIGHT.quiet, "lineHeight": 16, **side}
    plot.draw(mark, words, x="item", y=at(4), text="says")
    summary = (
        f"Ratings by item, most rated first: {len(ordered):,} items, {sum(ordered):,} ratings. Half of the "
        f"ratings are of the {half:,} most rated ({share}); the median item has "
        f"{ordered[len(ordered) // 2]:,}."
    )
    return finished(
        plot.spec(), title=title, subtitle="Ratings of each item", description=summary, height=240, reading="drawn"
    )


def _thinned(length: int) -> list[int]:
    """Return places 1 to `length`: all of them, or some that grow apart as their squares do."""
    if length <= _POINTS_OF_TAIL:
        return list(range(1, length + 1))
    ranks = {1 + round((length - 1) * (step / (_POINTS_OF_TAIL - 1)) ** 2) for step in range(_POINTS_OF_TAIL)}
    return sorted(ranks)
