"""The sections about the plan: what was frozen, what deviates, and what exclusions change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analysis.exports.blocks import Section
from analysis.narrative import plan as of_plan
from analysis.tables import exclusions as exclusion_tables

Result = Mapping[str, Any]


def plan_section(results: Result) -> Section:
    """What was planned, and in words what this report does otherwise."""
    section = Section("plan", "Plan and deviations")
    if "planned" not in results:  # a report that is older than plans
        return section
    for sentence in of_plan.frozen(results):
        section.say(sentence)
    for sentence in of_plan.deviations(results):
        section.say(sentence, "says")
    return section


def exclusions_section(results: Result) -> Section:
    """With and without those who are left out; nothing where everybody is analysed."""
    section = Section("exclusions", "With and without exclusions", "perceived")
    found = results.get("exclusions")
    if found is None:
        return section
    for sentence in of_plan.exclusions(results):
        section.say(sentence)
    section.put(exclusion_tables.reasons(found))
    section.put(exclusion_tables.tests(found))
    section.put(exclusion_tables.means(found), is_folded=True)
    return section
