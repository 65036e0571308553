"""The scatter of what was measured against what was perceived. Common arguments: see `charting.marks`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from charting.estimates import Estimate, checked_estimates
from charting.frame import finished, number
from charting.labels import corners
from charting.plots import Plot, Rows, numbers, tip
from charting.theme import LIGHT, OBJECTIVE, Spec

_HEIGHT = 360
_NARROW_PLOT = 250
# A rim of paper keeps a name legible where a line runs behind it.
_NAME_LOOKS: tuple[Spec, ...] = (
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
) -> Spec:
    """Draw one dot an algorithm: objective across, perceived upwards, with both 95 % intervals; each title wears its
    side's colour.

    Examples
    --------
    >>> spec = scatter({"LSA": (3.3, 3.1, 3.5)}, {"LSA": (0.01, 0.0, 0.02)}, title="One dot shows nothing",
    ...                perceived_title="Perceived accuracy", objective_title="Recall at 5")
    >>> spec["usermeta"]["description"]
    'Scatter plot of Perceived accuracy against Recall at 5. LSA: 0.01 and 3.30.'
    """
    upward = checked_estimates(perceived, what=perceived_title)
    across = checked_estimates(objective, what=objective_title)
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
    chosen = corners(list(spots), list(spots.values()), bars, width=_NARROW_PLOT, height=_HEIGHT)
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
    axis: Spec = {"titleColor": OBJECTIVE, "titleAnchor": "end", "titleFontSize": 13, "grid": True, "tickCount": 5}
    plot = Plot(numbers(*x_ends, **axis, title=objective_title), numbers(*y_ends, grid=True, tickCount=5))
    _draw_dots(plot, points)
    _draw_names(plot, points)
    summary = " ".join(
        f"{name}: {number(across[name].value, 2)} and {number(upward[name].value, 2)}." for name in names
    )
    return finished(
        plot.spec(),
        title=title,
        subtitle=perceived_title,
        description=f"Scatter plot of {perceived_title} against {objective_title}. {summary}",
        side="perceived",
        height=_HEIGHT,
    )


def _ends(estimates: Mapping[str, Estimate]) -> tuple[float, float]:
    low = min(estimate.low for estimate in estimates.values())
    high = max(estimate.high for estimate in estimates.values())
    margin = 0.08 * (high - low) or 0.1 * max(abs(high), 1.0)
    return low - margin, high + margin


def _shares(estimate: Estimate, ends: tuple[float, float]) -> Estimate:
    low, span = ends[0], ends[1] - ends[0]
    return Estimate((estimate.value - low) / span, (estimate.low - low) / span, (estimate.high - low) / span)


def _draw_dots(plot: Plot, points: Rows) -> None:
    interval = {"type": "rule", "strokeWidth": 5, "opacity": 1, "strokeCap": "round"}
    sideways = {**interval, "color": LIGHT.objective_interval}
    plot.draw(points, sideways, x="objective_low", x2="objective_high", y="perceived")
    upright = {**interval, "color": LIGHT.perceived_interval}
    plot.draw(points, upright, x="objective", y="perceived_low", y2="perceived_high")
    tooltip = [tip("algorithm")]
    for side in ("objective", "perceived"):
        tooltip += [
            tip(side, number=".2f"),
            tip(f"{side}_low", "95% CI, low", number=".2f"),
            tip(f"{side}_high", "95% CI, high", number=".2f"),
        ]
    dot = {"type": "point", "shape": "circle", "filled": True, "size": 90, "color": LIGHT.ink, "opacity": 1}
    rim = {"stroke": LIGHT.paper, "strokeWidth": 1.5}
    plot.draw(points, dot | rim, x="objective", y="perceived", tooltip=tooltip)


def _draw_names(plot: Plot, points: Rows) -> None:
    for corner in sorted({row["corner"] for row in points if "corner" in row}):
        own = [row for row in points if row.get("corner") == corner]
        across = {"align": "left", "dx": 8} if corner.endswith("right") else {"align": "right", "dx": -8}
        up = {"baseline": "bottom", "dy": -4} if corner.startswith("upper") else {"baseline": "top", "dy": 5}
        for look in _NAME_LOOKS:
            text = {"type": "text", "lineHeight": 14, "strokeJoin": "round", **across, **up, **look}
            plot.draw(own, text, x="objective", y="perceived", text="label")
