"""The consent page: shown, declined, or agreed to, which makes the participant."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext as _

from core.errors import ParallaxError
from studies import flow
from studies.enums import Mode
from studies.models import DeclinedForm, Interview, Participant, Study, StudyVersion
from studies.selectors.compiled import Columns, Inserted
from studies.selectors.consent import current_consent
from studies.selectors.kept import participant_by_entry, study_now
from studies.selectors.recruiting import HowRecruited, recruiting_of
from studies.services.codes import CODE_LENGTH, drawn_code
from studies.services.doors import Door, door_of
from studies.services.entrance import refuse_unless_open
from studies.services.entry_limits import watch_enrolment
from studies.services.external_ids import keep_external_ids, known_id, parted
from studies.services.slots import locked_study
from studies.services.tokens import digest_of_declined, digest_of_key, digest_of_token, may_continue, token_for

logger = logging.getLogger(__name__)

SHORTEST_ENTRY_KEY = 20
DECLINED_KEPT_DAYS = 2  # a press again, or a reload; whoever declines anew days later has thought about it anew
MOST_PARAMETERS = 50
LONGEST_PARAMETER = 500
_new_people = Inserted(Participant)
_newest_version = Columns(
    lambda study: StudyVersion.objects.filter(study=study).order_by("-number").values_list("pk")[:1]
)


@dataclass(frozen=True)
class Entry:
    """Who gave consent, and the token of their personal link, which is known here only."""

    participant: Participant
    token: str


def note_opened(*, study: Study, mode: str = Mode.LIVE) -> None:
    """Count a showing of the consent page; nothing of the visitor is kept."""
    if mode == Mode.LIVE:
        Study.objects.filter(pk=study.pk).update(n_opened=F("n_opened") + 1)


@transaction.atomic
def decline(*, study: Study, entry_key: str, mode: str = Mode.LIVE) -> None:
    """Count someone who said no, once for each form; nothing of the person is kept.

    Pressed twice, also at the same instant, the second time changes nothing. A key that is no form's counts nobody.
    """
    if mode != Mode.LIVE or len(entry_key) < SHORTEST_ENTRY_KEY:
        return
    try:
        with transaction.atomic():
            DeclinedForm.objects.create(
                study=study, digest=digest_of_declined(study, entry_key), declined_on=timezone.now().date()
            )
    except IntegrityError:
        return
    Study.objects.filter(pk=study.pk).update(n_declined=F("n_declined") + 1)


def forget_declined(*, now: datetime | None = None) -> int:
    """Delete what tells old forms apart, and count them; the count of those who declined stays."""
    limit = (now or timezone.now()).date() - timedelta(days=DECLINED_KEPT_DAYS)
    return DeclinedForm.objects.filter(declined_on__lt=limit).delete()[0]


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
    browser_key: str = "",
) -> Entry:
    """Make the participant who pressed the consent button; the same entry key gives the same participant.

    `parameters` are the link's query parameters, kept as they came; ids of other sites among them go to a table
    of their own. The key of a personal link enrols one participant, and hands over to the browser of `browser_key`
    alone, which is the consent form's own random key. `consent_version` is
    the number of the text that was shown, where it is known, and `recruiting` how the study recruits, where the
    caller has just read it.

    Raises `study.not_open`, `study.bad_entry_key`, `study.bad_parameters`, `study.consent_changed`, `study.link_used`,
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
    token = token_for(study, entry_key)
    key = digest_of_key(entry_key)
    participant = participant_by_entry(study, key)
    if participant is None:
        recruiting = recruiting or recruiting_of(study)
        said = {name: str(value) for name, value in kept.items()}
        door = door_of(study=study, mode=mode, entry_key=entry_key, parameters=said, recruiting=recruiting)
        if door.link is not None and len(browser_key) < SHORTEST_ENTRY_KEY:
            raise ParallaxError("study.bad_entry_key", _("This page is out of date. Please load it again."))
        participant = _made(
            study, key, token, mode, language, kept, source_user, door, recruiting, consent_version, browser_key
        )
        if mode == Mode.LIVE:
            watch_enrolment(study=study, recruiting=recruiting)
    if not may_continue(participant, browser_key):
        raise ParallaxError("study.link_used", _("This link has been used."))
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
    browser_key: str,
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
            version = next(iter(_newest_version.columns(current.pk)), (None,))[0] if mode != Mode.PREVIEW else None
            agreed = current_consent(current) if mode != Mode.PREVIEW else None
            if agreed is not None and consent_version is not None and consent_version != agreed.number:
                raise ParallaxError(
                    "study.consent_changed",
                    _("This text has been changed since you opened the page. Please read it again."),
                )
            try:
                with transaction.atomic():
                    made = Participant(
                        study=current,
                        version_id=version,
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
                    participant = _new_people.insert(made)
                    keep_external_ids(participant=participant, found=external)
                    if door.link is not None:
                        Interview.objects.filter(link=door.link).update(participant=participant)
                        door.link.browser_digest = digest_of_key(browser_key)
                        door.link.save(update_fields=["browser_digest"])
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
