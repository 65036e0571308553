"""Columns of the conditions of a Hasse diagram."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from charting.estimates import Estimate
from charting.labels import CHARACTER_WIDTH, lanes

_NARROW_PLOT = 320
_GAP_BEFORE_UNORDERED = 0.35


def columns(nodes: Mapping[str, Estimate], pairs: Sequence[tuple[str, str]]) -> dict[str, float]:
    """Give each ordered condition a column of its own, from 0; the unordered share columns to their right. `pairs` are
    covering pairs, the dominating condition first. The same input gives the same columns.

    Examples
    --------
    >>> columns({"A": Estimate(2, 1, 3), "B": Estimate(1, 0, 2), "C": Estimate(1, 0, 2)}, [("A", "B")])
    {'A': 0.0, 'B': 1.0, 'C': 2.35}
    """
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


def named_over(nodes: Mapping[str, Estimate], positions: Mapping[str, float], *, higher_is_better: bool) -> set[str]:
    """The conditions whose name stands over the bar; where names would meet in their columns (`positions`), one goes
    under. `higher_is_better` says which end of an interval is drawn on top.

    Examples
    --------
    >>> sorted(named_over({"A": Estimate(2, 1, 3)}, {"A": 0.0}, higher_is_better=True))
    ['A']
    """
    span = max(node.high for node in nodes.values()) - min(node.low for node in nodes.values()) or 1.0
    pitch = _NARROW_PLOT / (max(positions.values()) + 1)
    over: set[str] = set()
    for name in sorted(nodes, key=lambda name: (positions[name], name)):
        tip = nodes[name].high if higher_is_better else nodes[name].low
        for upper in over:
            other_tip = nodes[upper].high if higher_is_better else nodes[upper].low
            room = (positions[name] - positions[upper]) * pitch
            needed = (len(name) + len(upper)) / 2 * CHARACTER_WIDTH + 6
            if room < needed and abs(tip - other_tip) < 0.07 * span:
                break
        else:
            over.add(name)
    return over


def _arranged(names: Sequence[str], nodes: Mapping[str, Estimate], pairs: Sequence[tuple[str, str]]) -> list[str]:
    """Order columns so that lines cross little and names have room: exchange two while that helps."""
    best: tuple[float, list[str]] | None = None
    start = sorted(names, key=lambda name: (-nodes[name].value, name))
    for turn in range(max(len(start), 1)):
        order = start[turn:] + start[:turn]
        cost = _cost(order, nodes, pairs)
        improved = True
        while improved:
            improved = False
            for left in range(len(order)):
                for right in range(left + 1, len(order)):
                    order[left], order[right] = order[right], order[left]
                    changed = _cost(order, nodes, pairs)
                    if changed < cost - 1e-9:
                        cost, improved = changed, True
                    else:
                        order[left], order[right] = order[right], order[left]
        if best is None or cost < best[0] - 1e-9:
            best = (cost, order)
    return best[1] if best else []


def _cost(order: Sequence[str], nodes: Mapping[str, Estimate], pairs: Sequence[tuple[str, str]]) -> float:
    column_of = {name: float(column) for column, name in enumerate(order)}
    span = max(node.high for node in nodes.values()) - min(node.low for node in nodes.values()) or 1.0
    cost = 0.0
    for index, (upper, lower) in enumerate(pairs):
        ends = (column_of[upper], nodes[upper].value, column_of[lower], nodes[lower].value)
        cost += abs(column_of[upper] - column_of[lower])
        for other_upper, other_lower in pairs[index + 1 :]:
            if not {upper, lower} & {other_upper, other_lower}:
                first, second = ((column_of[name], nodes[name].value) for name in (other_upper, other_lower))
                cost += 12 * _cross(ends, (*first, *second))
        for name in order:
            if name not in (upper, lower) and min(ends[0], ends[2]) < column_of[name] < max(ends[0], ends[2]):
                share = (column_of[name] - ends[0]) / (ends[2] - ends[0])
                height = ends[1] + share * (ends[3] - ends[1])
                is_hit = nodes[name].low <= height <= nodes[name].high + 0.06 * span
                cost += 5 * is_hit + 40 * (abs(height - nodes[name].value) < 0.04 * span)
    pitch = _NARROW_PLOT / max(len(nodes), 1)
    for left, right in itertools.pairwise(order):
        is_tight = (len(left) + len(right)) / 2 * CHARACTER_WIDTH > pitch - 4
        cost += 8 * (is_tight and abs(nodes[left].high - nodes[right].high) < 0.055 * span)
    return cost


def _cross(first: tuple[float, float, float, float], second: tuple[float, float, float, float]) -> bool:
    """Whether two segments cross: the ends of each lie on different sides of the other."""

    def side(segment: tuple[float, float, float, float], point: tuple[float, float]) -> float:
        ax, ay, bx, by = segment
        return (bx - ax) * (point[1] - ay) - (by - ay) * (point[0] - ax)

    def divides(segment: tuple[float, float, float, float], ends: tuple[float, float, float, float]) -> bool:
        return side(segment, ends[:2]) * side(segment, ends[2:]) < 0

    return divides(first, second) and divides(second, first)
