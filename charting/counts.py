"""Charts of counts: participants by condition against target, ratings by value (common arguments: `charting.marks`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from charting.estimates import checked_number
from charting.frame import finished, label_expression, when_narrow, whole_ticks
from charting.keys import Entry, draw_key, width_of_names
from charting.plots import Plot, Rows, columns, expression, lines, numbers, tip
from charting.theme import LIGHT, SMALL_TEXT_SIZE, Spec
from core.errors import DataError

_ROW = 34
_SHARES_ON_A_PHONE = 11


class Counts(NamedTuple):
    """Participants of one condition by where they stand now; each is counted once."""

    completed: int
    active: int
    started: int
    abandoned: int


_LOOKS: Mapping[str, Spec] = {
    "completed": {"fill": LIGHT.ink, "stroke": LIGHT.ink},
    "active": {"fill": LIGHT.quiet, "fillOpacity": 0.65, "stroke": LIGHT.quiet},
    "started": {"fill": LIGHT.line, "stroke": LIGHT.quiet},
    "abandoned": {"fill": LIGHT.paper, "stroke": LIGHT.quiet, "strokeDash": [3, 2]},
}


def progress(counts: Mapping[str, Counts], targets: Mapping[str, int], *, title: str) -> Spec:
    """Draw participants by condition, a bar from completed to abandoned, against the target: the tick over each bar,
    toward which only the black part counts. Raises DataError for a count below 0 or a condition without a target of at
    least 1.

    Examples
    --------
    >>> spec = progress({"TopPop": Counts(12, 2, 1, 3)}, {"TopPop": 30}, title="12 of 30 are done")
    >>> spec["usermeta"]["description"]
    'Participants by condition. TopPop: 12 of 30 completed, 2 active, 1 started, 3 abandoned.'
    """
    if not counts:
        raise DataError("There is no condition to draw.")
    for name, own in counts.items():
        if min(own) < 0:
            raise DataError(f"Condition {name} has a count below 0.")
        if targets.get(name, 0) < 1:
            raise DataError(f"Condition {name} has no target.")
    summary = " ".join(
        f"{name}: {own.completed} of {targets[name]} completed, {own.active} active, {own.started} started, "
        f"{own.abandoned} abandoned."
        for name, own in counts.items()
    )
    return finished(
        _progress_plot(counts, targets).spec(),
        title=title,
        subtitle="",
        description=f"Participants by condition. {summary}",
        height=_ROW * len(counts),
        reading="down",
    )


def histogram(
    counts: Mapping[float, int],
    *,
    title: str,
    x_title: str,
    y_title: str = "Number and share of each value",
) -> Spec:
    """Draw how often each value occurs, a bar a value, in ascending order; values that could occur and do not come with
    0. `x_title` names the values, `y_title` what is counted. Raises DataError for a count below 0.

    Examples
    --------
    >>> spec = histogram({1: 5, 2: 15}, title="Most ratings are high", x_title="Rating")
    >>> spec["usermeta"]["description"]
    'Histogram, Rating. 1: 5 (25%), 2: 15 (75%).'
    """
    if not counts:
        raise DataError(f"There is no {x_title} to count.")
    ordered = sorted((checked_number(value, what=x_title), int(count)) for value, count in counts.items())
    if min(count for _, count in ordered) < 0:
        raise DataError(f"A value of {x_title} occurs less than 0 times.")
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
    bar = {"type": "rect", "fill": LIGHT.quiet}
    plot.draw(bars, bar, x="left", x2="right", y="start", y2="count", tooltip=tooltip)
    text: Spec = {"type": "text", "baseline": "bottom", "dy": -4, "color": LIGHT.quiet}
    text["fontSize"] = expression(when_narrow("10", str(SMALL_TEXT_SIZE)))
    # More shares than a phone has room for: its table says them.
    text["opacity"] = expression(when_narrow("0", "1")) if len(bars) > _SHARES_ON_A_PHONE else 1
    plot.draw(bars, text, x="place", y="count", text="share")
    summary = ", ".join(f"{row['value']}: {row['count']:,} ({row['share']})" for row in bars)
    return finished(
        plot.spec(), title=title, subtitle=y_title, description=f"Histogram, {x_title}. {summary}.", height=220
    )


def _progress_plot(counts: Mapping[str, Counts], targets: Mapping[str, int]) -> Plot:
    parts: Rows = []
    sums: Rows = []
    for row, (name, own) in enumerate(counts.items()):
        edge = 0
        for word in _LOOKS:
            people = int(getattr(own, word))
            parts.append(
                {
                    "condition": name,
                    "standing": word,
                    "participants": people,
                    "from": edge,
                    "to": edge + people,
                    "upper": row - 0.27,
                    "lower": row + 0.27,
                }
            )
            edge += people
        sums.append(
            {
                "condition": name,
                "row": row,
                "target": targets[name],
                "upper": row - 0.38,
                "lower": row + 0.38,
                "far": max(edge, targets[name]),
                "text": f"{own.completed} of {targets[name]}",
            }
        )
    longest = max(row["far"] for row in sums)
    names = list(counts)
    ticks = whole_ticks(0, longest, about=6)
    plot = Plot(numbers(0, longest, grid=True, values=ticks, format="d", labelFlush=False), lines(names))
    tooltip = [tip("condition"), tip("standing"), tip("participants", number="")]
    for word, look in _LOOKS.items():
        segments = [part for part in parts if part["standing"] == word and part["participants"]]
        segment = {"type": "rect", "strokeWidth": 1, **look}
        plot.draw(segments, segment, x="from", x2="to", y="upper", y2="lower", tooltip=tooltip)
    rim = {"type": "rule", "color": LIGHT.paper, "strokeWidth": 5, "aria": False}
    plot.draw(sums, rim, x="target", y="upper", y2="lower")
    target = {"type": "rule", "color": LIGHT.ink, "strokeWidth": 2}
    plot.draw(sums, target, x="target", y="upper", y2="lower", tooltip=[tip("target", number="")])
    beside = {"type": "text", "align": "left", "baseline": "middle", "dx": 8}
    plot.draw(sums, beside, x="far", y="row", text="text")
    draw_key(plot, [Entry(word, look) for word, look in _LOOKS.items()], left=-width_of_names(names), above=14)
    return plot
