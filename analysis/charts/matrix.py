"""The chart of every metric with every measure."""

from __future__ import annotations

import textwrap
from collections import Counter

from analysis.enums import Variable
from analysis.results.matrix import Matrix, MatrixCell, MatrixMetric
from charting import marks
from charting.theme import Spec
from inference.results import Undefined


def matrix_chart(matrix: Matrix, title: str) -> Spec | None:
    """A row for each metric, a column for each measure; None where no pair has a rank correlation."""
    if all(isinstance(cell.tau, Undefined) for cell in matrix.cells):
        return None
    row_of = {metric.key: _row_label(metric) for metric in matrix.metrics}
    column_of = column_labels(matrix.variables)
    values: dict[str, dict[str, float | None]] = {name: {} for name in row_of.values()}
    reasons = {}
    for cell in matrix.cells:
        row, column = row_of[cell.metric], column_of[cell.variable_key]
        if isinstance(cell.tau, Undefined):
            reasons[row, column] = cell.tau.reason
        values[row][column] = None if isinstance(cell.tau, Undefined) else cell.tau.coefficient

    def names_of(cells: list[MatrixCell]) -> list[tuple[str, str]]:
        return [(row_of[cell.metric], column_of[cell.variable_key]) for cell in cells]

    return marks.matrix(
        values,
        title=title,
        subtitle="Kendall’s rank correlation of each metric with each measure over the algorithms",
        outlined=names_of([cell for cell in matrix.cells if cell.is_primary]),
        reasons=reasons,
    )


def _row_label(metric: MatrixMetric) -> str:
    profiles = f"profiles of {metric.profile_length} ratings" if metric.profile_length else ""
    second = ", ".join(part for part in (metric.protocol, profiles) if part)
    label = f"{metric.label[0].upper()}{metric.label[1:]}"
    return f"{label},\n{second}" if second else label


def column_labels(variables: tuple[Variable, ...]) -> dict[str, str]:
    """Names of measures by key, in two lines at most; scales of one name have their keys beside it."""
    names = Counter(variable.name for variable in variables)
    labels = {}
    for variable in variables:
        name = variable.name if names[variable.name] == 1 else f"{variable.name} ({variable.key})"
        width = max(len(name) // 2 + 1, max(map(len, name.split())))
        first, *others = textwrap.wrap(name, width)
        labels[variable.key] = "\n".join([first, " ".join(others)] if others else [first])
    return labels
