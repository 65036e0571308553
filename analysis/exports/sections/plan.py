"""Sections on the plan: the frozen plan, deviations, and the effect of exclusions."""

from __future__ import annotations

from operator import itemgetter

from analysis.narrative import exclusions as narrative
from analysis.narrative import plan as plan_narrative
from analysis.results.report import Results
from analysis.tables import exclusions as tables
from documents.blocks import Section
from documents.tables import Words, table


def plan_section(results: Results) -> Section:
    """The frozen plan and every deviation; nothing in a report that is older than plans."""
    section = Section("plan", "Plan and deviations")
    if results.planned is not None:
        rows = [("Plan", sentence) for sentence in plan_narrative.frozen(results, results.planned)]
        rows += [("Deviations", sentence) for sentence in plan_narrative.deviations(results, results.planned)]
        part, words = Words[tuple[str, str]]("Part", itemgetter(0)), Words[tuple[str, str]]("In words", itemgetter(1))
        section.put(table("plan", "The plan, and where the report departs from it", rows, part, words))
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
