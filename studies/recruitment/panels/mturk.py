"""Amazon Mechanical Turk: worker and assignment parameters, previews, and unique codes to paste."""

from __future__ import annotations

from studies.recruitment.panels.panel import (
    APPROVED,
    AWAITING,
    REJECTED,
    RETURNED,
    TIMED_OUT,
    UNDER_WAY,
    Columns,
    Panel,
)

PANEL = Panel(
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
