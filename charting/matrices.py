"""The matrix of correlations: a row for each metric, a column for each measure, a number in every cell."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from charting.estimates import checked_number
from charting.frame import finished, label_expression, number, when_narrow
from charting.plots import LINE_HEIGHT, Plot, columns, expression, lines, tip
from charting.theme import LIGHT, TEXT_SIZE, Side, Spec
from core.errors import DataError

Cell = tuple[str, str]  # the names of its row and its column

_ROW = 36
_MOST_UPRIGHT = 6  # columns whose headings fit side by side on a wide screen
_PALEST, _DARKEST = 0.25, 0.75
_HALF = 0.47  # of a cell, from its middle
_BAR = 0.2  # height of the bar at the foot of a cell; the number stands above it
NONE = "–"


def matrix(
    values: Mapping[str, Mapping[str, float | None]],
    *,
    title: str,
    subtitle: str,
    outlined: Collection[Cell] = (),
    emphasised: Collection[Cell] = (),
    reasons: Mapping[Cell, str] | None = None,
    coefficient: str = "Kendall’s τ",
    side: Side = "neutral",
) -> Spec:
    """Draw coefficients from -1 to 1 as a matrix: each cell has its number, and below it a bar from the middle to the
    right for a positive and to the left for a negative one, longer and darker the further from 0.

    `values` are rows of one and the same columns; a cell of None has a dash, and its reason in `reasons` in the
    tooltip, where `coefficient` names the numbers. A line break in the name of a row or column begins a second line.
    Cells in `outlined` have a frame, those in `emphasised` a heavy number with an asterisk. Raises DataError for a
    number outside [-1, 1].

    Examples
    --------
    >>> spec = matrix({"Recall": {"Accuracy": 0.5, "Novelty": -0.25}, "RMSE": {"Accuracy": None, "Novelty": 0.0}},
    ...               title="Recall goes with accuracy", subtitle="Rank correlation")
    >>> spec["usermeta"]["description"]
    'Matrix, Rank correlation. Recall: Accuracy .50, Novelty −.25. RMSE: Accuracy none, Novelty .00.'
    """
    names = _checked(values)
    cells = _cells(values, names, emphasised=emphasised, reasons=reasons or {})
    plot = Plot(_column_axis(names), lines(list(values), labelLimit=0))
    shown = list(cells.values())
    tooltip = [tip("metric"), tip("measure"), tip("coefficient", coefficient)]
    whole = {"x": "left", "x2": "right", "y": "upper", "y2": "lower"}
    plot.draw(
        shown, {"type": "rect", "fill": LIGHT.paper, "stroke": LIGHT.line, "strokeWidth": 1}, **whole, tooltip=tooltip
    )
    shade = {"field": "shade", "type": "quantitative", "scale": None}
    bar = {"type": "rect", "fill": LIGHT.ink, "aria": False}
    plot.draw(shown, bar, x="middle", x2="end", y="bar", y2="lower", fillOpacity=shade)
    frame = {"type": "rect", "filled": False, "stroke": LIGHT.ink, "strokeWidth": 2, "aria": False}
    plot.draw([cells[cell] for cell in outlined], frame, **whole)
    size = expression(when_narrow("10", str(TEXT_SIZE)))
    for weight in (400, 700):
        text = {"type": "text", "baseline": "middle", "fontWeight": weight, "fontSize": size}
        plot.draw([cell for cell in shown if cell["weight"] == weight], text, x="middle", y="row", text="shown")
    summary = " ".join(
        f"{_line(row)}: {', '.join(f'{_line(name)} {_described(own[name])}' for name in names)}."
        for row, own in values.items()
    )
    return finished(
        plot.spec(),
        title=title,
        subtitle=subtitle,
        description=f"Matrix, {subtitle}. {summary}",
        side=side,
        height=_ROW * len(values),
        reading="down",
    )


def _checked(values: Mapping[str, Mapping[str, float | None]]) -> list[str]:
    if not values or not next(iter(values.values())):
        raise DataError("There is no correlation to draw.")
    names = list(next(iter(values.values())))
    for row, own in values.items():
        for name, value in own.items():
            if value is not None and abs(checked_number(value, what=f"{_line(row)}, {_line(name)}")) > 1:
                raise DataError(f"{_line(row)}, {_line(name)} is {value}: a correlation is between -1 and 1.")
    return names


def _line(name: str) -> str:
    return name.replace("\n", " ")


def _described(value: float | None) -> str:
    return "none" if value is None else number(value, 2, is_share=True)


def _cells(
    values: Mapping[str, Mapping[str, float | None]],
    names: Sequence[str],
    *,
    emphasised: Collection[Cell],
    reasons: Mapping[Cell, str],
) -> dict[Cell, dict[str, Any]]:
    cells: dict[Cell, dict[str, Any]] = {}
    for row, (name, own) in enumerate(values.items()):
        for column, measure in enumerate(names):
            value, cell = own[measure], (name, measure)
            size = value or 0.0
            text = NONE if value is None else number(value, 2, is_share=True)
            cells[cell] = {
                "metric": _line(name),
                "measure": _line(measure),
                "coefficient": reasons.get(cell, NONE) if value is None else text,
                "shown": f"{text}*" if cell in emphasised else text,
                "weight": 700 if cell in emphasised else 400,
                "shade": round(_PALEST + (_DARKEST - _PALEST) * abs(size), 4) if size else 0,
                "left": round(column - _HALF, 4),
                "right": round(column + _HALF, 4),
                "middle": column,
                "end": round(column + _HALF * size, 4),
                "upper": round(row - _HALF, 4),
                "lower": round(row + _HALF, 4),
                "bar": round(row + _HALF - _BAR, 4),
                "row": round(row - _BAR / 2, 4),
            }
    return cells


def _column_axis(names: Sequence[str]) -> Spec:
    """Headings on top: in two lines where there is room, turned on a phone and where there are many."""
    in_one_line = [_line(name) for name in names]
    n_lines = 1 + max(name.count("\n") for name in names)
    look: Spec = {"orient": "top", "labelColor": LIGHT.ink, "labelOverlap": False, "labelLimit": 0}
    if len(names) > _MOST_UPRIGHT:
        look |= {"labelAngle": -90, "labelAlign": "left", "labelBaseline": "middle"}
        return columns(len(names), **look, labelExpr=label_expression(in_one_line))
    return columns(
        len(names),
        **look,
        labelExpr=label_expression(names, in_one_line),
        labelAngle=expression(when_narrow("-90", "0")),
        labelAlign=expression(when_narrow('"left"', '"center"')),
        labelBaseline=expression(when_narrow('"middle"', '"bottom"')),
        labelLineHeight=LINE_HEIGHT,
        labelPadding=expression(when_narrow("6", str(6 + LINE_HEIGHT * (n_lines - 1)))),
    )
