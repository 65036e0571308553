"""Prolific: three link parameters, and a completion code in the redirect address."""

from __future__ import annotations

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

PANEL = Panel(
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
