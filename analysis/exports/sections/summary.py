"""The section of the summary: the pairs and the rankings of both sides, and one table of every algorithm."""

from __future__ import annotations

from analysis.charts import comparison as charts
from analysis.narrative import agreement
from analysis.narrative.verdict import has_verdict
from analysis.results.advantage import DecidedPairs
from analysis.results.comparison import Comparison
from analysis.results.perceived import PerceivedVariable
from analysis.results.report import Results
from analysis.tables import comparison as comparison_tables
from analysis.tables import summary as tables
from documents.blocks import Figure, FigureMaker, Section


def pairs_section(results: Results, figure: FigureMaker) -> Section:
    """The grid of pairs and the ranked lists of the primary pair, on the first screen."""
    section = Section("pairs-of-algorithms", "")
    if has_verdict(results) and results.primary is not None:
        section.draw(*pair_figures(results, results.primary, figure))
    return section


def summary_section(results: Results, figure: FigureMaker) -> Section:
    """The scatter of the primary pair, and every measure by algorithm."""
    section = Section("summary", "Both sides of every algorithm")
    if not has_verdict(results):
        return section
    section.draw(_scatter(results, figure))
    section.put(tables.both_sides_table(results))
    return section


def pair_figures(
    results: Results, comparison: Comparison, figure: FigureMaker, prefix: str = ""
) -> tuple[Figure | None, ...]:
    """The grid of pairs and the two ranked lists; none in reports of versions that decided pairs by other tests."""
    variable, decided = results.variable(comparison.variable_key), comparison.decided
    if variable is None or not isinstance(decided, DecidedPairs):
        return ()
    n, length, metric = results.objective.n, results.objective.at(comparison.profile_length), comparison.metric_word
    names, cells = comparison_tables.grid_cells(comparison, variable, length)
    if not cells:
        return ()
    grid = charts.grid(comparison, names, cells, length, title=agreement.grid_title(decided))
    lists = charts.slope(comparison, variable, length, title=agreement.slope_title(comparison), n=n)
    return (
        figure(
            f"{prefix}pairs",
            grid,
            f"Left half filled: {metric} separates the pair. Right: participants. Slipped: opposite.",
            comparison_tables.pairs_table(comparison, cells, n),
        ),
        figure(
            f"{prefix}slope",
            lists,
            "Bars: rank confidence sets. Colour only where an order reverses significantly.",
            comparison_tables.ranks_table(comparison),
        ),
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
