"""The entry gate of a study: whether it admits anyone, entry attempts, entrances, and admission."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from django.utils import timezone
from django.utils.translation import gettext as _

from core.errors import ParallaxError
from studies.allocation.selectors.allocations import arms_of, slots_held, targets
from studies.enums import Entrance, Mode, ParticipantStatus, StudyStatus
from studies.models import ExternalId, Guest, Interview, Participant, PersonalLink, Study
from studies.participation.selectors.participant_rows import participant_by_entry
from studies.participation.services.entry_limits import refuse_if_too_often
from studies.participation.services.slot_queue import has_excess_queue
from studies.recruitment.selectors.recruitment import RecruitmentSettings, recruiting_of
from studies.recruitment.services.external_ids import has_taken_part, known_id
from studies.recruitment.services.tokens import SIGNATURE, digest_of_key, is_signed, may_continue

MAY_TRY: dict[str, tuple[StudyStatus, ...]] = {
    Mode.PREVIEW: (StudyStatus.DRAFT, StudyStatus.PAUSED),
    Mode.SIMULATED: (StudyStatus.DRAFT,),
}


def is_trial(study: Study, mode: str) -> bool:
    """Whether participants of that mode may enter a study that is otherwise not open."""
    return study.archived_at is None and study.status in MAY_TRY.get(mode, ())


def is_participating(participant: Participant) -> bool:
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
    """Whether every arm has reached its target in that mode, and no slot is about to yield to a newcomer."""
    arms = arms_of(study)
    counts = slots_held(study, mode)
    # No target is no limit: such an arm always has room.
    is_taken = all(
        target is not None and counts.get(arm.pk, 0) >= target
        for arm, target in zip(arms, targets(study, arms, mode), strict=True)
    )
    return is_taken and (mode != Mode.LIVE or has_excess_queue(study, timezone.now()))


def refuse_unless_room(*, study: Study, mode: str) -> None:
    """Raise `study.not_open` or `study.full`; checked before the consent text is shown."""
    refuse_unless_open(study, mode)
    if is_full(study, mode):
        raise ParallaxError("study.full", _("This study has reached the number of participants it needs."))


@dataclass(frozen=True, kw_only=True)
class EntryAttempt:
    """A visitor before consent, as identified by link, consent form and browser.

    `entry_key` is the form's own random key or, where the link `is_individual`, the key of a link that enrols one
    participant and hands over to the browser with the random `browser_key` alone. `parameters` are the link's query
    parameters. `consent_version` is the number of the text that was shown, where it is known, and `ticket` the
    condition that a preview is to meet. Without a `network` the number of consents is not limited.
    """

    study: Study
    entry_key: str
    mode: str = Mode.LIVE
    language: str = "en"
    parameters: Mapping[str, str] = field(default_factory=dict)
    source_user: str = ""
    consent_version: int | None = None
    browser_key: str = ""
    network: str = ""
    is_individual: bool = False
    ticket: int | None = None

    @cached_property
    def recruiting(self) -> RecruitmentSettings:
        return recruiting_of(self.study)

    @property
    def is_looking(self) -> bool:
        """Whether they preview a panel's task without having accepted it."""
        return self.mode == Mode.LIVE and self.recruiting.panel.is_preview(self.parameters)

    @property
    def is_signed(self) -> bool:
        return is_signed(self.recruiting.panel, self.recruiting.signing_key, self.parameters)


def count_action(attempt: EntryAttempt, action: str) -> None:
    """Count an action of a visitor, and raise NetworkLimitReached if their network exceeds the study's limit."""
    recruiting = attempt.recruiting
    study_id, network, mode = attempt.study.pk, attempt.network, attempt.mode
    refuse_if_too_often(study_id=study_id, action=action, network=network, mode=mode, recruiting=recruiting)


def entered_participant(attempt: EntryAttempt) -> Participant | None:
    """The participant identified by the visitor's key; None for a newcomer.

    Raises `study.link_used` where a personal link has handed over to another browser, and `study.known_id` where
    a participant has the same id of another site.
    """
    study, recruiting = attempt.study, attempt.recruiting
    entered = participant_by_entry(study, digest_of_key(attempt.entry_key)) if attempt.entry_key else None
    if entered is not None and may_continue(entered, attempt.browser_key):
        return entered
    is_live = attempt.mode == Mode.LIVE
    known = known_id(study=study, panel=recruiting.panel, parameters=attempt.parameters) if is_live else None
    # Who entered by a signed link may not be recognised by the bare id, which anyone can type.
    if known is not None and known.participant.entrance == Entrance.SIGNED and not attempt.is_signed:
        raise _damaged()
    # Known by id before known by key: who has lost the first browser is told that they take part already.
    if known is not None and (entered is None or known.participant_id == entered.pk):
        raise ParallaxError("study.known_id", _("You are already taking part in this study."))
    if entered is not None:
        raise ParallaxError("study.link_used", _("This link has been used."))
    return None


def require_admission(attempt: EntryAttempt) -> None:
    """Raise unless a newcomer may enter now: what `admission_of` and `refuse_unless_room` raise.

    Visitors previewing a panel's task may see the consent text.
    """
    if not attempt.is_looking:
        admission_of(attempt)
    refuse_unless_room(study=attempt.study, mode=attempt.mode)


@dataclass(frozen=True)
class Admission:
    """An entrance, with the personal link if it is one."""

    entrance: str
    link: PersonalLink | None = None


def is_personal(*, study: Study, entry_key: str) -> bool:
    """Whether the key is that of a personal link of the study."""
    return PersonalLink.objects.filter(study=study, digest=digest_of_key(entry_key)).exists()


def admission_of(attempt: EntryAttempt) -> Admission:
    """The entrance that a newcomer uses. The lookup has no side effects.

    Raises `study.took_part_before`, `study.closed_link`, `study.by_invitation`, `study.not_a_guest`,
    `study.bad_signature`, `study.no_panel_id`, `study.only_looking`.
    """
    if attempt.mode != Mode.LIVE:
        return Admission(Entrance.OPEN)
    if attempt.is_looking:
        raise ParallaxError("study.only_looking", _("You are previewing this task. Accept it to take part."))
    study, recruiting = attempt.study, attempt.recruiting
    if recruiting.excluded_studies and has_taken_part(
        studies=recruiting.excluded_studies, panel=recruiting.panel, parameters=attempt.parameters
    ):
        raise ParallaxError(
            "study.took_part_before",
            _("You took part in an earlier study of this research. This study is for people who have not."),
        )
    # Personal links are stored as digests, like participants' tokens.
    digest = digest_of_key(attempt.entry_key)
    link = PersonalLink.objects.filter(study=study, digest=digest).first() if attempt.entry_key else None
    if link is not None:
        if link.closed_at is not None and not Participant.objects.filter(study=study, entry_key=digest).exists():
            raise ParallaxError("study.closed_link", _("This link is no longer open. Please ask for a new one."))
        is_interview = Interview.objects.filter(link=link).exists()
        return Admission(Entrance.INTERVIEW if is_interview else Entrance.PERSONAL, link)
    if recruiting.entrance == Entrance.PERSONAL:
        raise ParallaxError(
            "study.by_invitation",
            _("Each participant enters this study by a personal link. Please open the one that was sent to you."),
        )
    if recruiting.entrance == Entrance.GUEST:
        if not _is_guest(study, recruiting.panel.identify(attempt.parameters)):
            raise _not_invited()
        return Admission(Entrance.GUEST)
    if attempt.is_signed:
        return Admission(Entrance.SIGNED)
    if recruiting.signing_key and attempt.parameters.get(SIGNATURE):
        raise _damaged()
    if recruiting.entrance == Entrance.SIGNED:
        raise _not_invited()
    if recruiting.entrance == Entrance.PANEL_ID:
        if recruiting.panel.identify(attempt.parameters) is None:
            raise ParallaxError(
                "study.no_panel_id",
                _("Each participant enters this study once, from the site that invited them. Please open it there."),
            )
        return Admission(Entrance.PANEL_ID)
    return Admission(Entrance.OPEN)


def _is_guest(study: Study, known: tuple[str, str] | None) -> bool:
    # A guest who has entered by one parameter of the link may not enter again by another.
    if known is None or not Guest.objects.filter(study=study, value=known[1]).exists():
        return False
    entered = ExternalId.objects.filter(study=study, value=known[1], participant__entrance=Entrance.GUEST)
    return not entered.exclude(name=known[0]).exists()


def _not_invited() -> ParallaxError:
    return ParallaxError(
        "study.not_a_guest",
        _("This study is for invited people. Please open the link as it was sent to you, or ask who sent it."),
    )


def _damaged() -> ParallaxError:
    return ParallaxError(
        "study.bad_signature", _("The link to this study is damaged. Please open it as it was sent to you.")
    )
