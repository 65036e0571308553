"""The flow of participants as CONSORT asks for it: how many came how far, and who left where."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

from django.db.models import Count

from studies.enums import Mode, ParticipantStatus
from studies.models import Participant, Study
from studies.selectors.quality import exclusion_reasons

WORDS = {
    ParticipantStatus.STARTED: "Not yet consented",
    ParticipantStatus.CONSENTED: "Under way",
    ParticipantStatus.ACTIVE: "Under way",
    ParticipantStatus.ABANDONED: "Abandoned",
    ParticipantStatus.SCREENED_OUT: "Screened out",
    ParticipantStatus.QUOTA_FULL: "Study full",
    ParticipantStatus.ATTENTION_FAILED: "Attention check failed",
    ParticipantStatus.RETURNED: "Returned to the panel",
    ParticipantStatus.WITHDRAWN: "Withdrew",
}


@dataclass(frozen=True)
class ConditionFlow:
    """The flow of one condition from assignment on."""

    condition: str
    assigned: int
    completed: int
    left: dict[str, int]
    excluded: int
    analysed: int


@dataclass(frozen=True)
class Consort:
    """The whole flow of one mode. `opened` is None where openings were not counted.

    consented = assigned + the sum of `left_before`; assigned = completed + the sum of `left_after`;
    completed = analysed + the sum of `excluded`.
    """

    mode: str
    opened: int | None
    declined: int
    consented: int
    left_before: dict[str, int]
    assigned: int
    left_after: dict[str, int]
    completed: int
    excluded: dict[str, int]
    analysed: int
    by_condition: tuple[ConditionFlow, ...]

    def as_dict(self) -> dict[str, Any]:
        """The flow as JSON holds it."""
        return asdict(self)


def _left(counted: dict[str, int]) -> dict[str, int]:
    found: Counter[str] = Counter()
    for status, n in counted.items():
        found[WORDS[ParticipantStatus(status)]] += n
    return {name: found[name] for name in dict.fromkeys(WORDS.values()) if found[name]}


def consort_of(study: Study, mode: str) -> Consort:
    """Count one mode's flow; previews are in nobody's."""
    people = Participant.objects.filter(study=study, mode=mode).order_by()
    before = dict(people.filter(assigned_at__isnull=True).values_list("status").annotate(n=Count("pk")))
    after: dict[int, Counter[str]] = {}
    rows = people.filter(assigned_at__isnull=False).values_list("condition_id", "status").annotate(n=Count("pk"))
    for condition_id, status, n in rows:
        after.setdefault(condition_id, Counter())[status] += n
    is_out = people.filter(
        status=ParticipantStatus.COMPLETED, exclusions__isnull=False, exclusions__undone_at__isnull=True
    )
    out = dict(is_out.values_list("condition_id").annotate(n=Count("pk", distinct=True)))
    lines = []
    whole: Counter[str] = Counter()
    for condition in study.conditions.order_by("position"):
        found = after.get(condition.pk, Counter())
        whole += found
        done = found.pop(ParticipantStatus.COMPLETED, 0)
        excluded = out.get(condition.pk, 0)
        lines.append(
            ConditionFlow(condition.label, done + found.total(), done, _left(found), excluded, done - excluded)
        )
    completed = whole.pop(ParticipantStatus.COMPLETED, 0)
    reasons = dict(exclusion_reasons(study, [mode], completed_only=True))
    return Consort(
        mode=mode,
        opened=(study.n_opened or None) if mode == Mode.LIVE else None,
        declined=study.n_declined if mode == Mode.LIVE else 0,
        consented=sum(before.values()) + completed + whole.total(),
        left_before=_left(before),
        assigned=completed + whole.total(),
        left_after=_left(whole),
        completed=completed,
        excluded=reasons,
        analysed=completed - sum(reasons.values()),
        by_condition=tuple(lines),
    )
