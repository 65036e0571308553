"""The slope chart: two rankings side by side. Common arguments: see `charting.marks`."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from charting.estimates import Estimate, checked_estimates, known_names, same_names
from charting.frame import Width, finished, layered, number, rows, when_narrow
from charting.labels import lanes, spread
from charting.theme import LIGHT, OBJECTIVE, PERCEIVED, SHAPES, Side, Spec, colour_of

if TYPE_CHECKING:
    import altair as alt

_ROW = 44
_LABEL_GAP = 0.38
_LANE_GAP = 0.3
_HEADING_LINE = 16


def slope(
    perceived: Mapping[str, Sequence[float]],
    objective: Mapping[str, Sequence[float]],
    *,
    title: str,
    perceived_title: str = "perceived",
    objective_title: str = "objective",
    contradicted: Collection[tuple[str, str]] = (),
    description: str | None = None,
    width: Width = None,
    height: int | None = None,
) -> Spec:
    """Draw the ranks that people give beside the ranks that a metric gives, 1 the best, ties as mean ranks.

    One line an algorithm; crossed lines are disagreements. A bar behind each dot spans the ranks that 95 % of resamples
    give. Dots have lanes, so that no two bars overlap; ties share a height. The lines of `contradicted` are heavy:
    pairs that both sides tell apart significantly, in opposite directions. Raises DataError for names on one side only.

    Examples
    --------
    >>> spec = slope({"TopPop": (1, 1, 2), "LSA": (2, 1, 2)}, {"TopPop": (2, 2, 2), "LSA": (1, 1, 1)},
    ...              title="Recall reverses what people say")
    >>> spec["usermeta"]["description"]
    'Slope chart of ranks, perceived and objective. TopPop: 1 and 2. LSA: 2 and 1.'
    """
    import altair as alt

    left = checked_estimates(perceived, what="perceived rank")
    right = checked_estimates(objective, what="objective rank")
    same_names(left, right, what="Two rankings")
    names = sorted(left, key=lambda name: (left[name].value, right[name].value, name))
    pairs = known_names(contradicted, names, what="contradicted pairs")
    heavy = {name for pair in pairs for name in pair}

    left_rows = _side_rows({name: left[name] for name in names}, is_left=True)
    right_order = sorted(names, key=lambda name: (right[name].value, left[name].value, name))
    right_rows = _side_rows({name: right[name] for name in right_order}, is_left=False)
    right_by_name = {row["algorithm"]: row for row in right_rows}
    lines = [
        {
            "algorithm": row["algorithm"],
            "x": row["x"],
            "x2": right_by_name[row["algorithm"]]["x"],
            "perceived": row["rank"],
            "objective": right_by_name[row["algorithm"]]["rank"],
            "heavy": row["algorithm"] in heavy,
        }
        for row in left_rows
    ]
    worst = max(*(e.high for e in left.values()), *(e.high for e in right.values()), float(len(names)))
    scales = (
        alt.Scale(domain=[0, 1], nice=False, zero=False),
        alt.Scale(domain=[worst + 0.3, 0.5], nice=False, zero=False),
    )
    # The bars lie below the lines, which would end behind them.
    layers = [
        *_bars(left_rows, scales, colour=LIGHT.perceived_interval),
        *_bars(right_rows, scales, colour=LIGHT.objective_interval),
        *_lines(lines, scales),
        *_side(left_rows, scales, side="perceived", heading=perceived_title),
        *_side(right_rows, scales, side="objective", heading=objective_title),
    ]
    return finished(
        layered(layers),
        title=title,
        subtitle="",
        description=description or _description(names, left, right, perceived_title, objective_title),
        side="neutral",
        width=width,
        height=height or _ROW * len(names),
    )


def _side_rows(ranks: Mapping[str, Estimate], *, is_left: bool) -> list[dict[str, Any]]:
    lane_of = lanes([(rank.low, rank.high) for rank in ranks.values()], _LANE_GAP)
    step = min(0.06, 0.3 / max(max(lane_of), 1))
    heights = spread([rank.value for rank in ranks.values()], _LABEL_GAP)
    points = []
    for (name, rank), lane, height in zip(ranks.items(), lane_of, heights, strict=True):
        inward = round(step * lane, 6)
        points.append(
            {
                "algorithm": name,
                "x": inward if is_left else round(1 - inward, 6),
                "edge": 0 if is_left else 1,
                "rank": rank.value,
                "low": rank.low,
                "high": rank.high,
                "label_at": round(height, 6),
                "rank_text": number(rank.value, 0 if float(rank.value).is_integer() else 1),
            }
        )
    return points


def _axes(x: str, y: str, scales: tuple[alt.Scale, alt.Scale]) -> dict[str, Any]:
    import altair as alt

    return {
        "x": alt.X(x, type="quantitative", scale=scales[0], axis=None),
        "y": alt.Y(y, type="quantitative", scale=scales[1], axis=None),
    }


def _lines(lines: list[dict[str, Any]], scales: tuple[alt.Scale, alt.Scale]) -> list[alt.Chart]:
    import altair as alt

    tooltip = [
        alt.Tooltip("algorithm:N"),
        alt.Tooltip("perceived:Q", title="perceived rank"),
        alt.Tooltip("objective:Q", title="objective rank"),
    ]
    looks: tuple[tuple[bool, dict[str, Any]], ...] = (
        (False, {"color": LIGHT.quiet, "strokeWidth": 1.2, "opacity": 0.6}),
        (True, {"color": LIGHT.ink, "strokeWidth": 2.8, "opacity": 1.0}),
    )
    return [
        alt.Chart(rows(line for line in lines if line["heavy"] is is_heavy))
        .mark_rule(strokeCap="round", **look)
        .encode(**_axes("x", "perceived", scales), x2=alt.X2("x2"), y2=alt.Y2("objective"), tooltip=tooltip)
        for is_heavy, look in looks
        if any(line["heavy"] is is_heavy for line in lines)
    ]


def _bars(side_rows: list[dict[str, Any]], scales: tuple[alt.Scale, alt.Scale], *, colour: str) -> list[alt.Chart]:
    import altair as alt

    base = alt.Chart(rows(side_rows))
    return [
        base.mark_rule(color=LIGHT.line, strokeWidth=1).encode(**_axes("edge", "rank", scales), x2=alt.X2("x")),
        base.mark_rule(
            color=colour, strokeWidth=alt.ExprRef(when_narrow("4", "6")), opacity=1, strokeCap="round"
        ).encode(**_axes("x", "low", scales), y2=alt.Y2("high")),
    ]


def _side(
    side_rows: list[dict[str, Any]], scales: tuple[alt.Scale, alt.Scale], *, side: Side, heading: str
) -> list[alt.Chart]:
    import altair as alt

    is_left = side == "perceived"
    align: Literal["left", "right"] = "right" if is_left else "left"
    outward = -9 if is_left else 9
    room = 8 + 7 * max(len(row["rank_text"]) for row in side_rows)
    colour = colour_of(side)
    base = alt.Chart(rows(side_rows))
    # In two lines: one would leave the slopes no room on a phone, and stick out beyond short names.
    lines = textwrap.wrap(heading, max(len(heading) // 2 + 1, *map(len, heading.split()))) or [""]
    tooltip = [
        alt.Tooltip("algorithm:N"),
        alt.Tooltip("rank:Q"),
        alt.Tooltip("low:Q", title="95% CI, low", format=".1f"),
        alt.Tooltip("high:Q", title="95% CI, high", format=".1f"),
    ]
    return [
        base.mark_point(
            shape=SHAPES[side], filled=True, size=120, color=colour, opacity=1, stroke=LIGHT.paper, strokeWidth=1.2
        ).encode(**_axes("x", "rank", scales), tooltip=tooltip),
        base.mark_text(align=align, baseline="middle", dx=outward, color=LIGHT.quiet).encode(
            **_axes("edge", "label_at", scales), text=alt.Text("rank_text:N")
        ),
        base.mark_text(align=align, baseline="middle", dx=outward + (-room if is_left else room)).encode(
            **_axes("edge", "label_at", scales), text=alt.Text("algorithm:N")
        ),
        alt.Chart(rows([{"edge": 0 if is_left else 1}]))
        .mark_text(
            align=align,
            baseline="bottom",
            dx=outward,
            fontSize=13,
            fontWeight=600,
            lineHeight=_HEADING_LINE,
            color=PERCEIVED if is_left else OBJECTIVE,
            text=lines,
        )
        .encode(
            x=alt.X("edge", type="quantitative", scale=scales[0], axis=None),
            y=alt.YValue(-2 - _HEADING_LINE * (len(lines) - 1)),
        ),
    ]


def _description(
    names: Sequence[str],
    left: Mapping[str, Estimate],
    right: Mapping[str, Estimate],
    perceived_title: str,
    objective_title: str,
) -> str:
    ranks = " ".join(f"{name}: {left[name].value:g} and {right[name].value:g}." for name in names)
    return f"Slope chart of ranks, {perceived_title} and {objective_title}. {ranks}"
