"""Blinding: outcomes by condition stay hidden until the study is closed, or a researcher unblinds it with a reason.

Pages and programs are refused answers until then. A command on the server's own machine is not: it opens the outcomes,
and the log says so.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from django.db import transaction
from django.utils import timezone

from core.errors import ParallaxError
from core.transitions import record
from studies.enums import Mode, StudyStatus
from studies.models import Study
from studies.monitoring.selectors.outcomes import WITHOUT_OUTCOMES, are_outcomes_blinded


@transaction.atomic
def open_outcomes(*, study: Study, reason: str, actor: Any = None) -> Study:
    """Show outcomes by condition before the study is closed; only the first call counts.

    Raises `blinding.no_reason`, `blinding.not_needed` where the study is closed or not launched yet.
    """
    stated_reason = reason.strip()
    if not stated_reason:
        raise ParallaxError("blinding.no_reason", "Say why the outcomes are opened early: the record keeps it.")
    current = Study.objects.select_for_update().get(pk=study.pk)
    if current.status in (StudyStatus.CLOSED, StudyStatus.DRAFT):
        raise ParallaxError(
            "blinding.not_needed", "Outcomes are blinded from the launch of a study to its close, and not now."
        )
    if current.outcomes_opened_at is None:
        current.outcomes_opened_at = timezone.now()
        current.save(update_fields=["outcomes_opened_at", "updated_at"])
        why = f"Outcomes opened before the close: {stated_reason}"
        record(current, reason=why, actor=actor, act="outcomes_opened")
    study.outcomes_opened_at = current.outcomes_opened_at
    return study


def outcomes_shut() -> ParallaxError:
    """The refusal of what would show outcomes while they are blinded."""
    return ParallaxError(
        "blinding.outcomes_shut",
        "Outcomes by condition stay shut until the study is closed, or its owner opens them on the Data tab and says "
        "why.",
    )


def require_open(*, study: Study, modes: Collection[str] = (Mode.LIVE,)) -> None:
    """Refuse answers of these modes as long as they are blinded. Raises `blinding.outcomes_shut`."""
    if are_outcomes_blinded(study, modes):
        raise outcomes_shut()


def note_opened_by(*, study: Study, modes: Collection[str] = (Mode.LIVE,)) -> bool:
    """Unblind the outcomes because answers were exported; return whether they were blinded."""
    if not are_outcomes_blinded(study, modes):
        return False
    study.outcomes_opened_at = timezone.now()
    Study.objects.filter(pk=study.pk).update(
        outcomes_opened_at=study.outcomes_opened_at, updated_at=study.outcomes_opened_at
    )
    return True


@transaction.atomic
def note_export(
    *,
    study: Study,
    kind: str,
    actor: Any = None,
    with_external_ids: bool = False,
    by: str = "",
    modes: Collection[str] = (Mode.LIVE,),
) -> None:
    """Record an export, and that it unblinded the outcomes if they were blinded."""
    is_early = kind not in WITHOUT_OUTCOMES and note_opened_by(study=study, modes=modes)
    act = "An export opened the outcomes before the close" if is_early else "Data exported"
    ids = ", with external ids" if with_external_ids else ""
    how = f"{kind}, by {by}" if by else kind
    facts = {"act": "exported", "format": how, "with_external_ids": with_external_ids}
    record(study, reason=f"{act}: {how}{ids}.", actor=actor, **facts)
