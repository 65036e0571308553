"""The Hasse diagram of a partial order, on the true scale of the measure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from charting.estimates import Estimate, checked_estimates, known_names
from charting.frame import Width, finished, number, rows
from charting.labels import CHARACTER_WIDTH, lanes
from charting.lazy import altair as alt
from charting.theme import LIGHT, SHAPES, Side, Spec, colour_of, wash_of
from core.errors import DataError

_NARROW_PLOT = 320
_GAP_BEFORE_UNORDERED = 0.35


def hasse(
    estimates: Mapping[str, Sequence[float]],
    edges: Collection[tuple[str, str]],
    *,
    title: str,
    y_title: str,
    side: Side = "perceived",
    higher_is_better: bool = True,
    decimals: int = 2,
    description: str | None = None,
    width: Width = None,
    height: int = 340,
) -> Spec:
    """Draw who dominates whom, each condition at the height of its mean.

    Up is better. A line joins two conditions where the upper dominates the lower and nothing stands between
    them (a covering pair); a condition without any line was told apart from nobody, stands in a column of its
    own and is drawn dashed. The bar behind each symbol is the interval of its mean.

    Parameters
    ----------
    estimates : mapping of str to (mean, low, high)
        Location of each condition with its 95 % interval. For an order by mean ranks pass mean ranks.
    edges : collection of (str, str)
        Covering pairs, the dominating condition first.
    title : str
        The finding; the caption elsewhere names test, alpha and n.
    y_title : str
        The measure and its unit.
    side : {"perceived", "objective", "neutral"}
        Which meaning the measure has.
    higher_is_better : bool
        False turns the scale over (fallout): up stays better.
    decimals : int
        Digits of the means in tooltips and description.
    description : str, optional
        What a screen reader says; made from means and pairs by default.
    width, height : int
        Pixels; see `charting.frame.Width`.

    Returns
    -------
    dict
        Vega-Lite specification.

    Raises
    ------
    DataError
        Nothing to draw, numbers that are not finite or outside their interval, an edge with an unknown name,
        or one whose first condition does not lie on the better side.

    Examples
    --------
    >>> spec = hasse({"TopPop": (3.9, 3.7, 4.1), "LSA": (3.3, 3.0, 3.6)}, [("TopPop", "LSA")],
    ...              title="TopPop is told apart from LSA", y_title="Perceived accuracy, 1 to 5")
    >>> spec["usermeta"]["description"]
    'Order of conditions, Perceived accuracy, 1 to 5. Means: TopPop 3.90, LSA 3.30. TopPop above LSA.'
    """
    nodes = checked_estimates(estimates, what=f"mean ({y_title})")
    pairs = known_names(edges, nodes, what="edges")
    for upper, lower in pairs:
        better, worse = (upper, lower) if higher_is_better else (lower, upper)
        if not nodes[better].value > nodes[worse].value:
            raise DataError(
                f"{upper} is said to dominate {lower}, yet its value ({nodes[upper].value:g}) is not better "
                f"than {nodes[lower].value:g}; pass the location that the test compares."
            )
    positions = _columns(nodes, pairs)
    over = _named_over(nodes, positions, higher_is_better=higher_is_better)
    in_order = {name for pair in pairs for name in pair}
    drawn = [
        {
            "condition": name,
            "x": positions[name],
            "mean": node.value,
            "low": node.low,
            "high": node.high,
            "name_at": node.high if (name in over) == higher_is_better else node.low,
            "is_over": name in over,
            "is_unordered": name not in in_order,
        }
        for name, node in nodes.items()
    ]
    joined = [
        {
            "pair": f"{upper} above {lower}",
            "x": positions[upper],
            "y": nodes[upper].value,
            "x2": positions[lower],
            "y2": nodes[lower].value,
        }
        for upper, lower in pairs
    ]
    chart = _layers(drawn, joined, side=side, higher_is_better=higher_is_better, decimals=decimals)
    return finished(
        chart,
        title=title,
        subtitle=y_title,
        description=description or _description(nodes, pairs, y_title, decimals),
        side=side,
        width=width,
        height=height,
    )


def _layers(
    drawn: list[dict[str, Any]],
    joined: list[dict[str, Any]],
    *,
    side: Side,
    higher_is_better: bool,
    decimals: int,
) -> alt.LayerChart:
    colour = colour_of(side)
    last = max(row["x"] for row in drawn)
    x_scale = alt.Scale(domain=[-0.55, last + 0.55], nice=False, zero=False)
    lowest, highest = min(row["low"] for row in drawn), max(row["high"] for row in drawn)
    margin = (highest - lowest) * 0.08 or max(abs(highest), 1.0) * 0.1
    ends = [lowest - margin, highest + margin * 1.4]
    if not higher_is_better:
        ends = [highest + margin, lowest - margin * 1.4]
    y_scale = alt.Scale(domain=ends, nice=False, zero=False)
    y_axis = alt.Axis(title=None, grid=True, tickCount=5)

    def across(field: str) -> alt.X:
        return alt.X(field, type="quantitative", scale=x_scale, axis=None)

    def up(field: str) -> alt.Y:
        return alt.Y(field, type="quantitative", scale=y_scale, axis=y_axis)

    mean = f".{decimals}f"
    tooltip = [
        alt.Tooltip("condition", type="nominal"),
        alt.Tooltip("mean", type="quantitative", format=mean),
        alt.Tooltip("low", type="quantitative", title="95 % from", format=mean),
        alt.Tooltip("high", type="quantitative", title="to", format=mean),
    ]
    layers: list[alt.Chart] = []
    if joined:
        layers.append(
            alt.Chart(rows(joined))
            .mark_rule(color=LIGHT.ink, strokeWidth=1.6, strokeCap="round")
            .encode(x=across("x"), y=up("y"), x2="x2", y2="y2", tooltip=[alt.Tooltip("pair", type="nominal")])
        )
    all_nodes = alt.Chart(rows(drawn))
    layers.append(
        all_nodes.mark_rule(color=colour, strokeWidth=6, opacity=0.28, strokeCap="round").encode(
            x=across("x"), y=up("low"), y2="high"
        )
    )
    ordered = [row for row in drawn if not row["is_unordered"]]
    unordered = [row for row in drawn if row["is_unordered"]]
    if ordered:
        layers.append(
            alt.Chart(rows(ordered))
            .mark_point(
                shape=SHAPES[side], filled=True, size=150, color=colour, opacity=1, stroke=LIGHT.paper,
                strokeWidth=1.5,
            )
            .encode(x=across("x"), y=up("mean"), tooltip=tooltip)
        )
    if unordered:
        layers.append(
            alt.Chart(rows(unordered))
            .mark_point(
                shape=SHAPES[side], filled=True, size=150, fill=wash_of(side), stroke=colour, opacity=1,
                strokeWidth=1.5, strokeDash=[3, 2],
            )
            .encode(x=across("x"), y=up("mean"), tooltip=tooltip)
        )
        layers.append(
            alt.Chart(rows([{"x": last + 0.5, "says": "told apart from nobody"}]))
            .mark_text(align="right", baseline="bottom", color=LIGHT.quiet, fontStyle="italic")
            .encode(x=across("x"), y=alt.value(-6), text=alt.Text("says", type="nominal"))
        )
    for is_over in (True, False):
        named = [row for row in drawn if row["is_over"] is is_over]
        # A rim of paper keeps a name legible where a line runs behind it.
        for look in ({"stroke": LIGHT.paper, "strokeWidth": 4, "aria": False}, {"color": LIGHT.ink}):
            if named:
                layers.append(
                    alt.Chart(rows(named))
                    .mark_text(
                        baseline="bottom" if is_over else "top", dy=-6 if is_over else 7, strokeJoin="round",
                        **look,
                    )
                    .encode(x=across("x"), y=up("name_at"), text=alt.Text("condition", type="nominal"))
                )
    return alt.layer(*layers)


def _columns(nodes: Mapping[str, Estimate], pairs: Sequence[tuple[str, str]]) -> dict[str, float]:
    """Give each ordered condition a column of its own; the unordered share columns to their right."""
    in_order = {name for pair in pairs for name in pair}
    ordered = [name for name in nodes if name in in_order]
    unordered = [name for name in nodes if name not in in_order]
    placed = {name: float(column) for column, name in enumerate(_arranged(ordered, nodes, pairs))}
    start = len(ordered) + (_GAP_BEFORE_UNORDERED if ordered else 0.0)
    lowest = min(node.low for node in nodes.values())
    room_for_name = 0.12 * (max(node.high for node in nodes.values()) - lowest)
    lane_of = lanes([(nodes[name].low, nodes[name].high + room_for_name) for name in unordered], 0.0)
    placed |= {name: start + lane for name, lane in zip(unordered, lane_of, strict=True)}
    return placed


def _named_over(
    nodes: Mapping[str, Estimate], positions: Mapping[str, float], *, higher_is_better: bool
) -> set[str]:
    """Return the conditions whose name stands over the bar; where names would meet, every other goes under."""
    span = max(node.high for node in nodes.values()) - min(node.low for node in nodes.values()) or 1.0
    pitch = _NARROW_PLOT / (max(positions.values()) + 1)
    over: set[str] = set()
    for name in sorted(nodes, key=lambda name: (positions[name], name)):
        tip = nodes[name].high if higher_is_better else nodes[name].low
        for other in over:
            other_tip = nodes[other].high if higher_is_better else nodes[other].low
            room = (positions[name] - positions[other]) * pitch
            needed = (len(name) + len(other)) / 2 * CHARACTER_WIDTH + 6
            if room < needed and abs(tip - other_tip) < 0.07 * span:
                break
        else:
            over.add(name)
    return over


def _arranged(
    names: Sequence[str], nodes: Mapping[str, Estimate], pairs: Sequence[tuple[str, str]]
) -> list[str]:
    """Order columns so that lines cross little and names have room: exchange two while that helps."""
    best: tuple[float, list[str]] | None = None
    start = sorted(names, key=lambda name: (-nodes[name].value, name))
    for turn in range(max(len(start), 1)):
        order = start[turn:] + start[:turn]
        cost = _cost(order, nodes, pairs)
        improved = True
        while improved:
            improved = False
            for one in range(len(order)):
                for other in range(one + 1, len(order)):
                    order[one], order[other] = order[other], order[one]
                    changed = _cost(order, nodes, pairs)
                    if changed < cost - 1e-9:
                        cost, improved = changed, True
                    else:
                        order[one], order[other] = order[other], order[one]
        if best is None or cost < best[0] - 1e-9:
            best = (cost, order)
    return best[1] if best else []


def _cost(order: Sequence[str], nodes: Mapping[str, Estimate], pairs: Sequence[tuple[str, str]]) -> float:
    place = {name: float(column) for column, name in enumerate(order)}
    span = max(node.high for node in nodes.values()) - min(node.low for node in nodes.values()) or 1.0
    cost = 0.0
    for index, (upper, lower) in enumerate(pairs):
        ends = (place[upper], nodes[upper].value, place[lower], nodes[lower].value)
        cost += abs(place[upper] - place[lower])
        for other_upper, other_lower in pairs[index + 1 :]:
            if not {upper, lower} & {other_upper, other_lower}:
                cost += 12 * _cross(
                    ends,
                    (place[other_upper], nodes[other_upper].value, place[other_lower], nodes[other_lower].value),
                )
        for name in order:
            if name not in (upper, lower) and min(ends[0], ends[2]) < place[name] < max(ends[0], ends[2]):
                share = (place[name] - ends[0]) / (ends[2] - ends[0])
                height = ends[1] + share * (ends[3] - ends[1])
                is_hit = nodes[name].low <= height <= nodes[name].high + 0.06 * span
                cost += 5 * is_hit + 40 * (abs(height - nodes[name].value) < 0.04 * span)
    pitch = _NARROW_PLOT / max(len(nodes), 1)
    for left, right in zip(order, order[1:], strict=False):
        is_tight = (len(left) + len(right)) / 2 * CHARACTER_WIDTH > pitch - 4
        cost += 8 * (is_tight and abs(nodes[left].high - nodes[right].high) < 0.055 * span)
    return cost


def _cross(one: tuple[float, float, float, float], other: tuple[float, float, float, float]) -> bool:
    def turn(ax: float, ay: float, bx: float, by: float, cx: float, cy: float) -> float:
        return (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)

    return (
        turn(*one, *other[:2]) * turn(*one, *other[2:]) < 0
        and turn(*other, *one[:2]) * turn(*other, *one[2:]) < 0
    )


def _description(
    nodes: Mapping[str, Estimate], pairs: Sequence[tuple[str, str]], y_title: str, decimals: int
) -> str:
    means = ", ".join(f"{name} {number(node.value, decimals)}" for name, node in nodes.items())
    relations = ", ".join(f"{upper} above {lower}" for upper, lower in pairs)
    said = f"{relations}." if relations else "Nobody is told apart from anybody."
    return f"Order of conditions, {y_title}. Means: {means}. {said}"
