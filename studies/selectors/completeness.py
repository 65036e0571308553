"""Whether somebody who finished gave everything that was asked, and if not, what is missing."""

from __future__ import annotations

from studies.enums import ParticipantStatus
from studies.models import Study
from studies.questionnaires.schema import ABOUT, AFTER, ITEMS, OVERALL, questionnaire_from
from studies.selectors.responses import Record


def missing_of(study: Study, record: Record) -> list[str]:
    """What a finished participant's data lack, in words; empty where they are whole."""
    asked = questionnaire_from(study.questionnaire)
    wanted, length = int(study.settings["ratings_asked"]), int(study.settings["list_length"])
    found = []
    if len(record.profile) != wanted:
        found.append(f"{len(record.profile)} of {wanted} ratings of known items")
    if record.recommendations is None:
        found.append("the recommendation list")
    elif len(record.items) != length:
        found.append(f"{len(record.items)} of {length} recommended items")
    for key in asked.missing(ABOUT, record.answers):
        found.append(f"the answer to {key}")
    for item in record.items:
        for key in asked.missing(ITEMS, {**record.answers, **item.answers}):
            found.append(f"the answer to {key} of item {item.slot.rank}")
    for key in (*asked.missing(OVERALL, record.answers), *asked.missing(AFTER, record.answers)):
        found.append(f"the answer to {key}")
    return found


def why_incomplete(study: Study, record: Record) -> str | None:
    """Why a participant's data are not complete, in one sentence; None where they are."""
    participant = record.participant
    if participant.erased_at is not None:
        return "Erased, by the participant's wish or by the study's retention limit."
    if participant.status != ParticipantStatus.COMPLETED:
        return f"Did not finish: {participant.get_status_display().lower()} at the step {participant.step}."
    lacking = missing_of(study, record)
    return f"Finished without {', '.join(lacking)}." if lacking else None
