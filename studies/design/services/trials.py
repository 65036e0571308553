"""The trial of a study by simulated participants: removed by hand or after a change of design."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from core.transitions import record
from studies.allocation.services.slots import locked_study
from studies.enums import Mode
from studies.models import Allocation, Participant, Study
from studies.settings import TRIAL


@transaction.atomic
def remove_simulated(*, study: Study, actor: Any = None) -> int:
    """Remove every simulated participant with what they answered, their allocation and what was planted; count them.

    People's data are untouched, and the study's log keeps that it was done.
    """
    current = locked_study(study.pk)
    simulated = Participant.objects.filter(study=current, mode=Mode.SIMULATED)
    n = simulated.count()
    Allocation.objects.filter(study=current, mode=Mode.SIMULATED).delete()
    simulated.delete()
    current.settings = {name: value for name, value in current.settings.items() if name not in TRIAL}
    current.save(update_fields=["settings", "updated_at"])
    record(current, reason=f"Removed {n} simulated participants.", actor=actor, act="simulated_removed", n=n)
    return n


def drop_trial(*, study: Study, actor: Any = None) -> None:
    """Remove the simulated participants of a draft whose design has changed: they walked another one."""
    if study.participants.filter(mode=Mode.SIMULATED).exists():
        remove_simulated(study=study, actor=actor)
        study.refresh_from_db(fields=["settings"])
