"""Resuming: by the personal link, or by an id of another site.

Such ids are not secret: a panel shows them to its participants, and researchers share them. So they open the study for
a limited time, at the next open step, and show no earlier answer; those are visible by the personal link alone.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from django.core import signing
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from core.database import optional_write
from core.errors import ParallaxError
from core.networks import network_of
from core.provenance import digest_of_token
from core.transitions import move
from studies.allocation.services.slots import locked_study
from studies.design.selectors.placeholders import content_of
from studies.enums import PARTICIPANT_MOVES, ParticipantStatus, StudyStatus
from studies.models import Event, ExternalId, Participant, Study
from studies.participation.selectors.participant_rows import participant_by_token, participants_with_study
from studies.participation.services.entry_limits import network_of_slot
from studies.participation.services.participant_state import SEEN_EVERY, lock
from studies.participation.services.slot_queue import request_slot
from studies.recruitment.selectors.recruitment import RecruitmentSettings, recruiting_of
from studies.recruitment.services.external_ids import known_id

logger = logging.getLogger(__name__)

SALT = "parallax.resumed"
VALID_SECONDS = 12 * 3600
UNDER_WAY = (ParticipantStatus.CONSENTED, ParticipantStatus.ACTIVE, ParticipantStatus.ABANDONED)
SEPARATOR = ":"  # of signed values; a personal link's token has none


# Lazy, since the participant's language is known only later.
TOO_LATE = {
    "study.gone_too_long": gettext_lazy(
        "You were away for longer than this study allows. You can still continue with your personal link; if you do "
        "not have it, please ask the people who run the study."
    ),
    "study.visit_expired": gettext_lazy(
        "This page was open for several hours and has expired. Your answers are saved. To continue, open the study "
        "again from the site that sent you, or with your personal link."
    ),
}


class LinkExpired(ParallaxError):
    """Access by an id of another site has expired; `participant` is its holder."""

    def __init__(self, code: str, participant: Participant) -> None:
        super().__init__(code, str(TOO_LATE[code]))
        self.participant = participant


def resume(*, token: str, network: str = "") -> Participant:
    """Find the participant of a personal link, record their presence, and readmit them if abandoned.

    An abandoned participant continues in their own condition if it has room, and is quota full otherwise. Who waits
    for a slot asks again. `network` is the address they come from, or its network.

    Raises `study.unknown_link`.
    """
    return record_presence(participant_of_token(token=token, with_study=True), network)


def record_presence(participant: Participant, network: str = "") -> Participant:
    """Record a participant's presence, readmit them if abandoned, and give them a slot that they wait for."""
    if participant.status == ParticipantStatus.ABANDONED or participant.waiting_since is not None:
        return _request_slot_again(participant, network)
    now = timezone.now()
    if now - participant.last_seen_at > SEEN_EVERY:
        # Optional: on a full disk participants may still read their pages.
        with optional_write("presence"):
            Participant.objects.filter(pk=participant.pk).update(last_seen_at=now)
        participant.last_seen_at = now
    return participant


@transaction.atomic
def _request_slot_again(participant: Participant, network: str) -> Participant:
    # The study before the participant, as everywhere: two requests that lock in different orders would wait for each
    # other.
    study, now = locked_study(participant.study_id), timezone.now()
    lock(participant)
    is_waiting = participant.waiting_since is not None
    if study.status == StudyStatus.CLOSED or not (is_waiting or participant.status == ParticipantStatus.ABANDONED):
        return participant
    if is_waiting and study.status != StudyStatus.LIVE:
        return participant
    if not is_waiting:
        # Cleared when the slot was given up, and counted anew for the network they come back from.
        participant.network = network_of_slot(study, participant.mode, participant.entrance, network_of(network))
    if is_waiting or participant.assigned_at is not None or content_of(study).flow.assigns_at_consent:
        request_slot(study=study, participant=participant, now=now)
    else:
        to, network = ParticipantStatus.CONSENTED, participant.network
        move(participant, to=to, allowed=PARTICIPANT_MOVES, reason="Came back.", last_seen_at=now, network=network)
    return participant


def arrival_of(*, token: str, network: str = "") -> tuple[Participant, datetime | None]:
    """Find the participant of a token in an address, record their presence, and readmit them if abandoned.

    The time is that of an arrival by an id of another site: answers older than it stay hidden.

    Raises `study.unknown_link`, and `LinkExpired` if access by an id of another site has expired.
    """
    if SEPARATOR not in token:
        return resume(token=token, network=network), None
    participant, at = _signed(token)
    _refuse_too_late(participant, recruiting_of(participant.study))
    return record_presence(participant, network), at


def participant_of_token(*, token: str, with_study: bool = False) -> Participant:
    """Find the participant of a token in an address, without recording anything; the study is read with them if asked.

    Raises `study.unknown_link`, and `LinkExpired` for one that has expired.
    """
    if SEPARATOR in token:
        return _signed(token)[0]
    # Tokens are stored as digests alone: who reads the database cannot open anyone's pages.
    digest = digest_of_token(token)
    participant = (
        participant_by_token(digest) if with_study else Participant.objects.filter(token_digest=digest).first()
    )
    if participant is None:
        raise _unknown()
    return participant


def _signed(token: str) -> tuple[Participant, datetime]:
    try:
        # Without a maximal age, which the code below checks: an expired token has a page of its own, a forged one has
        # not.
        claims = signing.loads(token, salt=SALT)
    except signing.BadSignature as problem:
        raise _unknown() from problem
    participant = participants_with_study().filter(pk=claims["participant"]).first()
    # A participant who withdrew has no ids any more, so their token stops working.
    if participant is None or not ExternalId.objects.filter(pk=claims["id"], participant=participant).exists():
        raise _unknown()
    at = datetime.fromtimestamp(claims["at"], tz=UTC)
    if timezone.now() - at > timedelta(seconds=VALID_SECONDS):
        raise LinkExpired("study.visit_expired", participant)
    return participant, at


def _refuse_too_late(participant: Participant, recruiting: RecruitmentSettings) -> None:
    gap = recruiting.longest_gap
    if gap is not None and participant.status in UNDER_WAY and timezone.now() - participant.last_seen_at > gap:
        raise LinkExpired("study.gone_too_long", participant)


def _unknown() -> ParallaxError:
    return ParallaxError(
        "study.unknown_link", _("This link does not belong to any participant. Please check that it is complete.")
    )


@transaction.atomic
def resume_known(*, study: Study, recruiting: RecruitmentSettings, parameters: Mapping[str, str]) -> str:
    """Let a participant known by an id of another site continue; return their token. Logged.

    Raises `study.unknown_id`, and `LinkExpired` past the researcher's longest gap.
    """
    # Serialised with consent, which creates participants of the same id under this lock.
    locked_study(study.pk)
    external = known_id(study=study, panel=recruiting.panel, parameters=parameters)
    if external is None:
        raise ParallaxError(
            "study.unknown_id", _("You have not started this study yet. Please begin on the first page.")
        )
    participant = external.participant
    _refuse_too_late(participant, recruiting)
    Event.objects.create(participant=participant, kind="resumed", facts={"by": external.name})
    logger.info("resumed study=%s participant=%s by=%s", study.slug, participant.code, external.name)
    claims = {"participant": participant.pk, "id": external.pk, "at": timezone.now().timestamp()}
    return signing.dumps(claims, salt=SALT)
