"""The section of the summary: both sides of every algorithm, in a picture and in one table."""

from __future__ import annotations

from analysis.charts import comparison as charts
from analysis.narrative import agreement
from analysis.results.perceived import PerceivedVariable
from analysis.results.report import Results
from analysis.tables import comparison as comparison_tables
from analysis.tables import summary as tables
from documents.blocks import Figure, FigureMaker, Section
from inference.agreement import Verdict


def summary_section(results: Results, figure: FigureMaker) -> Section:
    """Both rankings and the scatter of the primary pair of measures, and every measure of both sides by algorithm."""
    section = Section("summary", "Both sides of every algorithm")
    if not results.flow.analysed:
        return section
    section.draw(_slope(results, figure), _scatter(results, figure))
    section.put(tables.both_sides_table(results))
    return section


def _slope(results: Results, figure: FigureMaker) -> Figure | None:
    primary = results.primary
    if primary is None:
        return None
    heavy = " Heavy lines are contradictions that are significant on both sides."
    return figure(
        "slope",
        charts.slope(primary, agreement.slope_title(primary), results.objective.n),
        "Rank on each side, the best on top. Bars span the ranks in 95% of resamples of participants on one side and "
        "of test users on the other: their stability, not confidence sets."
        + (heavy if primary.pairs(Verdict.CONTRADICTED) else ""),
        comparison_tables.ranks_table(primary),
    )


def _scatter(results: Results, figure: FigureMaker) -> Figure | None:
    primary, n = results.primary, results.objective.n
    if primary is None:
        return None
    length = results.objective.at(primary.profile_length)
    return figure(
        "scatter",
        charts.scatter(primary, primary_variable(results), length, agreement.scatter_title(primary, n), n),
        "One point per algorithm, with 95% intervals: vertically of the mean over participants, horizontally over "
        "resampled test users.",
        tables.both_sides_table(results),
    )


def primary_variable(results: Results) -> PerceivedVariable:
    """The perceived side of the primary pair; the first variable where no pair is primary."""
    primary = results.primary
    return (primary and results.variable(primary.variable_key)) or results.variables[0]
