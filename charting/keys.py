"""The key of a chart: small patches with words above the plot, in one line, or in several on a phone."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from charting.frame import rows, when_narrow
from charting.labels import CHARACTER_WIDTH

if TYPE_CHECKING:
    import altair as alt

_PATCH = 11
_BETWEEN = 16
_LINE = 18
_PHONE = 270  # pixels that a key may take on a phone


class Entry(NamedTuple):
    """One entry: its word and how its patch is drawn (properties of a rect mark)."""

    word: str
    look: Mapping[str, Any]


def key(entries: Sequence[Entry], *, left: float, above: float = 22) -> list[alt.Chart]:
    """The layers that draw a key, two an entry, without scales.

    The key begins `left` pixels from the left edge of the plot (negative to stand over axis labels); the middle of its
    last line is `above` pixels over the top edge.
    """
    import altair as alt

    layers = []
    lengths = [_PATCH + 6 + len(entry.word) * CHARACTER_WIDTH for entry in entries]
    desk, phone = _positions(lengths, math.inf), _positions(lengths, _PHONE)
    for entry, (x, _line), (phone_x, phone_line) in zip(entries, desk, phone, strict=True):
        word = alt.Chart(rows([{"word": entry.word}]))
        rise = (phone[-1][1] - phone_line) * _LINE
        layers.append(
            word.mark_rect(aria=False, **entry.look).encode(
                x=alt.XValue(_by_width(left + x, left + phone_x)),
                x2=alt.X2Value(_by_width(left + x + _PATCH, left + phone_x + _PATCH)),
                y=alt.YValue(_by_width(-above - _PATCH / 2, -above - rise - _PATCH / 2)),
                y2=alt.Y2Value(_by_width(-above + _PATCH / 2, -above - rise + _PATCH / 2)),
            )
        )
        layers.append(
            word.mark_text(align="left", baseline="middle").encode(
                x=alt.XValue(_by_width(left + x + _PATCH + 6, left + phone_x + _PATCH + 6)),
                y=alt.YValue(_by_width(-above, -above - rise)),
                text=alt.Text("word:N"),
            )
        )
    return layers


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


def _by_width(desk: float, phone: float) -> Any:
    """A position in pixels that may differ on a phone."""
    import altair as alt

    return desk if desk == phone else alt.ExprRef(when_narrow(f"{phone:.1f}", f"{desk:.1f}"))


def width_of_names(names: Sequence[str]) -> float:
    """About how many pixels the longest of some names takes as an axis label, with the distance to the axis.

    Examples
    --------
    >>> width_of_names(["LSA", "TopPop"])
    45.6
    """
    return round(max(len(name) for name in names) * CHARACTER_WIDTH + 6, 1)
