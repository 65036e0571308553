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
    wide, narrow = _places(lengths, math.inf), _places(lengths, _PHONE)
    last = narrow[-1][1]
    for entry, (x, _), (narrow_x, line) in zip(entries, wide, narrow, strict=True):
        word = alt.Chart(rows([{"word": entry.word}]))
        rise = (last - line) * _LINE

        def place(wide: float, narrow: float, *, is_wrapped: bool = last > 0) -> Any:
            return alt.ExprRef(when_narrow(f"{narrow:.1f}", f"{wide:.1f}")) if is_wrapped else wide

        layers.append(
            word.mark_rect(aria=False, **entry.look).encode(
                x=alt.XValue(place(left + x, left + narrow_x)),
                x2=alt.X2Value(place(left + x + _PATCH, left + narrow_x + _PATCH)),
                y=alt.YValue(place(-above - _PATCH / 2, -above - rise - _PATCH / 2)),
                y2=alt.Y2Value(place(-above + _PATCH / 2, -above - rise + _PATCH / 2)),
            )
        )
        layers.append(
            word.mark_text(align="left", baseline="middle").encode(
                x=alt.XValue(place(left + x + _PATCH + 6, left + narrow_x + _PATCH + 6)),
                y=alt.YValue(place(-above, -above - rise)),
                text=alt.Text("word:N"),
            )
        )
    return layers


def _places(lengths: Sequence[float], room: float) -> list[tuple[float, int]]:
    """How far from the left and in which line entries of these lengths stand, in as many lines as the room asks."""
    places = []
    x, line = 0.0, 0
    for length in lengths:
        if x and x + length > room:
            x, line = 0.0, line + 1
        places.append((x, line))
        x += length + _BETWEEN
    return places


def width_of_names(names: Sequence[str]) -> float:
    """About how many pixels the longest of some names takes as an axis label, with the distance to the axis.

    Examples
    --------
    >>> width_of_names(["LSA", "TopPop"])
    45.6
    """
    return round(max(len(name) for name in names) * CHARACTER_WIDTH + 6, 1)
