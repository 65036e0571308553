"""Answers of participants in tests, given as their pages give them: one at a time, and leaving a page by its button."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from studies.design.selectors.placeholders import content_of
from studies.enums import Provenance
from studies.instrument.questionnaires.schema import ABOUT, AFTER, ITEMS, OVERALL
from studies.models import Participant, Response
from studies.participation.services.answers import AnswerSource
from studies.participation.services.finishing import PageOutcome, leave_item, leave_list, lock_for_leaving, submit_page


def block_of(participant: Participant, question: str, rank: int = 0) -> str:
    """The block of a question of the participant's study."""
    questionnaire = content_of(participant.study).questionnaire
    blocks = (ITEMS,) if rank else (ABOUT, OVERALL, AFTER)
    return next(block for block in blocks if question in {asked.key for asked in questionnaire.block(block)})


def submit(participant: Participant, block: str, rank: int = 0, **posted: Any) -> PageOutcome:
    """Send answers of a page, which stays open."""
    return submit_page(
        participant=participant, block=block, rank=rank, posted=posted, source=AnswerSource(), is_leaving=False
    )


def answer(
    *, participant: Participant, question: str, value: Any, rank: int = 0, provenance: str = Provenance.PERSON
) -> Response | None:
    """Give one answer, which has to be valid; return it as it is stored."""
    outcome = submit_page(
        participant=participant,
        block=block_of(participant, question, rank),
        rank=rank,
        posted={question: value},
        source=AnswerSource(provenance=provenance),
        is_leaving=False,
    )
    assert not outcome.invalid
    return Response.objects.filter(participant=participant, question=question, rank=rank).first()


@transaction.atomic
def finish_item(*, participant: Participant, rank: int) -> Participant:
    """Leave the page of an item."""
    lock_for_leaving(participant)
    leave_item(participant, rank)
    return participant


@transaction.atomic
def finish(*, participant: Participant) -> Participant:
    """Leave the questions about the list, or those after it."""
    lock_for_leaving(participant)
    leave_list(participant)
    return participant
