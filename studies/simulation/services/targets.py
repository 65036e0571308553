"""The number of simulated participants in each condition, and the effects planted in them."""

from __future__ import annotations

from collections.abc import Mapping

from django.db import transaction

from core.errors import ParallaxError
from studies.allocation.services.slots import locked_study
from studies.enums import Mode, StudyStatus
from studies.models import Study
from studies.simulation.planted_effects import Effect, as_plain, planted_sentence

OPEN_TO_SIMULATION = (StudyStatus.LIVE, StudyStatus.DRAFT)  # drafts too, to find problems before the design is frozen


def set_simulated_target(*, study: Study, per_condition: int, effects: Mapping[str, Effect] | None = None) -> Study:
    """Set the target number of simulated participants per condition and the effects planted in them.

    Not part of the frozen design, which concerns people only. Raises `pilot.not_live` if the study is paused, closed
    or archived, and `pilot.other_effects` if there already are simulated participants with other effects.
    """
    if per_condition < 1:
        raise ParallaxError("pilot.bad_number", "Each condition needs at least one simulated participant.")
    planted = as_plain(effects or {})
    with transaction.atomic():
        current = locked_study(study.pk)
        if current.status not in OPEN_TO_SIMULATION or current.archived_at is not None:
            state = "archived" if current.archived_at is not None else current.status
            raise ParallaxError(
                "pilot.not_live",
                f"The study {study.slug} is {state}: simulated participants walk drafts and live studies.",
                {"status": current.status},
            )
        before = current.design.planted_effects
        if planted != before and current.participants.filter(mode=Mode.SIMULATED).exists():
            raise ParallaxError(
                "pilot.other_effects",
                f"{planted_sentence(before) or 'No effects were planted.'} Simulated participants of that kind are in "
                f"the study {study.slug}; remove them first, with "
                f"`.venv/bin/python manage.py simulate_participants {study.slug} --remove`.",
                {"planted": before},
            )
        kept = {name: value for name, value in current.settings.items() if name != "planted_effects"}
        effects_stored = {"planted_effects": planted} if planted else {}
        current.settings = {**kept, "simulated_per_condition": per_condition, **effects_stored}
        current.save(update_fields=["settings", "updated_at"])
    return current
