"""Leaving pages: the list, an item, the questions about the list, and with the last page the study.

Every service here locks the participant's row, checks their current step, and has the same result when it is called
again. A request out of order is refused with `study.out_of_order` and the participant's current step.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from core.errors import ParallaxError
from core.transitions import move
from studies.allocation.services.slots import locked_study
from studies.design.selectors.study_content import content_of
from studies.enums import PARTICIPANT_MOVES, ParticipantStatus
from studies.instrument import flow
from studies.instrument.flow import Place
from studies.instrument.questionnaires.schema import AFTER, ITEMS, OVERALL, Questionnaire
from studies.models import Event, Participant
from studies.participation.selectors.item_questionnaires import questionnaire_at, questionnaires_of
from studies.participation.selectors.participant_rows import answers_about, answers_by_rank
from studies.participation.services.attention import ended_by_attention, note_checks
from studies.participation.services.participant_state import (
    advance,
    has_after,
    list_length,
    lock_open,
    out_of_order,
    place_of,
    require_active,
)
from studies.recruitment.services.completion_codes import new_code

logger = logging.getLogger(__name__)


@transaction.atomic
def finish_recommendations(*, participant: Participant) -> Participant:
    """Leave the page that shows the list, for the first item."""
    lock_open(participant)
    if participant.status != ParticipantStatus.COMPLETED:
        require_active(participant)
        if place_of(participant).order < Place(flow.RECOMMENDATIONS).order:
            raise out_of_order(participant)
        advance(participant, Place(flow.RECOMMENDATIONS))
    return participant


def lock_for_leaving(participant: Participant) -> None:
    """Lock the participant's row; if failed checks may release a slot, the study's row first."""
    if _questions(participant).attention_ends_after:
        locked_study(participant.study_id)
    lock_open(participant)


def leave_item(participant: Participant, rank: int) -> None:
    """Leave the page of an item once its questions are answered; failed attention checks may end the participation.

    The caller holds the locks. Raises `study.missing_answers` with the keys of what is missing, `study.out_of_order`,
    `study.not_active`.
    """
    if participant.status == ParticipantStatus.COMPLETED:
        return
    require_active(participant)
    if not 1 <= rank <= list_length(participant) or not flow.may_change(place_of(participant), Place(ITEMS, rank)):
        raise out_of_order(participant)
    answers = answers_about(participant, rank)
    missing = questionnaire_at(participant, rank).missing(ITEMS, answers)
    if missing:
        raise _missing({str(rank): list(missing)})
    _leave(participant, ITEMS, rank, answers)
    if not _is_ended(participant):
        advance(participant, Place(ITEMS, rank))


def leave_list(participant: Participant) -> None:
    """Leave the questions about the list, or those after it; the caller holds the locks.

    At the end the study is completed: every question is answered, and a completion code is drawn. Failed attention
    checks may end the participation instead.

    Raises `study.missing_answers` with the missing keys by rank ("0" for the list as a whole),
    `study.out_of_order`, `study.not_active`.
    """
    if participant.status == ParticipantStatus.COMPLETED:
        return
    require_active(participant)
    if participant.step not in (flow.OVERALL, flow.AFTER):
        raise out_of_order(participant)
    is_last = participant.step == flow.AFTER or not has_after(participant)
    blocks = (OVERALL,) if participant.step == flow.OVERALL else (OVERALL, AFTER)
    by_rank = answers_by_rank(participant)
    if missing := _missing_by_rank(participant, blocks, by_rank):
        raise _missing(missing)
    for block in blocks:
        _leave(participant, block, 0, by_rank.get(0, {}))
    if _is_ended(participant):
        return
    if is_last:
        _complete(participant)
    else:
        advance(participant, Place(flow.OVERALL))


def _questions(participant: Participant) -> Questionnaire:
    return content_of(participant.study).questionnaire


def _missing_by_rank(
    participant: Participant, blocks: Sequence[str], by_rank: Mapping[int, Mapping[str, Any]]
) -> dict[str, list[str]]:
    """Keys of the questions about items, and of those blocks, that still need an answer."""
    questionnaire, of_list = _questions(participant), by_rank.get(0, {})
    missing: dict[str, list[str]] = {}
    of_items = questionnaires_of(participant)
    for rank in range(1, list_length(participant) + 1):
        if of_item := of_items(rank).missing(ITEMS, {**of_list, **by_rank.get(rank, {})}):
            missing[str(rank)] = list(of_item)
    if of_blocks := [key for block in blocks for key in questionnaire.missing(block, of_list)]:
        missing["0"] = of_blocks
    return missing


def _complete(participant: Participant) -> None:
    now = timezone.now()
    move(
        participant,
        to=ParticipantStatus.COMPLETED,
        allowed=PARTICIPANT_MOVES,
        reason="Answered everything.",
        step=flow.THANKS,
        item_rank=0,
        completion_code=new_code(participant),
        completed_at=now,
        last_seen_at=now,
        network="",
    )
    logger.info("completed study=%s participant=%s", participant.study.slug, participant.code)


def _leave(participant: Participant, block: str, rank: int, answers: Mapping[str, Any]) -> None:
    """Withdraw the answers of a page to questions that are no longer asked, and record its attention checks.

    The event log keeps the withdrawn values, unless they identify a person.
    """
    questionnaire = questionnaire_at(participant, rank)
    keys = {question.key for question in questionnaire.shown(block, answers)}
    unasked = [question.key for question in questionnaire.block(block) if question.key not in keys]
    if not answers.keys().isdisjoint(unasked):
        for row in participant.responses.filter(rank=rank, question__in=unasked):
            value = {} if row.question in questionnaire.identifying else {"value": row.value}
            facts = {"question": row.question, "rank": rank, **value}
            Event.objects.create(participant=participant, kind="answer_withdrawn", facts=facts)
            row.delete()
    note_checks(participant=participant, questionnaire=questionnaire, block=block, rank=rank, answers=answers)


def _is_ended(participant: Participant) -> bool:
    return ended_by_attention(participant=participant, questionnaire=_questions(participant))


def _missing(problems: Mapping[str, Any]) -> ParallaxError:
    return ParallaxError(
        "study.missing_answers", _("Some questions still need an answer."), {"missing": dict(problems)}
    )
