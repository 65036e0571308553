"""Answers of participants in tests, given as their pages give them: one at a time, and leaving a page by its button."""

from __future__ import annotations

from typing import Any

from studies.design.selectors.placeholders import content_of
from studies.enums import Provenance
from studies.instrument.flow import Place
from studies.instrument.questionnaires.schema import ITEMS
from studies.models import Participant, Response
from studies.participation.services.answers import AnswerSource
from studies.participation.services.finishing import PageOutcome, leave_page, submit_page
from studies.participation.services.participant_state import place_of


def place_of_question(participant: Participant, question: str, rank: int = 0) -> Place:
    """The place that asks a question of the participant's study."""
    content = content_of(participant.study)
    blocks = (ITEMS,) if rank else content.questionnaire.whole
    block = next(name for name in blocks if question in {asked.key for asked in content.questionnaire.block(name)})
    return Place(content.flow.keys[content.flow.position_of_block(block)], rank)


def submit(participant: Participant, page: str, rank: int = 0, **posted: Any) -> PageOutcome:
    """Send answers of a page, which stays open."""
    return submit_page(
        participant=participant, at=Place(page, rank), posted=posted, source=AnswerSource(), is_leaving=False
    )


def answer(
    *, participant: Participant, question: str, value: Any, rank: int = 0, provenance: str = Provenance.PERSON
) -> Response | None:
    """Give one answer, which has to be valid; return it as it is stored."""
    outcome = submit_page(
        participant=participant,
        at=place_of_question(participant, question, rank),
        posted={question: value},
        source=AnswerSource(provenance=provenance),
        is_leaving=False,
    )
    assert not outcome.invalid
    return Response.objects.filter(participant=participant, question=question, rank=rank).first()


def finish_item(*, participant: Participant, rank: int) -> Participant:
    """Leave the page of an item."""
    return leave_page(participant=participant, at=Place("items", rank))


def finish(*, participant: Participant) -> Participant:
    """Leave the page of questions about the list, or that after it."""
    participant.refresh_from_db()
    return leave_page(participant=participant, at=place_of(participant))
