"""Sentences on the matrix of every metric with every measure."""

from __future__ import annotations

from analysis.results.matrix import KNOWN_USERS, Matrix
from documents.numbers import plural
from evaluation.splitting.kinds import STRANGERS


def other_users(matrix: Matrix) -> str:
    """How metrics on the other kind of test users were measured, after a space; empty without such metrics."""
    sources = {metric.protocol for metric in matrix.metrics}
    models = "from a run of the same algorithms, whose models were trained on other ratings"
    if STRANGERS in sources:
        return f" “{STRANGERS}”: measured on users of whom no rating was trained on, {models}."
    if KNOWN_USERS in sources:
        return f" “{KNOWN_USERS}”: measured on users whose other ratings were trained on, {models}."
    return ""


def title(matrix: Matrix) -> str:
    """What the matrix shows."""
    return f"{plural(len(matrix.metrics), 'metric')} with {plural(len(matrix.variables), 'measure')}"
