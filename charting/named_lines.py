"""Lines of algorithms that differ without colour: dashes, end symbols, weights, and names beside the plot."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from charting.labels import spread
from charting.theme import LIGHT, TEXT_SIZE, Spec
from core.errors import DataError

_DASHES: tuple[tuple[int, ...], ...] = ((1, 0), (7, 3), (2, 2), (10, 3, 2, 3), (4, 2), (12, 4), (6, 2, 2, 2, 2, 2))
_SYMBOLS = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right")
_LABEL_HEIGHT = TEXT_SIZE + 3

LEADER: Spec = {"type": "rule", "color": LIGHT.quiet, "strokeWidth": 0.8, "opacity": 0.7, "aria": False}
"""The hairline from the end of a line to its name."""


def check_lines(names: Collection[str]) -> None:
    """Raise DataError when there is no line."""
    if not names:
        raise DataError("There is no line to draw.")


def line_look(index: int, colour: str, *, is_emphasised: bool) -> Spec:
    """How the line of an index is drawn; an emphasised one is heavy."""
    weight = 3.0 if is_emphasised else 1.6
    return {"color": colour, "strokeWidth": weight, "strokeDash": list(_DASHES[index % len(_DASHES)])}


def symbol(index: int) -> str:
    """The shape of the points of a line."""
    return _SYMBOLS[index % len(_SYMBOLS)]


def name_look(dx: float, *, is_emphasised: bool) -> Spec:
    """How the name of a line is set, that many pixels to the right of its place."""
    weight = 600 if is_emphasised else "normal"
    return {"type": "text", "align": "left", "baseline": "middle", "dx": dx, "fontWeight": weight}


def label_places(ends: Sequence[float], extent: float, height: float) -> list[float]:
    """Where names stand so that none lies on another: near the ends of their lines, on an axis of that extent."""
    return spread(ends, extent * _LABEL_HEIGHT / height)
