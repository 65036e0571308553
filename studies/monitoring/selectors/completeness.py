"""Completeness of finishers' data, and what is missing."""

from __future__ import annotations

from studies.enums import ParticipantStatus
from studies.instrument.questionnaires.schema import ABOUT, AFTER, ITEMS, OVERALL, questionnaire_from
from studies.instrument.samples import for_items_without
from studies.models import Study
from studies.participation.selectors.responses import Record


def missing_of(study: Study, record: Record) -> list[str]:
    """What is missing from a finished participant's data, in words; empty if they are complete."""
    questionnaire = questionnaire_from(study.questionnaire)
    requested, length = study.design.items_asked, study.design.list_length
    missing = []
    if len(record.profile) not in requested:
        answers = "choices" if study.design.is_choice else "ratings"
        missing.append(f"{len(record.profile)} of {requested} {answers} of known items")
    if record.recommendations is None:
        missing.append("the recommendation list")
    elif len(record.items) != length:
        missing.append(f"{len(record.items)} of {length} recommended items")
    for key in questionnaire.missing(ABOUT, record.answers):
        missing.append(f"the answer to {key}")
    shorter = for_items_without(questionnaire, study.design)
    for item in record.items:
        of_item = shorter if item.slot.has_trailer is False else questionnaire
        for key in of_item.missing(ITEMS, {**record.answers, **item.answers}):
            missing.append(f"the answer to {key} of item {item.slot.rank}")
    for key in (*questionnaire.missing(OVERALL, record.answers), *questionnaire.missing(AFTER, record.answers)):
        missing.append(f"the answer to {key}")
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
