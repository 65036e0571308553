"""The table of the matrix: every metric with every measure."""

from __future__ import annotations

from analysis.results.matrix import Matrix, MatrixCell
from analysis.tables.cells import MISSING, capital, decimal, listed
from documents.tables import Column, Row, Table, text
from inference.results import Undefined

BETTER = {"higher": "higher", "lower": "lower", "neither": "neither"}


def matrix_table(matrix: Matrix) -> Table:
    """Every pair of a metric and a measure: τ_b, or the reason why there is none."""
    columns = (
        Column("Metric", side="objective"), Column("Better"), Column("Measure", side="perceived"), Column("τ_b", True),
        Column("Without a value"),
    )  # fmt: skip
    return Table(
        "matrix",
        "Rank correlations of all metrics with all measures",
        columns,
        tuple(_row(matrix, cell) for cell in sorted(matrix.cells, key=lambda cell: not cell.is_primary)),
        f"Descriptions without a test. {orientation(matrix)}",
    )


def _row(matrix: Matrix, cell: MatrixCell) -> Row:
    metric, tau = matrix.metric(cell), cell.tau
    return Row(
        (
            text(metric.title),
            text(BETTER[metric.direction]),
            text(matrix.variable(cell).name),
            MISSING if isinstance(tau, Undefined) else decimal(tau.coefficient, 2, is_share=True),
            text(tau.reason if isinstance(tau, Undefined) else ""),
        ),
        is_quiet=isinstance(tau, Undefined),
    )


def orientation(matrix: Matrix) -> str:
    """How the metrics are oriented, with those that are not oriented upwards by their names."""
    lower, neither = _labels(matrix, "lower"), _labels(matrix, "neither")
    sentences = ["A positive τ_b: the better an algorithm is by the metric, the higher the measure."]
    if lower:
        sentences.append(f"Lower is better for {listed(lower)}, whose sign is reversed.")
    if neither:
        verb = "has" if len(neither) == 1 else "have"
        sentences.append(f"{capital(listed(neither))} {verb} no better direction: higher values rank first.")
    return " ".join(sentences)


def _labels(matrix: Matrix, direction: str) -> list[str]:
    return list(dict.fromkeys(metric.label for metric in matrix.metrics if metric.direction == direction))
