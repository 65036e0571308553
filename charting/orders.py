"""The Hasse diagram of a partial order, in layers. Common arguments: see `charting.marks`."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from charting.estimates import Estimate, checked_estimates, known_names
from charting.frame import Width, finished, layered, number, rows, share_of_width
from charting.layers import BOX_HALF, layered_order
from charting.positions import positions
from charting.theme import LIGHT, SMALL_TEXT_SIZE, TEXT_SIZE, Side, Spec, colour_of, wash_of
from core.errors import DataError

if TYPE_CHECKING:
    import altair as alt

_BOX_RISE = 0.24  # half the height of a box, in layers
_LAYER_HEIGHT = 76
_LEAST_BREADTH = 3.0
_GAP_BEFORE_UNORDERED = 0.25
_SMALLEST_TEXT = 8
_WIDEST_CHARACTER = 0.62  # of the type size: of the typefaces that a browser may have to take


def hasse(
    estimates: Mapping[str, Sequence[float]],
    edges: Collection[tuple[str, str]],
    *,
    title: str,
    y_title: str,
    side: Side = "perceived",
    higher_is_better: bool = True,
    decimals: int = 2,
    is_share: bool = False,
    description: str | None = None,
    width: Width = None,
    height: int | None = None,
) -> Spec:
    """Hasse diagram of a partial order: each condition in a layer below those that dominate it, with its mean.

    Up is better. A line joins two conditions if the upper dominates the lower and no condition lies between them (a
    covering pair): `edges` hold these pairs, the dominating condition first. Lines pass between the boxes, never behind
    a label. Conditions without significant differences stand below, dashed. With `higher_is_better` False (fallout)
    the lower value dominates. The caption elsewhere names test, alpha and n. Raises DataError for an edge whose first
    condition has no better value.

    Examples
    --------
    >>> spec = hasse({"TopPop": (3.9, 3.7, 4.1), "LSA": (3.3, 3.0, 3.6)}, [("TopPop", "LSA")],
    ...              title="TopPop exceeds LSA", y_title="Perceived accuracy, 1 to 5")
    >>> spec["usermeta"]["description"]
    'Partial order of conditions, Perceived accuracy, 1 to 5. Means: TopPop 3.90, LSA 3.30. TopPop above LSA.'
    """
    nodes = checked_estimates(estimates, what=f"mean ({y_title})")
    pairs = known_names(edges, nodes, what="edges")
    for upper, lower in pairs:
        better, worse = (upper, lower) if higher_is_better else (lower, upper)
        if not nodes[better].value > nodes[worse].value:
            raise DataError(
                f"{upper} dominates {lower}, but its value ({nodes[upper].value:g}) is not better "
                f"than {nodes[lower].value:g}; pass the location that the test compares."
            )
    in_order = {name for pair in pairs for name in pair}
    layout = layered_order([name for name in nodes if name in in_order], pairs)
    breadth = max(layout.breadth, _LEAST_BREADTH)
    corners = {name: (x, float(-layer)) for name, (x, layer) in layout.places.items()}
    start = layout.n_layers + (_GAP_BEFORE_UNORDERED if in_order else 0.0)
    corners |= _unordered([name for name in nodes if name not in in_order], int(breadth), -start)
    printed = {name: number(node.value, decimals, is_share=is_share) for name, node in nodes.items()}
    boxes = [
        {**_box(name, nodes[name], corners[name], name not in in_order), "printed": printed[name]} for name in nodes
    ]
    joined = [line for pair in pairs for line in _lines(pair, corners, layout.bends[pair])]
    lowest = min(y for _, y in corners.values())
    return finished(
        _drawing(boxes, joined, breadth, lowest, side=side, decimals=decimals),
        title=title,
        subtitle=y_title,
        description=description or _description(printed, pairs, y_title),
        side=side,
        width=width,
        height=height or round(_LAYER_HEIGHT * (0.8 - lowest)),
    )


def _unordered(names: Sequence[str], per_row: int, top: float) -> dict[str, tuple[float, float]]:
    """The corners of conditions without significant differences: rows below all layers."""
    placed = {}
    for start in range(0, len(names), per_row):
        row = names[start : start + per_row]
        for at, name in enumerate(row):
            placed[name] = (at - (len(row) - 1) / 2, top - 0.7 * (start // per_row))
    return placed


def _box(name: str, node: Estimate, corner: tuple[float, float], is_unordered: bool) -> dict[str, Any]:
    x, y = corner
    return {
        "condition": name,
        "x": x,
        "left": x - BOX_HALF,
        "right": x + BOX_HALF,
        "y": y,
        "bottom": y - _BOX_RISE,
        "top": y + _BOX_RISE,
        "mean": node.value,
        "low": node.low,
        "high": node.high,
        "is_unordered": is_unordered,
    }


def _lines(
    pair: tuple[str, str], corners: Mapping[str, tuple[float, float]], bends: Sequence[tuple[float, int]]
) -> list[dict[str, Any]]:
    """The straight pieces of a pair's line, from box to box; it passes a layer upright."""
    (x, y), (last_x, last_y) = corners[pair[0]], corners[pair[1]]
    points = [(x, y - _BOX_RISE)]
    for across, layer in bends:
        points += [(across, -layer + _BOX_RISE), (across, -layer - _BOX_RISE)]
    points.append((last_x, last_y + _BOX_RISE))
    return [
        {"pair": f"{pair[0]} above {pair[1]}", "upper": pair[0], "lower": pair[1], "x": a, "y": b, "x2": c, "y2": d}
        for (a, b), (c, d) in itertools.pairwise(points)
    ]


def _drawing(
    boxes: list[dict[str, Any]],
    joined: list[dict[str, Any]],
    breadth: float,
    lowest: float,
    *,
    side: Side,
    decimals: int,
) -> Spec:
    import altair as alt

    x_scale = alt.Scale(domain=[-breadth / 2, breadth / 2], nice=False, zero=False)
    y_scale = alt.Scale(domain=[lowest - 0.3, 0.4], nice=False, zero=False)
    across, up = positions(x_scale, None, y_scale, None)
    layers: list[alt.Chart] = []
    if joined:
        layers.append(
            alt.Chart(rows(joined))
            .mark_rule(color=LIGHT.ink, strokeWidth=1.6, strokeCap="round")
            .encode(x=across("x"), y=up("y"), x2=alt.X2("x2"), y2=alt.Y2("y2"), tooltip=[alt.Tooltip("pair:N")])
        )
    mean = f".{decimals}f"
    tooltip = [
        alt.Tooltip("condition:N"),
        alt.Tooltip("mean:Q", title="mean" if side == "perceived" else "value", format=mean),
        alt.Tooltip("low:Q", title="95% CI, low", format=mean),
        alt.Tooltip("high:Q", title="95% CI, high", format=mean),
    ]
    for is_unordered in (False, True):
        own = [box for box in boxes if box["is_unordered"] is is_unordered]
        look = {"fill": LIGHT.paper, "strokeDash": [3, 2]} if is_unordered else {"fill": wash_of(side)}
        if own:
            layers.append(
                alt.Chart(rows(own))
                .mark_rect(stroke=colour_of(side), strokeWidth=1.5, cornerRadius=4, opacity=1, **look)
                .encode(x=across("left"), x2=alt.X2("right"), y=up("bottom"), y2=alt.Y2("top"), tooltip=tooltip)
            )
        if own and is_unordered:
            top = max(box["top"] for box in own)
            layers.append(
                alt.Chart(rows([{"x": 0, "y": top + 0.06, "says": "no significant differences"}]))
                .mark_text(baseline="bottom", color=LIGHT.quiet, fontStyle="italic")
                .encode(x=across("x"), y=up("y"), text=alt.Text("says:N"))
            )
    return layered([*layers, *_labels(boxes, breadth, across, up)])


def _labels(boxes: list[dict[str, Any]], breadth: float, across: Any, up: Any) -> list[alt.Chart]:
    """Names over printed means; the letters of names grow smaller on a narrow screen rather than leave their box."""
    import altair as alt

    room = share_of_width(2 * BOX_HALF / breadth)
    longest = max(len(box["condition"]) for box in boxes) * _WIDEST_CHARACTER
    size = f"max({_SMALLEST_TEXT}, min({TEXT_SIZE}, ({room} - 10) / {longest:.3f}))"
    labelled = alt.Chart(rows(boxes))
    return [
        labelled.mark_text(
            baseline="bottom", dy=1, color=LIGHT.ink, fontSize=alt.ExprRef(size), limit=alt.ExprRef(room)
        ).encode(x=across("x"), y=up("y"), text=alt.Text("condition:N")),
        labelled.mark_text(baseline="top", dy=3, color=LIGHT.quiet, fontSize=SMALL_TEXT_SIZE).encode(
            x=across("x"), y=up("y"), text=alt.Text("printed:N")
        ),
    ]


def _description(printed: Mapping[str, str], pairs: Sequence[tuple[str, str]], y_title: str) -> str:
    means = ", ".join(f"{name} {value}" for name, value in printed.items())
    relations = ", ".join(f"{upper} above {lower}" for upper, lower in pairs)
    summary = f"{relations}." if relations else "No significant differences."
    return f"Partial order of conditions, {y_title}. Means: {means}. {summary}"
