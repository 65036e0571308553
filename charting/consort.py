"""The CONSORT diagram: how many came how far, and who left where. Common arguments: see `charting.marks`."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from charting.frame import finished
from charting.plots import Plot, Rows, bare, tip
from charting.theme import LIGHT, TEXT_SIZE, Spec
from core.errors import DataError

_LINE = 16
_PAD = 9
_GAP = 26
_TIP = 3.5  # of an arrow, from its middle
_CHARACTERS = 19  # of a line in a box on the narrowest screen
_MAIN = (0.0, 0.46)  # of the main boxes, in shares of the width
_ALONE = (0.0, 0.64)  # the main boxes if no participant left
_CHARACTERS_ALONE = 26
_SIDE = (0.53, 1.0)


class Stage(NamedTuple):
    """A step of the flow: how many reached it, and how many of them left after it, by reason."""

    name: str
    n: int
    left: Mapping[str, int]


def consort(stages: Sequence[Stage], *, title: str) -> Spec:
    """Draw the flow of participants, a box a step, with boxes to the right for those who left; reasons with a count of
    0 are not drawn. Source: Schulz, Altman & Moher (2010), "CONSORT 2010
    Statement", figure 1. Deviation: the conditions stand in a table beside the diagram, since seven boxes in a row fit
    on no phone.

    Examples
    --------
    >>> spec = consort([Stage("Consented", 12, {"Screened out": 2}), Stage("Assigned", 10, {})], title="10 of 12")
    >>> spec["usermeta"]["description"]
    'Flow of participants. Consented: 12; excluded: Screened out 2. Assigned: 10.'
    """
    if not stages:
        raise DataError("There is no step of the flow to draw.")
    boxes, words, arrows = _laid_out(stages)
    height = int(max(box["bottom"] for box in boxes))
    plot = Plot(bare(0, 1), bare(height, 0))
    line = {"type": "rule", "stroke": LIGHT.quiet, "aria": False}
    plot.draw(arrows, line, x="x", x2="x2", y="y", y2="y2")
    box = {"type": "rect", "fill": LIGHT.paper, "stroke": LIGHT.quiet, "cornerRadius": 3, "aria": False}
    tooltip = [tip("step"), tip("participants")]
    plot.draw(boxes, box, x="left", x2="right", y="top", y2="bottom", tooltip=tooltip)
    head = {"type": "point", "shape": "triangle-up", "filled": True, "size": 40, "color": LIGHT.quiet, "opacity": 1}
    down, aside = {"angle": 180, "yOffset": -_TIP}, {"angle": 90, "xOffset": -_TIP}
    for is_down, direction in ((True, down), (False, aside)):
        own = [arrow for arrow in arrows if arrow["is_down"] is is_down]
        plot.draw(own, {**head, **direction, "aria": False}, x="x2", y="y2")
    for weight in ("bold", "normal"):
        text = {"type": "text", "align": "left", "baseline": "middle", "fontSize": TEXT_SIZE, "color": LIGHT.ink}
        own = [word for word in words if word["weight"] == weight]
        plot.draw(own, {**text, "fontWeight": weight}, x="x", y="y", text="text")
    return finished(
        plot.spec(),
        title=title,
        subtitle="Participants at each step and exclusions",
        description=f"Flow of participants. {' '.join(map(_stage_text, stages))}",
        height=height,
        reading="down",
    )


def _stage_text(stage: Stage) -> str:
    left = ", ".join(f"{reason} {n}" for reason, n in stage.left.items() if n)
    return f"{stage.name}: {stage.n}" + (f"; excluded: {left}." if left else ".")


def _lines_of(reason: str, n: int) -> list[str]:
    return textwrap.wrap(f"{reason}: {n:,}", _CHARACTERS, subsequent_indent="  ") or [f"{n:,}"]


def _laid_out(stages: Sequence[Stage]) -> tuple[Rows, Rows, Rows]:
    """Boxes, lines of text and arrows in pixels from the top and shares of the width."""
    boxes: Rows = []
    words: Rows = []
    arrows: Rows = []

    def box(
        ends: tuple[float, float], top: float, lines: Sequence[str], *, weight: str, tooltip: tuple[str, str]
    ) -> float:
        bottom = top + len(lines) * _LINE + 2 * _PAD
        step, participants = tooltip
        edges = {"left": ends[0], "right": ends[1], "top": top, "bottom": bottom}
        boxes.append({**edges, "step": step, "participants": participants})
        for index, line in enumerate(lines):
            y = top + _PAD + (index + 0.5) * _LINE
            words.append({"x": ends[0] + 0.02, "y": y, "text": line, "weight": weight if index == 0 else "normal"})
        return bottom

    nobody_left = not any(n for stage in stages for n in stage.left.values())
    main, characters = (_ALONE, _CHARACTERS_ALONE) if nobody_left else (_MAIN, _CHARACTERS)
    centre = sum(main) / 2
    top = 0.0
    before: float | None = None
    for stage in stages:
        if before is not None:
            arrows.append({"x": centre, "x2": centre, "y": before, "y2": top, "is_down": True})
        words_of_step = [f"{stage.n:,}", *textwrap.wrap(stage.name, characters)]
        before = box(main, top, words_of_step, weight="bold", tooltip=(stage.name, f"{stage.n:,}"))
        top = before + _GAP
        lines = [line for reason, n in stage.left.items() if n for line in _lines_of(reason, n)]
        if lines:
            start = before + _GAP / 2
            middle = start + (len(lines) * _LINE + 2 * _PAD) / 2
            arrows.append({"x": centre, "x2": _SIDE[0], "y": middle, "y2": middle, "is_down": False})
            left = ", ".join(f"{reason} {n:,}" for reason, n in stage.left.items() if n)
            top = box(_SIDE, start, lines, weight="normal", tooltip=(f"Left after: {stage.name}", left))
            top += _GAP / 2
    return boxes, words, arrows
