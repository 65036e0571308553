"""The consent page: shown, declined, or agreed to, which creates the participant."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext as _

from core.database import optional_write
from core.errors import ParallaxError
from core.provenance import digest_of_token
from studies.allocation.services.slots import locked_study
from studies.design.selectors.placeholders import content_of
from studies.design.selectors.versions import current_consent
from studies.enums import VOUCHED, Mode
from studies.models import (
    ConsentVersion,
    DeclinedForm,
    Interview,
    Participant,
    Study,
    StudyVersion,
)
from studies.participation.selectors.participant_rows import participant_by_entry
from studies.participation.services.enrolment import assign_at_consent
from studies.participation.services.entry_gate import (
    Admission,
    EntryAttempt,
    admission_of,
    count_action,
    refuse_unless_open,
)
from studies.participation.services.entry_limits import CONSENT, network_of_slot
from studies.participation.services.previewing import choose_condition
from studies.recruitment.services.external_ids import known_id, split_parameters, store_external_ids
from studies.recruitment.services.tokens import (
    CODE_LENGTH,
    SIGNATURE,
    digest_of_declined,
    digest_of_key,
    may_continue,
    random_code,
    token_for,
)

logger = logging.getLogger(__name__)

SHORTEST_ENTRY_KEY = 20
DECLINED_KEPT_DAYS = 2  # covers a second press or a reload; a refusal days later is a new decision
MOST_PARAMETERS = 50
LONGEST_PARAMETER = 500
MOST_CODES = 20  # attempts at drawing an unused code


@dataclass(frozen=True)
class Entry:
    """The participant who gave consent, and the token of their personal link, which is stored nowhere."""

    participant: Participant
    token: str


def note_opened(*, study: Study, mode: str = Mode.LIVE) -> None:
    """Count a view of the consent page; nothing about the visitor is stored."""
    if mode == Mode.LIVE:
        with optional_write("page opened"):
            # Added by the database: a number that was read before would lose visitors who come at once.
            Study.objects.filter(pk=study.pk).update(n_opened=F("n_opened") + 1)


@transaction.atomic
def decline(*, study: Study, entry_key: str, mode: str = Mode.LIVE) -> None:
    """Count a visitor who declined, once for each form; nothing about the person is stored.

    A second press, also at the same instant, changes nothing. A key that belongs to no form is not counted.
    """
    if mode != Mode.LIVE or len(entry_key) < SHORTEST_ENTRY_KEY:
        return
    try:
        # A savepoint, so that the violated constraint does not end the transaction around it.
        with transaction.atomic():
            DeclinedForm.objects.create(
                study=study, digest=digest_of_declined(study, entry_key), declined_on=timezone.now().date()
            )
    # The constraint is what counts a form once, also for two presses at the same instant.
    except IntegrityError:
        return
    Study.objects.filter(pk=study.pk).update(n_declined=F("n_declined") + 1)


def forget_declined(*, now: datetime | None = None) -> int:
    """Delete the digests of old forms, and return their number; the count of those who declined stays."""
    limit = (now or timezone.now()).date() - timedelta(days=DECLINED_KEPT_DAYS)
    return DeclinedForm.objects.filter(declined_on__lt=limit).delete()[0]


@transaction.atomic
def consent(attempt: EntryAttempt) -> Entry:
    """Create the participant who pressed the consent button; the same entry key leads to the same participant.

    The link's query parameters are stored as they came, ids of other sites among them in a table of their own.

    Raises `study.not_open`, `study.bad_entry_key`, `study.bad_parameters`, `study.consent_changed`, what
    `entry_gate.entered_participant` and `entry_gate.admission_of` raise.
    """
    _require_sound(attempt)
    study, token = attempt.study, token_for(attempt.study, attempt.entry_key)
    # Looked up first: who has consented gets back in, whatever has become of the study's limits since.
    participant = participant_by_entry(study, digest_of_key(attempt.entry_key))
    if participant is None:
        admission = admission_of(attempt)
        if attempt.network and admission.entrance not in VOUCHED:
            count_action(attempt, CONSENT)
        participant = _create(attempt, admission, token)
    # Checked after the creation too, because a concurrent request may have created them for another browser.
    if not may_continue(participant, attempt.browser_key):
        raise ParallaxError("study.link_used", _("This link has been used."))
    if participant.token_digest != digest_of_token(token):
        # The installation's secret changed between two submissions: the newer link is valid.
        Participant.objects.filter(pk=participant.pk).update(token_digest=digest_of_token(token))
        participant.token_digest = digest_of_token(token)
    if attempt.mode == Mode.PREVIEW and attempt.ticket is not None:
        choose_condition(participant=participant, ticket=attempt.ticket)
    if content_of(study).flow.assigns_at_consent:
        assign_at_consent(participant)
    return Entry(participant, token)


def _require_sound(attempt: EntryAttempt) -> None:
    if len(attempt.entry_key) < SHORTEST_ENTRY_KEY:
        raise _outdated()
    pairs = [(str(name), str(value)) for name, value in attempt.parameters.items()]
    longest = max((len(text) for pair in pairs for text in pair), default=0)
    if len(pairs) > MOST_PARAMETERS or longest > LONGEST_PARAMETER:
        raise ParallaxError("study.bad_parameters", _("The link to this study is too long to be valid."))
    if any("\x00" in text for pair in pairs for text in pair):  # PostgreSQL stores no NUL
        raise ParallaxError(
            "study.bad_parameters", _("The link to this study is damaged. Please open it as it was sent to you.")
        )


def _outdated() -> ParallaxError:
    return ParallaxError("study.bad_entry_key", _("This page is out of date. Please reload it."))


def _create(attempt: EntryAttempt, admission: Admission, token: str) -> Participant:
    if admission.link is not None and len(attempt.browser_key) < SHORTEST_ENTRY_KEY:
        raise _outdated()
    panel, key = attempt.recruiting.panel, digest_of_key(attempt.entry_key)
    external, parameters = split_parameters(attempt.parameters, panel)
    if attempt.recruiting.signing_key:
        parameters.pop(SIGNATURE, None)  # it would reveal the id in exports without ids
    # Two visitors with one id wait for each other, and all do where they are assigned; the others need not.
    has_id = attempt.mode == Mode.LIVE and panel.identify(external) is not None
    assigns = content_of(attempt.study).flow.assigns_at_consent
    study = locked_study(attempt.study.pk) if has_id or assigns else Study.objects.get(pk=attempt.study.pk)
    refuse_unless_open(study, attempt.mode)
    is_known = has_id and known_id(study=study, panel=panel, parameters=external) is not None
    if is_known and not Participant.objects.filter(study=study, entry_key=key).exists():
        raise ParallaxError("study.known_id", _("You are already taking part in this study."))
    is_preview = attempt.mode == Mode.PREVIEW
    newest = StudyVersion.objects.filter(study=study).order_by("-number").values_list("pk", flat=True).first()
    participant = Participant(
        study=study,
        version_id=None if is_preview else newest,
        token_digest=digest_of_token(token),
        entry_key=key,
        mode=attempt.mode,
        entrance=admission.entrance,
        network=network_of_slot(study, attempt.mode, admission.entrance, attempt.network),
        step=content_of(study).flow.keys[0],
        language=attempt.language,
        consent_version=None if is_preview else _agreed_version(study, attempt.consent_version),
        consent_language=attempt.language,
        parameters=parameters,
        source_user=attempt.source_user,
    )
    for _attempt in range(MOST_CODES):
        participant.code = random_code(CODE_LENGTH)
        participant.consented_at = participant.last_seen_at = timezone.now()
        try:
            with transaction.atomic():
                participant.save(force_insert=True)
                store_external_ids(participant=participant, ids=external)
                if admission.link is not None:
                    Interview.objects.filter(link=admission.link).update(participant=participant)
                    admission.link.browser_digest = digest_of_key(attempt.browser_key)  # the only browser to continue
                    admission.link.save(update_fields=["browser_digest"])
        except IntegrityError:
            # Concurrent submissions, or a duplicate code.
            participant.pk = None
            # The winner of two submissions of one form; without one it was the code that was taken, and another is
            # drawn.
            existing = Participant.objects.filter(study=study, entry_key=key).first()
            if existing is not None:
                return existing
        else:
            logger.info("consent study=%s participant=%s mode=%s", study.slug, participant.code, attempt.mode)
            return participant
    raise ParallaxError("study.no_code", _("We could not register you just now. Please try again."))


def _agreed_version(study: Study, shown: int | None) -> ConsentVersion | None:
    current = current_consent(study)
    # Consent holds for the text that was read, so a newer one has to be shown before it counts.
    if current is not None and shown is not None and shown != current.number:
        raise ParallaxError(
            "study.consent_changed",
            _("This text has been changed since you opened the page. Please read it again."),
        )
    return current
