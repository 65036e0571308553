"""Completeness of finishers' data, and what is missing."""

from __future__ import annotations

from studies.enums import ParticipantStatus
from studies.instrument.questionnaires.schema import ABOUT, AFTER, ITEMS, OVERALL, questionnaire_from
from studies.models import Study
from studies.participation.selectors.responses import Record
from studies.usage_data import is_choice


def missing_of(study: Study, record: Record) -> list[str]:
    """What is missing from a finished participant's data, in words; empty if they are complete."""
    questionnaire = questionnaire_from(study.questionnaire)
    wanted, length = int(study.settings["ratings_asked"]), int(study.settings["list_length"])
    missing = []
    if len(record.profile) != wanted:
        told = "choices" if is_choice(study.settings) else "ratings"
        missing.append(f"{len(record.profile)} of {wanted} {told} of known items")
    if record.recommendations is None:
        missing.append("the recommendation list")
    elif len(record.items) != length:
        missing.append(f"{len(record.items)} of {length} recommended items")
    for key in questionnaire.missing(ABOUT, record.answers):
        missing.append(f"the answer to {key}")
    for item in record.items:
        for key in questionnaire.missing(ITEMS, {**record.answers, **item.answers}):
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
