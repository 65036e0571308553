"""Whether a study admits another participant."""

from __future__ import annotations

from django.utils import timezone
from django.utils.translation import gettext as _

from core.errors import ParallaxError
from studies.allocation.selectors.allocations import conditions_of, slots_held, targets
from studies.enums import Mode, ParticipantStatus, StudyStatus
from studies.models import Participant, Study
from studies.participation.services.slot_queue import is_waited_for
from studies.recruitment.services.tokens import digest_of_key

MAY_TRY: dict[str, tuple[StudyStatus, ...]] = {
    Mode.PREVIEW: (StudyStatus.DRAFT, StudyStatus.PAUSED),
    Mode.SIMULATED: (StudyStatus.DRAFT,),
}


def is_trial(study: Study, mode: str) -> bool:
    """Whether participants of that mode may enter a study that is otherwise not open."""
    return study.archived_at is None and study.status in MAY_TRY.get(mode, ())


def takes_part(participant: Participant) -> bool:
    """Whether a participant is on their way through a study that is running, or that they only try."""
    if participant.status not in (ParticipantStatus.CONSENTED, ParticipantStatus.ACTIVE):
        return False
    return participant.study.status == StudyStatus.LIVE or is_trial(participant.study, participant.mode)


def refuse_unless_open(study: Study, mode: str) -> None:
    """Raise `study.not_open` unless participants of that mode may enter now; trials may before the launch."""
    if study.status == StudyStatus.LIVE or is_trial(study, mode):
        return
    raise ParallaxError(
        "study.not_open", _("This study is not accepting participants at the moment."), {"status": study.status}
    )


def is_full(study: Study, mode: str) -> bool:
    """Whether every condition has reached its target in that mode, and no slot is about to yield to a newcomer."""
    conditions = conditions_of(study)
    counts = slots_held(study, mode)
    is_taken = all(
        target is not None and counts.get(condition.pk, 0) >= target
        for condition, target in zip(conditions, targets(study, conditions, mode), strict=True)
    )
    return is_taken and (mode != Mode.LIVE or is_waited_for(study, timezone.now()))


def refuse_unless_room(*, study: Study, mode: str, entry_key: str = "") -> None:
    """Raise `study.not_open` or `study.full`, except for a participant who has already entered with that key.

    Checked before the consent text is shown.
    """
    if entry_key and Participant.objects.filter(study=study, entry_key=digest_of_key(entry_key)).exists():
        return
    refuse_unless_open(study, mode)
    if is_full(study, mode):
        raise ParallaxError("study.full", _("This study has reached the number of participants it needs."))
