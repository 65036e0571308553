"""Answers to questions, stored at once: about the person, about items and about the whole.

Every function takes the participant's row lock, looks at where they stand, and can be called again with the
same result. What is out of order is refused with `study.out_of_order` and the step they are really at.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from core.errors import ParallaxError, ParameterError
from studies import flow
from studies.enums import ParticipantStatus, Provenance
from studies.flow import Place
from studies.models import Participant, Response
from studies.questionnaires.schema import ABOUT, ITEMS, questionnaire_from
from studies.selectors.compiled import Inserted
from studies.selectors.kept import answers_about
from studies.services.events import record_event
from studies.services.standing import list_length, locked, mirror, not_active, out_of_order, place_of, touch

_new_answers = Inserted(Response)


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

    The change of an answer about an item is an event too, without what was said where that names a person. Answers
    that are no longer asked for after it stay until their page is left. Raises `study.bad_answer`, `study.not_asked`,
    `study.out_of_order`, `study.not_active`.
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
        said = {} if asked.is_identifying else {"from": row.value, "to": checked}
        record_event(
            participant=current,
            kind="rating_changed" if question == "rating" else "answer_changed",
            page=ITEMS,
            rank=rank,
            facts={"question": question, "rank": rank, **said},
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
