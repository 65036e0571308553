"""Sections of follow-up analyses: effect sizes, ordinal model, correlations, items as a random effect."""

from __future__ import annotations

from analysis.enums import RATED
from analysis.narrative import effects as narrative
from analysis.narrative import generalisation
from analysis.results.follow_up import Effects
from analysis.results.perceived import PerceivedVariable
from analysis.results.report import Results
from analysis.tables import effects as tables
from analysis.tables import generalisation as item_tables
from documents.blocks import Section


def effects_section(results: Results) -> Section:
    """Effect sizes variable by variable, and the smallest detectable effect."""
    section = Section("effects", "Effect sizes", "perceived")
    if not results.flow.analysed or not results.effects:
        return section
    variables = {variable.key: variable for variable in results.variables}
    section.say(narrative.families(len(variables)))
    for effects in results.effects:
        variable = variables[effects.key]
        section.head(effects.name)
        section.say(narrative.largest(effects, variable.tests.games_howell))
        section.say(narrative.detectable(effects, variable.orders.games_howell))
        section.put(tables.hedges_table(effects), is_folded=True)
    for scale in results.scale_effects:
        section.head(scale.name)
        section.say(narrative.largest(scale))
        section.put(tables.hedges_table(scale), is_folded=True)
        _put_ordinal(section, scale, None, results.plan.alpha)
    return section


def ordinal_section(results: Results) -> Section:
    """The ordinal models of single answers."""
    section = Section("ordinal", "Ordinal model", "perceived")
    if not results.flow.analysed:
        return section
    variables = {variable.key: variable for variable in results.variables}
    for effects in results.effects:
        _put_ordinal(section, effects, variables[effects.key], results.plan.alpha)
    return section


def _put_ordinal(section: Section, effects: Effects, variable: PerceivedVariable | None, alpha: float) -> None:
    for sentence in narrative.ordinal(effects, variable, alpha):
        section.say(sentence)
    section.put(tables.ordinal_table(effects))
    section.put(tables.shares_table(effects), is_folded=True)


def correlations_section(results: Results) -> Section:
    """Correlations between measures, within algorithms and between them."""
    section = Section("correlations", "Correlations between measures", "perceived")
    if not results.flow.analysed or not results.correlations:
        return section
    section.say(narrative.novelty(results.correlations, results.novelty, results.study.words))
    section.say(narrative.opposite_correlations(results.correlations, results.plan.alpha))
    section.say(narrative.correlation_family(results.correlations))
    section.put(tables.correlations_table(results.correlations, results.novelty, results.study.words))
    return section


def generalisation_section(results: Results) -> Section:
    """Generalisation over participants and items, beside those of this study."""
    section = Section("generalisation", "Generalisation over participants and items", "perceived")
    accuracy, alpha = results.variable(RATED), results.plan.alpha
    if not results.flow.analysed or results.nested is None or accuracy is None:
        return section
    for sentence in generalisation.nested(results.nested, accuracy, alpha):
        section.say(sentence)
    section.put(item_tables.means_table(results.nested))
    section.put(item_tables.pairs_table(results.nested), is_folded=True)
    return section


def follow_up_sections(results: Results) -> list[Section]:
    """All of them, in the order of a report."""
    return [
        effects_section(results), ordinal_section(results), correlations_section(results),
        generalisation_section(results),
    ]  # fmt: skip
