"""Coming back: by the personal link, or by an id of another site.

Such ids are no secrets: a panel shows them to its participants, researchers to one another. So they open a door of
their own, for a while, through which somebody can go on to the next open step, and to no answer already given; what
was said before stays behind the personal link.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.core import signing
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from core.errors import ParallaxError
from core.transitions import move
from studies.enums import PARTICIPANT_MOVES, ParticipantStatus, StudyStatus
from studies.models import Event, ExternalId, Participant, Study
from studies.selectors.kept import participant_by_token
from studies.selectors.recruiting import HowRecruited, recruiting_of
from studies.services.external_ids import known_id
from studies.services.slots import full_quota, locked_study, retake_slot
from studies.services.standing import SEEN_EVERY
from studies.services.tokens import digest_of_token

logger = logging.getLogger(__name__)

SALT = "parallax.resumed"
VALID_SECONDS = 12 * 3600
UNDER_WAY = (ParticipantStatus.CONSENTED, ParticipantStatus.ACTIVE, ParticipantStatus.ABANDONED)
SEPARATOR = ":"  # of signed values; a personal link's token has none


# In words that are chosen when it is known who came, and so in which language.
TOO_LATE = {
    "study.gone_too_long": gettext_lazy(
        "You were away for longer than this study allows. Your personal link still leads you on; without it, "
        "please ask the people who run the study."
    ),
    "study.visit_expired": gettext_lazy(
        "This page was open for some hours, and it leads on no longer. What you gave is kept. To go on, open the study "
        "again from the site that sent you, or by your personal link."
    ),
}


class TooLate(ParallaxError):
    """The door that an id of another site had opened is shut again; `participant` is who had come by it."""

    def __init__(self, code: str, participant: Participant) -> None:
        super().__init__(code, str(TOO_LATE[code]))
        self.participant = participant


@dataclass(frozen=True)
class Arrived:
    """Who stands behind a token. `since`: they came by an id of another site, and what is older stays hidden."""

    participant: Participant
    since: datetime | None = None


def resume(*, token: str) -> Participant:
    """Find the participant of a personal link, note that they are here, and bring back who had gone.

    Someone abandoned continues in their own condition where it has room, and meets quota full where it has
    none. Raises `study.unknown_link`.
    """
    participant = participant_by_token(digest_of_token(token))
    if participant is None:
        raise _unknown()
    return here_again(participant)


def here_again(participant: Participant) -> Participant:
    """Note that a participant is here, and bring back who had gone."""
    if participant.status == ParticipantStatus.ABANDONED:
        return _brought_back(participant)
    now = timezone.now()
    if now - participant.last_seen_at > SEEN_EVERY:
        Participant.objects.filter(pk=participant.pk).update(last_seen_at=now)
        participant.last_seen_at = now
    return participant


@transaction.atomic
def _brought_back(participant: Participant) -> Participant:
    study = locked_study(participant.study_id)
    current = Participant.objects.select_for_update(of=("self",)).select_related("condition").get(pk=participant.pk)
    current.study = study
    if current.status != ParticipantStatus.ABANDONED or study.status == StudyStatus.CLOSED:
        return current
    to, reason, place = _way_back(study, current)
    changes: dict[str, Any] = {"place": place} if to == ParticipantStatus.ACTIVE else {}
    move(current, to=to, allowed=PARTICIPANT_MOVES, reason=reason, last_seen_at=timezone.now(), **changes)
    return current


def _way_back(study: Study, current: Participant) -> tuple[str, str, int | None]:
    """The status that somebody comes back to and why, with their place where they have one again."""
    if current.condition is None or current.assigned_at is None:
        return ParticipantStatus.CONSENTED, "Came back.", None
    answers = dict(current.responses.filter(rank=0).values_list("question", "value"))
    quota = full_quota(study, current.mode, answers)
    if quota is not None:
        return ParticipantStatus.QUOTA_FULL, f"Came back when the quota {quota.name} was full.", None
    place = retake_slot(study=study, participant=current)
    if place is None:
        return ParticipantStatus.QUOTA_FULL, "Came back when their condition was full.", None
    return ParticipantStatus.ACTIVE, "Came back to their own condition.", place


def arrived(*, token: str) -> Arrived:
    """Find who a token in an address belongs to, note that they are here, and bring back who had gone.

    Raises `study.unknown_link`, and `TooLate` where an id of another site let them in for a while that is over.
    """
    if SEPARATOR not in token:
        return Arrived(resume(token=token))
    participant, at = _signed(token)
    _refuse_too_late(participant, recruiting_of(participant.study))
    return Arrived(here_again(participant), at)


def whose(*, token: str) -> Participant:
    """Find who a token in an address belongs to, and note nothing.

    Raises `study.unknown_link`, and `TooLate` for one that has expired.
    """
    if SEPARATOR in token:
        return _signed(token)[0]
    found = Participant.objects.filter(token_digest=digest_of_token(token)).first()
    if found is None:
        raise _unknown()
    return found


def _signed(token: str) -> tuple[Participant, datetime]:
    """Who is meant by a token that `resume_known` gave, and when it did."""
    try:
        said = signing.loads(token, salt=SALT)
    except signing.BadSignature as problem:
        raise _unknown() from problem
    participant = Participant.objects.select_related("study", "condition").filter(pk=said["participant"]).first()
    # Whoever withdrew has no ids any more, and the door that they opened closes behind them.
    if participant is None or not ExternalId.objects.filter(pk=said["id"], participant=participant).exists():
        raise _unknown()
    at = datetime.fromtimestamp(said["at"], tz=UTC)
    if timezone.now() - at > timedelta(seconds=VALID_SECONDS):
        raise TooLate("study.visit_expired", participant)
    return participant, at


def _refuse_too_late(participant: Participant, recruiting: HowRecruited) -> None:
    """Past the researcher's longest gap no id lets anybody on; whose part is over is not away."""
    gap = recruiting.longest_gap
    if gap is not None and participant.status in UNDER_WAY and timezone.now() - participant.last_seen_at > gap:
        raise TooLate("study.gone_too_long", participant)


def _unknown() -> ParallaxError:
    return ParallaxError(
        "study.unknown_link", _("This link belongs to no participant. Please check that it is complete.")
    )


@transaction.atomic
def resume_known(*, study: Study, recruiting: HowRecruited, parameters: Mapping[str, str]) -> str:
    """Let somebody who is known by an id of another site go on, and return the token that lets them; it is logged.

    Raises `study.unknown_id`, and `TooLate` past the researcher's longest gap.
    """
    locked_study(study.pk)
    external = known_id(study=study, panel=recruiting.panel, parameters=parameters)
    if external is None:
        raise ParallaxError("study.unknown_id", _("We do not know you yet. Please begin on the first page."))
    participant = external.participant
    _refuse_too_late(participant, recruiting)
    Event.objects.create(participant=participant, kind="resumed", facts={"by": external.name})
    logger.info("resumed study=%s participant=%s by=%s", study.slug, participant.code, external.name)
    said = {"participant": participant.pk, "id": external.pk, "at": timezone.now().timestamp()}
    return signing.dumps(said, salt=SALT)
