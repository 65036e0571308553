"""The section of one pair of measures that a reader chose: both rankings, the scatter, and every pair of algorithms."""

from __future__ import annotations

from analysis.charts import comparison as charts
from analysis.exports.sections.summary import pair_figures
from analysis.narrative import agreement
from analysis.narrative.words import tau_b
from analysis.results.comparison import Comparison
from analysis.results.objective import ProfileLength
from analysis.results.perceived import PerceivedVariable
from analysis.results.report import Results
from analysis.tables.cells import decimal
from documents.blocks import Figure, FigureMaker, Section
from documents.tables import Cell, Table, plain_table
from evaluation.reported_kinds import ERRORS
from inference.results import Undefined


def pair_section(results: Results, comparison: Comparison, figure: FigureMaker) -> Section:
    """One measure with one metric, as the summary shows the primary pair; others are exploratory."""
    n = results.objective.n
    metric = comparison.metric(n)
    section = Section("pair", f"{comparison.variable.name} and {metric.in_text}")
    section.say(_correlation(comparison), "says")
    section.say(agreement.agreement(comparison))
    section.draw(*pair_figures(results, comparison, figure, "pair-"))
    section.draw(_scatter(results, comparison, figure))
    return section


def _correlation(comparison: Comparison) -> str:
    tau = comparison.tau
    role = "The primary pair of measures" if comparison.is_primary else "Another pair of measures"
    return f"{role}. {tau.reason}" if isinstance(tau, Undefined) else f"{role}: {tau_b(tau)}."


def _scatter(results: Results, comparison: Comparison, figure: FigureMaker) -> Figure | None:
    variable = results.variable(comparison.variable_key)
    if variable is None:
        return None
    n = results.objective.n
    length = results.objective.at(comparison.profile_length)
    title = agreement.scatter_title(comparison, n)
    return figure(
        "pair-scatter",
        charts.scatter(comparison, variable, length, title, n),
        "One point per algorithm, with 95% intervals: vertically of the mean over participants, horizontally over "
        "resampled test users.",
        _values_table(comparison, variable, length, n),
    )


def _values_table(comparison: Comparison, variable: PerceivedVariable, length: ProfileLength, n: int) -> Table:
    """The numbers of the scatter: both values of every algorithm."""
    values, is_share = length.defined_values(comparison.kind), comparison.kind not in ERRORS
    rows: list[list[str | Cell]] = [
        [
            name,
            decimal(variable.described[name].mean, 2, variable.variable.is_share),
            decimal(values[name], 3, is_share),
        ]
        for name in comparison.conditions
    ]
    names = ["Algorithm", f"{variable.name}, M", f"{comparison.metric(n).name}, {length.averaged}"]
    return plain_table("pair-values", "Both values of every algorithm", names, rows)
