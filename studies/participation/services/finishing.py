"""Pages of questions: a page is submitted and left, its attention checks are recorded, and the last one ends the study.

Every service here locks the participant's row, checks their current step, and has the same result when it is called
again. A request out of order is refused with `study.out_of_order` and the participant's current step.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from core.errors import ParallaxError
from core.transitions import move
from studies.allocation.services.slots import end_participation, locked_study
from studies.design.selectors.placeholders import content_of
from studies.enums import PARTICIPANT_MOVES, ParticipantStatus
from studies.instrument import flow
from studies.instrument.flow import Place
from studies.instrument.questionnaires.schema import ABOUT, AFTER, ITEMS, OVERALL, Questionnaire
from studies.models import Event, Participant
from studies.participation.selectors.participant_rows import (
    answers_about,
    answers_by_rank,
    questionnaire_at,
    questionnaires_of,
)
from studies.participation.selectors.question_presenter import visible
from studies.participation.services.answers import AnswerSource, PageAnswers, checked_values
from studies.participation.services.participant_state import (
    advance,
    list_length,
    lock_open,
    out_of_order,
    place_of,
    require_active,
)
from studies.recruitment.services.tokens import new_code

logger = logging.getLogger(__name__)

CHECKED = "attention_checked"


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
    missing_before: Mapping[str, Any] = {}
    if block == ITEMS:
        leave_item(participant, rank)
    elif participant.step == block:
        try:
            leave_list(participant)
        # Answers of this page are stored whatever is missing elsewhere, so the refusal may not end the transaction.
        except ParallaxError as refusal:
            if refusal.code != "study.missing_answers":
                raise
            missing_before = refusal.extra["missing"]
    return PageOutcome({}, missing_before=missing_before, is_complete=True)


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
    if content_of(participant.study).questionnaire.attention_ends_after:
        # Locked only where checks can end a participation: otherwise every page of every participant would wait for
        # the study.
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
    if not ended_by_attention(participant=participant, questionnaire=content_of(participant.study).questionnaire):
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
    questionnaire, by_rank = content_of(participant.study).questionnaire, answers_by_rank(participant)
    blocks = (OVERALL,) if participant.step == flow.OVERALL else (OVERALL, AFTER)
    of_list, of_items = by_rank.get(0, {}), questionnaires_of(participant)
    missing: dict[str, list[str]] = {}
    for rank in range(1, list_length(participant) + 1):
        if of_item := of_items(rank).missing(ITEMS, {**of_list, **by_rank.get(rank, {})}):
            missing[str(rank)] = list(of_item)
    if of_blocks := [key for block in blocks for key in questionnaire.missing(block, of_list)]:
        missing["0"] = of_blocks
    if missing:
        raise _missing(missing)
    for block in blocks:
        _leave(participant, block, 0, of_list)
    if ended_by_attention(participant=participant, questionnaire=questionnaire):
        return
    if participant.step == flow.AFTER or not content_of(participant.study).has_after:
        _complete(participant)
    else:
        advance(participant, Place(flow.OVERALL))


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


def _missing(problems: Mapping[str, Any]) -> ParallaxError:
    return ParallaxError(
        "study.missing_answers", _("Some questions still need an answer."), {"missing": dict(problems)}
    )


def note_checks(
    *, participant: Participant, questionnaire: Questionnaire, block: str, rank: int, answers: Mapping[str, Any]
) -> None:
    """Record each attention check of a page, when it is left, as passed or failed; recorded checks are skipped."""
    for key, is_passed in questionnaire.failed_checks(block, answers):
        facts = {"question": key, "rank": rank, "passed": is_passed}
        # A page may be left again after going back; the first outcome counts.
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
