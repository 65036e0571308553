"""Answers, stored at once: ratings, the list, questions about items and about the whole, the end.

Every function takes the participant's row lock, looks at where they stand, and can be called again with the
same result. What is out of order is refused with `study.out_of_order` and the step they are really at.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from catalog.models import Item
from core.errors import ParallaxError, ParameterError
from core.transitions import move
from studies import flow
from studies.enums import PARTICIPANT_MOVES, ParticipantStatus, Provenance
from studies.flow import Place
from studies.measures import RATING_HIGH, RATING_LOW
from studies.models import Event, Participant, ProfileRating, Response
from studies.questionnaires.schema import ABOUT, AFTER, ITEMS, OVERALL, questionnaire_from
from studies.selectors.compiled import Inserted
from studies.selectors.kept import answers_about, answers_of, ratings_given
from studies.services.attention import ended_by_attention, note_checks
from studies.services.codes import new_code
from studies.services.events import record_event
from studies.services.recommending import finish_rating
from studies.services.slots import locked_study
from studies.services.standing import (
    advance,
    has_after,
    list_length,
    locked,
    mirror,
    not_active,
    out_of_order,
    place_of,
    recommendation_list,
    require_active,
    touch,
)

__all__ = [
    "answer",
    "finish",
    "finish_item",
    "finish_rating",
    "finish_recommendations",
    "missing_of",
    "place_of",
    "rate_item",
    "recommendation_list",
    "record_event",
    "take_back",
]

logger = logging.getLogger(__name__)

_new_answers = Inserted(Response)
_new_ratings = Inserted(ProfileRating)


def _missing(problems: Mapping[str, Any]) -> ParallaxError:
    return ParallaxError(
        "study.missing_answers", _("Some questions still need an answer."), {"missing": dict(problems)}
    )


@transaction.atomic
def rate_item(
    *,
    participant: Participant,
    item: Item,
    rating: int | None,
    provenance: str = Provenance.PERSON,
    client_at: datetime | None = None,
) -> ProfileRating | None:
    """Rate a known item, change that rating, or take it back with None; a change is an event too.

    Raises `study.bad_rating`, `study.bad_item`, `study.enough_ratings`, `study.out_of_order`,
    `study.not_active`.
    """
    current = locked(participant)
    require_active(current)
    if current.step != flow.RATE:
        raise out_of_order(current)
    is_whole = isinstance(rating, int) and not isinstance(rating, bool)
    if rating is not None and not (is_whole and RATING_LOW <= rating <= RATING_HIGH):
        raise ParallaxError("study.bad_rating", _("A rating is a whole number from 1 to 5."), {"rating": str(rating)})
    if item.version_id != current.study.dataset_version_id:
        raise ParallaxError("study.bad_item", _("This film is not part of the study."), {"item": item.pk})
    given = ratings_given(current)
    row = given.get(item.pk)
    touch(current)
    mirror(participant, current)
    if row is not None and row.rating != rating:
        record_event(
            participant=current,
            kind="rating_changed",
            page=flow.RATE,
            facts={"item": item.external_id, "from": row.rating, "to": rating},
            client_at=client_at,
        )
    if rating is None:
        if row is not None:
            row.delete()
        return None
    if row is None:
        wanted = int(current.study.settings["ratings_asked"])
        if len(given) >= wanted:
            raise ParallaxError(
                "study.enough_ratings",
                _("You have rated %(n)s already. To rate another, take one back first.") % {"n": wanted},
                {"n": wanted},
            )
        return _new_ratings.insert(ProfileRating(participant=current, item=item, rating=rating, provenance=provenance))
    if row.rating != rating:
        row.rating, row.provenance, row.n_changes = rating, provenance, row.n_changes + 1
        row.save()
    return row


@transaction.atomic
def finish_recommendations(*, participant: Participant) -> Participant:
    """Leave the page that shows the list, for the first item."""
    current = locked(participant)
    if current.status != ParticipantStatus.COMPLETED:
        require_active(current)
        if place_of(current).order < Place(flow.RECOMMENDATIONS).order:
            raise out_of_order(current)
        advance(current, Place(flow.RECOMMENDATIONS))
    mirror(participant, current)
    return current


@transaction.atomic
def answer(
    *,
    participant: Participant,
    question: str,
    value: Any,
    rank: int = 0,
    provenance: str = Provenance.PERSON,
    client_at: datetime | None = None,
) -> Response | None:
    """Store an answer, or replace the one before; None takes an answer that is not required back.

    The change of an answer about an item is an event too. Answers that are no longer asked for after it stay until
    their page is left. Raises `study.bad_answer`, `study.not_asked`, `study.out_of_order`, `study.not_active`.
    """
    current = locked(participant)
    questionnaire = questionnaire_from(current.study.questionnaire)
    try:
        block, asked = questionnaire.find(question, about_item=rank > 0)
        at = Place(block, rank)
    except ParameterError as problem:
        raise ParallaxError(
            "study.bad_answer",
            _("This study asks no such question."),
            {"question": question, "rank": rank, "problem": str(problem)},
        ) from problem
    _require_open(current, block, at)
    given = answers_about(current, rank)
    if not asked.is_shown(questionnaire.known(block, given)):
        raise ParallaxError(
            "study.not_asked",
            _("This question is not asked after the answers given before it."),
            {"question": question, "rank": rank},
        )
    try:
        checked = asked.check(value)
    except ParameterError as problem:
        raise ParallaxError(
            "study.bad_answer",
            _("This answer cannot be stored. Please choose one of the answers that the page offers."),
            {"question": question, "rank": rank, "problem": str(problem)},
        ) from problem
    touch(current)
    mirror(participant, current)
    row = current.responses.filter(question=question, rank=rank).first() if question in given else None
    if block == ITEMS and row is not None and row.value != checked:
        record_event(
            participant=current,
            kind="rating_changed" if question == "rating" else "answer_changed",
            page=ITEMS,
            rank=rank,
            facts={"question": question, "rank": rank, "from": row.value, "to": checked},
            client_at=client_at,
        )
    return _stored(current, question, rank, checked, provenance, row)


@transaction.atomic
def take_back(*, participant: Participant, question: str, rank: int = 0) -> None:
    """Take an answer back, required or not: the page is not left without it.

    Raises `study.bad_answer`, `study.out_of_order`, `study.not_active`.
    """
    current = locked(participant)
    try:
        block, _asked = questionnaire_from(current.study.questionnaire).find(question, about_item=rank > 0)
        at = Place(block, rank)
    except ParameterError as problem:
        raise ParallaxError(
            "study.bad_answer", _("This study asks no such question."), {"question": question, "rank": rank}
        ) from problem
    _require_open(current, block, at)
    touch(current)
    mirror(participant, current)
    current.responses.filter(question=question, rank=rank).delete()


def _require_open(current: Participant, block: str, at: Place) -> None:
    """Refuse unless the participant may give answers of that page now."""
    is_open = current.status == ParticipantStatus.ACTIVE or (
        block == ABOUT and current.status == ParticipantStatus.CONSENTED
    )
    if not is_open:
        raise not_active(current)
    if not flow.may_change(place_of(current), at) or at.rank > list_length(current):
        raise out_of_order(current)


def _stored(
    participant: Participant, question: str, rank: int, value: Any, provenance: str, row: Response | None
) -> Response | None:
    if value is None:
        if row is not None:
            row.delete()
        return None
    if row is None:
        return _new_answers.insert(
            Response(participant=participant, question=question, rank=rank, value=value, provenance=provenance)
        )
    if row.value != value:
        row.value, row.provenance, row.n_changes = value, provenance, row.n_changes + 1
        row.save()
    return row


def _leave(participant: Participant, block: str, rank: int, given: Mapping[str, Any]) -> None:
    """Withdraw the answers of a page that are no longer asked for, and note its attention checks.

    `given` are the answers that the page goes by. The event log keeps what was withdrawn.
    """
    questionnaire = questionnaire_from(participant.study.questionnaire)
    asked = {question.key for question in questionnaire.asked(block, given)}
    unasked = [question.key for question in questionnaire.block(block) if question.key not in asked]
    if not given.keys().isdisjoint(unasked):
        for row in participant.responses.filter(rank=rank, question__in=unasked):
            facts = {"question": row.question, "rank": rank, "value": row.value}
            Event.objects.create(participant=participant, kind="answer_withdrawn", facts=facts)
            row.delete()
    note_checks(participant=participant, questionnaire=questionnaire, block=block, rank=rank, given=given)


def missing_of(participant: Participant, rank: int) -> tuple[str, ...]:
    """Questions about the item at `rank` that still want an answer."""
    return questionnaire_from(participant.study.questionnaire).missing(ITEMS, answers_about(participant, rank))


def _by_rank(participant: Participant) -> dict[int, dict[str, Any]]:
    found: dict[int, dict[str, Any]] = {}
    for row in answers_of(participant):
        found.setdefault(row.rank, {})[row.question] = row.value
    return found


def _locked_with_checks(participant: Participant) -> Participant:
    """The participant's row under its lock; where failed checks may give a slot back, the study's lock comes first."""
    if questionnaire_from(participant.study.questionnaire).attention_ends_after:
        locked_study(participant.study_id)
    return locked(participant)


def _is_ended(current: Participant) -> bool:
    return ended_by_attention(
        participant=current, questionnaire=questionnaire_from(current.study.questionnaire)
    )  # fmt: skip


@transaction.atomic
def finish_item(*, participant: Participant, rank: int) -> Participant:
    """Leave the page of an item once its questions are answered; failed attention checks may end the part.

    Raises `study.missing_answers` with the keys of what is missing, `study.out_of_order`, `study.not_active`.
    """
    current = _locked_with_checks(participant)
    if current.status != ParticipantStatus.COMPLETED:
        require_active(current)
        if not 1 <= rank <= list_length(current) or not flow.may_change(place_of(current), Place(ITEMS, rank)):
            raise out_of_order(current)
        given = answers_about(current, rank)
        missing = questionnaire_from(current.study.questionnaire).missing(ITEMS, given)
        if missing:
            raise _missing({str(rank): list(missing)})
        _leave(current, ITEMS, rank, given)
        if not _is_ended(current):
            advance(current, Place(ITEMS, rank))
    mirror(participant, current)
    return current


@transaction.atomic
def finish(*, participant: Participant) -> Participant:
    """Leave the questions about the list: for those after it where the study has some, else to the end.

    At the end the study is completed: everything asked is answered, and a completion code is drawn. Failed
    attention checks may end the part instead.

    Raises `study.missing_answers` with the missing keys by rank ("0" for the list as a whole),
    `study.out_of_order`, `study.not_active`.
    """
    current = _locked_with_checks(participant)
    if current.status != ParticipantStatus.COMPLETED:
        require_active(current)
        if current.step not in (flow.OVERALL, flow.AFTER):
            raise out_of_order(current)
        is_last = current.step == flow.AFTER or not has_after(current)
        questionnaire, by_rank = questionnaire_from(current.study.questionnaire), _by_rank(current)
        given = by_rank.pop(0, {})
        missing: dict[str, list[str]] = {}
        for rank in range(1, list_length(current) + 1):
            if of_item := questionnaire.missing(ITEMS, {**given, **by_rank.get(rank, {})}):
                missing[str(rank)] = list(of_item)
        blocks = (OVERALL,) if current.step == flow.OVERALL else (OVERALL, AFTER)
        wanting = [key for block in blocks for key in questionnaire.missing(block, given)]
        if wanting:
            missing["0"] = wanting
        if missing:
            raise _missing(missing)
        for block in blocks:
            _leave(current, block, 0, given)
        if _is_ended(current):
            mirror(participant, current)
            return current
        if not is_last:
            advance(current, Place(flow.OVERALL))
            mirror(participant, current)
            return current
        now = timezone.now()
        move(
            current,
            to=ParticipantStatus.COMPLETED,
            allowed=PARTICIPANT_MOVES,
            reason="Answered everything.",
            step=flow.THANKS,
            item_rank=0,
            completion_code=new_code(current),
            completed_at=now,
            last_seen_at=now,
        )
        logger.info("completed study=%s participant=%s", current.study.slug, current.code)
    mirror(participant, current)
    return current
