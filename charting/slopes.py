"""The slope chart: two rankings side by side. Common arguments: see `charting.marks`."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Mapping, Sequence

from charting.estimates import Estimate, checked_estimates, known_names, same_names
from charting.frame import finished, number, when_narrow
from charting.labels import lanes, spread
from charting.plots import Plot, Rows, at, bare, expression, tip
from charting.theme import LIGHT, SHAPES, Side, Spec, colour_of

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
    plot = Plot(bare(0, 1), bare(worst + 0.3, 0.5))
    # The bars lie below the lines, which would end behind them.
    for rows, colour in ((left_rows, LIGHT.perceived_interval), (right_rows, LIGHT.objective_interval)):
        plot.draw(rows, {"type": "rule", "color": LIGHT.line, "strokeWidth": 1}, x="edge", x2="x", y="rank")
        thickness = expression(when_narrow("4", "6"))
        bar = {"type": "rule", "color": colour, "strokeWidth": thickness, "opacity": 1, "strokeCap": "round"}
        plot.draw(rows, bar, x="x", y="low", y2="high")
    tooltip = [
        tip("algorithm"),
        tip("perceived", "perceived rank", number=""),
        tip("objective", "objective rank", number=""),
    ]
    quiet = {"color": LIGHT.quiet, "strokeWidth": 1.2, "opacity": 0.6}
    loud = {"color": LIGHT.ink, "strokeWidth": 2.8, "opacity": 1.0}
    for is_heavy, look in ((False, quiet), (True, loud)):
        own = [line for line in lines if line["heavy"] is is_heavy]
        joining = {"type": "rule", "strokeCap": "round", **look}
        plot.draw(own, joining, x="x", y="perceived", x2="x2", y2="objective", tooltip=tooltip)
    _draw_side(plot, left_rows, side="perceived", heading=perceived_title)
    _draw_side(plot, right_rows, side="objective", heading=objective_title)
    ranks = " ".join(f"{name}: {left[name].value:g} and {right[name].value:g}." for name in names)
    return finished(
        plot.spec(),
        title=title,
        subtitle="",
        description=f"Slope chart of ranks, {perceived_title} and {objective_title}. {ranks}",
        height=_ROW * len(names),
    )


def _side_rows(ranks: Mapping[str, Estimate], *, is_left: bool) -> Rows:
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


def _draw_side(plot: Plot, rows: Rows, *, side: Side, heading: str) -> None:
    """The dots, ranks, names and heading of one ranking."""
    direction = -1 if side == "perceived" else 1
    align = "right" if side == "perceived" else "left"
    colour = colour_of(side)
    tooltip = [
        tip("algorithm"),
        tip("rank", number=""),
        tip("low", "95% CI, low", number=".1f"),
        tip("high", "95% CI, high", number=".1f"),
    ]
    dot = {"type": "point", "shape": SHAPES[side], "filled": True, "size": 120, "color": colour, "opacity": 1}
    plot.draw(rows, {**dot, "stroke": LIGHT.paper, "strokeWidth": 1.2}, x="x", y="rank", tooltip=tooltip)
    text = {"type": "text", "align": align, "baseline": "middle", "dx": 9 * direction}
    plot.draw(rows, {**text, "color": LIGHT.quiet}, x="edge", y="label_at", text="rank_text")
    room = 8 + 7 * max(len(row["rank_text"]) for row in rows)
    plot.draw(rows, {**text, "dx": (9 + room) * direction}, x="edge", y="label_at", text="algorithm")
    # In two lines: one would leave the slopes no room on a phone, and stick out beyond short names.
    lines = textwrap.wrap(heading, max(len(heading) // 2 + 1, *map(len, heading.split()))) or [""]
    bold = {"baseline": "bottom", "fontSize": 13, "fontWeight": 600, "lineHeight": _HEADING_LINE, "color": colour}
    top = -2 - _HEADING_LINE * (len(lines) - 1)
    plot.draw([{"edge": rows[0]["edge"]}], {**text, **bold, "text": lines}, x="edge", y=at(top))
