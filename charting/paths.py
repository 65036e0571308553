"""Path diagrams: what acts on an outcome through which qualities. Common arguments: see `charting.marks`."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from charting.frame import Width, finished, layered, rows
from charting.positions import positions
from charting.theme import LIGHT, SMALL_TEXT_SIZE, TEXT_SIZE, Spec
from core.errors import DataError

if TYPE_CHECKING:
    import altair as alt

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
    description: str | None = None,
    width: Width = None,
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
    texts = [
        f"{source} to {name}: {before.label}; {name} to {outcome}: {after.label}." for name, before, after in mediators
    ]
    return finished(
        _layers(boxes, words, arrows, {source: _LEFT, outcome: _RIGHT}, height),
        title=title,
        subtitle=subtitle,
        description=description
        or f"Path diagram. {' '.join(texts)} {source} to {outcome}: {direct.label}.",
        side="perceived",
        width=width,
        height=height,
        reading="down",
    )  # fmt: skip


def _laid_out(
    mediators: Sequence[Mediator], direct: Path
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], list[dict[str, Any]]]:
    """Boxes, lines of text and arrows in pixels from the top and shares of the width."""
    boxes: list[dict[str, Any]] = []
    words: list[dict[str, Any]] = []
    arrows: list[dict[str, Any]] = []
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


def _layers(
    boxes: list[dict[str, Any]],
    words: list[dict[str, Any]],
    arrows: list[dict[str, Any]],
    sides: dict[str, tuple[float, float]],
    height: int,
) -> Spec:
    import altair as alt

    x_scale = alt.Scale(domain=[0, 1], nice=False, zero=False)
    y_scale = alt.Scale(domain=[height, 0], nice=False, zero=False)
    across, down = positions(x_scale, None, y_scale, None)
    upright: list[dict[str, Any]] = [
        {"left": left, "right": right, "top": 0, "bottom": height, "name": name}
        for name, (left, right) in sides.items()
    ]  # fmt: skip
    names = [
        {"x": (box["left"] + box["right"]) / 2, "y": height / 2, "text": box["name"]} for box in upright
    ]  # fmt: skip
    layers = [
        alt.Chart(rows([*boxes, *upright])).mark_rect(
            fill=LIGHT.paper, stroke=LIGHT.quiet, cornerRadius=3, aria=False
        ).encode(x=across("left"), x2=alt.X2("right"), y=down("top"), y2=alt.Y2("bottom"),
                 tooltip=[alt.Tooltip("name", type="nominal")]),
        alt.Chart(rows(words)).mark_text(
            baseline="middle", fontSize=TEXT_SIZE, color=LIGHT.ink, fontWeight="bold"
        ).encode(x=across("x"), y=down("y"), text=alt.Text("text", type="nominal")),
        alt.Chart(rows(names)).mark_text(
            baseline="middle", fontSize=TEXT_SIZE, color=LIGHT.ink, fontWeight="bold", angle=270
        ).encode(x=across("x"), y=down("y"), text=alt.Text("text", type="nominal")),
    ]  # fmt: skip
    for is_heavy in (True, False):
        own = [arrow for arrow in arrows if arrow["is_heavy"] == is_heavy]
        if own:
            layers += _arrow_layers(own, across, down, is_heavy=is_heavy)
    return layered(layers)


def _arrow_layers(arrows: list[dict[str, Any]], across: Any, down: Any, *, is_heavy: bool) -> list[alt.Chart]:
    """Lines, heads and labels of the arrows of one weight."""
    import altair as alt

    colour = LIGHT.perceived if is_heavy else LIGHT.quiet
    dash = [1, 0] if is_heavy else [4, 3]
    return [
        alt.Chart(rows(arrows)).mark_rule(
            stroke=colour, strokeWidth=2 if is_heavy else 1, strokeDash=dash, aria=False
        ).encode(x=across("x"), x2=alt.X2("x2"), y=down("y")),
        alt.Chart(rows(arrows)).mark_point(
            shape="triangle-up", filled=True, size=50, color=colour, opacity=1, angle=90, xOffset=-4, aria=False
        ).encode(x=across("x2"), y=down("y")),
        alt.Chart(rows(arrows)).mark_text(
            baseline="bottom", dy=-4, fontSize=SMALL_TEXT_SIZE, color=LIGHT.ink
        ).encode(x=across("middle"), y=down("y"), text=alt.Text("text", type="nominal")),
    ]  # fmt: skip
