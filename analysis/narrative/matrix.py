"""Sentences on the matrix of every metric with every measure."""

from __future__ import annotations

from analysis.results.matrix import KNOWN_USERS, Matrix, MatrixCell
from documents.numbers import capital, coefficient, listed, number_word, p_with_sign, plural
from evaluation.splitting.kinds import STRANGERS
from inference.agreement import smallest_exact_p
from inference.results import Undefined
from studies.design.narrative.plan import level

MOST_NAMED = 6  # in a sentence; the matrix has all
NOVELTIES = ("fon", "son")


def exploratory(matrix: Matrix) -> str:
    """What the exploratory correlations show after Holm's correction, the strongest evidence first."""
    if not matrix.n_family:
        return ""
    significant = matrix.significant
    if not significant:
        return _nothing(matrix)
    named = [_finding(matrix, cell) for cell in significant[:MOST_NAMED]]
    sentences = [
        f"Significant exploratory correlations after Holm's correction over {plural(matrix.n_family, 'pair')} of a "
        f"metric and a measure: {listed(named)}."
    ]
    if (n_more := len(significant) - MOST_NAMED) > 0:
        sentences.append(f"The matrix has {n_more} more.")
    if any(cell.variable_key in NOVELTIES for cell in significant):
        sentences.append("First- and second-order novelty describe the lists and do not measure their quality.")
    return " ".join(sentences)


def _nothing(matrix: Matrix) -> str:
    after = f"significant at α = {level(matrix.alpha)} after Holm's correction"
    if matrix.n_family == 1:
        return f"The one exploratory correlation was not {after}."
    sentence = (
        f"No exploratory correlation of a metric with a measure was {after} over {plural(matrix.n_family, 'pair')}."
    )
    n = max((cell.tau.n for cell in matrix.cells if not isinstance(cell.tau, Undefined)), default=0)
    if n >= 2 and smallest_exact_p(n) * matrix.n_family >= matrix.alpha:
        algorithms = f"{number_word(n)} algorithms"
        return f"{sentence} With {algorithms} and so many pairs no correlation could have been significant."
    return sentence


def _finding(matrix: Matrix, cell: MatrixCell) -> str:
    metric, variable = matrix.metric(cell), matrix.variable(cell)
    if isinstance(cell.tau, Undefined) or cell.p_holm is None:
        return ""
    better = "lower" if metric.direction == "lower" else "higher"
    change = "higher" if cell.tau.coefficient > 0 else "lower"
    return (
        f"{metric.in_text} with {variable.in_text} (τ_b = {coefficient(cell.tau.coefficient)}, corrected p "
        f"{p_with_sign(cell.p_holm)}: algorithms with {better} {metric.label} had {change} {variable.in_text})"
    )


def prediction(matrix: Matrix) -> str:
    """Whether any metric was correlated with any measure; that none was is said of all only where all were tested."""
    defined = [cell.tau for cell in matrix.cells if not isinstance(cell.tau, Undefined)]
    significant = [
        cell.tau.coefficient
        for cell in matrix.cells
        if matrix.is_significant(cell) and not isinstance(cell.tau, Undefined)
    ]
    if not defined:
        return ""
    if significant:
        return "No significant correlation was positive." if max(significant) < 0 else ""
    measures = listed([variable.in_text for variable in matrix.variables], last="or")
    if len(defined) == len(matrix.cells):
        runs = "these runs" if any(metric.protocol for metric in matrix.metrics) else "this run"
        return f"No objective metric of {runs} was significantly correlated with {measures}."
    return f"No metric that could be compared was significantly correlated with {measures}; {untested(matrix)}."


def other_users(matrix: Matrix) -> str:
    """How metrics on the other kind of test users were measured, after a space; empty without such metrics."""
    sources = {metric.protocol for metric in matrix.metrics}
    models = "from a run of the same algorithms, whose models were trained on other ratings"
    if STRANGERS in sources:
        return f" “{STRANGERS}”: measured on users of whom no rating was trained on, {models}."
    if KNOWN_USERS in sources:
        return f" “{KNOWN_USERS}”: measured on users whose other ratings were trained on, {models}."
    return ""


def untested(matrix: Matrix) -> str:
    """The pairs without a rank correlation, with the names of the metrics that have none at all."""
    tested = {cell.metric for cell in matrix.cells if not isinstance(cell.tau, Undefined)}
    names = [metric.in_text for metric in matrix.metrics if metric.key not in tested]
    n = sum(isinstance(cell.tau, Undefined) for cell in matrix.cells)
    verb = "has" if n == 1 else "have"
    pairs = f"{plural(n, 'pair')} of a metric and a measure {verb} no rank correlation"
    if not names:
        return pairs
    which = listed(names) if len(names) <= MOST_NAMED else f"{number_word(len(names))} metrics"
    return f"{pairs}, among them all of {which}"


def title(matrix: Matrix) -> str:
    """The finding of the matrix."""
    n = len(matrix.significant)
    if not n:
        return f"No exploratory rank correlation of {matrix.n_family:,} is significant after Holm's correction"
    verb = "is" if n == 1 else "are"
    return (
        f"{capital(number_word(n))} of {matrix.n_family:,} exploratory rank correlations {verb} significant after "
        "Holm's correction"
    )
