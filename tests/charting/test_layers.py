"""Layers of a partial order: no line of the diagram meets a label, whatever the order."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest

from charting.marks import hasse
from charting.orders import layered_order

pytestmark = pytest.mark.unit


def covers(order: set[tuple[int, int]]) -> list[tuple[int, int]]:
    return [
        (a, b)
        for a, b in sorted(order)
        if not any((a, c) in order and (c, b) in order for c in {x for p in order for x in p})
    ]


def random_order(rng: random.Random, n: int) -> list[tuple[int, int]]:
    order = {pair for pair in itertools.combinations(range(n), 2) if rng.random() < rng.choice((0.15, 0.4, 0.7))}
    for c, a, b in itertools.product(range(n), repeat=3):
        if (a, c) in order and (c, b) in order:
            order.add((a, b))
    return covers(order)


def meets(line: dict[str, Any], box: dict[str, Any]) -> bool:
    """Whether a straight line has a point inside a box: cut to the box side by side."""
    low, high = 0.0, 1.0
    for start, end, near, far in (
        (line["x"], line["x2"], box["left"], box["right"]),
        (line["y"], line["y2"], box["bottom"], box["top"]),
    ):
        step = end - start
        if abs(step) < 1e-12:
            if not near + 1e-9 < start < far - 1e-9:
                return False
            continue
        first, last = sorted(((near - start) / step, (far - start) / step))
        low, high = max(low, first), min(high, last)
    return high - low > 1e-9


@pytest.mark.parametrize("seed", range(40))
def test_no_line_meets_a_label_and_every_line_leads_down(seed: int) -> None:
    rng = random.Random(seed)
    n = rng.randint(2, 9)
    names = [f"algorithm {number}" for number in range(n)]
    edges = [(names[a], names[b]) for a, b in random_order(rng, n)]
    estimates = {name: (float(n - at), n - at - 0.1, n - at + 0.1) for at, name in enumerate(names)}
    spec = hasse(estimates, edges, title="t", y_title="y")
    rows = [row for values in spec["datasets"].values() for row in values]
    boxes = {row["condition"]: row for row in rows if "left" in row}
    lines = [row for row in rows if "x2" in row]
    assert len(boxes) == n
    assert {(line["upper"], line["lower"]) for line in lines} == set(edges)
    assert all(line["y2"] < line["y"] for line in lines)
    for line, box in itertools.product(lines, boxes.values()):
        assert not meets(line, box), (line, box)
    for first, other in itertools.combinations(boxes.values(), 2):
        assert first["y"] != other["y"] or first["right"] <= other["left"] or other["right"] <= first["left"]


def test_same_order_same_layout_and_no_conditions_no_layout() -> None:
    pairs = [("A", "C"), ("B", "C"), ("B", "D")]
    assert layered_order("ABCD", pairs) == layered_order("ABCD", pairs)
    assert layered_order([], []).n_layers == 0


def test_sweeps_undo_a_crossing() -> None:
    places = layered_order(["A", "B", "C", "D"], [("A", "D"), ("B", "C")]).positions
    assert (places["A"][0] < places["B"][0]) == (places["D"][0] < places["C"][0])
