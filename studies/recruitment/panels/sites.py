"""The panels that are known by name, and other recruiting sites by the parameters that a researcher names."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl, quote, urlsplit

from core.errors import ParameterError
from studies.recruitment.panels.panel import (
    APPROVED,
    AWAITING,
    REJECTED,
    RETURNED,
    SCREENED_OUT,
    TIMED_OUT,
    UNDER_WAY,
    Columns,
    Panel,
)

CODE = "survey_code"  # SONA's parameter
GENERIC = "generic"
LABEL = "participant_label"
RESERVED = frozenset({"as", "lang", "csrfmiddlewaretoken"})  # used by this site
MOST_NAMES = 5
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,80}")
STATES = {
    "active": UNDER_WAY,
    "started": UNDER_WAY,
    "awaiting review": AWAITING,
    "submitted": AWAITING,
    "completed": AWAITING,
    "approved": APPROVED,
    "paid": APPROVED,
    "rejected": REJECTED,
    "returned": RETURNED,
    "timed out": TIMED_OUT,
    "expired": TIMED_OUT,
}


def credit_url(shown: str) -> str:
    """Convert the credit address that SONA shows into a template.

    The template has ``{id}`` for the participant's code; other addresses are unchanged.

    Examples
    --------
    >>> credit_url("https://x.sona-systems.com/webstudy_credit.aspx?experiment_id=9&credit_token=ab&survey_code=XXXX")
    'https://x.sona-systems.com/webstudy_credit.aspx?experiment_id=9&credit_token=ab&survey_code={id}'
    """
    try:
        parts = urlsplit(shown)
    except ValueError:
        return shown
    pairs = parse_qsl(parts.query, keep_blank_values=True)
    if CODE not in dict(pairs):
        return shown
    query = "&".join(
        f"{quote(name, safe='')}={'{id}' if name == CODE else quote(value, safe='{}')}" for name, value in pairs
    )
    return f"{parts.scheme}://{parts.netloc}{parts.path}?{query}"


# Three link parameters, and a completion code in the redirect address.
PROLIFIC = Panel(
    key="prolific",
    name="Prolific",
    person=("PROLIFIC_PID",),
    submission=("SESSION_ID",),
    placeholders={
        "PROLIFIC_PID": "{{%PROLIFIC_PID%}}",
        "STUDY_ID": "{{%STUDY_ID%}}",
        "SESSION_ID": "{{%SESSION_ID%}}",
    },
    exit_url="https://app.prolific.com/submissions/complete?cc={code}",
    has_fixed_codes=True,
    columns=Columns(
        person=("Participant id", "participant_id"),
        submission=("Submission id", "session_id"),
        status=("Status", "status"),
        code=("Completion code", "entered_code"),
    ),
    states={
        "reserved": UNDER_WAY,
        "active": UNDER_WAY,
        "awaiting review": AWAITING,
        "approved": APPROVED,
        "partially approved": APPROVED,
        "rejected": REJECTED,
        "returned": RETURNED,
        "timed out": TIMED_OUT,
        "screened out": SCREENED_OUT,
    },
)
# Worker and assignment parameters, previews, and unique codes to paste.
MTURK = Panel(
    key="mturk",
    name="Mechanical Turk",
    person=("workerId",),
    submission=("assignmentId",),
    preview=("assignmentId", "ASSIGNMENT_ID_NOT_AVAILABLE"),
    columns=Columns(
        person=("WorkerId",),
        submission=("AssignmentId",),
        status=("AssignmentStatus",),
        code=("Answer.surveycode", "Answer.*"),
    ),
    states={
        "assignable": UNDER_WAY,
        "submitted": AWAITING,
        "approved": APPROVED,
        "rejected": REJECTED,
        "returned": RETURNED,
        "abandoned": TIMED_OUT,
        "expired": TIMED_OUT,
    },
)
# A survey code in the link, returned in the address that grants credit.
SONA = Panel(
    key="sona",
    name="SONA",
    person=("id",),
    placeholders={"id": "%SURVEY_CODE%"},
    exit_from=credit_url,
    columns=Columns(
        person=("Survey ID", "Survey Code", "survey_code", "id"),
        status=("Credit Status", "Status"),
    ),
    states={
        "awaiting action": AWAITING,
        "pending": AWAITING,
        "signed up": AWAITING,
        "participated": APPROVED,
        "credit granted": APPROVED,
        "no show": TIMED_OUT,
        "no show excused": TIMED_OUT,
        "excused no show": TIMED_OUT,
        "no show unexcused": REJECTED,
        "unexcused no show": REJECTED,
        "cancelled": RETURNED,
        "canceled": RETURNED,
    },
)
NONE = "none"
# Without a panel, unambiguous parameters of known sites are still recognised.
OPEN = Panel(
    key=NONE,
    name="No panel",
    person=(*PROLIFIC.person, "prolific_pid", *MTURK.person, "worker_id", LABEL, "external_id"),
    preview=MTURK.preview,
)
SITES = (PROLIFIC, MTURK, SONA)
KEYS = (NONE, *(panel.key for panel in SITES), GENERIC)
NAMES = {
    **{panel.key: panel.name for panel in (OPEN, *SITES)},
    GENERIC: "Another site, by its own parameters",
}


def checked_names(names: Sequence[str]) -> tuple[str, ...]:
    """Validate parameter names.

    Unique names, in order. Raises ParameterError when a name is invalid or reserved, or there are too many.
    """
    unique = tuple(dict.fromkeys(names))
    if len(unique) > MOST_NAMES:
        raise ParameterError(f"At most {MOST_NAMES} parameters can identify a participant; got {len(unique)}.")
    for name in unique:
        if not _NAME.fullmatch(name):
            raise ParameterError(f"A parameter has letters, digits and . _ - in its name; got {name!r}.")
        if name in RESERVED:
            raise ParameterError(f"The parameter {name!r} is used by this site; ask the panel for another name.")
    return unique


def panel_with(names: Mapping[str, Any]) -> Panel:
    """Return a panel with the researcher's own parameters.

    ``person`` and ``submission``, both optional, name the parameters that identify them. Raises ParameterError as
    `checked_names` does.

    Examples
    --------
    >>> panel_with({"person": ["pid"]}).identify({"pid": "7"})
    ('pid', '7')
    """
    person = checked_names(list(names.get("person") or ())) or (LABEL,)
    submission = checked_names(list(names.get("submission") or ()))
    return Panel(
        key=GENERIC,
        name="Another site",
        person=person,
        submission=submission,
        placeholders={person[0]: "…"},
        columns=Columns(person, submission, ("status", "Status"), ("code", "Completion code", "completion_code")),
        states=STATES,
    )


def panel_of(key: str, names: Mapping[str, Any] | None = None) -> Panel:
    """Return a panel by key.

    `names` are the researcher's parameters, for the generic panel; see `panel_with`. Raises ParameterError when
    the key is unknown, or a name is invalid.

    Examples
    --------
    >>> panel_of("prolific").identify({"SESSION_ID": "s1"})
    ('SESSION_ID', 's1')
    """
    if key == GENERIC:
        return panel_with(names or {})
    for panel in (OPEN, *SITES):
        if panel.key == key:
            return panel
    raise ParameterError(f"There is no panel {key!r}. The panels are {', '.join(KEYS)}.")
