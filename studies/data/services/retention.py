"""Retention: how long external ids and answers are kept after the close, and the erasure once that has passed.

Answers to questions that identify a person are kept as long as external ids are.
"""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from core.errors import ParallaxError
from core.transitions import record
from studies.allocation.services.slots import locked_study
from studies.data.services.erasure import drop_archives
from studies.instrument.questionnaires.schema import ERASED
from studies.models import ExternalId, Guest, Interview, Participant, PersonalLink, Study, Submission
from studies.participation.selectors.responses import identifying_answers
from studies.participation.services.withdrawal import erase

logger = logging.getLogger(__name__)

LONGEST_DAYS = 36500


def _in_words(days: int | None) -> str:
    return "kept" if days is None else f"erased {days} days after the close"


@transaction.atomic
def set_retention(*, study: Study, external_ids_days: int | None, answers_days: int | None, actor: Any = None) -> Study:
    """Set how many days after the close external ids and answers are erased; None keeps them. Logged.

    Raises `retention.bad_days`.
    """
    for days in (external_ids_days, answers_days):
        if days is not None and not 0 <= days <= LONGEST_DAYS:
            raise ParallaxError("retention.bad_days", f"Days are a whole number from 0 to {LONGEST_DAYS}; got {days}.")
    current = locked_study(study.pk)
    current.external_ids_kept_days, current.answers_kept_days = external_ids_days, answers_days
    current.save(update_fields=["external_ids_kept_days", "answers_kept_days", "updated_at"])
    reason = f"Retention: external ids {_in_words(external_ids_days)}, answers {_in_words(answers_days)}."
    record(current, reason=reason, actor=actor)
    study.external_ids_kept_days, study.answers_kept_days = external_ids_days, answers_days
    return study


def erase_expired(*, now: datetime | None = None) -> dict[str, int]:
    """Erase the data of closed studies past their retention limits; return counts of ids, identifying answers and
    participants.

    Safe to run at any time and repeatedly.
    """
    moment = now or timezone.now()
    counted = {"external_ids": 0, "identifying_answers": 0, "participants": 0}
    for study in Study.objects.filter(closed_at__isnull=False, external_ids_kept_days__isnull=False).order_by("pk"):
        if moment >= study.closed_at + timedelta(days=study.external_ids_kept_days):  # type: ignore[operator, arg-type]
            n_ids, n_answers = _erase_ids(study)
            counted["external_ids"] += n_ids
            counted["identifying_answers"] += n_answers
    for study in Study.objects.filter(closed_at__isnull=False, answers_kept_days__isnull=False).order_by("pk"):
        if moment >= study.closed_at + timedelta(days=study.answers_kept_days):  # type: ignore[operator, arg-type]
            counted["participants"] += _erase_answers(study, moment)
    return counted


@transaction.atomic
def _erase_ids(study: Study) -> tuple[int, int]:
    """Erase identifying data: ids, labels, link parameters, and answers to identifying questions.

    The fact that such a question was answered remains. Returns the numbers of ids and answers erased.
    """
    locked_study(study.pk)
    n, _ = ExternalId.objects.filter(study=study).delete()
    n_answers = identifying_answers(study).update(value=dict(ERASED))
    counts = [
        Submission.objects.filter(study=study).delete()[0],
        Guest.objects.filter(study=study).delete()[0],
        Interview.objects.filter(study=study)
        .exclude(label="", note_before="", note_after="")
        .update(label="", note_before="", note_after=""),
        PersonalLink.objects.filter(study=study).exclude(label="").update(label=""),
        # Unknown parameters may identify people as well.
        Participant.objects.filter(study=study).exclude(parameters={}).update(parameters={}),
    ]
    if n or n_answers or any(counts):
        drop_archives(study=study)
    if n:
        record(study, reason=f"{n} external ids were erased, as the retention limit says.", erased_external_ids=n)
        logger.info("erased external ids study=%s n=%s", study.slug, n)
    if n_answers:
        reason = f"{n_answers} answers that identify people were erased, as the retention limit says."
        record(study, reason=reason, erased_identifying_answers=n_answers)
        logger.info("erased identifying answers study=%s n=%s", study.slug, n_answers)
    return n, n_answers


@transaction.atomic
def _erase_answers(study: Study, moment: datetime) -> int:
    locked_study(study.pk)
    rows = list(Participant.objects.select_for_update(of=("self",)).filter(study=study, erased_at__isnull=True))
    erase(study=study, participants=rows)
    for participant in rows:
        Participant.objects.filter(pk=participant.pk).update(
            erased_at=moment, parameters={}, shown_orders={}, source_user="", completion_code=""
        )
    if rows:
        reason = f"The answers of {len(rows)} participants were erased, as the retention limit says."
        record(study, reason=reason, erased_participants=len(rows))
        logger.info("erased answers study=%s n=%s", study.slug, len(rows))
    return len(rows)
