"""The section on the lists that participants saw."""

from __future__ import annotations

from analysis.charts.lists_shown import lists_chart
from analysis.narrative import covariates as parts
from analysis.narrative import lists_shown as narrative
from analysis.results.lists_shown import ListsShown
from analysis.results.report import Results
from analysis.tables import covariates as part_tables
from analysis.tables import lists_shown as tables
from documents.blocks import Figure, FigureMaker, Section
from inference.results import Undefined
from studies.plans import in_text


def lists_section(results: Results, figure: FigureMaker) -> Section:
    """Metrics by condition, correlations with the measures, and parts of differences; empty in older reports."""
    section = Section("shown-lists", "Lists shown", "perceived")
    lists = results.lists_shown
    if lists is None:
        return section
    section.say(narrative.definitions(lists))
    section.say(narrative.missing(lists))
    section.put(tables.means_table(lists))
    for sentence in narrative.findings(lists):
        section.say(sentence, "says")
    section.say(narrative.ASSOCIATION)
    if (drawn := _figure(lists, figure)) is not None:
        section.draw(drawn)  # with the table of correlations
    else:
        section.put(tables.correlations_table(lists), is_folded=True)
    _put_parts(section, results)
    return section


def _figure(lists: ListsShown, figure: FigureMaker) -> Figure | None:
    return figure(
        "list-correlations",
        lists_chart(lists, narrative.title(lists)),
        "Pearson's r of deviations from the mean of the condition, pooled over conditions. An asterisk marks a "
        f"significant correlation after Holm's correction over {lists.n_family:,} correlations, those between the "
        "means of conditions included. Associations, not effects.",
        tables.correlations_table(lists),
    )


def _put_parts(section: Section, results: Results) -> None:
    """The parts of differences in the primary variable that go along with popularity and diversity."""
    effects = None if results.covariates is None else results.covariates.lists
    if effects is None or isinstance(effects, Undefined):
        return
    variable = results.variable(effects.variable)
    name = "Perceived accuracy" if variable is None else variable.name
    section.say(parts.mediation(effects, in_text(name)))
    section.put(part_tables.mediation_table(effects, name), is_folded=True)
