"""Path diagrams: what acts on an outcome through which qualities. Common arguments: see `charting.marks`."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any, NamedTuple

from charting.frame import finished
from charting.plots import Plot, Rows, bare, tip
from charting.theme import LIGHT, PERCEIVED, SMALL_TEXT_SIZE, TEXT_SIZE, Spec
from core.errors import DataError

_LEFT, _MIDDLE, _RIGHT = (0.0, 0.1), (0.33, 0.67), (0.9, 1.0)  # of the boxes, in shares of the width
_CHARACTERS = 15  # of a line in a box on the narrowest screen
_LINE, _PAD, _GAP = 16, 9, 22
_LEAST_HEIGHT = 150  # for the upright names


class Path(NamedTuple):
    """A path with the number at its arrow."""

    label: str
    is_emphasised: bool  # whether it is drawn in colour; others are dashed


class Mediator(NamedTuple):
    """A quality between source and outcome."""

    name: str
    before: Path
    after: Path


def path_diagram(
    source: str,
    mediators: Sequence[Mediator],
    outcome: str,
    direct: Path,
    *,
    title: str,
    subtitle: str,
) -> Spec:
    """Draw arrows from the source to each mediator, from there to the outcome, and the direct one below. Raises
    DataError without a mediator.

    Examples
    --------
    >>> trust = Mediator("Trust", Path("p = .003", True), Path("β = .42", True))
    >>> spec = path_diagram("Algorithm", [trust], "Satisfaction", Path("p = .200", False), title="Trust mediates",
    ...                     subtitle="Standardised paths")
    >>> spec["usermeta"]["description"]
    'Path diagram. Algorithm to Trust: p = .003; Trust to Satisfaction: β = .42. Algorithm to Satisfaction: p = .200.'
    """
    if not mediators:
        raise DataError("There is no mediator to draw.")
    boxes, words, arrows = _laid_out(mediators, direct)
    height = int(max(_LEAST_HEIGHT, arrows[-1]["y"] + _GAP))
    plot = Plot(bare(0, 1), bare(height, 0))
    upright: Rows = [
        {"left": left, "right": right, "top": 0, "bottom": height, "name": name}
        for name, (left, right) in ((source, _LEFT), (outcome, _RIGHT))
    ]
    box = {"type": "rect", "fill": LIGHT.paper, "stroke": LIGHT.quiet, "cornerRadius": 3, "aria": False}
    plot.draw([*boxes, *upright], box, x="left", x2="right", y="top", y2="bottom", tooltip=[tip("name")])
    word = {"type": "text", "baseline": "middle", "fontSize": TEXT_SIZE, "color": LIGHT.ink, "fontWeight": "bold"}
    plot.draw(words, word, x="x", y="y", text="text")
    names = [{"x": (end["left"] + end["right"]) / 2, "y": height / 2, "text": end["name"]} for end in upright]
    plot.draw(names, {**word, "angle": 270}, x="x", y="y", text="text")
    for is_heavy in (True, False):
        _draw_arrows(plot, [arrow for arrow in arrows if arrow["is_heavy"] is is_heavy], is_heavy=is_heavy)
    texts = [
        f"{source} to {name}: {before.label}; {name} to {outcome}: {after.label}." for name, before, after in mediators
    ]
    return finished(
        plot.spec(),
        title=title,
        subtitle=subtitle,
        description=f"Path diagram. {' '.join(texts)} {source} to {outcome}: {direct.label}.",
        side="perceived",
        height=height,
        reading="down",
    )


def _laid_out(mediators: Sequence[Mediator], direct: Path) -> tuple[Rows, Rows, Rows]:
    """Boxes, lines of text and arrows in pixels from the top and shares of the width."""
    boxes: Rows = []
    words: Rows = []
    arrows: Rows = []
    top = float(_GAP)
    for name, before, after in mediators:
        lines = textwrap.wrap(name, _CHARACTERS)
        bottom = top + len(lines) * _LINE + 2 * _PAD
        boxes.append({"left": _MIDDLE[0], "right": _MIDDLE[1], "top": top, "bottom": bottom, "name": name})
        for index, line in enumerate(lines):
            words.append({"x": 0.5, "y": top + _PAD + (index + 0.5) * _LINE, "text": line})
        arrows += [
            _arrow(before, (_LEFT[1], _MIDDLE[0]), (top + bottom) / 2),
            _arrow(after, (_MIDDLE[1], _RIGHT[0]), (top + bottom) / 2),
        ]
        top = bottom + _GAP
    arrows.append(_arrow(direct, (_LEFT[1], _RIGHT[0]), top + _GAP / 2))
    return boxes, words, arrows


def _arrow(path: Path, ends: tuple[float, float], y: float) -> dict[str, Any]:
    middle = (ends[0] + ends[1]) / 2
    return {"x": ends[0], "x2": ends[1], "y": y, "middle": middle, "text": path.label, "is_heavy": path.is_emphasised}


def _draw_arrows(plot: Plot, arrows: Rows, *, is_heavy: bool) -> None:
    colour, width, dash = (PERCEIVED, 2, [1, 0]) if is_heavy else (LIGHT.quiet, 1, [4, 3])
    line = {"type": "rule", "stroke": colour, "strokeWidth": width, "strokeDash": dash, "aria": False}
    plot.draw(arrows, line, x="x", x2="x2", y="y")
    head = {"type": "point", "shape": "triangle-up", "filled": True, "size": 50, "color": colour, "opacity": 1}
    plot.draw(arrows, {**head, "angle": 90, "xOffset": -4, "aria": False}, x="x2", y="y")
    label = {"type": "text", "baseline": "bottom", "dy": -4, "fontSize": SMALL_TEXT_SIZE, "color": LIGHT.ink}
    plot.draw(arrows, label, x="middle", y="y", text="text")
