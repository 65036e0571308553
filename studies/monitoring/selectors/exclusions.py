"""Who is not analysed, and why: excluded by hand or by the rule of the frozen analysis plan, or incomplete."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from studies.enums import ParticipantStatus
from studies.instrument import flags
from studies.instrument.flags import Flag
from studies.instrument.flow import questionnaire_of, whole_flow
from studies.instrument.questionnaires.schema import ABOUT, ITEMS
from studies.instrument.samples import for_items_without
from studies.models import Exclusion, Study
from studies.monitoring.selectors.quality import excluded, flags_by_participant
from studies.participation.selectors.responses import Record

HAND, RULE = "hand", "rule"
REASON_ERASED = "The reason is erased"
Exclusions = Mapping[int, tuple[str, str]]  # participant key -> (HAND or RULE, reason)
Flags = Mapping[int, Sequence[Flag]]


def planned_rule(study: Study) -> tuple[str, ...]:
    """Return the flags for which the plan excludes: the plan frozen at launch, or the current plan of a draft.

    A study launched before plans were frozen has no rule.
    """
    frozen = list(study.versions.order_by("number").values_list("snapshot__plan__exclude", flat=True)[:1])
    return tuple(frozen[0] or ()) if frozen else study.design.plan.exclude


def excluded_by_rule(flagged: Flags, rule: Sequence[str]) -> dict[int, str]:
    """Return the participants with a flag of the rule, each with the name of the first such flag."""
    names = {}
    for pk, own in flagged.items():
        keys = {flag.key for flag in own}
        first = next((key for key in rule if key in keys), None)
        if first is not None:
            names[pk] = flags.NAMES[first]
    return names


def merged(by_rule: Mapping[int, str], by_hand: Mapping[int, Exclusion]) -> dict[int, tuple[str, str]]:
    """Return both kinds of exclusions; a participant excluded in both ways counts as excluded by hand."""
    hand = {pk: (HAND, row.reason or REASON_ERASED) for pk, row in by_hand.items()}
    return {**{pk: (RULE, name) for pk, name in by_rule.items()}, **hand}


def exclusions(
    study: Study, modes: Sequence[str], *, by_hand: bool = True, rule: Sequence[str] = ()
) -> dict[int, tuple[str, str]]:
    """Return the participants excluded by hand, and those with a flag of the rule.

    A participant excluded in both ways counts as excluded by hand; of several flags the first of the rule counts.
    """
    by_rule = excluded_by_rule(flags_by_participant(study, modes), rule) if rule else {}
    return merged(by_rule, excluded(study, modes) if by_hand else {})


def planned_exclusions(study: Study, modes: Sequence[str]) -> dict[int, tuple[str, str]]:
    """Return the exclusions of the planned analysis: by hand and by the rule of the plan."""
    return exclusions(study, modes, rule=planned_rule(study))


def reason_label(how: str, reason: str) -> str:
    """Return the reason in words that mark exclusions by the plan."""
    return f"By the plan: {reason}" if how == RULE else reason


def by_frequency(reasons: Iterable[str]) -> list[tuple[str, int]]:
    """Return the number of participants per reason, most frequent first."""
    return sorted(Counter(reasons).items(), key=lambda pair: (-pair[1], pair[0]))


def missing_of(study: Study, record: Record) -> list[str]:
    """What is missing from a finished participant's data, in words; empty if they are complete."""
    questionnaire = questionnaire_of(study)
    requested, repeated = study.design.items_asked, whole_flow(study.design).repeated_blocks
    missing = []
    if len(record.profile) not in requested:
        answers = "choices" if study.design.is_choice else "ratings"
        missing.append(f"{len(record.profile)} of {requested} {answers} of known items")
    lists = [(each, f" of list {n}" if record.occasions else "") for n, each in enumerate(record.by_occasion(), 1)]
    for each, which in lists:
        condition = each.participant.condition
        length = study.design.list_length if condition is None else study.design.listed_in(condition.shown)
        if each.recommendations is None:
            missing.append(f"the recommendation list{which}")
        elif len(each.items) != length:
            missing.append(f"{len(each.items)} of {length} recommended items{which}")
    for key in questionnaire.missing(ABOUT, record.answers):
        missing.append(f"the answer to {key}")
    shorter = for_items_without(questionnaire, study.design)
    for item, each, which in ((item, *pair) for pair in lists for item in pair[0].items):
        of_item = shorter if item.slot.has_trailer is False else questionnaire
        for key in of_item.missing(ITEMS, {**each.answers, **item.answers}):
            missing.append(f"the answer to {key} of item {item.slot.rank}{which}")
    for block in (block for block in questionnaire.whole if block != ABOUT):
        for each, which in [pair for pair in lists if pair[0].side == 1] if block in repeated else [(record, "")]:
            missing += [f"the answer to {key}{which}" for key in questionnaire.missing(block, each.answers)]
    return missing


def why_incomplete(study: Study, record: Record) -> str | None:
    """Why a participant's data are not complete, in one sentence; None where they are."""
    participant = record.participant
    if participant.erased_at is not None:
        return "Erased, by the participant's wish or by the study's retention limit."
    if participant.status != ParticipantStatus.COMPLETED:
        return f"Did not finish: {participant.get_status_display().lower()} at the step {participant.step}."
    lacking = missing_of(study, record)
    return f"Finished without {', '.join(lacking)}." if lacking else None
