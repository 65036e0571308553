"""Charts of a line a condition: where each line stands, and its name beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from charting.frame import label_expression
from charting.theme import LIGHT

if TYPE_CHECKING:
    import altair as alt


def line_axis(labels: Sequence[str], **changes: Any) -> alt.Axis:
    """The axis that names the lines 0, 1, 2, … of a chart, the first on top; no label is left out, however narrow the
    chart. A line break in a label begins a second line.
    """
    import altair as alt

    return alt.Axis(
        title=None,
        values=list(range(len(labels))),
        labelExpr=label_expression(labels),
        labelColor=LIGHT.ink,
        labelOverlap=False,
        **changes,
    )


def line_scale(count: int) -> alt.Scale:
    """The scale on which line k takes the room from k - 0.5 to k + 0.5, downwards."""
    import altair as alt

    return alt.Scale(domain=[count - 0.5, -0.5], nice=False, zero=False)
