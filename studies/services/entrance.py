"""Whether a study lets another person in."""

from __future__ import annotations

from django.utils.translation import gettext as _

from core.errors import ParallaxError
from studies.enums import Mode, StudyStatus
from studies.models import Participant, Study
from studies.selectors.allocation import slots_held, targets
from studies.selectors.kept import conditions_of
from studies.services.tokens import digest_of_key

MAY_TRY: dict[str, tuple[StudyStatus, ...]] = {
    Mode.PREVIEW: (StudyStatus.DRAFT, StudyStatus.PAUSED),
    Mode.SIMULATED: (StudyStatus.DRAFT,),
}


def is_trial(study: Study, mode: str) -> bool:
    """Whether people of that mode may walk a study that takes nobody else."""
    return study.archived_at is None and study.status in MAY_TRY.get(mode, ())


def refuse_unless_open(study: Study, mode: str) -> None:
    """Raise `study.not_open` unless people of that mode may enter now; before the launch those of a trial may."""
    if study.status == StudyStatus.LIVE or is_trial(study, mode):
        return
    raise ParallaxError(
        "study.not_open", _("This study takes no participants at the moment."), {"status": study.status}
    )


def is_full(study: Study, mode: str) -> bool:
    """Whether every condition has as many participants of that mode as it is to have."""
    conditions = conditions_of(study)
    counts = slots_held(study, mode)
    return all(
        target is not None and counts.get(condition.pk, 0) >= target
        for condition, target in zip(conditions, targets(study, conditions, mode), strict=True)
    )


def refuse_unless_room(*, study: Study, mode: str, entry_key: str = "") -> None:
    """Raise `study.not_open` or `study.full` where nobody may enter; who has entered by that key already may.

    Asked before anybody reads the consent text.
    """
    if entry_key and Participant.objects.filter(study=study, entry_key=digest_of_key(entry_key)).exists():
        return
    refuse_unless_open(study, mode)
    if is_full(study, mode):
        raise ParallaxError("study.full", _("This study has reached the number of people it needs."))
