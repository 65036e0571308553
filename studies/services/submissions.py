"""A panel's list of submissions, loaded back: what it says is kept, and places given back are free again."""

from __future__ import annotations

import logging
from dataclasses import asdict, dataclass
from typing import Any

from django.db import transaction
from django.utils import timezone

from core.errors import ParallaxError
from core.transitions import record
from studies.enums import PARTICIPANT_MOVES, Mode, ParticipantStatus
from studies.models import ExternalId, Participant, Study, Submission
from studies.recruiting import submissions as lists
from studies.recruiting.generic import STATES
from studies.recruiting.panel import GIVEN_BACK, Columns, Panel
from studies.selectors.recruiting import recruiting_of
from studies.services.returns import return_participant
from studies.services.slots import locked_study

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Loaded:
    """What a list changed: submissions in it, new ones, changed ones, places freed, and ids that nobody here has."""

    n_read: int
    n_new: int
    n_changed: int
    n_returned: int
    n_unknown: int


def columns_of(panel: Panel, **named: str) -> Columns:
    """The columns of a panel's list, those first that the researcher named."""
    own = panel.columns
    return Columns(
        **{
            name: ((given,) if (given := named.get(name, "").strip()) else getattr(own, name))
            for name in ("person", "submission", "status", "code")
        }
    )


@transaction.atomic
def load_submissions(*, study: Study, data: bytes, columns: Columns | None = None, actor: Any = None) -> Loaded:
    """Take in a panel's list, whole or not at all; loaded twice, the second time changes nothing.

    Somebody whose every submission was returned or timed out gives their slot back, unless their part here has
    ended. Raises `submissions.bad_file` with every problem in `extra["problems"]`, and `submissions.no_columns`
    where no panel says how its columns are called and nobody named them.
    """
    locked_study(study.pk)
    panel = recruiting_of(study).panel
    wanted = columns or panel.columns
    if not wanted.person:
        raise ParallaxError(
            "submissions.no_columns", "Say which column has the participants' ids: the study has no panel that would."
        )
    rows, problems = lists.read_submissions(data, wanted, panel.states or STATES)
    if problems:
        told = "One thing is" if len(problems) == 1 else f"{len(problems)} things are"
        raise ParallaxError(
            "submissions.bad_file",
            f"Nothing of this file was taken in. {told} wrong with it; mend the file and load it again.",
            {"problems": [asdict(problem) for problem in problems]},
        )
    known = _participants(study, panel)
    before = {row.key: row for row in Submission.objects.filter(study=study)}
    n_new = n_changed = n_unknown = 0
    for row in rows:
        participant_id = known.get(("person", row.person)) or known.get(("submission", row.submission))
        n_unknown += participant_id is None
        said: dict[str, Any] = {
            "participant_id": participant_id, "person": row.person, "submission": row.submission, "state": row.state,
            "told": row.told, "code": row.code,
        }  # fmt: skip
        kept = before.get(row.key)
        if kept is None:
            Submission.objects.create(study=study, key=row.key, loaded_at=timezone.now(), **said)
            n_new += 1
        elif any(getattr(kept, name) != value for name, value in said.items()):
            Submission.objects.filter(pk=kept.pk).update(loaded_at=timezone.now(), **said)
            n_changed += 1
    n_returned = _free_places(study, panel, actor)
    if n_new or n_changed or n_returned:
        told = f"{len(rows):,} read, {n_new:,} new, {n_changed:,} changed, {n_returned:,} places free"
        record(study, reason=f"Submissions loaded: {told}.", actor=actor, n=len(rows))
        logger.info("submissions study=%s read=%s returned=%s", study.slug, len(rows), n_returned)
    return Loaded(len(rows), n_new, n_changed, n_returned, n_unknown)


def _participants(study: Study, panel: Panel) -> dict[tuple[str, str], int]:
    """The key of each participant by what the panel calls them and their submission."""
    found: dict[tuple[str, str], int] = {}
    rows = ExternalId.objects.filter(study=study, participant__mode=Mode.LIVE, name__in=panel.ids).order_by("-pk")
    for name, value, participant in rows.values_list("name", "value", "participant_id"):
        found["person" if name in panel.person else "submission", value] = participant
    return found


def _free_places(study: Study, panel: Panel, actor: Any) -> int:
    states: dict[int, list[tuple[str, str]]] = {}
    rows = Submission.objects.filter(study=study, participant__isnull=False).order_by("pk")
    for participant, state, told in rows.values_list("participant_id", "state", "told"):
        states.setdefault(participant, []).append((state, told))
    given_back = {pk: said[-1][1] for pk, said in states.items() if all(state in GIVEN_BACK for state, _told in said)}
    may_return = [status for status, moves in PARTICIPANT_MOVES.items() if ParticipantStatus.RETURNED in moves]
    people = list(Participant.objects.filter(pk__in=given_back, status__in=may_return).order_by("pk"))
    for person in people:
        reason = f"{panel.name} reports the submission as {given_back[person.pk].lower()}."
        return_participant(participant=person, reason=reason, actor=actor)
    return len(people)
