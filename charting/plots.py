"""A plot: layers of marks on one scale across and one up, written as Vega-Lite reads them.

Specifications are plain dictionaries. A library of chart objects copies and compares every part of every chart several
times over, which would be most of the time that a report's figures take.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from charting.frame import label_expression
from charting.theme import LIGHT, Spec

Rows = list[dict[str, Any]]
SCHEMA = "https://vega.github.io/schema/vega-lite/v6.4.1.json"
LINE_HEIGHT = 14  # pixels from one line of a name to the next
_OTHER_ENDS = ("x2", "y2")
# Not "layer_…": vega-lite names its own so.
_SELECTING = "charted_1"


class Plot:
    """The layers of a chart, the first at the bottom; `x` and `y` are the scale and the axis in each direction."""

    def __init__(self, x: Spec, y: Spec) -> None:
        self._places = {"x": x, "y": y}
        self._layers: list[Spec] = []
        self._tables: dict[int, tuple[str, Rows]] = {}

    def draw(self, rows: Rows, mark: Spec, **encoding: Any) -> None:
        """Add a layer on top, unless there are no rows.

        `mark` is Vega-Lite's: a type and its look. A channel is the name of a field: `x` and `y` on the plot's scales,
        `x2` and `y2` as the other ends, `text` as words; anything else is Vega-Lite's own object.
        """
        if not rows:
            return
        name, _rows = self._tables.setdefault(id(rows), (f"rows_{len(self._tables) + 1}", rows))
        channels = {channel: self._channel(channel, value) for channel, value in encoding.items()}
        self._layers.append({"data": {"name": name}, "mark": mark, "encoding": channels})

    def _channel(self, channel: str, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        if channel in _OTHER_ENDS:
            return {"field": value}
        return {"field": value} | self._places.get(channel, {"type": "nominal"})

    def spec(self, selection: Mapping[str, Any] | None = None) -> Spec:
        """The layers with their data; the marks of all of them make `selection`."""
        whole: Spec = {"$schema": SCHEMA, "datasets": dict(self._tables.values()), "layer": self._layers}
        if selection is not None:
            whole["layer"][0]["name"] = _SELECTING
            whole["params"] = [{**selection, "views": [_SELECTING]}]
        return whole


def numbers(low: float, high: float, *, scale: Mapping[str, Any] | None = None, **axis: Any) -> Spec:
    """A scale of numbers from one to another with an axis, which has no title unless one is named.

    Examples
    --------
    >>> numbers(0, 5, grid=True)["axis"]
    {'title': None, 'grid': True}
    """
    return bare(low, high, scale=scale) | {"axis": {"title": None, **axis}}


def bare(low: float, high: float, *, scale: Mapping[str, Any] | None = None) -> Spec:
    """A scale of numbers without an axis."""
    return {
        "type": "quantitative",
        "scale": {"domain": [low, high], "nice": False, "zero": False, **(scale or {})},
        "axis": None,
    }


def columns(count: int, **axis: Any) -> Spec:
    """The scale on which column k takes the room from k - 0.5 to k + 0.5, with a label for each."""
    return numbers(-0.5, count - 0.5, values=list(range(count)), **axis)


def lines(labels: Sequence[str], **axis: Any) -> Spec:
    """The scale on which line k takes the room from k - 0.5 to k + 0.5, the first on top, each with its name.

    No label is left out, however narrow the chart; those of several lines stand around the middle of their room.
    """
    count, breaks = len(labels), [label.count("\n") for label in labels]
    raised = [
        {
            "test": f"indexof({[at for at, n in enumerate(breaks) if n == own]}, datum.value) >= 0",
            "value": -LINE_HEIGHT / 2 * own,
        }
        for own in sorted({*breaks} - {0})
    ]
    look = {"labelExpr": label_expression(labels), "labelColor": LIGHT.ink, "labelOverlap": False, **axis}
    if raised:
        look |= {"labelLineHeight": LINE_HEIGHT, "labelOffset": {"condition": raised, "value": 0}}
    return numbers(count - 0.5, -0.5, values=list(range(count)), **look)


def share_labels(*, is_share: bool = True) -> Spec:
    """The part of an axis that prints shares without a leading zero; nothing for other numbers."""
    return {"labelExpr": "replace(datum.label, '0.', '.')"} if is_share else {}


def at(position: float | str) -> Spec:
    """A place or size in pixels, or the Vega expression for it, in the stead of a field.

    Examples
    --------
    >>> at(-6), at("width + 6")
    ({'value': -6}, {'value': {'expr': 'width + 6'}})
    """
    return {"value": expression(position) if isinstance(position, str) else position}


def expression(text: str) -> Spec:
    """A Vega expression as a part of a mark or an axis."""
    return {"expr": text}


def tip(field: str, title: str | None = None, *, number: str | None = None) -> Spec:
    """What a pointer or a key reads of a field: words, or a number in a format, where "" prints it in full.

    Examples
    --------
    >>> tip("mean", number=".2f")
    {'field': 'mean', 'type': 'quantitative', 'format': '.2f'}
    """
    shown: Spec = {"field": field, "type": "nominal" if number is None else "quantitative"}
    if title:
        shown["title"] = title
    if number:
        shown["format"] = number
    return shown
