"""A submitted page of questions: its answers are stored, and the page is left where nothing is missing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction

from core.errors import ParallaxError
from studies.instrument.questionnaires.schema import ITEMS
from studies.models import Participant
from studies.participation.selectors.question_presenter import visible
from studies.participation.services.answers import AnswerSource, PageAnswers, checked_values
from studies.participation.services.finishing import leave_item, leave_list, lock_for_leaving
from studies.participation.services.participant_state import lock_open


@dataclass(frozen=True)
class PageOutcome:
    """What became of a submitted page.

    `invalid` are the values that cannot be stored, by question, and `missing` the questions that the page had shown
    and that still need an answer, with the value they have. `missing_before` are questions of earlier pages, by
    rank, which were opened again and left.
    """

    invalid: Mapping[str, Any]
    missing: Mapping[str, Any] = field(default_factory=dict)
    missing_before: Mapping[str, Any] = field(default_factory=dict)
    is_complete: bool = False


@transaction.atomic
def submit_page(
    *,
    participant: Participant,
    block: str,
    rank: int,
    posted: Mapping[str, Any],
    source: AnswerSource,
    is_leaving: bool,
) -> PageOutcome:
    """Store the answers of a page that changed; leave the page where `is_leaving` and nothing is wrong or missing.

    An answer that cannot be stored leaves the earlier one. A missing answer is reported only where the page had shown
    its question: without the script other questions open only now. Raises `study.out_of_order`, `study.not_active`.
    """
    if is_leaving:
        lock_for_leaving(participant)
    else:
        lock_open(participant)
    page = PageAnswers(participant, block, rank)
    shown = page.questionnaire.known(block, page.values)
    checked, invalid = checked_values(page.questionnaire.block(block), posted)
    page.save(checked, source)
    if not is_leaving:
        return PageOutcome(invalid)
    if page.missing or invalid:
        questions = {question.key: question for question in page.questionnaire.block(block)}
        values = {**page.values, **checked}
        missing = {
            key: values.get(key) for key in page.missing if key not in invalid and visible(questions[key], shown)
        }
        return PageOutcome(invalid, missing)
    return PageOutcome({}, missing_before=_leave(participant, block, rank), is_complete=True)


def _leave(participant: Participant, block: str, rank: int) -> Mapping[str, Any]:
    """Leave the page; return what is missing on earlier ones, which keeps the participant here."""
    if block == ITEMS:
        leave_item(participant, rank)
    elif participant.step == block:
        try:
            leave_list(participant)
        except ParallaxError as refusal:
            if refusal.code != "study.missing_answers":
                raise
            missing: Mapping[str, Any] = refusal.extra["missing"]
            return missing
    return {}
