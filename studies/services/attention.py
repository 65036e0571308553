"""Attention checks: noted when their page is left, and the end of somebody's part where the study says so."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from django.db import transaction

from core.transitions import move
from studies.enums import PARTICIPANT_MOVES, ParticipantStatus
from studies.models import Event, Participant
from studies.questionnaires.schema import ABOUT, AFTER, ITEMS, OVERALL, Questionnaire
from studies.services.slots import locked_study, release_slot

logger = logging.getLogger(__name__)

CHECKED = "attention_checked"


def note_checks(
    *, participant: Participant, questionnaire: Questionnaire, block: str, rank: int, given: Mapping[str, Any]
) -> None:
    """Note of each check on a page that is left whether it was passed; what is noted already is not noted again."""
    for key, is_passed in questionnaire.failed_checks(block, given):
        facts = {"question": key, "rank": rank, "passed": is_passed}
        if not Event.objects.filter(participant=participant, kind=CHECKED, facts=facts).exists():
            Event.objects.create(participant=participant, kind=CHECKED, facts=facts)


def n_failed(participant: Participant, questionnaire: Questionnaire) -> int:
    """How many checks the participant has failed, by the answers that stand now."""
    by_rank: dict[int, dict[str, Any]] = {}
    for rank, question, value in participant.responses.values_list("rank", "question", "value"):
        by_rank.setdefault(rank, {})[question] = value
    own = by_rank.pop(0, {})
    found = [*(questionnaire.failed_checks(block, own) for block in (ABOUT, OVERALL, AFTER))]
    found += [questionnaire.failed_checks(ITEMS, {**own, **given}) for given in by_rank.values()]
    return sum(not is_passed for checks in found for _key, is_passed in checks)


def ended_by_attention(*, participant: Participant, questionnaire: Questionnaire) -> bool:
    """End the part of somebody who failed as many checks as the study allows none beyond, and give the slot back.

    The caller holds the study's lock, then the participant's.
    """
    limit = questionnaire.attention_ends_after
    if not limit or (failed := n_failed(participant, questionnaire)) < limit:
        return False
    _end(participant, f"Failed {failed} attention check{'' if failed == 1 else 's'}.")
    return True


@transaction.atomic
def fail_attention(*, participant: Participant, reason: str, actor: Any = None) -> Participant:
    """End the part of somebody who failed the study's attention checks; their data stay, marked.

    Done twice, the second time changes nothing. Raises `studies.not_attention_failed` unless they are under way.
    """
    locked_study(participant.study_id)
    current = (
        Participant.objects.select_for_update(of=("self",)).select_related("condition", "study").get(pk=participant.pk)
    )
    if current.status != ParticipantStatus.ATTENTION_FAILED:
        _end(current, reason, actor)
    participant.status, participant.place = current.status, current.place
    return current


def _end(participant: Participant, reason: str, actor: Any = None) -> None:
    """Give the slot back and mark the participant; the study is locked."""
    release_slot(participant=participant)
    move(
        participant,
        to=ParticipantStatus.ATTENTION_FAILED,
        allowed=PARTICIPANT_MOVES,
        actor=actor,
        reason=reason,
        place=None,
    )
    logger.info("attention failed study=%s participant=%s", participant.study.slug, participant.code)
