"""The raincloud: how values spread (half a violin), the box, and every point, a row a condition."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

import numpy as np

from charting.frame import finished
from charting.plots import Plot, Rows, at, lines, numbers
from charting.theme import LIGHT, PERCEIVED, SMALL_TEXT_SIZE, Spec
from charting.values import (
    BOX_TOOLTIP,
    box_of,
    box_row,
    checked_values,
    described_boxes,
    swarm,
    values_per_point,
    with_points_said,
)

_ROW = 68
# Vertical layout of one condition, in shares of its row around the whole number it stands at, downwards.
_CLOUD_FLOOR = -0.02
_CLOUD_HEIGHT = 0.42
_BOX = (0.03, 0.15)
_RAIN = (0.23, 0.46)
_STEPS = 97  # points of an outline
_SAME = 1e-9
_LEAST_WIDTH = 0.6  # of the kernel, in shares of the smallest step between two values


def raincloud(
    values: Mapping[str, Sequence[float]],
    *,
    title: str,
    x_title: str,
    domain: tuple[float, float],
    letters: Mapping[str, str] | None = None,
) -> Spec:
    """Draw how a measure spreads in each condition: a cloud above, the box below it, and the points as rain.

    All clouds have one area, so conditions of unequal size compare. The kernel is Gaussian with Silverman's width, but
    never narrower than 0.6 of the smallest step between two values: on fifths a narrower one would draw a comb. What
    would fall beyond an end of the scale is folded back, so no cloud claims impossible values. A condition without
    variance has no cloud; an empty one keeps its place and says that it has no values. Raises DataError for no values
    at all or a value outside the domain. Sources: Allen et al. (2021), "Raincloud plots", Wellcome Open Research 4:63;
    Silverman (1986), Density Estimation, eq. 3.31.

    Examples
    --------
    >>> spec = raincloud({"TopPop": [3.2, 4.0], "LSA": [2.0]}, title="TopPop is liked better",
    ...                  x_title="Perceived accuracy, 1 to 5", domain=(1, 5))
    >>> spec["usermeta"]["description"]
    'Raincloud, Perceived accuracy, 1 to 5. TopPop: n = 2, M = 3.60, Mdn = 3.60. LSA: n = 1, M = 2.00, \
Mdn = 2.00.'
    """
    checked = checked_values(values, domain, what=x_title)
    plot = Plot(
        numbers(*domain, scale={"padding": 5}, grid=True, tickCount=5),
        lines([f"{name}\nn = {len(own)}" for name, own in checked.items()]),
    )
    _draw_clouds(plot, checked, domain)
    _draw_rain(plot, checked, domain)
    _draw_boxes(plot, checked, letters or {})
    return finished(
        plot.spec(),
        title=title,
        subtitle=with_points_said(x_title, [len(own) for own in checked.values()]),
        description=f"Raincloud, {x_title}. {described_boxes(checked)}",
        side="perceived",
        height=_ROW * len(checked),
        reading="down",
    )


def density(values: Sequence[float], domain: tuple[float, float], *, least_width: float = 0.0) -> list[float] | None:
    """The heights of a smooth outline at 97 even steps over the domain, with area 1; None where all values are alike.
    `values`, at least one, lie in the domain; `least_width` is the least standard deviation of the kernel in their
    unit.

    Examples
    --------
    >>> outline = density([2, 3, 3, 4], (1, 5))
    >>> max(outline) == outline[48], round(sum(outline) * 4 / 96, 2)
    (True, 1.0)
    >>> density([3, 3], (1, 5)) is None
    True
    """
    own = np.asarray(values, dtype=np.float64)
    # Fifths are not exact in binary: equal values may seem to have a spread.
    if np.ptp(own) <= _SAME:
        return None
    spread = float(own.std(ddof=1))
    box = box_of(list(own))
    between = (box.third_quartile - box.first_quartile) / 1.34
    narrow = min(spread, between) if between > 0 else spread
    kernel = max(0.9 * narrow * len(own) ** -0.2, least_width)
    low, high = domain
    at = np.linspace(low, high, _STEPS)
    height = np.zeros(_STEPS)
    for mirrored in (at, 2 * low - at, 2 * high - at):
        height += np.exp(-0.5 * ((mirrored[:, None] - own[None, :]) / kernel) ** 2).sum(axis=1)
    return [float(ordinate) for ordinate in height / (len(own) * kernel * math.sqrt(2 * math.pi))]


def _smallest_step(values: Mapping[str, Sequence[float]]) -> float:
    distinct = sorted({round(value, 9) for own in values.values() for value in own})
    return min((after - before for before, after in itertools.pairwise(distinct)), default=0.0)


def _draw_clouds(plot: Plot, values: Mapping[str, list[float]], domain: tuple[float, float]) -> None:
    least = _LEAST_WIDTH * _smallest_step(values)
    outlines = {name: density(own, domain, least_width=least) if own else None for name, own in values.items()}
    highest = max((max(outline) for outline in outlines.values() if outline), default=1.0)
    low, high = domain
    clouds: Rows = [
        {
            "condition": name,
            "value": round(low + (high - low) * step / (_STEPS - 1), 6),
            "top": round(row + _CLOUD_FLOOR - _CLOUD_HEIGHT * height / highest, 6),
            "floor": round(row + _CLOUD_FLOOR, 6),
        }
        for row, (name, outline) in enumerate(outlines.items())
        for step, height in enumerate(outline or ())
    ]
    area = {"type": "area", "orient": "vertical", "fill": LIGHT.perceived_wash, "fillOpacity": 1}
    rim = {"stroke": PERCEIVED, "strokeWidth": 1.2, "line": False, "aria": False}
    by_condition = {"field": "condition", "type": "nominal"}
    plot.draw(clouds, area | rim, x="value", y="top", y2="floor", detail=by_condition)


def _draw_rain(plot: Plot, values: Mapping[str, list[float]], domain: tuple[float, float]) -> None:
    """Every value, and the words of empty conditions."""
    per_point = values_per_point(map(len, values.values()))
    rain = [
        {"condition": name, "value": value, "at": round(row + down, 6)}
        for row, (name, own) in enumerate(values.items())
        if own
        for down, value in swarm(own, domain, _RAIN, per_point=per_point)
    ]
    drop = {"type": "point", "shape": "circle", "filled": True, "size": 12, "color": PERCEIVED, "opacity": 0.55}
    plot.draw(rain, {**drop, "aria": False}, x="value", y="at")
    empty = [
        {"place": row, "value": sum(domain) / 2, "says": "no values"}
        for row, own in enumerate(values.values())
        if not own
    ]
    words = {"type": "text", "color": LIGHT.quiet, "fontStyle": "italic", "fontSize": SMALL_TEXT_SIZE}
    plot.draw(empty, words, x="value", y="place", text="says")


def _draw_boxes(plot: Plot, values: Mapping[str, list[float]], letters: Mapping[str, str]) -> None:
    boxes: Rows = [
        {
            **box_row(name, own, letters),
            "upper_edge": row + _BOX[0],
            "lower_edge": row + _BOX[1],
            "middle": row + sum(_BOX) / 2,
        }
        for row, (name, own) in enumerate(values.items())
        if own
    ]
    thin = {"type": "rule", "color": PERCEIVED, "strokeWidth": 1.2, "aria": False}
    plot.draw(boxes, thin, x="lower", x2="upper", y="middle")
    box = {"type": "rect", "fill": LIGHT.paper, "stroke": PERCEIVED, "strokeWidth": 1.2}
    plot.draw(boxes, box, x="q1", x2="q3", y="upper_edge", y2="lower_edge", tooltip=BOX_TOOLTIP)
    plot.draw(boxes, {**thin, "strokeWidth": 2.6}, x="median", y="upper_edge", y2="lower_edge")
    dot = {"shape": "circle", "filled": True, "size": 46, "color": LIGHT.ink, "opacity": 1}
    rim = {"stroke": LIGHT.paper, "strokeWidth": 1, "aria": False}
    plot.draw(boxes, {"type": "point", **dot, **rim}, x="mean", y="middle")
    if letters:
        look = {"type": "text", "align": "left", "baseline": "middle", "fontStyle": "italic"}
        plot.draw(boxes, {**look, "fontSize": SMALL_TEXT_SIZE}, x=at("width + 4"), y="middle", text="letters")
