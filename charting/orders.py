"""The Hasse diagram of a partial order, in layers so arranged that no line meets a label."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from charting.estimates import Estimate, checked_estimates
from charting.frame import finished, number, share_of_width
from charting.plots import Plot, Rows, bare, expression, tip
from charting.theme import LIGHT, SMALL_TEXT_SIZE, TEXT_SIZE, Side, Spec, colour_of, wash_colour

BOX_HALF = 0.45
"""Half the width of a label's box; a box and the room beside it are 1 wide."""

_BEND_WIDTH = 0.3
_SWEEPS = 6

Pair = tuple[str, str]
# A condition by its name, or the point where the line of a pair passes a layer.
_Slot = str | tuple[str, str, int]


class Layout(NamedTuple):
    """Where conditions stand: across, in box widths from the middle, and in which layer, the top one being 0.

    `bends` holds for every covering pair the places (across, layer) where its line passes layers on its way down.
    """

    positions: dict[str, tuple[float, int]]
    bends: dict[Pair, list[tuple[float, int]]]
    breadth: float
    n_layers: int


def layered_order(names: Sequence[str], pairs: Sequence[Pair]) -> Layout:
    """Arrange conditions in layers below those that dominate them. `pairs` are the covering pairs of a partial order,
    the dominating condition first; every one of `names` is in one of them. Lines cross little within the layers.
    The same input gives the same layout.

    Examples
    --------
    >>> layered_order(["A", "B", "C"], [("A", "B"), ("A", "C")]).positions
    {'A': (0.0, 0), 'B': (-0.5, 1), 'C': (0.5, 1)}
    """
    layer_of = dict.fromkeys(names, 0)
    for _ in names:
        for upper, lower in pairs:  # a layer below the lowest that dominates it
            layer_of[lower] = max(layer_of[lower], layer_of[upper] + 1)
    rows: list[list[_Slot]] = [[] for _ in range(max(layer_of.values(), default=-1) + 1)]
    for name in names:
        rows[layer_of[name]].append(name)
    links: list[tuple[_Slot, _Slot]] = []
    for upper, lower in pairs:
        passed = [(upper, lower, layer) for layer in range(layer_of[upper] + 1, layer_of[lower])]
        for bend in passed:
            rows[bend[2]].append(bend)
        links += itertools.pairwise((upper, *passed, lower))
    across = {slot: x for row in _with_few_crossings(rows, links) for slot, x in _spread_out(row)}
    return Layout(
        {name: (across[name], layer_of[name]) for name in names},
        {
            (upper, lower): [
                (across[upper, lower, layer], layer) for layer in range(layer_of[upper] + 1, layer_of[lower])
            ]
            for upper, lower in pairs
        },
        max((sum(map(_width, row)) for row in rows), default=0.0),
        len(rows),
    )


def _with_few_crossings(rows: list[list[_Slot]], links: Sequence[tuple[_Slot, _Slot]]) -> list[list[_Slot]]:
    """The rows in the order with the fewest crossings that sweeps down and up find: each slot near its neighbours."""
    best, fewest = rows, _crossings(rows, links)
    for sweep in range(2 * _SWEEPS):
        is_down = sweep % 2 == 0
        neighbours: dict[_Slot, list[_Slot]] = {}
        for above, below in links:
            neighbours.setdefault(below if is_down else above, []).append(above if is_down else below)
        arranged: list[list[_Slot]] = []
        for row in rows if is_down else reversed(rows):
            position = dict(_spread_out(arranged[-1])) if arranged else {}
            arranged.append(_near(row, neighbours, position))
        rows = arranged if is_down else arranged[::-1]
        crossings = _crossings(rows, links)
        if crossings < fewest:
            best, fewest = rows, crossings
    return best


def _near(row: list[_Slot], neighbours: Mapping[_Slot, list[_Slot]], position: Mapping[_Slot, float]) -> list[_Slot]:
    """A row sorted by the mean position of each slot's neighbours in the row before; others keep their own."""
    own = dict(_spread_out(row))

    def wish(slot: _Slot) -> float:
        positions = [position[neighbour] for neighbour in neighbours.get(slot, ()) if neighbour in position]
        return sum(positions) / len(positions) if positions else own[slot]

    return sorted(row, key=wish)


def _crossings(rows: Sequence[Sequence[_Slot]], links: Sequence[tuple[_Slot, _Slot]]) -> int:
    position = {slot: (layer, at) for layer, row in enumerate(rows) for at, slot in enumerate(row)}
    ends = [(position[above], position[below]) for above, below in links]
    return sum(
        first[0] == second[0] and (first[1] - second[1]) * (last[1] - final[1]) < 0
        for (first, last), (second, final) in itertools.combinations(ends, 2)
    )


def _spread_out(row: Sequence[_Slot]) -> list[tuple[_Slot, float]]:
    """The slots of a row with their middles, the row's own middle at 0."""
    left = -sum(map(_width, row)) / 2
    placed = []
    for slot in row:
        placed.append((slot, round(left + _width(slot) / 2, 6)))
        left += _width(slot)
    return placed


def _width(slot: _Slot) -> float:
    return 1.0 if isinstance(slot, str) else _BEND_WIDTH


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
    pairs = list(edges)
    in_order = {name for pair in pairs for name in pair}
    layout = layered_order([name for name in nodes if name in in_order], pairs)
    breadth = max(layout.breadth, _LEAST_BREADTH)
    corners = {name: (x, float(-layer)) for name, (x, layer) in layout.positions.items()}
    start = layout.n_layers + (_GAP_BEFORE_UNORDERED if in_order else 0.0)
    corners |= _unordered([name for name in nodes if name not in in_order], int(breadth), -start)
    printed = {name: number(node.value, decimals, is_share=is_share) for name, node in nodes.items()}
    boxes = [
        {**_box(name, nodes[name], corners[name], name not in in_order), "printed": printed[name]} for name in nodes
    ]
    joined = [line for pair in pairs for line in _lines(pair, corners, layout.bends[pair])]
    lowest = min(y for _, y in corners.values())
    plot = Plot(bare(-breadth / 2, breadth / 2), bare(lowest - 0.3, 0.4))
    edge = {"type": "rule", "color": LIGHT.ink, "strokeWidth": 1.6, "strokeCap": "round"}
    plot.draw(joined, edge, x="x", y="y", x2="x2", y2="y2", tooltip=[tip("pair")])
    _draw_boxes(plot, boxes, side=side, decimals=decimals)
    _draw_labels(plot, boxes, breadth)
    return finished(
        plot.spec(),
        title=title,
        subtitle=y_title,
        description=_description(printed, pairs, y_title),
        side=side,
        height=round(_LAYER_HEIGHT * (0.8 - lowest)),
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


def _draw_boxes(plot: Plot, boxes: Rows, *, side: Side, decimals: int) -> None:
    """Boxes of the order, and below them the dashed ones of conditions without significant differences."""
    mean = f".{decimals}f"
    tooltip = [
        tip("condition"),
        tip("mean", "mean" if side == "perceived" else "value", number=mean),
        tip("low", "95% CI, low", number=mean),
        tip("high", "95% CI, high", number=mean),
    ]
    box = {"type": "rect", "stroke": colour_of(side), "strokeWidth": 1.5, "cornerRadius": 4, "opacity": 1}
    corners = {"x": "left", "x2": "right", "y": "bottom", "y2": "top"}
    ordered = [box for box in boxes if not box["is_unordered"]]
    plot.draw(ordered, {**box, "fill": wash_colour(side)}, **corners, tooltip=tooltip)
    unordered = [box for box in boxes if box["is_unordered"]]
    plot.draw(unordered, {**box, "fill": LIGHT.paper, "strokeDash": [3, 2]}, **corners, tooltip=tooltip)
    if unordered:
        heading = [{"x": 0, "y": max(box["top"] for box in unordered) + 0.06, "says": "no significant differences"}]
        words = {"type": "text", "baseline": "bottom", "color": LIGHT.quiet, "fontStyle": "italic"}
        plot.draw(heading, words, x="x", y="y", text="says")


def _draw_labels(plot: Plot, boxes: Rows, breadth: float) -> None:
    """Names over printed means; the letters of names grow smaller on a narrow screen rather than leave their box."""
    room = share_of_width(2 * BOX_HALF / breadth)
    longest = max(len(box["condition"]) for box in boxes) * _WIDEST_CHARACTER
    size = expression(f"max({_SMALLEST_TEXT}, min({TEXT_SIZE}, ({room} - 10) / {longest:.3f}))")
    name = {"type": "text", "baseline": "bottom", "dy": 1, "color": LIGHT.ink, "fontSize": size}
    plot.draw(boxes, {**name, "limit": expression(room)}, x="x", y="y", text="condition")
    mean = {"type": "text", "baseline": "top", "dy": 3, "color": LIGHT.quiet, "fontSize": SMALL_TEXT_SIZE}
    plot.draw(boxes, mean, x="x", y="y", text="printed")


def _description(printed: Mapping[str, str], pairs: Sequence[tuple[str, str]], y_title: str) -> str:
    means = ", ".join(f"{name} {value}" for name, value in printed.items())
    relations = ", ".join(f"{upper} above {lower}" for upper, lower in pairs)
    summary = f"{relations}." if relations else "No significant differences."
    return f"Partial order of conditions, {y_title}. Means: {means}. {summary}"
