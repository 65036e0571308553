"""Whether somebody who finished gave everything that was asked, and if not, what is missing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from studies import flow
from studies.enums import ParticipantStatus
from studies.models import Study
from studies.questionnaires.schema import Question, questionnaire_from
from studies.selectors.responses import Record


def _unanswered(questions: Iterable[Question], given: dict[str, Any]) -> list[str]:
    return [q.key for q in questions if q.required and q.is_shown(given) and given.get(q.key) is None]


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
    for key in _unanswered(asked.about, record.answers):
        found.append(f"the answer to {key}")
    for item in record.items:
        for key in flow.missing_of_item(item.answers):
            found.append(f"the answer to {key} of item {item.slot.rank}")
    for key in _unanswered((*asked.overall, *getattr(asked, "after", ())), record.answers):
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
