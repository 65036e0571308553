"""Sections that look closer at what participants perceived: effects, single answers, correlations, items."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analysis.exports.blocks import Section
from analysis.narrative import effects as said
from analysis.tables import effects as tables

Result = Mapping[str, Any]


def effects_section(results: Result) -> Section:
    """How large the differences are, variable by variable, and what could have been seen."""
    section = Section("effects", "How large the differences are", "perceived")
    if not results["flow"]["analysed"] or "effects" not in results:
        return section
    variables = {one["key"]: one for one in results["variables"]}
    section.say(said.families(len(variables)))
    for found in results["effects"]:
        variable = variables[found["key"]]
        section.head(found["name"])
        section.say(said.largest(found))
        section.say(said.detectable(found, variable["orders"]["tukey"]))
        section.put(tables.hedges_table(found), is_folded=True)
        section.put(tables.intervals_table(found, variable), is_folded=True)
    for found in results.get("scale_effects", ()):
        section.head(found["name"])
        section.say(said.largest(found))
        section.put(tables.hedges_table(found), is_folded=True)
        _put_ordinal(section, found, None, results["plan"]["alpha"])
    return section


def ordinal_section(results: Result) -> Section:
    """Single answers without means."""
    section = Section("ordinal", "Single answers without means", "perceived")
    if not results["flow"]["analysed"]:
        return section
    variables = {one["key"]: one for one in results["variables"]}
    for found in results.get("effects", ()):
        _put_ordinal(section, found, variables[found["key"]], results["plan"]["alpha"])
    return section


def _put_ordinal(section: Section, found: Result, variable: Result | None, alpha: float) -> None:
    for sentence in said.ordinal(found, variable, alpha):
        section.say(sentence)
    section.put(tables.ordinal_table(found))
    section.put(tables.shares_table(found), is_folded=True)


def correlations_section(results: Result) -> Section:
    """How the variables go together, within algorithms and between them."""
    section = Section("correlations", "How the variables go together", "perceived")
    found = results.get("correlations", ())
    if not results["flow"]["analysed"] or not found:
        return section
    section.say(said.novelty(found))
    section.say(said.differing(found, results["plan"]["alpha"]))
    section.put(tables.correlations_table(found))
    section.put(tables.correlations_by_condition(found), is_folded=True)
    return section


def crossed_section(results: Result) -> Section:
    """Other participants and other items."""
    section = Section("crossed", "Other participants and other items", "perceived")
    accuracy = next((one for one in results["variables"] if one["key"] == "accuracy"), None)
    if not results["flow"]["analysed"] or "crossed" not in results or accuracy is None:
        return section
    for sentence in said.crossed(results["crossed"], accuracy, results["plan"]["alpha"]):
        section.say(sentence)
    section.put(tables.crossed_table(results["crossed"]))
    section.put(tables.crossed_pairs(results["crossed"]), is_folded=True)
    return section


def closer_sections(results: Result) -> list[Section]:
    """All of them, in the order of a report."""
    return [
        effects_section(results), ordinal_section(results), correlations_section(results), crossed_section(results),
    ]  # fmt: skip
