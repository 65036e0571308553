"""How many simulated participants a study is to have, what is planted in them, and removing them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from core.errors import ParallaxError
from core.transitions import record
from studies.enums import Mode, StudyStatus
from studies.models import Allocation, ConsentVersion, Participant, Study, StudyVersion
from studies.planted_effects import Effect, as_plain, told
from studies.services.slots import locked_study

WALKED = (StudyStatus.LIVE, StudyStatus.DRAFT)  # a draft too: what does not work is found before it is frozen


def set_simulated_target(*, study: Study, per_condition: int, effects: Mapping[str, Effect] | None = None) -> Study:
    """Say how many simulated participants each condition is to have, and what is planted in them.

    Not part of the frozen design: it says nothing about people. Raises `pilot.not_live` for a study that is paused,
    closed or archived, and `pilot.other_effects` where simulated participants are there already in whom something
    else was planted.
    """
    if per_condition < 1:
        raise ParallaxError("pilot.bad_number", "Each condition needs at least one simulated participant.")
    planted = as_plain(effects or {})
    with transaction.atomic():
        current = locked_study(study.pk)
        if current.status not in WALKED or current.archived_at is not None:
            state = "archived" if current.archived_at is not None else current.status
            raise ParallaxError(
                "pilot.not_live",
                f"The study {study.slug} is {state}: simulated participants walk drafts and live studies.",
                {"status": current.status},
            )
        before = current.settings.get("planted_effects", {})
        if planted != before and current.participants.filter(mode=Mode.SIMULATED).exists():
            raise ParallaxError(
                "pilot.other_effects",
                f"{told(before) or 'No effects were planted.'} Simulated participants of that kind are in "
                f"the study {study.slug}; remove them first, with "
                f"`.venv/bin/python manage.py simulate_participants {study.slug} --remove`.",
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


def drop_trial(*, study: Study, actor: Any = None) -> int:
    """Remove the simulated participants of a draft whose design has changed: they walked another one. Count them."""
    if not study.participants.filter(mode=Mode.SIMULATED).exists():
        return 0
    n = remove_simulated(study=study, actor=actor)
    study.refresh_from_db(fields=["settings"])
    return n


def take_over_trial(*, study: Study, version: StudyVersion, consent: ConsentVersion) -> int:
    """Say of those who walked the draft which frozen version it was: any change since would have removed them."""
    trial = Participant.objects.filter(study=study, mode=Mode.SIMULATED, version=None)
    return trial.update(version=version, consent_version=consent)
