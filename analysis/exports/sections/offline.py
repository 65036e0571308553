"""Sections on inference offline: sets of ranks, effect sizes by user, and repetitions."""

from __future__ import annotations

from analysis.narrative import offline as narrative
from analysis.results.report import Results
from analysis.tables import offline as tables
from documents.blocks import Section


def rank_sets_section(results: Results) -> Section:
    """Confidence sets of the ranks on both sides, and effect sizes of the sign tests."""
    section = Section("rank-sets", "Confidence sets of the ranks")
    for sentence in narrative.rank_sets(results) if results.flow.analysed else ():
        section.say(sentence, "says")
    section.put(tables.perceived_rank_sets_table(results))
    section.put(tables.offline_rank_sets_table(results))
    for measured in results.offline:
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
