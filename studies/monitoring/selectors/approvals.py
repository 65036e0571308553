"""Approvals on the panel: each submission with this study's record of the participant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from studies.enums import Mode, ParticipantStatus
from studies.models import Exclusion, ExternalId, Study, Submission
from studies.monitoring.selectors.exclusions import why_incomplete
from studies.monitoring.selectors.quality import excluded
from studies.participation.selectors.responses import Record, records
from studies.recruitment.panels import panel as words
from studies.recruitment.panels.exits import COMPLETE, NO_CODE, OUTCOMES, STATIC
from studies.recruitment.selectors.recruitment import RecruitmentSettings, recruiting_of

APPROVE = "Approve"
LOOK = "Look"
NOTHING = "Nothing to do"
NO_CODES = frozenset({"", "nocode", "no code", "none", "{}"})  # as panels write that no code was given


@dataclass(frozen=True)
class Approval:
    """One submission, or a completer who is in no list yet, with the recommended action and its reason."""

    # The columns of the file of approvals, in this order
    person: str
    submission: str
    panel_state: str
    participant: str
    status: str
    is_complete: bool
    code_given: str
    code_expected: str
    is_code_right: bool
    verdict: str
    reason: str


def _expected(recruiting: RecruitmentSettings, record: Record) -> str:
    status = record.participant.status
    outcome = COMPLETE if status == ParticipantStatus.COMPLETED else status
    if outcome not in OUTCOMES or recruiting.exits[outcome].code == NO_CODE:
        return ""
    exit_ = recruiting.exits[outcome]
    return exit_.static_code if exit_.code == STATIC else record.participant.completion_code


def _judged(
    row: Submission, record: Record | None, lacking: str | None, expected: str, out: Exclusion | None
) -> tuple[str, str]:
    state = row.state
    if record is None:
        return (NOTHING, "") if state in words.GIVEN_BACK else (LOOK, "No participant of this study has this id.")
    participant = record.participant
    is_done = participant.status == ParticipantStatus.COMPLETED
    if state in words.GIVEN_BACK:
        return (LOOK, "Returned on the panel, and completed here.") if is_done else (NOTHING, "The place is free.")
    if state == words.APPROVED:
        return (NOTHING, "") if is_done else (LOOK, f"Approved, and here {participant.get_status_display().lower()}.")
    if state in (words.REJECTED, words.SCREENED_OUT):
        return NOTHING, ""
    if not is_done:
        return LOOK, lacking or ""
    if lacking:
        return LOOK, lacking
    if out is not None:
        return LOOK, f"Excluded from analyses: {out.reason}"
    if row.code.lower() in NO_CODES:
        return APPROVE, "Gave no code; the data are complete." if expected else ""
    if expected and row.code != expected:
        return LOOK, "Gave another code than the one shown here."
    return APPROVE, ""


def approvals_of(study: Study) -> list[Approval]:
    """Every submission of the loaded lists, in order, then completers who are in none."""
    recruiting = recruiting_of(study)
    by_participant = {record.participant.pk: record for record in records(study, [Mode.LIVE])}
    out = excluded(study, [Mode.LIVE])
    lines, listed = [], set()
    for row in Submission.objects.filter(study=study).order_by("pk"):
        record = by_participant.get(row.participant_id) if row.participant_id else None
        listed.add(row.participant_id)
        lines.append(_line(study, recruiting, record, out, row))
    names = ExternalId.objects.filter(study=study, name__in=recruiting.panel.person).order_by("participant_id")
    for participant, person in names.values_list("participant_id", "value"):
        record = by_participant.get(participant)
        if record and participant not in listed and record.participant.status == ParticipantStatus.COMPLETED:
            listed.add(participant)
            unlisted = Submission(person=person, state=words.AWAITING, panel_status="in no list yet")
            line = _line(study, recruiting, record, out, unlisted)
            reason = "Completed here, and in no list loaded yet." if line.verdict == APPROVE else line.reason
            lines.append(replace(line, reason=reason))
    return lines


def _line(
    study: Study, recruiting: RecruitmentSettings, record: Record | None, out: Mapping[int, Exclusion], row: Submission
) -> Approval:
    lacking = why_incomplete(study, record) if record else None
    expected = _expected(recruiting, record) if record else ""
    exclusion = out.get(record.participant.pk) if record else None
    verdict, reason = _judged(row, record, lacking, expected, exclusion)
    return Approval(
        person=row.person,
        submission=row.submission,
        panel_state=row.panel_status or row.state.replace("_", " "),
        participant=record.participant.code if record else "",
        status=str(record.participant.get_status_display()) if record else "",
        is_complete=record is not None and lacking is None,
        code_given=row.code,
        code_expected=expected,
        is_code_right=bool(expected) and row.code == expected,
        verdict=verdict,
        reason=reason,
    )
