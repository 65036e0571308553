"""What stands around the marks: layers, title, size and theme."""

from __future__ import annotations

import itertools
import json
import re
import textwrap
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Literal

from charting.theme import SUBTITLE_SIZE, TITLE_SIZE, Side, Spec, colour_of, config
from core.errors import ParameterError

Reading = Literal["across", "down", "drawn"]
"""How arrow keys go through the marks of a chart on a page: columns from the left, rows from the top, or the order in
which they are drawn (line by line)."""

NARROW = 500
"""Charts narrower than this many pixels (a phone) turn or shorten their axis labels."""

PICTURE = "picture"  # key of a specification that `charting.pairs` draws, and not Vega
_BREAKPOINTS = (240, 270, 300, 340, 380, 430, 490, 560, 640, 740)
# The whole width of the drawing's element. Vega's own `width` will not do: it is first the whole and, once the
# axes are laid out, the plot alone, and what then changes its number of lines is cut off. Naming it all the
# same has the expression evaluated again when the window changes.
_WHOLE_WIDTH = "[width, containerSize()[0]][1]"
# Mean width of a character in shares of the type size; titles are set bold.
_TITLE_CHARACTER = 0.53
_SUBTITLE_CHARACTER = 0.5
# A sign stays with its number: "τ = .14" breaks nowhere.
_AROUND_SIGNS = re.compile(r" (?=[=<>≥≤] )|(?<= [=<>≥≤]) ")


def finished(
    chart: Spec,
    *,
    title: str,
    subtitle: str,
    description: str,
    side: Side = "neutral",
    height: int,
    reading: Reading = "across",
) -> Spec:
    """A layered chart as a plain specification in the house's look, JSON values only; it does not depend on earlier
    charts.

    The title is the finding in one sentence, wrapped to the width. The subtitle says what is drawn, in which unit, and
    wears the colour of `side`. A screen reader says `description` instead of the picture. `height` is that of the plot
    in pixels, without title and axes; the width is that of the element it is drawn in. Raises ParameterError for no
    title.
    """
    if not title.strip():
        raise ParameterError("A chart needs a title that states its finding.")
    whole = {
        **chart,
        "width": "container",
        "height": height,
        "autosize": {"type": "fit-x", "contains": "padding"},
        "padding": {"left": 2, "right": 6, "top": 2, "bottom": 2},
        "background": "transparent",
        "description": description,
    }
    # Whether it is Vega-Lite at all is for the tests to say: looking takes longer than making it.
    spec: Spec = json.loads(json.dumps(whole))
    heading: Spec = {
        "text": _wrapped(title, TITLE_SIZE * _TITLE_CHARACTER),
        "subtitle": _wrapped(subtitle, SUBTITLE_SIZE * _SUBTITLE_CHARACTER),
    }
    if side != "neutral":
        heading["subtitleColor"] = colour_of(side)
    spec["title"] = heading
    spec["config"] = config()
    spec["usermeta"] = {"mode": "light", "title": title, "description": description, "reading": reading}
    return spec


def sized(spec: Spec, width: int) -> Spec:
    """A copy of a specification of `finished` with a width of its own in pixels, title and axes included."""
    return {**_with_whole_width(spec, str(width)), "width": width}


def label_expression(labels: Sequence[str], narrow_labels: Sequence[str] | None = None) -> str:
    """The Vega expression that labels the axis values 0, 1, 2, … with names; a line break begins a second line.

    Examples
    --------
    >>> label_expression(["TopPop", "LSA"])
    '["TopPop", "LSA"][datum.value]'
    """
    wide = f"{_literal([_lines(label) for label in labels])}[datum.value]"
    if narrow_labels is None:
        return wide
    return when_narrow(f"{_literal([_lines(label) for label in narrow_labels])}[datum.value]", wide)


def when_narrow(narrow: str, wide: str) -> str:
    """The Vega expression that takes one of two expressions by the width of the chart."""
    return f"{_WHOLE_WIDTH} < {NARROW} ? {narrow} : {wide}"


def share_of_width(share: float) -> str:
    """The Vega expression for a share of the width of a chart without axes, in pixels."""
    return f"{share:.4f} * {_WHOLE_WIDTH}"


def number(value: float, decimals: int, *, is_share: bool = False) -> str:
    """A finite number as text, with a true minus sign; a share, which cannot exceed 1, has no leading zero.

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


def whole_ticks(low: int, high: int, *, about: int = 5) -> list[int]:
    """Round whole numbers for an axis of counts from `low` to `high`: multiples of 1, 2 or 5 times a power of ten, at
    most two more than `about`.

    Examples
    --------
    >>> whole_ticks(0, 30), whole_ticks(1, 4), whole_ticks(0, 0)
    ([0, 10, 20, 30], [1, 2, 3, 4], [0])
    """
    step = next(
        factor * 10**power
        for power in itertools.count()
        for factor in (1, 2, 5)
        if (high - low) / (factor * 10**power) <= about
    )
    first = -(-low // step) * step
    return list(range(first, high + 1, step))


def _lines(label: str) -> str | list[str]:
    parts = label.split("\n")
    return parts if len(parts) > 1 else label


def _literal(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def stamped(spec: Spec, words: str) -> Spec:
    """A chart with a line above its title that no copy of it may lack; a screen reader says it first. `spec` comes from
    a function of `charting.marks` and has no width of its own.
    """
    metadata = spec["usermeta"]
    plain, title, description = metadata["title"], *(f"{words}. {metadata[part]}" for part in ("title", "description"))
    metadata = {**metadata, "title": title, "description": description}
    if PICTURE in spec:
        return {**spec, "mark": words, "usermeta": metadata}
    return {
        **spec,
        "title": {**spec["title"], "text": _wrapped(f"{words}\n{plain}", TITLE_SIZE * _TITLE_CHARACTER)},
        "description": description,
        "usermeta": metadata,
    }


def _wrapped(text: str, character: float) -> str | Spec:
    """Return text as it is, or an expression that breaks it into lines by the width of the chart."""
    if len(text) * character <= _BREAKPOINTS[0] and "\n" not in text:
        return text
    by_width = [(limit, _balanced(text, int((limit - 8) / character))) for limit in _BREAKPOINTS]
    expression = _literal(by_width[-1][1])
    for (_, lines), (next_limit, next_lines) in reversed(list(itertools.pairwise(by_width))):
        if lines != next_lines:
            expression = f"{_WHOLE_WIDTH} < {next_limit} ? {_literal(lines)} : {expression}"
    return {"expr": expression}


_broken = lru_cache(maxsize=1000)(textwrap.wrap)  # charts of all widths, and with a mark, break the same words


def _balanced(text: str, characters: int) -> list[str]:
    """Break text into as few lines as fit, and those about equally long."""
    lines: list[str] = []
    text = _AROUND_SIGNS.sub("\N{NO-BREAK SPACE}", text)
    for paragraph in text.split("\n"):
        fewest = len(_broken(paragraph, characters))
        narrower = characters
        while narrower > 1 and len(_broken(paragraph, narrower - 1)) == fewest:
            narrower -= 1
        lines += _broken(paragraph, narrower)
    return lines


def _with_whole_width(value: Any, width: str) -> Any:
    if isinstance(value, dict):
        return {
            key: inner if key in ("data", "datasets", "usermeta") else _with_whole_width(inner, width)
            for key, inner in value.items()
        }
    if isinstance(value, list):
        return [_with_whole_width(inner, width) for inner in value]
    return value.replace(_WHOLE_WIDTH, width) if isinstance(value, str) else value
