"""Sections on both sides together."""

from __future__ import annotations

from analysis.charts import comparison as charts
from analysis.charts.matrix import matrix_chart
from analysis.exports.sections.summary import primary_variable
from analysis.narrative import agreement, contrast, equivalence, verdict
from analysis.narrative import figures as titles
from analysis.narrative import matrix as matrix_sentences
from analysis.narrative import perceived as narrative
from analysis.results.comparison import Comparison, Half
from analysis.results.matrix import Matrix
from analysis.results.perceived import PerceivedVariable
from analysis.results.report import Results
from analysis.tables import comparison as tables
from analysis.tables import figures as figure_tables
from analysis.tables import matrix as matrix_tables
from analysis.tables import perceived as perceived_tables
from documents.blocks import Figure, FigureMaker, Section
from documents.tables import Table
from evaluation.reported_kinds import kind_at

MOST_CONTRADICTIONS = 6  # in words; the table has all


def contrast_section(results: Results) -> Section:
    """The planned contrast, where it is the primary test."""
    section = Section("contrast", "Planned contrast")
    planned = results.contrast
    if planned is None or not results.flow.analysed:
        return section
    section.say(contrast.sentence(planned), "says")
    section.say(contrast.metric_sentence(planned, results.objective.n))
    section.put(tables.contrast_table(planned))
    return section


def equivalence_section(results: Results) -> Section:
    """Equivalence within the smallest effect of interest, where one is planned."""
    section = Section("equivalence", "Practical equivalence")
    tested = results.equivalence
    if tested is None or not results.flow.analysed:
        return section
    for sentence in equivalence.sentences(tested):
        section.say(sentence, "says")
    section.put(tables.equivalence_table(tested))
    section.put(tables.same_table(tested, results.variable(tested.variable_key)))
    return section


def certainty_section(results: Results, figure: FigureMaker, run_figure: FigureMaker) -> Section:
    """The probability of every rank, the pairs of both orders, every metric."""
    section = Section("certainty", "Uncertainty of the rankings")
    primary, n = results.primary, results.objective.n
    if primary is None or not results.flow.analysed:
        return section
    section.draw(_strip(primary, "perceived", n, figure), _strip(primary, "objective", n, run_figure))
    section.put(tables.metrics_table(results.comparisons, primary, n, is_by_user=results.objective.is_by_user))
    section.say(agreement.agreement(primary), "says")
    section.say(agreement.same_direction(primary))
    contradictions = agreement.contradictions(primary, n, results.study.words.consumed)
    for sentence in contradictions[:MOST_CONTRADICTIONS]:
        section.say(sentence)
    if (n_more := len(contradictions) - MOST_CONTRADICTIONS) > 0:
        section.say(f"The table of all pairs has {n_more} more contradictions.")
    section.say(agreement.directions(primary))
    return section


def _strip(primary: Comparison, half: Half, n: int, figure: FigureMaker) -> Figure | None:
    unit = "participants, within their condition" if half == "perceived" else "test users, with all their cases"
    return figure(
        f"ranks-{half}",
        charts.rank_strip(primary, half, titles.strip_title(primary, half), titles.strip_subtitle(primary, half, n)),
        f"Percentage of resamples of {unit}, in which an algorithm has each rank; tied algorithms share their ranks.",
        figure_tables.rank_table(primary, half),
    )


def orders_section(results: Results) -> Section:
    """Pairwise comparisons on the primary pair of measures."""
    section = Section("orders", "Pairwise comparisons")
    variable = primary_variable(results)
    if variable.described:
        section.put(_order_table(results, variable))
        section.say(narrative.order(variable), "says")
    return section


def _order_table(results: Results, variable: PerceivedVariable) -> Table:
    """The tiers of a variable beside the values of the primary metric, or of recall."""
    primary = results.primary
    kind, profile_length = (primary.kind, primary.profile_length) if primary else (results.objective.tested[0], 0)
    length = results.objective.at(profile_length)
    name = f"{kind_at(kind, results.objective.n)}, {length.averaged}"
    return perceived_tables.order_table(variable, length.values(kind), name)


def both_section(results: Results, figure: FigureMaker) -> Section:
    """Verdicts by pair, the matrix, every coefficient."""
    section = Section("both", "Perceived and objective quality")
    if not results.flow.analysed:
        return section
    n, primary = results.objective.n, results.primary
    if primary is not None:
        section.put(tables.verdicts_table(primary), is_folded=True)
    if results.matrix is not None:
        section.draw(_matrix(results.matrix, figure))
        names = [condition.label for condition in results.conditions]
        section.put(matrix_tables.values_table(results.matrix, names), is_folded=True)
    section.say(verdict.exploratory(results))
    n_family = None if results.matrix is None else results.matrix.n_family
    section.put(tables.comparisons_table(results.comparisons, n, n_family))
    section.put(tables.contradictions_table(results.comparisons, n), is_folded=True)
    return section


def _matrix(matrix: Matrix, figure: FigureMaker) -> Figure | None:
    return figure(
        "matrix",
        matrix_chart(matrix, matrix_sentences.title(matrix)),
        f"τ_b of every metric with every measure. {matrix_tables.orientation(matrix)} A frame marks the primary pair, "
        "an asterisk a significant correlation: of the primary pair by its own p, of the others after Holm's "
        f"correction over {matrix.n_family:,} pairs. Novelty is no measure of quality."
        f"{matrix_sentences.other_users(matrix)}",
        matrix_tables.matrix_table(matrix),
    )
