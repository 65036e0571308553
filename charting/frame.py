"""What stands around the marks: title, size, theme, and names that do not depend on what was drawn before."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from charting.lazy import altair as alt
from charting.theme import SUBTITLE_SIZE, TITLE_SIZE, Side, Spec, colour_of, config
from core.errors import ParameterError

Width = int | None
"""Width of a whole chart in pixels, title and axes included; None follows the element it is drawn in."""

NARROW = 460
"""Plots narrower than this many pixels (a phone) turn or shorten their axis labels."""

MINIMUM_WIDTH = 240
_BREAKPOINTS = (300, 380, 480, 600, 740)
_AUTOMATIC_NAME = re.compile(r"^view_\d+$")


def rows(values: Iterable[Mapping[str, Any]]) -> alt.InlineData:
    """Return rows as data of a chart, in the order given.

    Parameters
    ----------
    values : iterable of mapping
        JSON values only.

    Returns
    -------
    altair.InlineData
        The data.
    """
    return alt.InlineData(values=[dict(row) for row in values])


def finished(
    chart: alt.LayerChart,
    *,
    title: str,
    subtitle: str,
    description: str,
    side: Side,
    width: Width,
    height: int,
) -> Spec:
    """Return a layered chart as a plain specification in the house's look.

    Parameters
    ----------
    chart : altair.LayerChart
        The marks.
    title : str
        The finding, one sentence; wrapped to the width.
    subtitle : str
        What is drawn, in which unit; wears the colour of `side`.
    description : str
        What a screen reader says instead of the picture.
    side : {"perceived", "objective", "neutral"}
        Which meaning the chart has.
    width : int or None
        See `Width`.
    height : int
        Height of the plot in pixels, without title and axes.

    Returns
    -------
    dict
        Vega-Lite, JSON values only. The same arguments give the same specification, whatever was drawn
        before.

    Raises
    ------
    ParameterError
        No title, or a width below 240 pixels.
    """
    if not title.strip():
        raise ParameterError("A chart needs a title that says its finding.")
    if width is not None and width < MINIMUM_WIDTH:
        raise ParameterError(f"A chart is at least {MINIMUM_WIDTH} pixels wide; {width} were asked for.")
    sized = chart.properties(
        width="container" if width is None else width,
        height=height,
        autosize=alt.AutoSizeParams(type="fit-x", contains="padding"),
        padding={"left": 2, "right": 6, "top": 2, "bottom": 2},
        background="transparent",
        description=description,
    )
    spec: Spec = json.loads(json.dumps(sized.to_dict()))
    heading: Spec = {"text": _wrapped(title, TITLE_SIZE)}
    if subtitle:
        heading["subtitle"] = _wrapped(subtitle, SUBTITLE_SIZE)
        if side != "neutral":
            heading["subtitleColor"] = colour_of(side)
    spec["title"] = heading
    spec["config"] = config()
    spec["usermeta"] = {"mode": "light", "title": title, "description": description}
    return _with_own_names(spec)


def label_expression(labels: Sequence[str], narrow_labels: Sequence[str] | None = None) -> str:
    """Return the expression that labels the axis values 0, 1, 2, … with names.

    Parameters
    ----------
    labels : sequence of str
        One for each position; a line break begins a second line.
    narrow_labels : sequence of str, optional
        What stands there on a narrow screen instead.

    Returns
    -------
    str
        A Vega expression of ``datum.value``.

    Examples
    --------
    >>> label_expression(["TopPop", "LSA"])
    '["TopPop", "LSA"][datum.value]'
    """
    wide = f"{_literal([_lines(label) for label in labels])}[datum.value]"
    if narrow_labels is None:
        return wide
    narrow = f"{_literal([_lines(label) for label in narrow_labels])}[datum.value]"
    return f"width < {NARROW} ? {narrow} : {wide}"


def when_narrow(narrow: str, wide: str) -> str:
    """Return the expression that takes one of two values by the width of the plot.

    Parameters
    ----------
    narrow, wide : str
        Vega expressions.

    Returns
    -------
    str
        A Vega expression.
    """
    return f"width < {NARROW} ? {narrow} : {wide}"


def number(value: float, decimals: int, *, is_share: bool = False) -> str:
    """Return a number as text, with a true minus sign.

    Parameters
    ----------
    value : float
        Finite.
    decimals : int
        Digits after the point.
    is_share : bool
        True for what cannot exceed 1, which goes without a leading zero.

    Returns
    -------
    str
        The text.

    Examples
    --------
    >>> number(0.29, 2, is_share=True), number(-0.5, 1), number(-0.001, 2)
    ('.29', '−0.5', '0.00')
    """
    text = f"{value:.{decimals}f}"
    if not text.strip("-0."):
        text = text.removeprefix("-")
    if is_share:
        text = re.sub(r"^(-?)0\.", r"\1.", text)
    return text.replace("-", "−")


def _lines(label: str) -> str | list[str]:
    parts = label.split("\n")
    return parts if len(parts) > 1 else label


def _literal(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _wrapped(text: str, size: int) -> str | Spec:
    """Return text as it is, or an expression that breaks it into lines by the width of the plot."""
    average_character = size * 0.5
    one_line = text if "\n" not in text else None
    if one_line is not None and len(text) * average_character <= _BREAKPOINTS[0]:
        return text
    expression = ""
    for breakpoint_ in _BREAKPOINTS:
        lines = [
            line
            for paragraph in text.split("\n")
            for line in textwrap.wrap(paragraph, int(breakpoint_ / average_character))
        ]
        is_last = breakpoint_ == _BREAKPOINTS[-1]
        condition = "" if is_last else f"width < {_next_after(breakpoint_)} ? "
        expression += f"{condition}{_literal(lines)}{'' if is_last else ' : '}"
    return {"expr": expression}


def _next_after(breakpoint_: int) -> int:
    return _BREAKPOINTS[_BREAKPOINTS.index(breakpoint_) + 1]


def _with_own_names(spec: Spec) -> Spec:
    """Replace the names that altair counts up through a process by names counted within this chart."""
    names: dict[str, str] = {}

    def collect(value: Any) -> None:
        if isinstance(value, dict):
            name = value.get("name")
            if isinstance(name, str) and _AUTOMATIC_NAME.match(name):
                names.setdefault(name, f"layer_{len(names) + 1}")
            for key, inner in value.items():
                if key not in ("data", "datasets"):
                    collect(inner)
        elif isinstance(value, list):
            for inner in value:
                collect(inner)

    def renamed(value: Any) -> Any:
        if isinstance(value, dict):
            return {
                key: inner if key in ("data", "datasets") else renamed(inner) for key, inner in value.items()
            }
        if isinstance(value, list):
            return [renamed(inner) for inner in value]
        return names.get(value, value) if isinstance(value, str) else value

    collect(spec)
    fresh: Spec = renamed(spec)
    return fresh
