"""The flow of participants as CONSORT asks for it: how many came how far, and who left where."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

from django.db.models import Count, QuerySet

from studies.enums import Mode, ParticipantStatus
from studies.models import Participant, Study
from studies.selectors.left_out import LeftOut, by_frequency, left_out_as_planned, reason_told

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
ERASED = "Erased as the retention limit says"


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


def _reasons(people: QuerySet[Participant], out: LeftOut) -> list[tuple[int | None, str]]:
    """Condition and reason of everybody who completed and is not analysed."""
    done = people.filter(status=ParticipantStatus.COMPLETED).values_list("pk", "condition_id", "erased_at")
    return [
        (condition_id, ERASED if erased_at is not None else reason_told(*out[pk]))
        for pk, condition_id, erased_at in done
        if erased_at is not None or pk in out
    ]


def consort_of(study: Study, mode: str, out: LeftOut | None = None) -> Consort:
    """Count one mode's flow; previews are in nobody's.

    `out` are those whom the analysis leaves out, where they are known already; by default, as the plan says and by
    hand.
    """
    people = Participant.objects.filter(study=study, mode=mode).order_by()
    before = dict(people.filter(assigned_at__isnull=True).values_list("status").annotate(n=Count("pk")))
    after: dict[int, Counter[str]] = {}
    rows = people.filter(assigned_at__isnull=False).values_list("condition_id", "status").annotate(n=Count("pk"))
    for condition_id, status, n in rows:
        after.setdefault(condition_id, Counter())[status] += n
    reasons = _reasons(people, left_out_as_planned(study, [mode]) if out is None else out)
    of_condition = Counter(condition_id for condition_id, _ in reasons)
    lines = []
    whole: Counter[str] = Counter()
    for condition in study.conditions.order_by("position"):
        found = after.get(condition.pk, Counter())
        whole += found
        done = found.pop(ParticipantStatus.COMPLETED, 0)
        excluded = of_condition[condition.pk]
        lines.append(
            ConditionFlow(condition.label, done + found.total(), done, _left(found), excluded, done - excluded)
        )
    completed = whole.pop(ParticipantStatus.COMPLETED, 0)
    return Consort(
        mode=mode,
        opened=(study.n_opened or None) if mode == Mode.LIVE else None,
        declined=study.n_declined if mode == Mode.LIVE else 0,
        consented=sum(before.values()) + completed + whole.total(),
        left_before=_left(before),
        assigned=completed + whole.total(),
        left_after=_left(whole),
        completed=completed,
        excluded=dict(by_frequency(reason for _, reason in reasons)),
        analysed=completed - len(reasons),
        by_condition=tuple(lines),
    )
