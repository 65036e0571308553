"""Rates: hits against false alarms, a line an algorithm (ROC and its kin). Common arguments: see `charting.marks`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from charting.estimates import checked_number, checked_shares
from charting.frame import Width, finished, layered, number, rows
from charting.labels import spread
from charting.theme import LIGHT, TEXT_SIZE, Side, Spec, colour_of
from core.errors import DataError

if TYPE_CHECKING:
    import altair as alt

_DASHES: tuple[tuple[int, ...], ...] = ((1, 0), (7, 3), (2, 2), (10, 3, 2, 3), (4, 2), (12, 4), (6, 2, 2, 2, 2, 2))
_LABEL_HEIGHT = TEXT_SIZE + 3
_POINTS = 201  # of a line that has more
_NAMED_AT = 0.62  # of the height a line reaches there: past it most lines run together


def rates(
    lines: Mapping[str, tuple[ArrayLike, ArrayLike]],
    *,
    title: str,
    x_title: str = "False-alarm rate",
    y_title: str = "Hit rate",
    emphasised: Collection[str] = (),
    quiet: Collection[str] = (),
    side: Side = "objective",
    description: str | None = None,
    width: Width = None,
    height: int = 380,
) -> Spec:
    """Draw one rate against another, both from 0 to 1, with the diagonal of chance.

    Each line has its own dashes and is named at the right, beside its height halfway; `quiet` lines, where they are
    drawn, are those that others are read against. Raises DataError for points outside [0, 1] or an x that falls.

    Examples
    --------
    >>> spec = rates({"A": ([0, 0.1, 1], [0, 0.5, 1])}, title="A is better than chance")
    >>> spec["usermeta"]["description"]
    'Line chart, Hit rate against False-alarm rate. At .1: A .50.'
    """
    if not lines:
        raise DataError("There is no line to draw.")
    unknown = sorted(set(emphasised) - set(lines))
    if unknown:
        raise DataError(f"Lines to emphasise are not drawn: {', '.join(unknown)}.")
    points = {name: _points(name, x, y) for name, (x, y) in lines.items()}
    at_tenth = ", ".join(
        f"{name} {number(float(np.interp(0.1, x, y)), 2, is_share=True)}" for name, (x, y) in points.items()
    )
    return finished(
        _layers(points, x_title=x_title, height=height, emphasised=emphasised, quiet=quiet, side=side),
        title=title,
        subtitle=y_title,
        description=description or f"Line chart, {y_title} against {x_title}. At .1: {at_tenth}.",
        side=side,
        width=width,
        height=height,
        reading="drawn",
    )


def _points(name: str, x: ArrayLike, y: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The points of a line, thinned where there are more than can be seen."""
    across, up = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if across.ndim != 1 or across.shape != up.shape or not len(across):
        raise DataError(f"The line of {name} has {across.size} and {up.size} coordinates; give one of each per point.")
    for what, values in (("x", across), ("y", up)):
        checked_shares((checked_number(float(value), what=f"{what} of {name}") for value in values), what=what)
    if (np.diff(across) < 0).any():
        raise DataError(f"The line of {name} runs backwards: x must not decrease.")
    indices = np.unique(np.linspace(0, len(across) - 1, _POINTS).round().astype(np.int64))
    return across[indices], up[indices]


def _layers(
    lines: Mapping[str, tuple[NDArray[np.float64], NDArray[np.float64]]],
    *,
    x_title: str,
    height: int,
    emphasised: Collection[str],
    quiet: Collection[str],
    side: Side,
) -> Spec:
    import altair as alt

    ticks = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    shown = "replace(datum.label, '0.', '.')"
    scale = alt.Scale(domain=[0.0, 1.0], nice=False)

    def across(field: str) -> alt.X:
        axis = alt.Axis(title=x_title, values=ticks, format=".1f", labelExpr=shown)
        return alt.X(field, type="quantitative", scale=scale, axis=axis)

    def up(field: str) -> alt.Y:
        axis = alt.Axis(title=None, grid=True, values=ticks, format=".1f", labelExpr=shown)
        return alt.Y(field, type="quantitative", scale=scale, axis=axis)

    def plotted(x: Sequence[float] | Any, y: Sequence[float] | Any, name: str) -> alt.Chart:
        return alt.Chart(
            rows(
                {"algorithm": name, "x": round(float(a), 5), "y": round(float(b), 5), "place": index}
                for index, (a, b) in enumerate(zip(x, y, strict=True))
            )
        )

    chance = plotted([0.0, 1.0], [0.0, 1.0], "chance")
    layers = [chance.mark_line(color=LIGHT.line, strokeWidth=1, aria=False).encode(x=across("x"), y=up("y"))]
    heights = spread([float(np.interp(0.25, x, y)) * _NAMED_AT for x, y in lines.values()], _LABEL_HEIGHT / height)
    for index, ((name, (x, y)), at) in enumerate(zip(lines.items(), heights, strict=True)):
        dashes = list(_DASHES[index % len(_DASHES)])
        colour = LIGHT.quiet if name in quiet else colour_of(side)
        weight = 3.0 if name in emphasised else 1.0 if name in quiet else 1.6
        tooltip = [alt.Tooltip("algorithm:N"), *(alt.Tooltip(field, format=".2f") for field in ("x:Q", "y:Q"))]
        label = plotted([1.0], [min(1.0, max(0.0, at))], name)
        layers += [
            plotted(x, y, name)
            .mark_line(color=colour, strokeWidth=weight, strokeDash=dashes, strokeCap="butt")
            .encode(x=across("x"), y=up("y"), order=alt.Order("place:Q"), tooltip=tooltip),
            label.mark_rule(color=colour, strokeWidth=weight, strokeDash=dashes, aria=False).encode(
                x=alt.XValue(alt.ExprRef("width + 6")), x2=alt.X2Value(alt.ExprRef("width + 34")), y=up("y")
            ),
            label.mark_text(
                align="left", baseline="middle", dx=39, fontWeight=600 if name in emphasised else "normal"
            ).encode(x=across("x"), y=up("y"), text=alt.Text("algorithm:N")),
        ]
    return layered(layers)
