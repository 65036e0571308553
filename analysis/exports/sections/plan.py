"""Sections on the plan: the frozen plan, deviations, and the effect of exclusions."""

from __future__ import annotations

from analysis.narrative import exclusions as narrative
from analysis.results.report import Results
from analysis.tables import exclusions as tables
from analysis.tables import plan as tables_of_plan
from documents.blocks import Section


def plan_section(results: Results) -> Section:
    """The frozen plan and every deviation; nothing in a report that is older than plans."""
    section = Section("plan", "Plan and deviations")
    if results.planned is not None:
        section.put(tables_of_plan.plan_table(results, results.planned))
    return section


def exclusions_section(results: Results) -> Section:
    """With and without exclusions; nothing where all completers are analysed."""
    section = Section("exclusions", "With and without exclusions", "perceived")
    if (exclusions := results.exclusions) is not None:
        for sentence in narrative.exclusions(exclusions, results):
            section.say(sentence)
        section.put(tables.tests(exclusions))
    return section


def exclusions_in_detail(results: Results) -> Section:
    """The supplement's exclusions: reasons, and means with and without them."""
    section = Section("exclusions-in-detail", "Exclusions in detail", "perceived")
    if (exclusions := results.exclusions) is not None:
        section.put(tables.reasons(exclusions))
        section.put(tables.means(exclusions))
    return section
