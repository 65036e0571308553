"""Whom to approve on the panel: each submission beside what this study knows of the participant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from studies.enums import Mode, ParticipantStatus
from studies.models import Exclusion, ExternalId, Study, Submission
from studies.recruiting import panel as words
from studies.recruiting.exits import COMPLETE, NO_CODE, OUTCOMES, STATIC
from studies.selectors.completeness import why_incomplete
from studies.selectors.quality import excluded
from studies.selectors.recruiting import HowRecruited, recruiting_of
from studies.selectors.responses import Record, records

APPROVE = "Approve"
LOOK = "Look"
NOTHING = "Nothing to do"
NO_CODES = frozenset({"", "nocode", "no code", "none", "{}"})  # as panels write that no code was given


@dataclass(frozen=True)
class Approval:
    """One submission, or somebody who completed and is in no list yet, with what to do and why."""

    person: str
    submission: str
    told: str
    participant: str
    status: str
    is_complete: bool
    code_given: str
    code_expected: str
    verdict: str
    reason: str

    @property
    def is_code_right(self) -> bool:
        """Whether the code given is the one that the participant was shown."""
        return bool(self.code_expected) and self.code_given == self.code_expected


def _expected(recruiting: HowRecruited, record: Record) -> str:
    status = record.participant.status
    outcome = COMPLETE if status == ParticipantStatus.COMPLETED else status
    if outcome not in OUTCOMES or recruiting.exits[outcome].code == NO_CODE:
        return ""
    exit_ = recruiting.exits[outcome]
    return exit_.static_code if exit_.code == STATIC else record.participant.completion_code


def _judged(
    state: str, record: Record | None, lacking: str | None, given: str, expected: str, out: str | None
) -> tuple[str, str]:
    """What to do about a submission, and why."""
    if record is None:
        return (NOTHING, "") if state in words.GIVEN_BACK else (LOOK, "Nobody in this study has this id.")
    participant = record.participant
    is_done = participant.status == ParticipantStatus.COMPLETED
    if state in words.GIVEN_BACK:
        return (LOOK, "Given back on the panel, and completed here.") if is_done else (NOTHING, "The place is free.")
    if state == words.APPROVED:
        return (NOTHING, "") if is_done else (LOOK, f"Approved, and here {participant.get_status_display().lower()}.")
    if state in (words.REJECTED, words.SCREENED_OUT):
        return NOTHING, ""
    if not is_done:
        return LOOK, lacking or ""
    if lacking:
        return LOOK, lacking
    if out is not None:
        return LOOK, f"Excluded from analyses: {out}"
    if given.lower() in NO_CODES:
        return APPROVE, "Gave no code; the data are complete." if expected else ""
    if expected and given != expected:
        return LOOK, "Gave another code than the one shown here."
    return APPROVE, ""


def approvals_of(study: Study) -> list[Approval]:
    """Every submission of the lists loaded, in their order, then those who completed and are in none."""
    recruiting = recruiting_of(study)
    found = {record.participant.pk: record for record in records(study, [Mode.LIVE])}
    out = excluded(study, [Mode.LIVE])
    lines, listed = [], set()
    for row in Submission.objects.filter(study=study).order_by("pk"):
        record = found.get(row.participant_id) if row.participant_id else None
        if record is not None:
            listed.add(record.participant.pk)
        lines.append(_line(study, recruiting, record, out, row.person, row.submission, row.state, row.told, row.code))
    names = ExternalId.objects.filter(study=study, name__in=recruiting.panel.person).order_by("participant_id")
    for participant, person in names.values_list("participant_id", "value"):
        record = found.get(participant)
        if record and participant not in listed and record.participant.status == ParticipantStatus.COMPLETED:
            listed.add(participant)
            line = _line(study, recruiting, record, out, person, "", words.AWAITING, "in no list yet", "")
            reason = "Completed here, and in no list loaded yet." if line.verdict == APPROVE else line.reason
            lines.append(replace(line, reason=reason))
    return lines


def _line(
    study: Study,
    recruiting: HowRecruited,
    record: Record | None,
    out: Mapping[int, Exclusion],
    person: str,
    submission: str,
    state: str,
    told: str,
    given: str,
) -> Approval:
    lacking = why_incomplete(study, record) if record else None
    expected = _expected(recruiting, record) if record else ""
    exclusion = out.get(record.participant.pk) if record else None
    why = None if exclusion is None else exclusion.reason
    verdict, reason = _judged(state, record, lacking, given, expected, why)
    return Approval(
        person=person,
        submission=submission,
        told=told or state.replace("_", " "),
        participant=record.participant.code if record else "",
        status=str(record.participant.get_status_display()) if record else "",
        is_complete=record is not None and lacking is None,
        code_given=given,
        code_expected=expected,
        verdict=verdict,
        reason=reason,
    )
