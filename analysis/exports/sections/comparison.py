"""Sections on both sides together."""

from __future__ import annotations

from analysis.charts.matrix import matrix_chart
from analysis.exports.sections.summary import primary_variable
from analysis.narrative import agreement, contrast, equivalence
from analysis.narrative import matrix as matrix_sentences
from analysis.narrative import perceived as narrative
from analysis.results.matrix import Matrix
from analysis.results.perceived import PerceivedVariable
from analysis.results.report import Results
from analysis.tables import comparison as tables
from analysis.tables import matrix as matrix_tables
from analysis.tables import perceived as perceived_tables
from analysis.tables.exploratory import exploratory_table
from documents.blocks import Figure, FigureMaker, Section
from documents.tables import Table
from evaluation.reported_kinds import kind_at


def advantage_section(results: Results) -> Section:
    """The average advantage: overall, for other items, and without each algorithm."""
    section = Section("advantage", "Average advantage")
    if results.flow.analysed:
        section.put(tables.advantage_table(results))
    return section


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
    """The pairs in words, the exploratory family, and the matrix."""
    section = Section("both", "Perceived and objective quality")
    if not results.flow.analysed:
        return section
    if (primary := results.primary) is not None:
        section.say(agreement.agreement(primary), "says")
        section.say(agreement.same_direction(primary))
    section.put(exploratory_table(results))
    if results.matrix is not None:
        section.draw(_matrix(results.matrix, figure))
    return section


def _matrix(matrix: Matrix, figure: FigureMaker) -> Figure | None:
    return figure(
        "matrix",
        matrix_chart(matrix, matrix_sentences.title(matrix)),
        f"τ_b of every metric with every measure, without a test. {matrix_tables.orientation(matrix)} A frame marks "
        f"the primary pair. Novelty is no measure of quality.{matrix_sentences.other_users(matrix)}",
        matrix_tables.matrix_table(matrix),
    )
