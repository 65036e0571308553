"""Where labels go, so that no two lie on each other: worked out before drawing, hence the same every time."""

from __future__ import annotations

from collections.abc import Sequence

CHARACTER_WIDTH = 6.6
"""Mean width in pixels of a character of label text (12 px, sans)."""


def spread(positions: Sequence[float], gap: float) -> list[float]:
    """Move positions on a line as little as needed for a gap, at least 0 and in their unit, between every two.

    Positions that crowd are taken together and laid out evenly around their mean, which is the least-squares answer
    (pool adjacent violators); their order stays, ties keep the order given.

    Examples
    --------
    >>> spread([0.0, 0.0, 5.0], gap=1.0)
    [-0.5, 0.5, 5.0]
    """
    order = sorted(range(len(positions)), key=lambda index: (positions[index], index))
    # With the gaps taken off, the wish is a non-decreasing sequence: pooled means give the nearest one.
    pools: list[tuple[float, int]] = []
    for end, index in enumerate(order):
        mean, size = positions[index] - end * gap, 1
        while pools and pools[-1][0] > mean:
            before, before_size = pools.pop()
            mean = (before * before_size + mean * size) / (before_size + size)
            size += before_size
        pools.append((mean, size))
    moved = [0.0] * len(positions)
    end = 0
    for mean, size in pools:
        for _ in range(size):
            moved[order[end]] = mean + end * gap
            end += 1
    return moved


def corners(
    points: Sequence[tuple[float, float]],
    labels: Sequence[Sequence[str]],
    bars: Sequence[tuple[float, float, float, float]] = (),
    *,
    width: float,
    height: float,
) -> list[str]:
    """Choose for each point of a plane the side on which its label meets least: "upper right", "lower right", "upper
    left" or "lower left". Points and bars (x, y, x, y from low to high) lie in [0, 1], y upwards; labels are lists of
    lines; `width` and `height` are the pixels that the unit square takes on the narrowest screen.

    Examples
    --------
    >>> corners([(0.5, 0.5)], [["LSA"]], width=300, height=300)
    ['upper right']
    """
    positions = [(x * width, (1 - y) * height) for x, y in points]
    symbols = [(x - 6, y - 6, x + 6, y + 6) for x, y in positions]
    # No label lies on an interval where it need not; on another label or a symbol it would be worse.
    rules = [
        (low * width - 3, (1 - top) * height - 3, high * width + 3, (1 - bottom) * height + 3)
        for low, bottom, high, top in bars
    ]
    chosen: list[str] = []
    boxes: list[tuple[float, float, float, float]] = []
    for index, ((x, y), lines) in enumerate(zip(positions, labels, strict=True)):
        length = max(len(line) for line in lines) * CHARACTER_WIDTH
        options = []
        for order, corner in enumerate(("upper right", "lower right", "upper left", "lower left")):
            box = _label_box(x, y, length, 14.0 * len(lines), corner)
            cost = sum(_overlap(box, earlier) for earlier in boxes)
            cost += sum(_overlap(box, earlier) for number, earlier in enumerate(symbols) if number != index)
            cost += 0.5 * sum(_overlap(box, rule) for rule in rules)
            cost += 3 * (max(0.0, box[2] - width - 24) + max(0.0, -box[0]) + max(0.0, -box[1]))
            cost += 3 * max(0.0, box[3] - height)
            options.append((cost, order, corner, box))
        _, _, corner, box = min(options)
        chosen.append(corner)
        boxes.append(box)
    return chosen


def _label_box(x: float, y: float, length: float, depth: float, corner: str) -> tuple[float, float, float, float]:
    left = x + 9 if corner.endswith("right") else x - 9 - length
    top = y - 4 - depth if corner.startswith("upper") else y + 4
    return (left, top, left + length, top + depth)


def _overlap(first: tuple[float, float, float, float], second: tuple[float, float, float, float]) -> float:
    across = min(first[2], second[2]) - max(first[0], second[0])
    down = min(first[3], second[3]) - max(first[1], second[1])
    return across * down if across > 0 and down > 0 else 0.0
