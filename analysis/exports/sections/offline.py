"""Sections on inference offline: effect sizes by user, and repetitions."""

from __future__ import annotations

from analysis.narrative import offline as narrative
from analysis.results.report import Results
from analysis.tables import offline as tables
from documents.blocks import Section


def effects_section(results: Results) -> Section:
    """Effect sizes of the sign tests of every pair."""
    section = Section("offline-effects", "Effect sizes by user", "objective")
    for measured in results.offline_effects:
        section.say(narrative.tied(measured, results.objective.n))
        section.put(tables.effects_table(measured, is_by_user=results.objective.is_by_user), is_folded=True)
    return section


def repeats_section(results: Results) -> Section:
    """The run repeated with other splits and training seeds; nothing where it has no repetitions."""
    section = Section("repeats", "Repeated splits and training seeds", "objective")
    repetitions = results.repeats
    if repetitions is None:
        return section
    is_by_user = results.objective.is_by_user
    for sentence in narrative.repeats(results, repetitions):
        section.say(sentence)
    for measured in repetitions.metrics:
        is_folded = measured.kind != repetitions.metrics[0].kind or bool(measured.profile_length)
        section.put(tables.repeats_table(repetitions, measured, is_by_user=is_by_user), is_folded=is_folded)
        section.put(tables.repeated_effects_table(measured, is_by_user=is_by_user), is_folded=True)
    section.put(tables.seeds_table(repetitions), is_folded=True)
    return section
