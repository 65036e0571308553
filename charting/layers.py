"""Layers of a partial order, so arranged that no line of its diagram meets a label."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import NamedTuple

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
    layer_of = _layers(names, pairs)
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


def _layers(names: Sequence[str], pairs: Sequence[Pair]) -> dict[str, int]:
    """The layer of each condition: one below the lowest that dominates it."""
    layer_of = dict.fromkeys(names, 0)
    for _ in names:
        for upper, lower in pairs:
            layer_of[lower] = max(layer_of[lower], layer_of[upper] + 1)
    return layer_of


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
