"""Whether a study lets another person in, asked before they read the consent text."""

from __future__ import annotations

from django.utils.translation import gettext as _

from core.errors import ParallaxError
from studies.models import Participant, Study
from studies.selectors.allocation import slots_held, targets
from studies.services.doors import digest_of_key
from studies.services.enrolment import refuse_unless_open


def is_full(study: Study, mode: str) -> bool:
    """Whether every condition has as many participants of that mode as it is to have."""
    conditions = list(study.conditions.order_by("position"))
    counts = slots_held(study, mode)
    return all(
        target is not None and counts.get(condition.pk, 0) >= target
        for condition, target in zip(conditions, targets(study, conditions, mode), strict=True)
    )


def refuse_unless_room(*, study: Study, mode: str, entry_key: str = "") -> None:
    """Raise `study.not_open` or `study.full` where nobody may enter; who has entered by that key already may."""
    if entry_key and Participant.objects.filter(study=study, entry_key=digest_of_key(entry_key)).exists():
        return
    refuse_unless_open(study, mode)
    if is_full(study, mode):
        raise ParallaxError("study.full", _("This study has reached the number of people it needs."))
