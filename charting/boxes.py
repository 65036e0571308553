"""The box plot of a measure by condition. Common arguments: see `charting.marks`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from charting.frame import Width, finished, label_expression, layered, rows, when_narrow
from charting.positions import positions
from charting.quartiles import box_of
from charting.swarms import swarm, values_per_point, with_points_said
from charting.theme import LIGHT, SMALL_TEXT_SIZE, Side, Spec, colour_of, wash_of
from charting.values import box_tooltip, checked_letters, checked_values, described_boxes

if TYPE_CHECKING:
    import altair as alt

# Horizontal layout of one condition, in shares of its slot around the whole number it stands at.
_BOX = (-0.36, -0.06)
_CENTRE = sum(_BOX) / 2
_SWARM = (0.08, 0.42)


def box_plot(
    values: Mapping[str, Sequence[float]],
    *,
    title: str,
    y_title: str,
    domain: tuple[float, float],
    side: Side = "perceived",
    letters: Mapping[str, str] | None = None,
    description: str | None = None,
    width: Width = None,
    height: int = 320,
) -> Spec:
    """Draw a measure by condition as in Cremonesi et al. (2011), Figures 2 to 5, with the points beside.

    The box goes from the first to the third quartile, its line is the median, its dot the mean, the whiskers end at the
    last value within 1.5 interquartile ranges, open circles are values beyond. To the right of each box stands every
    participant as a point; points of (nearly) one height lie side by side, so their number can be seen and nothing is
    moved at random. In large conditions each point represents several participants, and the subtitle says for how many.
    An empty condition keeps its place and says that it has no values. Raises DataError for no values at all or a value
    outside the domain, and ParameterError for a domain without extent.

    Examples
    --------
    >>> spec = box_plot({"TopPop": [3.2, 4.0], "LSA": [2.0]}, title="TopPop is liked better",
    ...                 y_title="Perceived accuracy, 1 to 5", domain=(1, 5))
    >>> spec["usermeta"]["description"]
    'Box plot, Perceived accuracy, 1 to 5. TopPop: n = 2, M = 3.60, Mdn = 3.60. LSA: n = 1, M = 2.00, \
Mdn = 2.00.'
    """
    checked = checked_values(values, domain, what=y_title)
    known_letters = checked_letters(letters, checked)
    names = list(checked)
    summaries, outliers, points = _drawn_rows(checked, domain, known_letters)
    chart = _layers(
        summaries,
        outliers,
        points,
        names=names,
        counts=[len(v) for v in checked.values()],
        domain=domain,
        side=side,
        has_letters=bool(letters),
    )
    return finished(
        chart,
        title=title,
        subtitle=with_points_said(y_title, [len(own) for own in checked.values()]),
        description=description or f"Box plot, {y_title}. {described_boxes(checked)}",
        side=side,
        width=width,
        height=height,
    )


def _drawn_rows(
    values: Mapping[str, list[float]], domain: tuple[float, float], letters: Mapping[str, str]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], list[dict[str, Any]]]:
    summaries: list[dict[str, Any]] = []
    outliers: list[dict[str, Any]] = []
    points: list[dict[str, Any]] = []
    per_point = values_per_point(map(len, values.values()))
    for column, (name, own) in enumerate(values.items()):
        row: dict[str, Any] = {"place": column, "condition": name, "participants": len(own)}
        if not own:
            summaries.append({**row, "says": "no values"})
            continue
        box = box_of(own)
        summaries.append(
            row
            | {
                "centre": column + _CENTRE,
                "left": column + _BOX[0],
                "right": column + _BOX[1],
                "cap_left": column + _CENTRE - 0.07,
                "cap_right": column + _CENTRE + 0.07,
                "mean": box.mean,
                "median": box.median,
                "q1": box.first_quartile,
                "q3": box.third_quartile,
                "lower": box.lower,
                "upper": box.upper,
                "letters": letters.get(name, ""),
            }
        )
        outliers.extend({"x": column + _CENTRE, "y": value, "condition": name} for value in box.outliers)
        points.extend(
            {"x": column + across, "y": value, "condition": name}
            for across, value in swarm(own, domain, _SWARM, per_point=per_point)
        )
    return summaries, outliers, points


def _layers(
    summaries: list[dict[str, Any]],
    outliers: list[dict[str, Any]],
    points: list[dict[str, Any]],
    *,
    names: list[str],
    counts: list[int],
    domain: tuple[float, float],
    side: Side,
    has_letters: bool,
) -> Spec:
    import altair as alt

    colour, wash = colour_of(side), wash_of(side)
    means = rows(row for row in summaries if "mean" in row)
    x_axis = alt.Axis(
        values=list(range(len(names))),
        labelExpr=label_expression([f"{name}\nn = {count}" for name, count in zip(names, counts, strict=True)], names),
        labelAngle=alt.ExprRef(when_narrow("-42", "0")),
        labelAlign=alt.ExprRef(when_narrow("'right'", "'center'")),
        labelBaseline=alt.ExprRef(when_narrow("'middle'", "'top'")),
        labelColor=LIGHT.ink,
        labelOverlap=False,
        title=None,
    )
    x_scale = alt.Scale(domain=[-0.5, len(names) - 0.5], nice=False, zero=False)
    y_scale = alt.Scale(domain=list(domain), nice=False, zero=False, padding=7)
    y_axis = alt.Axis(title=None, grid=True, tickCount=5)
    at, height_of = positions(x_scale, x_axis, y_scale, y_axis)
    tooltip = box_tooltip()
    base = alt.Chart(means)
    layers: list[alt.Chart] = [
        base.mark_rule(color=colour, strokeWidth=1.2).encode(x=at("centre"), y=height_of("lower"), y2=alt.Y2("upper")),
        base.mark_rule(color=colour, strokeWidth=1.2).encode(
            x=at("cap_left"), x2=alt.X2("cap_right"), y=height_of("lower")
        ),
        base.mark_rule(color=colour, strokeWidth=1.2).encode(
            x=at("cap_left"), x2=alt.X2("cap_right"), y=height_of("upper")
        ),
        base.mark_rect(fill=wash, stroke=colour, strokeWidth=1.2).encode(
            x=at("left"), x2=alt.X2("right"), y=height_of("q1"), y2=alt.Y2("q3"), tooltip=tooltip
        ),
        base.mark_rule(color=colour, strokeWidth=2.6).encode(x=at("left"), x2=alt.X2("right"), y=height_of("median")),
        base.mark_point(
            shape="circle", filled=True, size=46, color=LIGHT.ink, opacity=1, stroke=LIGHT.paper, strokeWidth=1
        ).encode(x=at("centre"), y=height_of("mean"), tooltip=tooltip),
        alt.Chart(rows(points))
        .mark_point(shape="circle", filled=True, size=13, color=colour, opacity=0.55, aria=False)
        .encode(x=at("x"), y=height_of("y")),
    ]
    if outliers:
        layers.append(
            alt.Chart(rows(outliers))
            .mark_point(shape="circle", filled=False, size=34, color=colour, strokeWidth=1.2, opacity=1)
            .encode(
                x=at("x"),
                y=height_of("y"),
                tooltip=[alt.Tooltip("condition:N"), alt.Tooltip("y:Q", title="outlier", format=".2f")],
            )
        )
    if has_letters:
        layers.append(
            base.mark_text(baseline="bottom", fontSize=SMALL_TEXT_SIZE, fontStyle="italic").encode(
                x=at("centre"), y=alt.YValue(-6), text=alt.Text("letters:N")
            )
        )
    empty = [row for row in summaries if "says" in row]
    if empty:
        layers.append(
            alt.Chart(rows(empty))
            .mark_text(angle=270, color=LIGHT.quiet, fontStyle="italic", fontSize=SMALL_TEXT_SIZE)
            .encode(x=at("place"), y=height_of("middle"), text=alt.Text("says:N"))
            .transform_calculate(middle=str(sum(domain) / 2))
        )
    return layered(layers)
