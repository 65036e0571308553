"""The CONSORT flow of participants: how many reached each stage, and where they left."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

from django.db.models import Count, QuerySet

from studies.allocation.selectors.allocations import ARM, arms_of
from studies.enums import Mode, ParticipantStatus
from studies.models import Participant, Study
from studies.monitoring.charts import Flow
from studies.monitoring.selectors.exclusions import Exclusions, by_frequency, planned_exclusions, reason_label

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
    """The flow of one condition, or of one sequence of several, from assignment on."""

    condition: str
    assigned: int
    completed: int
    left: dict[str, int]
    excluded: int
    analysed: int


@dataclass(frozen=True, kw_only=True)
class Consort(Flow):
    """The whole flow of one mode."""

    mode: str
    by_condition: tuple[ConditionFlow, ...]

    def as_dict(self) -> dict[str, Any]:
        return {"mode": self.mode, **asdict(self)}


def _left(counted: dict[str, int]) -> dict[str, int]:
    by_name: Counter[str] = Counter()
    for status, n in counted.items():
        by_name[WORDS[ParticipantStatus(status)]] += n
    return {name: by_name[name] for name in dict.fromkeys(WORDS.values()) if by_name[name]}


def _reasons(people: QuerySet[Participant], out: Exclusions) -> list[tuple[int | None, str]]:
    done = people.filter(status=ParticipantStatus.COMPLETED).values_list("pk", ARM, "erased_at")
    return [
        (arm_id, ERASED if erased_at is not None else reason_label(*out[pk]))
        for pk, arm_id, erased_at in done
        if erased_at is not None or pk in out
    ]


def consort_of(study: Study, mode: str, out: Exclusions | None = None) -> Consort:
    """Count one mode's flow; previews are in none.

    `out` are the exclusions, if known already; by default those of the plan and those by hand.
    """
    people = Participant.objects.filter(study=study, mode=mode).order_by()
    before = dict(people.filter(assigned_at__isnull=True).values_list("status").annotate(n=Count("pk")))
    after: dict[int, Counter[str]] = {}
    rows = people.filter(assigned_at__isnull=False).values_list(ARM, "status").annotate(n=Count("pk"))
    for arm_id, status, n in rows:
        after.setdefault(arm_id, Counter())[status] += n
    reasons = _reasons(people, planned_exclusions(study, [mode]) if out is None else out)
    of_arm = Counter(arm_id for arm_id, _ in reasons)
    lines = []
    whole: Counter[str] = Counter()
    for arm in arms_of(study):
        by_status = after.get(arm.pk, Counter())
        whole += by_status
        done = by_status.pop(ParticipantStatus.COMPLETED, 0)
        excluded = of_arm[arm.pk]
        lines.append(
            ConditionFlow(arm.label, done + by_status.total(), done, _left(by_status), excluded, done - excluded)
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
