"""Sections on the plan: the frozen plan, deviations, and the effect of exclusions."""

from __future__ import annotations

from analysis.narrative import exclusions as exclusions_narrative
from analysis.narrative import plan as narrative
from analysis.results.report import Results
from analysis.tables import exclusions as tables
from documents.blocks import Section


def plan_section(results: Results) -> Section:
    """The frozen plan and every deviation in words; nothing in a report that is older than plans."""
    section = Section("plan", "Plan and deviations")
    if results.planned is None:
        return section
    for sentence in narrative.frozen(results, results.planned):
        section.say(sentence)
    for sentence in narrative.deviations(results, results.planned):
        section.say(sentence, "says")
    return section


def exclusions_section(results: Results) -> Section:
    """With and without exclusions; nothing where all completers are analysed."""
    section = Section("exclusions", "With and without exclusions", "perceived")
    exclusions = results.exclusions
    if exclusions is None:
        return section
    for sentence in exclusions_narrative.exclusions(exclusions, results):
        section.say(sentence)
    section.put(tables.reasons(exclusions))
    section.put(tables.tests(exclusions))
    section.put(tables.means(exclusions), is_folded=True)
    return section
