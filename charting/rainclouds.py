"""The raincloud: how values spread (half a violin), the box, and every point, a row a condition."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from charting.frame import Width, finished, layered, rows
from charting.lines import line_axis, line_scale
from charting.positions import positions
from charting.quartiles import box_of
from charting.swarms import swarm, values_per_point, with_points_said
from charting.theme import LIGHT, SMALL_TEXT_SIZE, Side, Spec, colour_of, wash_of
from charting.values import box_tooltip, checked_letters, checked_values, described_boxes

if TYPE_CHECKING:
    import altair as alt

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
    side: Side = "perceived",
    letters: Mapping[str, str] | None = None,
    description: str | None = None,
    width: Width = None,
    height: int | None = None,
) -> Spec:
    """Draw how a measure spreads in each condition: a cloud above, the box below it, and the points as rain.

    All clouds have one area, so conditions of unequal size compare. The kernel is Gaussian with Silverman's width, but
    never narrower than 0.6 of the smallest step between two values: on fifths a narrower one would draw a comb. What
    would fall beyond an end of the scale is folded back, so no cloud claims impossible values. A condition without
    variance has no cloud; an empty one keeps its place and says that it has no values. Raises DataError for no values
    at all or a value outside the domain, and ParameterError for a domain without extent. Sources: Allen et al. (2021),
    "Raincloud plots", Wellcome Open Research 4:63; Silverman (1986), Density Estimation, eq. 3.31.

    Examples
    --------
    >>> spec = raincloud({"TopPop": [3.2, 4.0], "LSA": [2.0]}, title="TopPop is liked better",
    ...                  x_title="Perceived accuracy, 1 to 5", domain=(1, 5))
    >>> spec["usermeta"]["description"]
    'Raincloud, Perceived accuracy, 1 to 5. TopPop: n = 2, M = 3.60, Mdn = 3.60. LSA: n = 1, M = 2.00, \
Mdn = 2.00.'
    """
    checked = checked_values(values, domain, what=x_title)
    known_letters = checked_letters(letters, checked)
    counts = [len(own) for own in checked.values()]
    return finished(
        _layers(checked, domain=domain, side=side, letters=known_letters),
        title=title,
        subtitle=with_points_said(x_title, counts),
        description=description or f"Raincloud, {x_title}. {described_boxes(checked)}",
        side=side,
        width=width,
        height=height or _ROW * len(checked),
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


def _cloud_rows(values: Mapping[str, list[float]], domain: tuple[float, float]) -> list[dict[str, Any]]:
    least = _LEAST_WIDTH * _smallest_step(values)
    outlines = {name: density(own, domain, least_width=least) if own else None for name, own in values.items()}
    highest = max((max(outline) for outline in outlines.values() if outline), default=1.0)
    low, high = domain
    points = []
    for row, (name, outline) in enumerate(outlines.items()):
        for step, height in enumerate(outline or ()):
            points.append(
                {
                    "condition": name,
                    "value": round(low + (high - low) * step / (_STEPS - 1), 6),
                    "top": round(row + _CLOUD_FLOOR - _CLOUD_HEIGHT * height / highest, 6),
                    "floor": round(row + _CLOUD_FLOOR, 6),
                }
            )
    return points


def _box_rows(values: Mapping[str, list[float]], letters: Mapping[str, str]) -> list[dict[str, Any]]:
    boxes = []
    for row, (name, own) in enumerate(values.items()):
        if not own:
            continue
        box = box_of(own)
        boxes.append(
            {
                "condition": name,
                "participants": len(own),
                "upper_edge": row + _BOX[0],
                "lower_edge": row + _BOX[1],
                "middle": row + sum(_BOX) / 2,
                "mean": box.mean,
                "median": box.median,
                "q1": box.first_quartile,
                "q3": box.third_quartile,
                "lower": box.lower,
                "upper": box.upper,
                "letters": letters.get(name, ""),
            }
        )
    return boxes


def _layers(
    values: Mapping[str, list[float]],
    *,
    domain: tuple[float, float],
    side: Side,
    letters: Mapping[str, str],
) -> Spec:
    import altair as alt

    colour, wash = colour_of(side), wash_of(side)
    names = list(values)
    x_scale = alt.Scale(domain=list(domain), nice=False, zero=False, padding=5)
    y_scale = line_scale(len(names))
    x_axis = alt.Axis(title=None, grid=True, tickCount=5)
    y_axis = line_axis([f"{name}\nn = {len(own)}" for name, own in values.items()])
    along, row_at = positions(x_scale, x_axis, y_scale, y_axis)
    tooltip = box_tooltip()
    per_point = values_per_point(map(len, values.values()))
    rain = [
        {"condition": name, "value": value, "at": round(row + down, 6)}
        for row, (name, own) in enumerate(values.items())
        if own
        for down, value in swarm(own, domain, _RAIN, per_point=per_point)
    ]
    boxes = alt.Chart(rows(_box_rows(values, letters)))
    layers: list[alt.Chart] = []
    clouds = _cloud_rows(values, domain)
    if clouds:
        layers.append(
            alt.Chart(rows(clouds))
            .mark_area(
                orient="vertical", fill=wash, fillOpacity=1, stroke=colour, strokeWidth=1.2, line=False, aria=False
            )
            .encode(x=along("value"), y=row_at("top"), y2=alt.Y2("floor"), detail=alt.Detail("condition:N"))
        )
    layers += [
        alt.Chart(rows(rain))
        .mark_point(shape="circle", filled=True, size=12, color=colour, opacity=0.55, aria=False)
        .encode(x=along("value"), y=row_at("at")),
        boxes.mark_rule(color=colour, strokeWidth=1.2, aria=False).encode(
            x=along("lower"), x2=alt.X2("upper"), y=row_at("middle")
        ),
        boxes.mark_rect(fill=LIGHT.paper, stroke=colour, strokeWidth=1.2).encode(
            x=along("q1"), x2=alt.X2("q3"), y=row_at("upper_edge"), y2=alt.Y2("lower_edge"), tooltip=tooltip
        ),
        boxes.mark_rule(color=colour, strokeWidth=2.6, aria=False).encode(
            x=along("median"), y=row_at("upper_edge"), y2=alt.Y2("lower_edge")
        ),
        boxes.mark_point(
            shape="circle", filled=True, size=46, color=LIGHT.ink, opacity=1, stroke=LIGHT.paper, strokeWidth=1,
            aria=False,
        ).encode(x=along("mean"), y=row_at("middle")),
    ]  # fmt: skip
    if letters:
        layers.append(
            boxes.mark_text(align="left", baseline="middle", fontSize=SMALL_TEXT_SIZE, fontStyle="italic").encode(
                x=alt.XValue(alt.ExprRef("width + 4")), y=row_at("middle"), text=alt.Text("letters:N")
            )
        )
    empty = [
        {"place": row, "value": sum(domain) / 2, "says": "no values"}
        for row, own in enumerate(values.values())
        if not own
    ]
    if empty:
        layers.append(
            alt.Chart(rows(empty))
            .mark_text(color=LIGHT.quiet, fontStyle="italic", fontSize=SMALL_TEXT_SIZE)
            .encode(x=along("value"), y=row_at("place"), text=alt.Text("says:N"))
        )
    return layered(layers)
