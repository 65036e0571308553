"""How many simulated participants a study is to have, what is planted in them, and removing them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from core.errors import ParallaxError
from core.transitions import record
from studies.enums import Mode, StudyStatus
from studies.models import Allocation, Participant, Study
from studies.planted_effects import Effect, as_plain, told
from studies.services.slots import locked_study


def set_simulated_target(*, study: Study, per_condition: int, effects: Mapping[str, Effect] | None = None) -> Study:
    """Say how many simulated participants each condition is to have, and what is planted in them.

    Not part of the frozen design: it says nothing about people. Raises `pilot.other_effects` where simulated
    participants are there already in whom something else was planted.
    """
    if per_condition < 1:
        raise ParallaxError("pilot.bad_number", "Each condition needs at least one simulated participant.")
    planted = as_plain(effects or {})
    with transaction.atomic():
        current = locked_study(study.pk)
        if current.status != StudyStatus.LIVE:
            raise ParallaxError(
                "pilot.not_live",
                f"The study {study.slug} is {current.status}; launch it first.",
                {"status": current.status},
            )
        before = current.settings.get("planted_effects", {})
        if planted != before and current.participants.filter(mode=Mode.SIMULATED).exists():
            raise ParallaxError(
                "pilot.other_effects",
                f"{told(before) or 'No effects were planted.'} Simulated participants of that kind are in "
                f"the study {study.slug}; remove them first, with simulate_participants {study.slug} --remove.",
                {"planted": before},
            )
        current.settings["simulated_per_condition"] = per_condition
        current.settings["planted_effects"] = planted
        if not planted:
            del current.settings["planted_effects"]
        current.save(update_fields=["settings", "updated_at"])
    return current


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
    for name in ("simulated_per_condition", "planted_effects"):
        current.settings.pop(name, None)
    current.save(update_fields=["settings", "updated_at"])
    record(current, reason=f"Removed {n} simulated participants.", actor=actor, act="simulated_removed", n=n)
    return n
