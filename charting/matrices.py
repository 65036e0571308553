"""The matrix of correlations: a row for each metric, a column for each measure, a number in every cell."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from charting.estimates import checked_number
from charting.frame import Width, finished, label_expression, layered, number, rows, when_narrow
from charting.lines import line_axis, line_scale
from charting.positions import positions
from charting.theme import LIGHT, TEXT_SIZE, Side, Spec
from core.errors import DataError

if TYPE_CHECKING:
    import altair as alt

Cell = tuple[str, str]  # the names of its row and its column

_ROW = 36
_LINE = 14  # pixels from one line of a name to the next
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
    description: str | None = None,
    width: Width = None,
    height: int | None = None,
) -> Spec:
    """Draw coefficients from -1 to 1 as a matrix: each cell has its number, and below it a bar from the middle to the
    right for a positive and to the left for a negative one, longer and darker the further from 0.

    `values` are rows of one and the same columns; a cell of None has a dash, and its reason in `reasons` in the
    tooltip, where `coefficient` names the numbers. A line break in the name of a row or column begins a second line.
    Cells in `outlined` have a frame, those in `emphasised` a heavy number with an asterisk. Raises DataError for a
    number outside [-1, 1], rows with different columns, or a cell that is not in the matrix.

    Examples
    --------
    >>> spec = matrix({"Recall": {"Accuracy": 0.5, "Novelty": -0.25}, "RMSE": {"Accuracy": None, "Novelty": 0.0}},
    ...               title="Recall goes with accuracy", subtitle="Rank correlation")
    >>> spec["usermeta"]["description"]
    'Matrix, Rank correlation. Recall: Accuracy .50, Novelty −.25. RMSE: Accuracy none, Novelty .00.'
    """
    columns = _checked(values, [*outlined, *emphasised])
    cells = _cells(values, columns, emphasised=emphasised, reasons=reasons or {})
    summary = " ".join(
        f"{_line(row)}: {', '.join(f'{_line(name)} {_described(own[name])}' for name in columns)}."
        for row, own in values.items()
    )
    by_name = {(cell["from_row"], cell["from_column"]): cell for cell in cells}
    return finished(
        _layers(cells, [_framed(by_name[cell]) for cell in outlined], list(values), columns, coefficient),
        title=title,
        subtitle=subtitle,
        description=description or f"Matrix, {subtitle}. {summary}",
        side=side,
        width=width,
        height=height or _ROW * len(values),
        reading="down",
    )


def _checked(values: Mapping[str, Mapping[str, float | None]], marked: Sequence[Cell]) -> list[str]:
    """The names of the columns."""
    if not values or not next(iter(values.values())):
        raise DataError("There is no correlation to draw.")
    columns = list(next(iter(values.values())))
    for row, own in values.items():
        if list(own) != columns:
            raise DataError(f"The row {_line(row)} has other columns than the first.")
        for name, value in own.items():
            if value is not None and abs(checked_number(value, what=f"{_line(row)}, {_line(name)}")) > 1:
                raise DataError(f"{_line(row)}, {_line(name)} is {value}: a correlation is between -1 and 1.")
    unknown = [(row, column) for row, column in marked if row not in values or column not in columns]
    if unknown:
        raise DataError(f"There is no cell {' by '.join(map(_line, unknown[0]))} in the matrix.")
    return columns


def _line(name: str) -> str:
    """A name in one line."""
    return name.replace("\n", " ")


def _described(value: float | None) -> str:
    return "none" if value is None else number(value, 2, is_share=True)


def _cells(
    values: Mapping[str, Mapping[str, float | None]],
    columns: Sequence[str],
    *,
    emphasised: Collection[Cell],
    reasons: Mapping[Cell, str],
) -> list[dict[str, Any]]:
    cells = []
    for row, (name, own) in enumerate(values.items()):
        for column, measure in enumerate(columns):
            value, cell = own[measure], (name, measure)
            size = 0.0 if value is None else value
            cells.append(
                {
                    "from_row": name,
                    "from_column": measure,
                    "metric": _line(name),
                    "measure": _line(measure),
                    "coefficient": reasons.get(cell, NONE) if value is None else number(value, 2, is_share=True),
                    "shown": _shown(value, is_emphasised=cell in emphasised),
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
            )
    return cells


def _shown(value: float | None, *, is_emphasised: bool) -> str:
    text = NONE if value is None else number(value, 2, is_share=True)
    return f"{text}*" if is_emphasised else text


def _framed(cell: Mapping[str, Any]) -> dict[str, Any]:
    return {name: cell[name] for name in ("left", "right", "upper", "lower")}


def _layers(
    cells: list[dict[str, Any]],
    frames: list[dict[str, Any]],
    names: list[str],
    columns: list[str],
    coefficient: str,
) -> Spec:
    import altair as alt

    across, row_at = positions(
        alt.Scale(domain=[-0.5, len(columns) - 0.5], nice=False, zero=False),
        _column_axis(columns),
        line_scale(len(names)),
        _row_axis(names),
    )
    drawn = [{key: cell[key] for key in cell if not key.startswith("from_")} for cell in cells]
    chart = alt.Chart(rows(drawn))
    tooltip = [alt.Tooltip("metric:N"), alt.Tooltip("measure:N"), alt.Tooltip("coefficient:N", title=coefficient)]
    layers = [
        chart.mark_rect(fill=LIGHT.paper, stroke=LIGHT.line, strokeWidth=1).encode(
            x=across("left"), x2=alt.X2("right"), y=row_at("upper"), y2=alt.Y2("lower"), tooltip=tooltip
        ),
        chart.mark_rect(fill=LIGHT.ink, aria=False).encode(
            x=across("middle"),
            x2=alt.X2("end"),
            y=row_at("bar"),
            y2=alt.Y2("lower"),
            fillOpacity=alt.FillOpacity("shade", type="quantitative", scale=None),
        ),
    ]
    if frames:
        layers.append(
            alt.Chart(rows(frames))
            .mark_rect(filled=False, stroke=LIGHT.ink, strokeWidth=2, aria=False)
            .encode(x=across("left"), x2=alt.X2("right"), y=row_at("upper"), y2=alt.Y2("lower"))
        )
    for weight in sorted({cell["weight"] for cell in drawn}):
        numbers = alt.Chart(rows([cell for cell in drawn if cell["weight"] == weight]))
        layers.append(
            numbers.mark_text(
                baseline="middle", fontWeight=weight, fontSize=alt.ExprRef(when_narrow("10", str(TEXT_SIZE)))
            ).encode(x=across("middle"), y=row_at("row"), text=alt.Text("shown:N"))
        )
    return layered(layers)


def _row_axis(names: Sequence[str]) -> alt.Axis:
    """Names at the left, those in two lines around the middle of their row."""
    import altair as alt

    in_two_lines = [index for index, name in enumerate(names) if "\n" in name]
    if not in_two_lines:
        return line_axis(names, labelLimit=0)
    raised = alt.condition(f"indexof({in_two_lines}, datum.value) >= 0", alt.value(-_LINE / 2), alt.value(0))
    return line_axis(names, labelLimit=0, labelLineHeight=_LINE, labelOffset=raised)


def _column_axis(columns: Sequence[str]) -> alt.Axis:
    """Headings on top: in two lines where there is room, turned on a phone and where there are many."""
    import altair as alt

    in_one_line = [_line(name) for name in columns]
    lines = 1 + max(name.count("\n") for name in columns)
    look: dict[str, Any] = {
        "title": None,
        "orient": "top",
        "values": list(range(len(columns))),
        "labelColor": LIGHT.ink,
        "labelOverlap": False,
        "labelLimit": 0,
    }
    if len(columns) > _MOST_UPRIGHT:
        turned: dict[str, Any] = {"labelAngle": -90, "labelAlign": "left", "labelBaseline": "middle"}
        return alt.Axis(**look, **turned, labelExpr=label_expression(in_one_line))
    return alt.Axis(
        **look,
        labelExpr=label_expression(columns, in_one_line),
        labelAngle=alt.ExprRef(when_narrow("-90", "0")),
        labelAlign=alt.ExprRef(when_narrow('"left"', '"center"')),
        labelBaseline=alt.ExprRef(when_narrow('"middle"', '"bottom"')),
        labelLineHeight=_LINE,
        labelPadding=alt.ExprRef(when_narrow("6", str(6 + _LINE * (lines - 1)))),
    )
