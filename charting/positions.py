"""Where the marks of a chart stand: one scale and one axis in each direction for all its layers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import altair as alt


def positions(
    x_scale: alt.Scale, x_axis: alt.Axis | None, y_scale: alt.Scale, y_axis: alt.Axis | None
) -> tuple[Callable[[str], alt.X], Callable[[str], alt.Y]]:
    """The functions that place a field of numbers across and up; an axis of None is not drawn."""
    import altair as alt

    def across(field: str) -> alt.X:
        return alt.X(field, type="quantitative", scale=x_scale, axis=x_axis)

    def up(field: str) -> alt.Y:
        return alt.Y(field, type="quantitative", scale=y_scale, axis=y_axis)

    return across, up
