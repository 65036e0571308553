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
from studies.flow_pages import END
from studies.instrument.flow import Place
from studies.instrument.questionnaires.schema import ITEMS, Questionnaire
from studies.models import Event, Participant
from studies.participation.selectors.participant_rows import (
    answers_by_rank,
    questionnaire_at,
    questionnaires_of,
)
from studies.participation.selectors.question_presenter import visible
from studies.participation.services.answers import AnswerSource, PageAnswers, checked_values
from studies.participation.services.participant_state import (
    advance,
    flow_of_participant,
    list_lengths,
    lock_open,
    place_of,
    require_open,
)
from studies.recruitment.services.tokens import new_code

logger = logging.getLogger(__name__)

CHECKED = "attention_checked"


@dataclass(frozen=True)
class PageOutcome:
    """What became of a submitted page.

    `invalid` are the values that cannot be stored, by question, and `missing` the questions that the page had shown
    and that still need an answer, with the value they have. `missing_before` are questions of earlier pages, by
    what they are about (`Place.about`), which were opened again and left.
    """

    invalid: Mapping[str, Any]
    missing: Mapping[str, Any] = field(default_factory=dict)
    missing_before: Mapping[str, Any] = field(default_factory=dict)
    is_complete: bool = False


@transaction.atomic
def submit_page(
    *, participant: Participant, at: Place, posted: Mapping[str, Any], source: AnswerSource, is_leaving: bool
) -> PageOutcome:
    """Store the answers of a page that changed; leave the page where `is_leaving` and nothing is wrong or missing.

    An answer that cannot be stored leaves the earlier one. A missing answer is reported only where the page had shown
    its question: without the script other questions open only now. Raises `study.out_of_order`, `study.not_active`.
    """
    if is_leaving:
        lock_for_leaving(participant)
    else:
        lock_open(participant)
    page = PageAnswers(participant, at)
    shown = page.questionnaire.known(page.block, page.values)
    checked, invalid = checked_values(page.questionnaire.block(page.block), posted)
    page.save(checked, source)
    if not is_leaving:
        return PageOutcome(invalid)
    if page.missing or invalid:
        questions = {question.key: question for question in page.questionnaire.block(page.block)}
        values = {**page.values, **checked}
        missing = {
            key: values.get(key) for key in page.missing if key not in invalid and visible(questions[key], shown)
        }
        return PageOutcome(invalid, missing)
    missing_before: Mapping[str, Any] = {}
    if at.rank or at == place_of(participant):
        try:
            leave(participant, at)
        # Answers of this page are stored whatever is missing elsewhere, so the refusal may not end the transaction.
        except ParallaxError as refusal:
            if refusal.code != "study.missing_answers":
                raise
            missing_before = refusal.extra["missing"]
    return PageOutcome({}, missing_before=missing_before, is_complete=True)


@transaction.atomic
def leave_page(*, participant: Participant, at: Place) -> Participant:
    """Leave a page once everything up to it is answered; raises as `leave`."""
    lock_for_leaving(participant)
    leave(participant, at)
    return participant


def lock_for_leaving(participant: Participant) -> None:
    """Lock the participant's row; if failed checks may release a slot, the study's row first."""
    if content_of(participant.study).questionnaire.attention_ends_after:
        # Locked only where checks can end a participation: otherwise every page of every participant would wait for
        # the study.
        locked_study(participant.study_id)
    lock_open(participant)


def leave(participant: Participant, at: Place) -> None:
    """Leave a page; the caller holds the locks.

    A page about an item needs its own answers, any other also those of the pages before it that are still open. Leaving
    the last page before the end completes the study: every question is answered, and a completion code is drawn. Failed
    attention checks may end the participation instead.

    Raises `study.missing_answers` with the missing keys by what they are about (`Place.about`), `study.out_of_order`,
    `study.not_active`.
    """
    if participant.status == ParticipantStatus.COMPLETED:
        return
    require_open(participant, at)
    flow, lengths = flow_of_participant(participant), list_lengths(participant)
    completes = at == place_of(participant) and flow.page(flow.neighbour(at, 1, lengths).page).kind == END
    is_alone = at.rank and not completes
    places = [at] if is_alone else [place for place in flow.places(lengths) if flow.may_look(at, place)]
    occasions = {place.occasion for place in places}
    by_rank = {occasion: answers_by_rank(participant, occasion) for occasion in occasions}
    at_rank = {occasion: questionnaires_of(participant, occasion) for occasion in occasions}
    known = {place: _known(by_rank[place.occasion], place.rank) for place in places}
    missing: dict[str, list[str]] = {}
    for place, answers in known.items():
        if keys := at_rank[place.occasion](place.rank).missing(flow.page(place.page).block, answers):
            missing.setdefault(place.about, []).extend(keys)
    if missing:
        raise ParallaxError("study.missing_answers", _("Some questions still need an answer."), {"missing": missing})
    for place, answers in known.items():
        if place.rank == at.rank:
            _close(participant, flow.page(place.page).block, place, answers)
    if ended_by_attention(participant=participant, questionnaire=content_of(participant.study).questionnaire):
        return
    if completes:
        _complete(participant)
    else:
        advance(participant, at)


def _known(by_rank: Mapping[int, Mapping[str, Any]], rank: int) -> dict[str, Any]:
    return {**by_rank.get(0, {}), **by_rank.get(rank, {})}


def _complete(participant: Participant) -> None:
    now = timezone.now()
    move(
        participant,
        to=ParticipantStatus.COMPLETED,
        allowed=PARTICIPANT_MOVES,
        reason="Answered everything.",
        step=flow_of_participant(participant).keys[-1],
        item_rank=0,
        occasion=1,
        completion_code=new_code(participant),
        completed_at=now,
        last_seen_at=now,
        network="",
    )
    logger.info("completed study=%s participant=%s", participant.study.slug, participant.code)


def _close(participant: Participant, block: str, at: Place, answers: Mapping[str, Any]) -> None:
    """Withdraw the answers of a page to questions that are no longer asked, and record its attention checks.

    The event log keeps the withdrawn values, unless they identify a person.
    """
    questionnaire = questionnaire_at(participant, at)
    keys = {question.key for question in questionnaire.shown(block, answers)}
    unasked = [question.key for question in questionnaire.block(block) if question.key not in keys]
    if not answers.keys().isdisjoint(unasked):
        for row in participant.responses.filter(rank=at.rank, occasion=at.occasion, question__in=unasked):
            value = {} if row.question in questionnaire.identifying else {"value": row.value}
            facts = {"question": row.question, "rank": at.rank, **value}
            Event.objects.create(participant=participant, kind="answer_withdrawn", facts=facts, occasion=at.occasion)
            row.delete()
    note_checks(participant=participant, questionnaire=questionnaire, block=block, at=at, answers=answers)


def note_checks(
    *, participant: Participant, questionnaire: Questionnaire, block: str, at: Place, answers: Mapping[str, Any]
) -> None:
    """Record each attention check of a page, when it is left, as passed or failed; recorded checks are skipped."""
    for key, is_passed in questionnaire.failed_checks(block, answers):
        facts = {"question": key, "rank": at.rank, "passed": is_passed}
        checked = {"participant": participant, "kind": CHECKED, "facts": facts, "occasion": at.occasion}
        # A page may be left again after going back; the first outcome counts.
        if not Event.objects.filter(**checked).exists():
            Event.objects.create(**checked)


def n_failed(participant: Participant, questionnaire: Questionnaire) -> int:
    """How many checks the participant has failed, by their current answers."""
    checks_by_page = []
    for occasion in range(1, len(list_lengths(participant)) + 1):
        by_rank = answers_by_rank(participant, occasion)
        own, of_items = by_rank.pop(0, {}), questionnaires_of(participant, occasion)
        blocks = [block for block in questionnaire.whole if occasion == 1 or block in questionnaire.repeated]
        checks_by_page += [questionnaire.failed_checks(block, own) for block in blocks]
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
