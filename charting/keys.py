"""The key of a chart: small patches with words, in one line above the plot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from charting.frame import rows
from charting.labels import CHARACTER_WIDTH

if TYPE_CHECKING:
    import altair as alt

_PATCH = 11
_BETWEEN = 16


class Entry(NamedTuple):
    """One entry: its word and how its patch is drawn (properties of a rect mark)."""

    word: str
    look: Mapping[str, Any]


def key(entries: Sequence[Entry], *, left: float, above: float = 22) -> list[alt.Chart]:
    """The layers that draw a key, two an entry, without scales.

    The key begins `left` pixels from the left edge of the plot (negative to stand over axis labels); the middle of its
    line is `above` pixels over the top edge.
    """
    import altair as alt

    layers = []
    x = left
    for entry in entries:
        word = alt.Chart(rows([{"word": entry.word}]))
        layers.append(
            word.mark_rect(aria=False, **entry.look).encode(
                x=alt.XValue(x),
                x2=alt.X2Value(x + _PATCH),
                y=alt.YValue(-above - _PATCH / 2),
                y2=alt.Y2Value(-above + _PATCH / 2),
            )
        )
        layers.append(
            word.mark_text(align="left", baseline="middle").encode(
                x=alt.XValue(x + _PATCH + 6), y=alt.YValue(-above), text=alt.Text("word:N")
            )
        )
        x += _PATCH + 6 + len(entry.word) * CHARACTER_WIDTH + _BETWEEN
    return layers


def width_of_names(names: Sequence[str]) -> float:
    """About how many pixels the longest of some names takes as an axis label, with the distance to the axis.

    Examples
    --------
    >>> width_of_names(["LSA", "TopPop"])
    45.6
    """
    return round(max(len(name) for name in names) * CHARACTER_WIDTH + 6, 1)
