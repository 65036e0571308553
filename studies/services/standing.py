"""Where a participant stands: their row under its lock, what it allows, and moving on."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _

from core.errors import ParallaxError
from studies import flow
from studies.enums import ParticipantStatus, StudyStatus
from studies.flow import Place
from studies.models import Participant, RecommendationList
from studies.selectors.compiled import Updated
from studies.selectors.kept import locked_participant

SEEN_EVERY = timedelta(seconds=15)
_people = Updated(Participant)


def place_of(participant: Participant) -> Place:
    """Where the participant stands."""
    return Place(participant.step, participant.item_rank if participant.step == flow.ITEMS else 0)


def list_length(participant: Participant) -> int:
    """How many items the participant's list has."""
    return int(participant.study.settings["list_length"])


def locked(participant: Participant) -> Participant:
    """The participant's row under its lock, for a transaction at hand; marked as seen now.

    Raises `study.closed` once the study is closed.
    """
    current = locked_participant(participant.pk)
    if current.study.status == StudyStatus.CLOSED and current.status != ParticipantStatus.COMPLETED:
        raise ParallaxError("study.closed", _("This study has ended and takes no more answers."))
    return current


def touch(participant: Participant, **changes: Any) -> None:
    """Note that the participant is here, with other fields written by the same update.

    Where there are none and the last note is young it stands: the limit of being idle is counted in minutes.
    """
    now = timezone.now()
    if not changes and now - participant.last_seen_at < SEEN_EVERY:
        return
    _people.update(participant.pk, last_seen_at=now, updated_at=now, **changes)
    participant.last_seen_at = now
    for name, value in changes.items():
        setattr(participant, name, value)


def mirror(participant: Participant, current: Participant) -> None:
    """Bring the caller's row up to date with the one that was changed under the lock."""
    for name in ("status", "step", "item_rank", "last_seen_at", "completion_code", "completed_at"):
        setattr(participant, name, getattr(current, name))


def not_active(participant: Participant) -> ParallaxError:
    """What is said to someone whose status takes no answers."""
    return ParallaxError(
        "study.not_active",
        _("Your part in this study is not open, so this answer was not stored."),
        {"status": participant.status, "code": participant.code},
    )


def require_active(participant: Participant) -> None:
    """Raise `study.not_active` unless the participant holds a slot and is under way."""
    if participant.status != ParticipantStatus.ACTIVE:
        raise not_active(participant)


def out_of_order(participant: Participant) -> ParallaxError:
    """What is said when a page is used that is not open to the participant, with where they are."""
    here = place_of(participant)
    return ParallaxError(
        "study.out_of_order",
        _("This page is not open at this point of the study."),
        {"step": here.step, "rank": here.rank},
    )


def has_after(participant: Participant) -> bool:
    """Whether the participant's study asks something after the questions about the list."""
    return bool(participant.study.questionnaire.get("after"))


def advance(participant: Participant, left: Place) -> None:
    """Move on from `left`, unless the participant has done so already."""
    here = place_of(participant)
    if here.order > left.order:
        touch(participant)
        return
    then = flow.next_place(left, list_length(participant), has_after=has_after(participant))
    touch(participant, step=then.step, item_rank=then.rank)


def recommendation_list(participant: Participant) -> RecommendationList:
    """The list the participant got, with its items; `study.no_list` before there is one."""
    found = RecommendationList.objects.filter(participant=participant.pk).prefetch_related("slots__item").first()
    if found is None:
        raise ParallaxError("study.no_list", _("There are no recommendations yet: the ratings come first."))
    return found
