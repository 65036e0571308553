"""Import of a panel's list of submissions: stores their states and releases the slots of returned ones."""

from __future__ import annotations

import logging
from dataclasses import asdict, dataclass
from typing import Any

from django.db import transaction
from django.utils import timezone

from core.errors import ParallaxError
from core.transitions import record
from studies.allocation.services.slots import end_participation, locked_study
from studies.enums import PARTICIPANT_MOVES, Mode, ParticipantStatus
from studies.models import ExternalId, Participant, Study, Submission
from studies.recruitment.panels import submissions as lists
from studies.recruitment.panels.panel import GIVEN_BACK, Columns, Panel
from studies.recruitment.panels.sites import STATES
from studies.recruitment.selectors.recruitment import recruiting_of

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class ImportSummary:
    """Summary of an import: submissions read, new and changed, slots released, and unknown ids."""

    n_read: int
    n_new: int
    n_changed: int
    n_returned: int
    n_unknown: int


def columns_of(panel: Panel, **names: str) -> Columns:
    """Return the columns of a panel's list; the researcher's names take precedence."""
    own = panel.columns
    return Columns(
        **{
            name: ((column,) if (column := names.get(name, "").strip()) else getattr(own, name))
            for name in ("person", "submission", "status", "code")
        }
    )


@transaction.atomic
def load_submissions(*, study: Study, data: bytes, columns: Columns | None = None, actor: Any = None) -> ImportSummary:
    """Import a panel's list, completely or not at all; idempotent.

    Participants whose submissions were all returned or timed out lose their slot, unless they have already ended.
    Raises `submissions.bad_file` with every problem in `extra["problems"]`, and `submissions.no_columns` if neither
    the panel nor the researcher names the columns.
    """
    locked_study(study.pk)
    panel = recruiting_of(study).panel
    expected = columns or panel.columns
    if not expected.person:
        raise ParallaxError(
            "submissions.no_columns", "Say which column has the participants' ids: the study has no panel that would."
        )
    rows, problems = lists.read_submissions(data, expected, panel.states or STATES)
    if problems:
        count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
        raise ParallaxError(
            "submissions.bad_file",
            f"The file was not imported. It has {count}. Correct the file and import it again.",
            {"problems": [asdict(problem) for problem in problems]},
        )
    known = _participants(study, panel)
    before = {row.key: row for row in Submission.objects.filter(study=study)}
    n_new = n_changed = n_unknown = 0
    for row in rows:
        participant_id = known.get(("person", row.person)) or known.get(("submission", row.submission))
        n_unknown += participant_id is None
        values: dict[str, Any] = {
            **{name: getattr(row, name) for name in ("person", "submission", "state", "code")},
            "participant_id": participant_id,
            "panel_status": row.panel_status,
        }
        stored = before.get(row.key)
        if stored is None:
            Submission.objects.create(study=study, key=row.key, loaded_at=timezone.now(), **values)
            n_new += 1
        elif any(getattr(stored, name) != value for name, value in values.items()):
            Submission.objects.filter(pk=stored.pk).update(loaded_at=timezone.now(), **values)
            n_changed += 1
    n_returned = _release_slots(study, panel, actor)
    if n_new or n_changed or n_returned:
        summary = f"{len(rows):,} read, {n_new:,} new, {n_changed:,} changed, {n_returned:,} slots released"
        record(study, reason=f"Submissions imported: {summary}.", actor=actor, n=len(rows))
        logger.info("submissions study=%s read=%s returned=%s", study.slug, len(rows), n_returned)
    return ImportSummary(len(rows), n_new, n_changed, n_returned, n_unknown)


def _participants(study: Study, panel: Panel) -> dict[tuple[str, str], int]:
    participants: dict[tuple[str, str], int] = {}
    rows = ExternalId.objects.filter(study=study, participant__mode=Mode.LIVE, name__in=panel.ids).order_by("-pk")
    for name, value, participant in rows.values_list("name", "value", "participant_id"):
        participants["person" if name in panel.person else "submission", value] = participant
    return participants


def _release_slots(study: Study, panel: Panel, actor: Any) -> int:
    states: dict[int, list[tuple[str, str]]] = {}
    rows = Submission.objects.filter(study=study, participant__isnull=False).order_by("pk")
    for participant, state, label in rows.values_list("participant_id", "state", "panel_status"):
        states.setdefault(participant, []).append((state, label))
    returned = {
        pk: history[-1][1] for pk, history in states.items() if all(state in GIVEN_BACK for state, _label in history)
    }
    may_return = [status for status, moves in PARTICIPANT_MOVES.items() if ParticipantStatus.RETURNED in moves]
    people = list(Participant.objects.filter(pk__in=returned, status__in=may_return).order_by("pk"))
    for person in people:
        reason = f"{panel.name} reports the submission as {returned[person.pk].lower()}."
        return_participant(participant=person, reason=reason, actor=actor)
    return len(people)


@transaction.atomic
def return_participant(*, participant: Participant, reason: str, actor: Any = None) -> Participant:
    """Mark a participant as returned and release their slot; their data are kept and marked.

    Idempotent. Raises `studies.not_returned` for participants who have already ended: completers keep their slot, and
    the researcher decides about their data.
    """
    locked_study(participant.study_id)
    current = (
        Participant.objects.select_for_update(of=("self",)).select_related("condition", "study").get(pk=participant.pk)
    )
    if current.status == ParticipantStatus.RETURNED:
        return current
    end_participation(participant=current, to=ParticipantStatus.RETURNED, reason=reason, actor=actor)
    participant.status = current.status
    logger.info("returned study=%s participant=%s", current.study.slug, current.code)
    return current
