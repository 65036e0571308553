"""The scatter of what was measured against what was perceived. Common arguments: see `charting.marks`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from charting.estimates import Estimate, checked_estimates, same_names
from charting.frame import Width, finished, layered, number, rows
from charting.labels import corners
from charting.positions import positions
from charting.theme import LIGHT, OBJECTIVE, Spec

_NARROW_PLOT = 250
# A rim of paper keeps a name legible where a line runs behind it.
_NAME_LOOKS: tuple[dict[str, Any], ...] = (
    {"stroke": LIGHT.paper, "strokeWidth": 4, "aria": False},
    {"color": LIGHT.ink},
)


def scatter(
    perceived: Mapping[str, Sequence[float]],
    objective: Mapping[str, Sequence[float]],
    *,
    title: str,
    perceived_title: str,
    objective_title: str,
    decimals: int = 2,
    description: str | None = None,
    width: Width = None,
    height: int = 360,
) -> Spec:
    """Draw one dot an algorithm: objective across, perceived upwards, with both 95 % intervals; each title wears its
    side's colour. Raises DataError for names on one side only.

    Examples
    --------
    >>> spec = scatter({"LSA": (3.3, 3.1, 3.5)}, {"LSA": (0.01, 0.0, 0.02)}, title="One dot shows nothing",
    ...                perceived_title="Perceived accuracy", objective_title="Recall at 5")
    >>> spec["usermeta"]["description"]
    'Scatter plot of Perceived accuracy against Recall at 5. LSA: 0.01 and 3.30.'
    """
    upward = checked_estimates(perceived, what=perceived_title)
    across = checked_estimates(objective, what=objective_title)
    same_names(upward, across, what="A scatter's two quantities")
    names = list(upward)
    x_ends, y_ends = _ends(across), _ends(upward)
    x_shares = {name: _shares(across[name], x_ends) for name in names}
    y_shares = {name: _shares(upward[name], y_ends) for name in names}
    positions = {name: (x_shares[name].value, y_shares[name].value) for name in names}
    bars = [
        bar
        for name, (x, y) in positions.items()
        for bar in (
            (x_shares[name].low, y, x_shares[name].high, y),
            (x, y_shares[name].low, x, y_shares[name].high),
        )
    ]
    # Dots that lie on each other share one label.
    spots: dict[tuple[float, float], list[str]] = {}
    for name, (x, y) in positions.items():
        spots.setdefault((round(x, 3), round(y, 3)), []).append(name)
    chosen = corners(list(spots), list(spots.values()), bars, width=_NARROW_PLOT, height=height)
    labels = {
        together[0]: {"label": together, "corner": corner}
        for together, corner in zip(spots.values(), chosen, strict=True)
    }
    points = [
        {
            "algorithm": name,
            "objective": across[name].value,
            "objective_low": across[name].low,
            "objective_high": across[name].high,
            "perceived": upward[name].value,
            "perceived_low": upward[name].low,
            "perceived_high": upward[name].high,
            **labels.get(name, {}),
        }
        for name in names
    ]
    summary = " ".join(
        f"{name}: {number(across[name].value, decimals)} and {number(upward[name].value, decimals)}." for name in names
    )
    return finished(
        _layers(points, x_ends, y_ends, objective_title=objective_title, decimals=decimals),
        title=title,
        subtitle=perceived_title,
        description=description or f"Scatter plot of {perceived_title} against {objective_title}. {summary}",
        side="perceived",
        width=width,
        height=height,
    )


def _ends(estimates: Mapping[str, Estimate]) -> tuple[float, float]:
    low = min(estimate.low for estimate in estimates.values())
    high = max(estimate.high for estimate in estimates.values())
    margin = 0.08 * (high - low) or 0.1 * max(abs(high), 1.0)
    return low - margin, high + margin


def _shares(estimate: Estimate, ends: tuple[float, float]) -> Estimate:
    """An estimate in shares of its axis."""
    low, span = ends[0], ends[1] - ends[0]
    return Estimate((estimate.value - low) / span, (estimate.low - low) / span, (estimate.high - low) / span)


def _layers(
    points: list[dict[str, Any]],
    x_ends: tuple[float, float],
    y_ends: tuple[float, float],
    *,
    objective_title: str,
    decimals: int,
) -> Spec:
    import altair as alt

    x_scale = alt.Scale(domain=list(x_ends), nice=False, zero=False)
    y_scale = alt.Scale(domain=list(y_ends), nice=False, zero=False)
    x_axis = alt.Axis(
        title=objective_title, titleColor=OBJECTIVE, titleAnchor="end", titleFontSize=13, grid=True, tickCount=5
    )
    y_axis = alt.Axis(title=None, grid=True, tickCount=5)
    across, up = positions(x_scale, x_axis, y_scale, y_axis)
    values = f".{decimals}f"
    all_dots = alt.Chart(rows(points))
    layers = [
        all_dots.mark_rule(color=LIGHT.objective_interval, strokeWidth=5, opacity=1, strokeCap="round").encode(
            x=across("objective_low"), x2=alt.X2("objective_high"), y=up("perceived")
        ),
        all_dots.mark_rule(color=LIGHT.perceived_interval, strokeWidth=5, opacity=1, strokeCap="round").encode(
            x=across("objective"), y=up("perceived_low"), y2=alt.Y2("perceived_high")
        ),
        all_dots.mark_point(
            shape="circle", filled=True, size=90, color=LIGHT.ink, opacity=1, stroke=LIGHT.paper, strokeWidth=1.5
        ).encode(
            x=across("objective"),
            y=up("perceived"),
            tooltip=[
                alt.Tooltip("algorithm:N"),
                alt.Tooltip("objective:Q", format=values),
                alt.Tooltip("objective_low:Q", title="95% CI, low", format=values),
                alt.Tooltip("objective_high:Q", title="95% CI, high", format=values),
                alt.Tooltip("perceived:Q", format=values),
                alt.Tooltip("perceived_low:Q", title="95% CI, low", format=values),
                alt.Tooltip("perceived_high:Q", title="95% CI, high", format=values),
            ],
        ),
    ]
    for corner in sorted({row["corner"] for row in points if "corner" in row}):
        dots = alt.Chart(rows(row for row in points if row.get("corner") == corner))
        is_right, is_upper = corner.endswith("right"), corner.startswith("upper")
        for look in _NAME_LOOKS:
            layers.append(
                dots.mark_text(
                    align="left" if is_right else "right",
                    baseline="bottom" if is_upper else "top",
                    dx=8 if is_right else -8,
                    dy=-4 if is_upper else 5,
                    lineHeight=14,
                    strokeJoin="round",
                    **look,
                ).encode(x=across("objective"), y=up("perceived"), text=alt.Text("label:N"))
            )
    return layered(layers)
