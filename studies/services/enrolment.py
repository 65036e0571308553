"""Consent, the form about the person, slots, coming back, and the sweep of those who went idle."""

from __future__ import annotations

import hashlib
import logging
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.http import urlsafe_base64_encode
from django.utils.translation import gettext as _

from core.errors import ParallaxError, ParameterError
from core.transitions import move
from studies import flow
from studies.enums import PARTICIPANT_MOVES, Mode, ParticipantStatus, Provenance, StudyStatus
from studies.models import Condition, Interview, Participant, Response, Study
from studies.questionnaires.schema import ABOUT, Question, questionnaire_from
from studies.selectors.consent import current_consent
from studies.selectors.kept import participant_by_token, study_now
from studies.selectors.recruiting import HowRecruited, recruiting_of
from studies.services.attention import ended_by_attention, note_checks
from studies.services.doors import Door, digest_of_key, door_of
from studies.services.external_ids import keep_external_ids, known_id, parted
from studies.services.slots import full_quota, locked_study, release_slot, retake_slot, stratum_for, take_slot
from studies.services.standing import SEEN_EVERY, not_active

logger = logging.getLogger(__name__)

LETTERS = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"  # none that is taken for another: no 0 O 1 I L
CODE_LENGTH = 6
SHORTEST_ENTRY_KEY = 20
MOST_PARAMETERS = 50
LONGEST_PARAMETER = 500


@dataclass(frozen=True)
class Entry:
    """Who gave consent, and the token of their personal link, which is known here only."""

    participant: Participant
    token: str


def digest_of_token(token: str) -> str:
    """What is kept of a personal link's token."""
    return hashlib.sha256(token.encode()).hexdigest()


def drawn_code(length: int) -> str:
    """A code that can be read out without mistakes."""
    return "".join(secrets.choice(LETTERS) for _ in range(length))


def _token_for(study: Study, entry_key: str) -> str:
    """The token that belongs to a consent form's own random key.

    It is made from that key and the installation's secret, so that a form sent twice leads to one link and
    the token itself need not be kept. The key is a random one of `new_entry_key`, seen by one browser alone.
    """
    made = salted_hmac("parallax.participant", f"{study.pk}:{entry_key}", algorithm="sha256")
    return urlsafe_base64_encode(made.digest())


def new_entry_key() -> str:
    """A random key for one consent form."""
    return secrets.token_urlsafe(32)


def refuse_unless_open(study: Study, mode: str) -> None:
    """Raise `study.not_open` unless people of that mode may enter now; a preview may before the launch."""
    if study.status == StudyStatus.LIVE:
        return
    may_preview = study.archived_at is None and study.status in (StudyStatus.DRAFT, StudyStatus.PAUSED)
    if mode == Mode.PREVIEW and may_preview:
        return
    raise ParallaxError(
        "study.not_open", _("This study takes no participants at the moment."), {"status": study.status}
    )


def consent(
    *,
    study: Study,
    entry_key: str,
    mode: str = Mode.LIVE,
    language: str = "en",
    parameters: Mapping[str, Any] | None = None,
    source_user: str = "",
    consent_version: int | None = None,
    recruiting: HowRecruited | None = None,
) -> Entry:
    """Make the participant who pressed the consent button; the same entry key gives the same participant.

    `parameters` are the link's query parameters, kept as they came; ids of other sites among them go to a table
    of their own. The key of a personal link enrols one participant, however often it is used. `consent_version` is
    the number of the text that was shown, where it is known, and `recruiting` how the study recruits, where the
    caller has just read it.

    Raises `study.not_open`, `study.bad_entry_key`, `study.bad_parameters`, `study.consent_changed`,
    `study.known_id` where somebody takes part under the same id already, and what `doors.door_of` raises.
    """
    if len(entry_key) < SHORTEST_ENTRY_KEY:
        raise ParallaxError("study.bad_entry_key", _("This page is out of date. Please load it again."))
    kept = {str(name): value for name, value in (parameters or {}).items()}
    if len(kept) > MOST_PARAMETERS or any(
        len(name) > LONGEST_PARAMETER or len(str(value)) > LONGEST_PARAMETER for name, value in kept.items()
    ):
        raise ParallaxError("study.bad_parameters", _("The link to this study is too long to be a real one."))
    if any("\x00" in name or "\x00" in str(value) for name, value in kept.items()):  # PostgreSQL keeps no NUL
        raise ParallaxError(
            "study.bad_parameters", _("The link to this study is damaged. Please open it as it was sent to you.")
        )
    token = _token_for(study, entry_key)
    key = digest_of_key(entry_key)
    participant = Participant.objects.filter(study=study, entry_key=key).first()
    if participant is None:
        recruiting = recruiting or recruiting_of(study)
        said = {name: str(value) for name, value in kept.items()}
        door = door_of(study=study, mode=mode, entry_key=entry_key, parameters=said, recruiting=recruiting)
        participant = _made(study, key, token, mode, language, kept, source_user, door, recruiting, consent_version)
    if participant.token_digest != digest_of_token(token):
        # The installation's secret was changed between two presses: the newer link is the good one.
        Participant.objects.filter(pk=participant.pk).update(token_digest=digest_of_token(token))
        participant.token_digest = digest_of_token(token)
    return Entry(participant, token)


def _made(
    study: Study,
    key: str,
    token: str,
    mode: str,
    language: str,
    parameters: dict[str, Any],
    source_user: str,
    door: Door,
    recruiting: HowRecruited,
    consent_version: int | None,
) -> Participant:
    """Insert the row; where another request has just inserted it, return that one."""
    now = timezone.now()
    external, others = parted(parameters, recruiting.panel)
    for _attempt in range(20):
        with transaction.atomic():
            # Two people of one id wait for each other; people without ids need not.
            has_name = mode == Mode.LIVE and recruiting.panel.who(external) is not None
            current = locked_study(study.pk) if has_name else study_now(study.pk)
            refuse_unless_open(current, mode)
            if has_name and not Participant.objects.filter(study=current, entry_key=key).exists():
                _refuse_known(current, recruiting, external)
            version = current.versions.order_by("-number").first() if mode != Mode.PREVIEW else None
            agreed = current_consent(current) if mode != Mode.PREVIEW else None
            if agreed is not None and consent_version is not None and consent_version != agreed.number:
                raise ParallaxError(
                    "study.consent_changed",
                    _("This text has been changed since you opened the page. Please read it again."),
                )
            try:
                with transaction.atomic():
                    participant = Participant.objects.create(
                        study=current,
                        version=version,
                        code=drawn_code(CODE_LENGTH),
                        token_digest=digest_of_token(token),
                        entry_key=key,
                        mode=mode,
                        entrance=door.entrance,
                        step=flow.ABOUT,
                        language=language,
                        consent_version=agreed,
                        consent_language=language,
                        parameters=others,
                        source_user=source_user,
                        consented_at=now,
                        last_seen_at=now,
                    )
                    keep_external_ids(participant=participant, found=external)
                    if door.link is not None:
                        Interview.objects.filter(link=door.link).update(participant=participant)
            except IntegrityError:
                # Pressed twice at once, or a code drawn twice.
                found = Participant.objects.filter(study=current, entry_key=key).first()
                if found is not None:
                    return found
                continue
        logger.info("consent study=%s participant=%s mode=%s", study.slug, participant.code, mode)
        return participant
    raise ParallaxError("study.no_code", _("We could not enter you just now. Please try again."))


def _refuse_known(study: Study, recruiting: HowRecruited, external: Mapping[str, str]) -> None:
    if known_id(study=study, panel=recruiting.panel, parameters=external) is not None:
        raise ParallaxError("study.known_id", _("You take part in this study already."))


def link_token(*, study: Study, entry_key: str) -> str:
    """The token of the participant who entered by a key, or nothing where nobody has."""
    token, digest = _token_for(study, entry_key), digest_of_key(entry_key)
    # Where the installation's secret was changed since, the newer link is the good one.
    n = Participant.objects.filter(study=study, entry_key=digest).update(token_digest=digest_of_token(token))
    return token if n else ""


def note_opened(*, study: Study, mode: str = Mode.LIVE) -> None:
    """Count a showing of the consent page; nothing of the visitor is kept."""
    if mode == Mode.LIVE:
        Study.objects.filter(pk=study.pk).update(n_opened=F("n_opened") + 1)


def decline(*, study: Study, mode: str = Mode.LIVE) -> None:
    """Count someone who said no; nothing else is kept."""
    if mode == Mode.LIVE:
        Study.objects.filter(pk=study.pk).update(n_declined=F("n_declined") + 1)


def checked_about(*, study: Study, answers: Mapping[str, Any]) -> dict[str, Any]:
    """The answers about the person as they are stored, or `study.bad_answers` with the problems."""
    questions = questionnaire_from(study.questionnaire).about
    given = dict(answers)
    problems: dict[str, str] = {}
    checked: dict[str, Any] = {}
    for name in sorted(set(given) - {question.key for question in questions}):
        problems[name] = f"This study asks no question {name!r} about the person."
    for question in questions:
        if not question.is_shown(checked):
            continue
        try:
            checked[question.key] = question.check(given.get(question.key))
        except ParameterError as problem:
            problems[question.key] = str(problem)
        else:
            if question.is_wanting(checked[question.key]):
                problems[question.key] = f"The answer to {question.key!r} is begun and not finished."
    if problems:
        raise ParallaxError(
            "study.bad_answers",
            _("Some answers are missing or cannot be used. Please look at them again."),
            {"problems": problems},
        )
    return checked


def _reasons_against(questions: tuple[Question, ...], answers: Mapping[str, Any]) -> list[str]:
    return [q.key for q in questions if q.key in answers and not q.does_admit(answers[q.key])]


@transaction.atomic
def accept_about(
    *, participant: Participant, answers: Mapping[str, Any], provenance: str = Provenance.PERSON
) -> Participant:
    """Store the answers about the person; then screen them out, give them a slot, or say the study is full.

    Read the outcome from the status of the participant that is returned: active, screened out, quota full, or
    attention failed.
    Sent again after that, nothing happens. Raises `study.bad_answers`, `study.not_open`, `study.not_active`.
    """
    study = locked_study(participant.study_id)
    current = Participant.objects.select_for_update(of=("self",)).get(pk=participant.pk)
    if current.status != ParticipantStatus.CONSENTED:
        if current.status in (ParticipantStatus.ABANDONED, ParticipantStatus.WITHDRAWN):
            raise not_active(current)
        return current
    refuse_unless_open(study, current.mode)
    checked = checked_about(study=study, answers=answers)
    _store_about(current, checked, provenance)
    now = timezone.now()
    against = _reasons_against(questionnaire_from(study.questionnaire).about, checked)
    if against:
        _move(
            current,
            ParticipantStatus.SCREENED_OUT,
            reason=f"Answers that do not admit: {', '.join(against)}.",
            now=now,
        )
        return current
    questionnaire = questionnaire_from(study.questionnaire)
    note_checks(participant=current, questionnaire=questionnaire, block=ABOUT, rank=0, given=checked)
    if ended_by_attention(participant=current, questionnaire=questionnaire):
        return current
    stratum = stratum_for(study, checked, current)
    quota = full_quota(study, current.mode, checked)
    if quota is not None:
        reason = f"The quota {quota.name} is full."
        _move(current, ParticipantStatus.QUOTA_FULL, reason=reason, now=now, stratum=stratum)
        return current
    taken = _chosen_slot(study, current, stratum) or take_slot(study=study, participant=current, stratum=stratum)
    if taken is None:
        _move(current, ParticipantStatus.QUOTA_FULL, reason="Every condition is full.", now=now, stratum=stratum)
        return current
    condition, place = taken
    _move(
        current,
        ParticipantStatus.ACTIVE,
        reason="Took a slot.",
        now=now,
        condition=condition,
        stratum=stratum,
        place=place,
        step=flow.RATE,
        assigned_at=now,
    )
    logger.info("assigned study=%s participant=%s stratum=%s", study.slug, current.code, stratum)
    return current


def _chosen_slot(study: Study, participant: Participant, stratum: str) -> tuple[Condition, int] | None:
    """The slot of a preview in the condition that the researcher chose; None where they chose none."""
    if participant.mode != Mode.PREVIEW or participant.condition is None:
        return None
    participant.stratum = stratum
    place = retake_slot(study=study, participant=participant)
    return None if place is None else (participant.condition, place)


def _store_about(participant: Participant, answers: Mapping[str, Any], provenance: str) -> None:
    """Write the answers; one given before and the same again is left as it is."""
    before = {row.question: row for row in participant.responses.filter(rank=0)}
    fresh = []
    for key, value in answers.items():
        row = before.pop(key, None)
        if value is None:
            if row is not None:
                row.delete()
        elif row is None:
            fresh.append(Response(participant=participant, question=key, value=value, provenance=provenance))
        elif row.value != value:
            row.value, row.provenance, row.n_changes = value, provenance, row.n_changes + 1
            row.save()
    Response.objects.bulk_create(fresh)
    for row in before.values():  # questions that are no longer shown
        row.delete()


def _move(participant: Participant, to: str, *, reason: str, now: datetime, **changes: Any) -> None:
    move(participant, to=to, allowed=PARTICIPANT_MOVES, reason=reason, last_seen_at=now, **changes)


def resume(*, token: str) -> Participant:
    """Find the participant of a personal link, note that they are here, and bring back who had gone.

    Someone abandoned continues in their own condition where it has room, and meets quota full where it has
    none. Raises `study.unknown_link`.
    """
    participant = participant_by_token(digest_of_token(token))
    if participant is None:
        raise ParallaxError(
            "study.unknown_link", _("This link belongs to no participant. Please check that it is complete.")
        )
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
    now = timezone.now()
    if current.condition is None or current.assigned_at is None:
        _move(current, ParticipantStatus.CONSENTED, reason="Came back.", now=now)
        return current
    answers = dict(current.responses.filter(rank=0).values_list("question", "value"))
    quota = full_quota(study, current.mode, answers)
    place = None if quota is not None else retake_slot(study=study, participant=current)
    if quota is not None:
        _move(current, ParticipantStatus.QUOTA_FULL, reason=f"Came back when the quota {quota.name} was full.", now=now)
    elif place is None:
        _move(current, ParticipantStatus.QUOTA_FULL, reason="Came back when their condition was full.", now=now)
    else:
        _move(
            current,
            ParticipantStatus.ACTIVE,
            reason="Came back to their own condition.",
            now=now,
            place=place,
        )
    return current


def release_idle(*, now: datetime | None = None) -> int:
    """Mark everybody idle past their study's limit as abandoned, open their slots, and count them.

    Safe to run at any time and twice at once: each is looked at again under the study's lock.
    """
    moment = now or timezone.now()
    released = 0
    open_statuses = (ParticipantStatus.CONSENTED, ParticipantStatus.ACTIVE)
    for study in Study.objects.filter(participants__status__in=open_statuses).distinct().order_by("pk"):
        limit = moment - timedelta(minutes=float(study.settings["idle_minutes"]))
        idle = Participant.objects.filter(study=study, status__in=open_statuses, last_seen_at__lt=limit)
        for participant_id in list(idle.order_by("pk").values_list("pk", flat=True)):
            released += _abandoned(study.pk, participant_id, limit)
    return released


@transaction.atomic
def _abandoned(study_id: int, participant_id: int, limit: datetime) -> int:
    locked_study(study_id)
    participant = Participant.objects.select_for_update(of=("self",)).select_related("condition").get(pk=participant_id)
    is_open = participant.status in (ParticipantStatus.CONSENTED, ParticipantStatus.ACTIVE)
    if not is_open or participant.last_seen_at >= limit:
        return 0
    release_slot(participant=participant)
    move(
        participant,
        to=ParticipantStatus.ABANDONED,
        allowed=PARTICIPANT_MOVES,
        reason="Idle longer than the study's limit.",
        place=None,
    )
    return 1
