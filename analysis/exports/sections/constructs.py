"""The section on constructs: factor model, invariance and structural model."""

from __future__ import annotations

from analysis.charts import constructs as charts
from analysis.narrative import constructs as narrative
from analysis.results.report import Results
from analysis.tables import constructs as tables
from documents.blocks import FigureMaker, Section
from inference.results import Undefined
from inference.structural import StructuralModel


def construct_sections(results: Results, figure: FigureMaker) -> list[Section]:
    """How the scales measure their constructs; nothing without scales of at least three questions."""
    constructs = results.constructs
    if constructs is None:
        return []
    section = Section("constructs", "Constructs", "perceived")
    section.say(narrative.EXPLORATORY)
    section.put(tables.fit(constructs))
    if not isinstance(constructs.factors, Undefined):
        section.head("Measurement")
        section.say(narrative.improper(constructs.factors), "warning")
        for sentence in narrative.factors(constructs.factors):
            section.say(sentence)
        section.put(tables.loadings(constructs.factors))
        section.put(tables.convergent(constructs.factors))
        section.put(tables.discriminant(constructs.factors))
    section.head("Measurement invariance")
    for scale in constructs.scales:
        for sentence in narrative.invariance(scale):
            section.say(sentence)
    section.put(tables.invariance(constructs.scales))
    if not isinstance(constructs.structural, Undefined):
        _say_structural(section, constructs.structural, figure)
    for sentence in narrative.missing(constructs):
        section.say(sentence)
    return [section]


def _say_structural(section: Section, model: StructuralModel, figure: FigureMaker) -> None:
    section.head("Structural model")
    section.say(narrative.improper(model), "warning")
    for sentence in narrative.structural(model):
        section.say(sentence)
    caption = (
        "Solid: p < .05. Arrows from the algorithm show the Wald test that all algorithms have the same mean of the "
        "quality; the lowest arrow shows the smallest p of a direct effect, adjusted by Bonferroni. Arrows from "
        "qualities show standardised paths."
    )
    paths = tables.paths(model)
    section.draw(figure("path-diagram", charts.path_diagram(model, narrative.diagram_title(model)), caption, paths))
    section.put(paths, is_folded=True)
    section.put(tables.indirect(model))
