"""Charts of counts: participants by condition against target, ratings by value (common arguments: `charting.marks`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from charting.estimates import checked_number
from charting.frame import Width, finished, label_expression, layered, rows, when_narrow, whole_ticks
from charting.keys import Entry, key, width_of_names
from charting.lines import line_axis, line_scale
from charting.positions import positions
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


_LOOKS: Mapping[str, Mapping[str, Any]] = {
    "completed": {"fill": LIGHT.ink, "stroke": LIGHT.ink},
    "active": {"fill": LIGHT.quiet, "fillOpacity": 0.65, "stroke": LIGHT.quiet},
    "started": {"fill": LIGHT.line, "stroke": LIGHT.quiet},
    "abandoned": {"fill": LIGHT.paper, "stroke": LIGHT.quiet, "strokeDash": [3, 2]},
}


def progress(
    counts: Mapping[str, Counts],
    targets: Mapping[str, int],
    *,
    title: str,
    description: str | None = None,
    width: Width = None,
    height: int | None = None,
) -> Spec:
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
        _progress_layers(counts, targets),
        title=title,
        subtitle="",
        description=description or f"Participants by condition. {summary}",
        side="neutral",
        width=width,
        height=height or _ROW * len(counts),
        reading="down",
    )


def histogram(
    counts: Mapping[float, int],
    *,
    title: str,
    x_title: str,
    y_title: str = "Number and share of each value",
    description: str | None = None,
    width: Width = None,
    height: int = 220,
) -> Spec:
    """Draw how often each value occurs, a bar a value, in ascending order; values that could occur and do not come with
    0. `x_title` names the values, `y_title` what is counted. Raises DataError for a count below 0.

    Examples
    --------
    >>> spec = histogram({1: 5, 2: 15}, title="Most ratings are high", x_title="Rating")
    >>> spec["usermeta"]["description"]
    'Histogram, Rating. 1: 5 (25%), 2: 15 (75%).'
    """
    import altair as alt

    if not counts:
        raise DataError(f"There is no {x_title} to count.")
    ordered = sorted((checked_number(value, what=x_title), int(count)) for value, count in counts.items())
    if min(count for _, count in ordered) < 0:
        raise DataError(f"A value of {x_title} occurs less than 0 times.")
    total = sum(count for _, count in ordered)
    bars = [
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
    x_scale = alt.Scale(domain=[-0.5, len(bars) - 0.5], nice=False, zero=False)
    y_scale = alt.Scale(domain=[0, highest], nice=False)
    values = [str(row["value"]) for row in bars]
    x_axis = alt.Axis(
        title=x_title,
        values=list(range(len(bars))),
        labelExpr=label_expression(values),
        labelAngle=0,
        labelOverlap=True,
        labelSeparation=5,
        labelColor=LIGHT.ink,
    )
    y_axis = alt.Axis(title=None, grid=True, values=whole_ticks(0, highest), format=",d")
    across, up = positions(x_scale, x_axis, y_scale, y_axis)
    base = alt.Chart(rows(bars))
    chart = layered(
        [
            base.mark_rect(fill=LIGHT.quiet).encode(
                x=across("left"),
                x2=alt.X2("right"),
                y=up("start"),
                y2=alt.Y2("count"),
                tooltip=[
                    alt.Tooltip("value:N", title=x_title),
                    alt.Tooltip("count:Q", format=",d"),
                    alt.Tooltip("share:N"),
                ],
            ),
            base.mark_text(
                baseline="bottom",
                dy=-4,
                fontSize=alt.ExprRef(when_narrow("10", str(SMALL_TEXT_SIZE))),
                # More shares than a phone has room for: its table says them.
                opacity=alt.ExprRef(when_narrow("0", "1")) if len(bars) > _SHARES_ON_A_PHONE else 1,
                color=LIGHT.quiet,
            ).encode(x=across("place"), y=up("count"), text=alt.Text("share:N")),
        ]
    )
    summary = ", ".join(f"{row['value']}: {row['count']:,} ({row['share']})" for row in bars)
    return finished(
        chart,
        title=title,
        subtitle=y_title,
        description=description or f"Histogram, {x_title}. {summary}.",
        side="neutral",
        width=width,
        height=height,
    )


def _progress_layers(counts: Mapping[str, Counts], targets: Mapping[str, int]) -> Spec:
    import altair as alt

    names = list(counts)
    parts: list[dict[str, Any]] = []
    sums: list[dict[str, Any]] = []
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
    x_scale = alt.Scale(domain=[0, longest], nice=False)
    x_axis = alt.Axis(title=None, grid=True, values=whole_ticks(0, longest, about=6), format="d", labelFlush=False)
    y_scale = line_scale(len(names))
    y_axis = line_axis(names)
    along, row_at = positions(x_scale, x_axis, y_scale, y_axis)
    layers = []
    for word, look in _LOOKS.items():
        segments = [part for part in parts if part["standing"] == word and part["participants"]]
        if segments:
            layers.append(
                alt.Chart(rows(segments))
                .mark_rect(strokeWidth=1, **look)
                .encode(
                    x=along("from"),
                    x2=alt.X2("to"),
                    y=row_at("upper"),
                    y2=alt.Y2("lower"),
                    tooltip=[alt.Tooltip("condition:N"), alt.Tooltip("standing:N"), alt.Tooltip("participants:Q")],
                )
            )
    ends = alt.Chart(rows(sums))
    layers += [
        ends.mark_rule(color=LIGHT.paper, strokeWidth=5, aria=False).encode(
            x=along("target"), y=row_at("upper"), y2=alt.Y2("lower")
        ),
        ends.mark_rule(color=LIGHT.ink, strokeWidth=2).encode(
            x=along("target"), y=row_at("upper"), y2=alt.Y2("lower"), tooltip=[alt.Tooltip("target:Q")]
        ),
        ends.mark_text(align="left", baseline="middle", dx=8).encode(
            x=along("far"), y=row_at("row"), text=alt.Text("text:N")
        ),
        *key([Entry(word, look) for word, look in _LOOKS.items()], left=-width_of_names(names), above=14),
    ]
    return layered(layers)
