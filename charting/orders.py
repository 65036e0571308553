"""The Hasse diagram of a partial order, on the true scale of the measure. Common arguments: see `charting.marks`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from charting.columns import columns, named_over
from charting.estimates import Estimate, checked_estimates, known_names
from charting.frame import Width, finished, layered, number, rows
from charting.positions import positions
from charting.theme import LIGHT, SHAPES, Side, Spec, colour_of, wash_of
from core.errors import DataError

if TYPE_CHECKING:
    import altair as alt

# A rim of paper keeps a name legible where a line runs behind it.
_NAME_LOOKS: tuple[dict[str, Any], ...] = (
    {"stroke": LIGHT.paper, "strokeWidth": 4, "aria": False},
    {"color": LIGHT.ink},
)


def hasse(
    estimates: Mapping[str, Sequence[float]],
    edges: Collection[tuple[str, str]],
    *,
    title: str,
    y_title: str,
    side: Side = "perceived",
    higher_is_better: bool = True,
    decimals: int = 2,
    description: str | None = None,
    width: Width = None,
    height: int = 340,
) -> Spec:
    """Hasse diagram of a partial order, each condition at the height of its mean.

    Up is better; with `higher_is_better` False (fallout) the scale is reversed. A line joins two conditions if the
    upper dominates the lower and no condition lies between them (a covering pair): `edges` hold these pairs, the
    dominating condition first. A condition without significant differences has no line, a column of its own and a
    dashed outline. The bar behind each symbol is the 95% CI of its mean, or mean rank for an order by mean ranks. The
    caption elsewhere names test, alpha and n. Raises DataError for an edge whose first condition does not lie on the
    better side.

    Examples
    --------
    >>> spec = hasse({"TopPop": (3.9, 3.7, 4.1), "LSA": (3.3, 3.0, 3.6)}, [("TopPop", "LSA")],
    ...              title="TopPop exceeds LSA", y_title="Perceived accuracy, 1 to 5")
    >>> spec["usermeta"]["description"]
    'Partial order of conditions, Perceived accuracy, 1 to 5. Means: TopPop 3.90, LSA 3.30. TopPop above LSA.'
    """
    nodes = checked_estimates(estimates, what=f"mean ({y_title})")
    pairs = known_names(edges, nodes, what="edges")
    for upper, lower in pairs:
        better, worse = (upper, lower) if higher_is_better else (lower, upper)
        if not nodes[better].value > nodes[worse].value:
            raise DataError(
                f"{upper} dominates {lower}, but its value ({nodes[upper].value:g}) is not better "
                f"than {nodes[lower].value:g}; pass the location that the test compares."
            )
    positions = columns(nodes, pairs)
    over = named_over(nodes, positions, higher_is_better=higher_is_better)
    in_order = {name for pair in pairs for name in pair}
    marks = [
        {
            "condition": name,
            "x": positions[name],
            "mean": node.value,
            "low": node.low,
            "high": node.high,
            "name_at": node.high if (name in over) == higher_is_better else node.low,
            "is_over": name in over,
            "is_unordered": name not in in_order,
        }
        for name, node in nodes.items()
    ]
    joined = [
        {
            "pair": f"{upper} above {lower}",
            "x": positions[upper],
            "y": nodes[upper].value,
            "x2": positions[lower],
            "y2": nodes[lower].value,
        }
        for upper, lower in pairs
    ]
    chart = _layers(marks, joined, side=side, higher_is_better=higher_is_better, decimals=decimals)
    return finished(
        chart,
        title=title,
        subtitle=y_title,
        description=description or _description(nodes, pairs, y_title, decimals),
        side=side,
        width=width,
        height=height,
    )


def _layers(
    nodes: list[dict[str, Any]],
    joined: list[dict[str, Any]],
    *,
    side: Side,
    higher_is_better: bool,
    decimals: int,
) -> Spec:
    import altair as alt

    colour = colour_of(side)
    last = max(row["x"] for row in nodes)
    x_scale = alt.Scale(domain=[-0.55, last + 0.55], nice=False, zero=False)
    lowest, highest = min(row["low"] for row in nodes), max(row["high"] for row in nodes)
    margin = (highest - lowest) * 0.08 or max(abs(highest), 1.0) * 0.1
    ends = [lowest - margin, highest + margin * 1.4]
    if not higher_is_better:
        ends = [highest + margin, lowest - margin * 1.4]
    y_scale = alt.Scale(domain=ends, nice=False, zero=False)
    y_axis = alt.Axis(title=None, grid=True, tickCount=5)
    across, up = positions(x_scale, None, y_scale, y_axis)
    mean = f".{decimals}f"
    tooltip = [
        alt.Tooltip("condition:N"),
        alt.Tooltip("mean:Q", title="mean" if side == "perceived" else "value", format=mean),
        alt.Tooltip("low:Q", title="95% CI, low", format=mean),
        alt.Tooltip("high:Q", title="95% CI, high", format=mean),
    ]
    layers: list[alt.Chart] = []
    if joined:
        layers.append(
            alt.Chart(rows(joined))
            .mark_rule(color=LIGHT.ink, strokeWidth=1.6, strokeCap="round")
            .encode(x=across("x"), y=up("y"), x2=alt.X2("x2"), y2=alt.Y2("y2"), tooltip=[alt.Tooltip("pair:N")])
        )
    all_nodes = alt.Chart(rows(nodes))
    layers.append(
        all_nodes.mark_rule(color=colour, strokeWidth=6, opacity=0.28, strokeCap="round").encode(
            x=across("x"), y=up("low"), y2=alt.Y2("high")
        )
    )
    ordered = [row for row in nodes if not row["is_unordered"]]
    unordered = [row for row in nodes if row["is_unordered"]]
    if ordered:
        layers.append(
            alt.Chart(rows(ordered))
            .mark_point(
                shape=SHAPES[side],
                filled=True,
                size=150,
                color=colour,
                opacity=1,
                stroke=LIGHT.paper,
                strokeWidth=1.5,
            )
            .encode(x=across("x"), y=up("mean"), tooltip=tooltip)
        )
    if unordered:
        layers.append(
            alt.Chart(rows(unordered))
            .mark_point(
                shape=SHAPES[side],
                filled=True,
                size=150,
                fill=wash_of(side),
                stroke=colour,
                opacity=1,
                strokeWidth=1.5,
                strokeDash=[3, 2],
            )
            .encode(x=across("x"), y=up("mean"), tooltip=tooltip)
        )
        layers.append(
            alt.Chart(rows([{"x": last + 0.5, "says": "no significant differences"}]))
            .mark_text(align="right", baseline="bottom", color=LIGHT.quiet, fontStyle="italic")
            .encode(x=across("x"), y=alt.YValue(-6), text=alt.Text("says:N"))
        )
    for is_over in (True, False):
        labelled = [row for row in nodes if row["is_over"] is is_over]
        for look in _NAME_LOOKS:
            if labelled:
                layers.append(
                    alt.Chart(rows(labelled))
                    .mark_text(
                        baseline="bottom" if is_over else "top",
                        dy=-6 if is_over else 7,
                        strokeJoin="round",
                        **look,
                    )
                    .encode(x=across("x"), y=up("name_at"), text=alt.Text("condition:N"))
                )
    return layered(layers)


def _description(nodes: Mapping[str, Estimate], pairs: Sequence[tuple[str, str]], y_title: str, decimals: int) -> str:
    means = ", ".join(f"{name} {number(node.value, decimals)}" for name, node in nodes.items())
    relations = ", ".join(f"{upper} above {lower}" for upper, lower in pairs)
    summary = f"{relations}." if relations else "No significant differences."
    return f"Partial order of conditions, {y_title}. Means: {means}. {summary}"
