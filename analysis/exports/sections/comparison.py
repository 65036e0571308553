"""Sections on both sides together."""

from __future__ import annotations

from analysis.charts import comparison as charts
from analysis.charts.matrix import matrix_chart
from analysis.narrative import agreement, alternatives, contrast, equivalence
from analysis.narrative import matrix as matrix_sentences
from analysis.narrative.verdict import has_verdict
from analysis.results.matrix import Matrix
from analysis.results.report import Results
from analysis.tables import comparison as tables
from analysis.tables import matrix as matrix_tables
from analysis.tables.exploratory import exploratory_table
from documents.blocks import Figure, FigureMaker, Section


def agreement_section(results: Results) -> Section:
    """The average advantage, the pairs in words, and the exploratory family."""
    section = Section("agreement", "Agreement of both sides")
    if not has_verdict(results) or results.primary is None:
        return section
    section.say(agreement.agreement(results.primary), "says")
    section.say(agreement.same_direction(results.primary))
    section.put(tables.advantage_table(results))
    section.put(exploratory_table(results))
    return section


def alternatives_section(results: Results, figure: FigureMaker) -> Section:
    """The specification curve."""
    section = Section("alternatives", "Other defensible analyses")
    if has_verdict(results) and results.primary is not None:
        section.draw(
            figure(
                "alternatives",
                charts.alternatives(results, alternatives.title(results)),
                alternatives.caption(results),
                tables.alternatives_table(results),
            )
        )
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


def matrix_section(results: Results, figure: FigureMaker) -> Section:
    """The supplement's matrix of every metric with every measure."""
    section = Section("matrix", "All metrics and measures")
    if results.flow.analysed and results.matrix is not None:
        section.draw(_matrix(results.matrix, figure))
        section.put(matrix_tables.matrix_table(results.matrix))
    return section


def _matrix(matrix: Matrix, figure: FigureMaker) -> Figure | None:
    return figure(
        "matrix",
        matrix_chart(matrix, matrix_sentences.title(matrix)),
        f"τ_b of every metric with every measure, without a test. {matrix_tables.orientation(matrix)} A frame marks "
        f"the primary pair. Novelty is no measure of quality.{matrix_sentences.other_users(matrix)}",
        matrix_tables.matrix_table(matrix),
    )
