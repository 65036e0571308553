"""Words in charts: labels that do not lie on each other, keys above the plot, and lines of algorithms with their names.

Places are worked out before drawing, hence the same every time. Lines differ without colour, by dashes, end symbols and
weights.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

from charting.frame import when_narrow
from charting.plots import Plot, at
from charting.theme import LIGHT, TEXT_SIZE, Spec
from core.errors import DataError

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


_PATCH = 11
_BETWEEN = 16
_LINE = 18
_PHONE = 270  # pixels that a key may take on a phone


def draw_key(plot: Plot, entries: Mapping[str, Spec], *, left: float, above: float) -> None:
    """Draw a patch and a word for each entry, without scales; `entries` say how the patch of a word is drawn.

    The key begins `left` pixels from the left edge of the plot (negative to stand over axis labels); the middle of its
    last line is `above` pixels over the top edge.
    """
    lengths = [_PATCH + 6 + len(word) * CHARACTER_WIDTH for word in entries]
    desk, phone = _positions(lengths, math.inf), _positions(lengths, _PHONE)
    for (text, look), (x, _line), (phone_x, phone_line) in zip(entries.items(), desk, phone, strict=True):
        word = [{"word": text}]
        rise = (phone[-1][1] - phone_line) * _LINE
        plot.draw(
            word,
            {"type": "rect", "aria": False, **look},
            x=_by_width(left + x, left + phone_x),
            x2=_by_width(left + x + _PATCH, left + phone_x + _PATCH),
            y=_by_width(-above - _PATCH / 2, -above - rise - _PATCH / 2),
            y2=_by_width(-above + _PATCH / 2, -above - rise + _PATCH / 2),
        )
        plot.draw(
            word,
            {"type": "text", "align": "left", "baseline": "middle"},
            x=_by_width(left + x + _PATCH + 6, left + phone_x + _PATCH + 6),
            y=_by_width(-above, -above - rise),
            text="word",
        )


def _positions(lengths: Sequence[float], room: float) -> list[tuple[float, int]]:
    """The distance from the left and the line of each entry, as many on a line as there is room for (all in pixels)."""
    positions = []
    x, line = 0.0, 0
    for length in lengths:
        if x and x + length > room:
            x, line = 0.0, line + 1
        positions.append((x, line))
        x += length + _BETWEEN
    return positions


def _by_width(desk: float, phone: float) -> Spec:
    """A position in pixels that may differ on a phone."""
    return at(desk) if desk == phone else at(when_narrow(f"{phone:.1f}", f"{desk:.1f}"))


def width_of_names(names: Sequence[str]) -> float:
    """About how many pixels the longest of some names takes as an axis label, with the distance to the axis.

    Examples
    --------
    >>> width_of_names(["LSA", "TopPop"])
    45.6
    """
    return round(max(len(name) for name in names) * CHARACTER_WIDTH + 6, 1)


_DASHES: tuple[tuple[int, ...], ...] = ((1, 0), (7, 3), (2, 2), (10, 3, 2, 3), (4, 2), (12, 4), (6, 2, 2, 2, 2, 2))
_SYMBOLS = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right")
_LABEL_HEIGHT = TEXT_SIZE + 3

LEADER: Spec = {"type": "rule", "color": LIGHT.quiet, "strokeWidth": 0.8, "opacity": 0.7, "aria": False}
"""The hairline from the end of a line to its name."""


def check_lines(names: Collection[str]) -> None:
    """Raise DataError when there is no line."""
    if not names:
        raise DataError("There is no line to draw.")


def stroke_style(index: int, colour: str, *, is_emphasised: bool) -> Spec:
    """How the line of an index is drawn; an emphasised one is heavy."""
    weight = 3.0 if is_emphasised else 1.6
    return {"color": colour, "strokeWidth": weight, "strokeDash": list(_DASHES[index % len(_DASHES)])}


def symbol(index: int) -> str:
    """The shape of the points of a line."""
    return _SYMBOLS[index % len(_SYMBOLS)]


def end_label_style(dx: float, *, is_emphasised: bool) -> Spec:
    """How the name of a line is set, that many pixels to the right of its place."""
    weight = 600 if is_emphasised else "normal"
    return {"type": "text", "align": "left", "baseline": "middle", "dx": dx, "fontWeight": weight}


def label_places(ends: Sequence[float], extent: float, height: float) -> list[float]:
    """Where names stand so that none lies on another: near the ends of their lines, on an axis of that extent."""
    return spread(ends, extent * _LABEL_HEIGHT / height)
