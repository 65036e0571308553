"""The key of a chart: small patches with words above the plot, in one line, or in several on a phone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from charting.frame import when_narrow
from charting.labels import CHARACTER_WIDTH
from charting.plots import Plot, at
from charting.theme import Spec

_PATCH = 11
_BETWEEN = 16
_LINE = 18
_PHONE = 270  # pixels that a key may take on a phone


class Entry(NamedTuple):
    """One entry: its word and how its patch is drawn (properties of a rect mark)."""

    word: str
    look: Spec


def draw_key(plot: Plot, entries: Sequence[Entry], *, left: float, above: float) -> None:
    """Draw a patch and a word for each entry, without scales.

    The key begins `left` pixels from the left edge of the plot (negative to stand over axis labels); the middle of its
    last line is `above` pixels over the top edge.
    """
    lengths = [_PATCH + 6 + len(entry.word) * CHARACTER_WIDTH for entry in entries]
    desk, phone = _positions(lengths, math.inf), _positions(lengths, _PHONE)
    for entry, (x, _line), (phone_x, phone_line) in zip(entries, desk, phone, strict=True):
        word = [{"word": entry.word}]
        rise = (phone[-1][1] - phone_line) * _LINE
        plot.draw(
            word,
            {"type": "rect", "aria": False, **entry.look},
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
