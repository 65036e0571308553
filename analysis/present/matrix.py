"""Every metric with every measure."""

from __future__ import annotations

import textwrap
from collections import Counter

from analysis.enums import Variable
from analysis.present.words import cell_of, coverage, decimal, limits, probability, whole
from analysis.results.comparison import KNOWN_USERS, Matrix, MatrixCell, MatrixMetric
from analysis.results.report import Results
from charting import marks
from charting.theme import Spec
from documents.blocks import FigureMaker, Section
from documents.numbers import capital, listed, number, plural
from documents.tables import Numbers, Table, Words, table
from evaluation.splitting.registry import STRANGERS
from inference.results import Undefined


def matrix_section(results: Results, figure: FigureMaker) -> Section:
    """The supplement's matrix of every metric with every measure."""
    section, matrix = Section("matrix", "All metrics and measures"), results.matrix
    if results.flow.analysed and matrix is not None:
        numbers = matrix_table(matrix)
        caption = (
            f"τ_b of every metric with every measure, without a test. {orientation(matrix)} A frame "
            f"marks the primary pair. Novelty is no measure of quality.{other_test_users_note(matrix)}"
        )
        section.draw(figure("matrix", matrix_chart(matrix), caption, numbers))
        section.put(numbers)
    return section


# Sentences


def other_test_users_note(matrix: Matrix) -> str:
    """How metrics on the other kind of test users were measured, after a space; empty without such metrics."""
    sources = {metric.protocol for metric in matrix.metrics}
    models = "from a run of the same algorithms, whose models were trained on other ratings"
    if STRANGERS in sources:
        return f" “{STRANGERS}”: measured on users without ratings in the training data, {models}."
    if KNOWN_USERS in sources:
        return f" “{KNOWN_USERS}”: measured on users whose other ratings were trained on, {models}."
    return ""


# Tables


def matrix_table(matrix: Matrix) -> Table:
    """Every pair of a metric and a measure: τ_b, or the reason why there is none."""
    return table(
        "matrix",
        "Rank correlations of all metrics with all measures",
        sorted(matrix.cells, key=lambda cell: not cell.is_primary),
        Words("Metric", lambda cell: matrix.metric(cell).title, "objective"),
        Words("Better", lambda cell: matrix.metric(cell).direction),
        Words("Measure", lambda cell: matrix.variable(cell).name, "perceived"),
        Numbers("τ_b", lambda cell: cell_of(cell.tau, lambda tau: decimal(tau.coefficient, 2, is_share=True))),
        Words("Without a value", lambda cell: cell.tau.reason if isinstance(cell.tau, Undefined) else ""),
        note=f"Descriptions without a test. {orientation(matrix)}",
        is_quiet=lambda cell: isinstance(cell.tau, Undefined),
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


def exploratory_table(results: Results) -> Table | None:
    """Every test of the family; None where there is none."""
    family = results.exploratory
    if family is None or not family.tests:
        return None
    n = results.objective.n
    metrics = {comparison.metric_key: comparison.metric(n).in_text for comparison in results.comparisons}
    variables = {comparison.variable_key: comparison.variable for comparison in results.comparisons}
    least = family.smallest_p_below
    bound = "" if least is None else f"; the smallest p had to be below {number(least, 4, is_share=True)}"
    undefined = sorted(set(family.undefined.values()))
    return table(
        "exploratory",
        "Exploratory family: average advantages of other measures and metrics",
        [(test, test.advantage, variables[test.measure]) for test in family.tests],
        Words("Measure", lambda row: row[2].name, "perceived"),
        Words("Metric", lambda row: capital(listed([metrics[key] for key in row[0].metrics])), "objective"),
        Numbers("Separated pairs", lambda row: whole(row[1].n_pairs), "objective"),
        Numbers("Average advantage", lambda row: decimal(row[1].value, 2, row[2].is_share), "perceived"),
        Numbers(f"{coverage(family.alpha)} CI", lambda row: limits(row[1].interval, 2, row[2].is_share)),
        Numbers("p", lambda row: probability(row[1].p)),
        Numbers("p, Holm", lambda row: probability(row[0].p)),
        note=f"{plural(len(family.tests), 'test')}{bound}. Metrics that order the algorithms alike are one test. "
        f"Limits are for each test separately.{' ' if undefined else ''}{' '.join(undefined)}",
        is_quiet=lambda row: row[0].p >= family.alpha,
    )


# Charts


def matrix_chart(matrix: Matrix) -> Spec | None:
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
        title=f"{plural(len(matrix.metrics), 'metric')} with {plural(len(matrix.variables), 'measure')}",
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
        first, *rest = textwrap.wrap(name, width)
        labels[variable.key] = "\n".join([first, " ".join(rest)] if rest else [first])
    return labels
