"""Attention checks: recorded when their page is left; too many failures end the participation."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from django.db import transaction

from studies.allocation.services.slots import end_participation
from studies.enums import ParticipantStatus
from studies.instrument.questionnaires.schema import ABOUT, AFTER, ITEMS, OVERALL, Questionnaire
from studies.models import Event, Participant
from studies.participation.selectors.item_questionnaires import questionnaires_of
from studies.participation.selectors.participant_rows import answers_by_rank

logger = logging.getLogger(__name__)

CHECKED = "attention_checked"


def note_checks(
    *, participant: Participant, questionnaire: Questionnaire, block: str, rank: int, answers: Mapping[str, Any]
) -> None:
    """Record each attention check of a page, when it is left, as passed or failed; recorded checks are skipped."""
    for key, is_passed in questionnaire.failed_checks(block, answers):
        facts = {"question": key, "rank": rank, "passed": is_passed}
        if not Event.objects.filter(participant=participant, kind=CHECKED, facts=facts).exists():
            Event.objects.create(participant=participant, kind=CHECKED, facts=facts)


def n_failed(participant: Participant, questionnaire: Questionnaire) -> int:
    """How many checks the participant has failed, by their current answers."""
    by_rank = answers_by_rank(participant)
    own = by_rank.pop(0, {})
    checks_by_page = [*(questionnaire.failed_checks(block, own) for block in (ABOUT, OVERALL, AFTER))]
    of_items = questionnaires_of(participant)
    checks_by_page += [of_items(rank).failed_checks(ITEMS, {**own, **answers}) for rank, answers in by_rank.items()]
    return sum(not is_passed for checks in checks_by_page for _key, is_passed in checks)


def ended_by_attention(*, participant: Participant, questionnaire: Questionnaire) -> bool:
    """End the participation after the number of failed checks that the study sets, and release the slot.

    The caller holds the study's lock, then the participant's.
    """
    limit = questionnaire.attention_ends_after
    if not limit or (failed := n_failed(participant, questionnaire)) < limit:
        return False
    fail_attention(participant=participant, reason=f"Failed {failed} attention check{'' if failed == 1 else 's'}.")
    return True


@transaction.atomic
def fail_attention(*, participant: Participant, reason: str) -> None:
    """End the participation of a participant whose study is locked: the slot is released, and their data stay, marked.

    Raises `studies.not_attention_failed` unless they are under way.
    """
    end_participation(participant=participant, to=ParticipantStatus.ATTENTION_FAILED, reason=reason)
    logger.info("attention failed study=%s participant=%s", participant.study.slug, participant.code)
