"""States, roles and kinds of the rows of a study, and which state may become which."""

from __future__ import annotations

from django.db.models import TextChoices


class StudyStatus(TextChoices):
    """Status of a study."""

    DRAFT = "draft"
    LIVE = "live"
    PAUSED = "paused"
    CLOSED = "closed"


STUDY_MOVES: dict[str, frozenset[str]] = {
    StudyStatus.DRAFT: frozenset({StudyStatus.LIVE}),
    StudyStatus.LIVE: frozenset({StudyStatus.PAUSED, StudyStatus.CLOSED}),
    StudyStatus.PAUSED: frozenset({StudyStatus.LIVE, StudyStatus.CLOSED}),
    StudyStatus.CLOSED: frozenset({StudyStatus.LIVE}),  # a second wave
}


class ParticipantStatus(TextChoices):
    """Status of a participant.

    CONSENTED: gave consent, not yet assigned. ACTIVE: has a slot. ABANDONED: idle beyond the limit; the slot was
    released. RETURNED: gave a panel's submission back. STARTED is reserved for entries before consent.
    """

    STARTED = "started"
    CONSENTED = "consented"
    ACTIVE = "active"
    COMPLETED = "completed"
    ABANDONED = "abandoned"
    SCREENED_OUT = "screened_out"
    QUOTA_FULL = "quota_full"
    ATTENTION_FAILED = "attention_failed"
    RETURNED = "returned"
    WITHDRAWN = "withdrawn"


_S = ParticipantStatus
PARTICIPANT_MOVES: dict[str, frozenset[str]] = {
    _S.STARTED: frozenset({_S.CONSENTED, _S.WITHDRAWN}),
    _S.CONSENTED: frozenset(
        {
            _S.ACTIVE,
            _S.SCREENED_OUT,
            _S.QUOTA_FULL,
            _S.ATTENTION_FAILED,
            _S.ABANDONED,
            _S.RETURNED,
            _S.WITHDRAWN,
        }
    ),
    _S.ACTIVE: frozenset({_S.COMPLETED, _S.ABANDONED, _S.ATTENTION_FAILED, _S.RETURNED, _S.WITHDRAWN}),
    _S.ABANDONED: frozenset({_S.CONSENTED, _S.ACTIVE, _S.QUOTA_FULL, _S.RETURNED, _S.WITHDRAWN}),
    _S.COMPLETED: frozenset({_S.WITHDRAWN}),
    _S.SCREENED_OUT: frozenset({_S.WITHDRAWN}),
    _S.QUOTA_FULL: frozenset({_S.WITHDRAWN}),
    _S.ATTENTION_FAILED: frozenset({_S.WITHDRAWN}),
    _S.RETURNED: frozenset({_S.WITHDRAWN}),
}
# The states with a slot, unless the plan excluded the participant and their slot was opened again.
HOLDS_SLOT = frozenset({_S.ACTIVE, _S.COMPLETED})


class Mode(TextChoices):
    """Origin of a participant's data; counts, exports and reports never mix modes."""

    LIVE = "live"
    SIMULATED = "simulated"
    PREVIEW = "preview"


class Entrance(TextChoices):
    """How a participant entered the study."""

    OPEN = "open", "Open link"
    PERSONAL = "personal", "Personal link"
    GUEST = "guest", "Guest list"
    SIGNED = "signed", "Signed link"
    INTERVIEW = "interview", "Interviewer"
    PANEL_ID = "panel_id", "Panel id"


# Entrances by individual invitation: limits by network do not apply to them.
VOUCHED = frozenset({Entrance.PERSONAL, Entrance.GUEST, Entrance.SIGNED, Entrance.INTERVIEW})


class Role(TextChoices):
    """A researcher's role in a study."""

    OWNER = "owner"
    ANALYST = "analyst"
    INTERVIEWER = "interviewer"


READERS = frozenset({Role.OWNER, Role.ANALYST})  # of all that a study holds


class Provenance(TextChoices):
    """Source of an answer: a person, a reserved user's own ratings, or the answer model."""

    PERSON = "person"
    TRUE = "true"
    MODELLED = "modelled"


class NoticeKind(TextChoices):
    """Kinds of notices to a study's owners."""

    FIRST_PARTICIPANT = "first_participant", "First participant"
    TARGET_REACHED = "target_reached", "Target reached"
    STUDY_FULL = "study_full", "Study full"
    FLAG = "flag", "Quality flag"
    FAULT = "fault", "Fault"
    RETENTION = "retention", "Retention date"
    ENROLMENT_RATE = "enrolment_rate", "Unusual enrolment rate"
    ADMINISTRATION = "administration", "Change by an administrator"


class NoticeMail(TextChoices):
    """When notices are e-mailed to an owner; the console always lists all of them."""

    AT_ONCE = "at_once", "At once"
    DAILY = "daily", "Once a day"
    NEVER = "never", "Never"


class AllocationKind(TextChoices):
    """Kinds of entries in the allocation log."""

    ASSIGNED = "assigned"
    SKIPPED = "skipped"
    RELEASED = "released"
    RETAKEN = "retaken"
