"""A second wave: a closed study takes participants again, as a new version of its design."""

from __future__ import annotations

import logging
from typing import Any

from django.db import transaction
from django.utils import timezone

from core.errors import NotAllowedInState, ParallaxError
from core.transitions import move
from studies.allocation.selectors.assignment_seed import is_seed_known
from studies.design.services.amending import next_version
from studies.design.services.archiving import refuse_archived
from studies.design.services.launch import locked_design, model_problems
from studies.enums import STUDY_MOVES, Mode, ParticipantStatus, StudyStatus
from studies.models import Study
from studies.models.study import new_assignment_seed

logger = logging.getLogger(__name__)


def reopen_study(*, study: Study, why: str, actor: Any = None) -> int:
    """Take participants in a closed study again; return the number of the design's new version.

    The design stays as it was; targets can be extended afterwards. Outcomes could be seen since the close, so they stay
    open, and the record says since when. The retention limits count from the next close. The seed of the assignment was
    revealed at the close, so a new secret one is drawn.

    Raises `reopen.no_reason`, `reopen.not_closed`, `reopen.erased` where the retention limit has erased answers,
    `reopen.models` where a model cannot be used, `study.archived`.
    """
    reason = why.strip()
    if not reason:
        raise ParallaxError("reopen.no_reason", "State the reason: it stays in the record, and in every later report.")
    refuse_archived(study)
    if study.status == StudyStatus.CLOSED and (problems := model_problems(study)):
        raise ParallaxError("reopen.models", "The study stays closed: " + " ".join(problems), {"problems": problems})
    number = _reopened(study.pk, reason, actor)
    study.refresh_from_db()
    logger.info("reopened study=%s version=%s", study.slug, number)
    return number


@transaction.atomic
def _reopened(study_id: int, why: str, actor: Any) -> int:
    current = locked_design(study_id)
    if current.status != StudyStatus.CLOSED or current.closed_at is None:
        raise NotAllowedInState(
            "reopen.not_closed",
            f"The study is {current.status}. Only a closed study can be reopened.",
            {"status": current.status},
        )
    erased = current.participants.filter(mode=Mode.LIVE, erased_at__isnull=False)
    if erased.exclude(status=ParticipantStatus.WITHDRAWN).exists():
        raise ParallaxError(
            "reopen.erased",
            "The retention limit has erased answers of this study, so a second wave could not be analysed with the "
            "first. Duplicate the study instead.",
        )
    closed_at = current.closed_at
    seeds: dict[str, Any] = {}
    if not is_seed_known(current):
        n_lines = current.allocations.filter(mode=Mode.LIVE).count()
        seeds = {
            "assignment_seed": new_assignment_seed(),
            "earlier_seeds": [*current.earlier_seeds, [n_lines, current.assignment_seed]],
        }
    move(
        current,
        to=StudyStatus.LIVE,
        allowed={StudyStatus.CLOSED: STUDY_MOVES[StudyStatus.CLOSED]},
        actor=actor,
        reason=f"Reopened: {why}",
        facts={"act": "reopened", "closed_at": closed_at.isoformat(), "why": why},
        closed_at=None,
        reopened_at=timezone.now(),
        outcomes_opened_at=current.outcomes_opened_at or closed_at,
        **seeds,
    )
    return next_version(study=current, why=why, actor=actor, reason="Recruitment reopened")
