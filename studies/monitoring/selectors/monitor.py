"""A study while it runs: counts by condition, the funnel, the newest events. Never an outcome."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self

from django.db.models import Count, F, Q

from core.models import LogEntry
from studies.allocation.selectors.allocations import ARM, arms_of, n_occasions, targets
from studies.enums import Mode, ParticipantStatus
from studies.flow_pages import AFTER, END, ITEM_QUESTIONS, LIST, OVERALL
from studies.instrument.flow import Place, flow_of
from studies.models import Participant, Study

STEP_NAMES = {
    "consent": "Gave consent",
    "assigned": "Took a slot in a condition",
    # Pages of the flow of 2011.
    LIST: "Rated, and got their list",
    ITEM_QUESTIONS: "Looked at the list",
    OVERALL: "Answered about every item",
    AFTER: "Answered about the list",
    END: "Completed",
}


@dataclass(frozen=True)
class Cell:
    """Participants by status. `started` counts all who ever held a slot there."""

    started: int = 0
    active: int = 0
    completed: int = 0
    abandoned: int = 0
    reopened: int = 0  # of those who completed: their slots are open again, because the plan excludes them

    @classmethod
    def of(cls, counted: Counter[str], reopened: int, **more: Any) -> Self:
        """The counts of participants by status; `more` are further fields of a subclass."""
        return cls(
            started=counted.total(),
            active=counted[ParticipantStatus.ACTIVE],
            completed=counted[ParticipantStatus.COMPLETED],
            abandoned=counted[ParticipantStatus.ABANDONED],
            reopened=reopened,
            **more,
        )

    @property
    def n_held(self) -> int:
        return self.active + self.completed - self.reopened

    @property
    def left(self) -> int:
        """All others who started: withdrew, were returned, failed attention checks, or found no room on return."""
        return self.started - self.active - self.completed - self.abandoned


@dataclass(frozen=True, kw_only=True)
class ConditionCount(Cell):
    """Participants of one condition, or of one sequence where each person has several lists."""

    label: str
    target: int | None


def modes_of(study: Study) -> list[str]:
    """The modes with participants, always including live."""
    present = set(study.participants.order_by().values_list("mode", flat=True).distinct())
    return [mode for mode in Mode.values if mode == Mode.LIVE or mode in present]


def counts_by_condition(study: Study, mode: str) -> list[ConditionCount]:
    """One line per arm, in design order."""
    rows = (
        Participant.objects.filter(study=study, mode=mode, assigned_at__isnull=False)
        .order_by()
        .values_list(ARM, "status")
        .annotate(n=Count("pk"), n_held=Count("place"))
    )
    counted: dict[int, Counter[str]] = {}
    reopened: Counter[int] = Counter()
    for arm_id, status, n, n_held in rows:
        counted.setdefault(arm_id, Counter())[status] = n
        if status == ParticipantStatus.COMPLETED and study.design.refill_excluded:
            reopened[arm_id] = n - n_held
    arms = arms_of(study)
    return [
        ConditionCount.of(counted.get(arm.pk, Counter()), reopened[arm.pk], label=arm.label, target=target)
        for arm, target in zip(arms, targets(study, arms, mode), strict=True)
    ]


def counts_by_status(study: Study, mode: str) -> dict[str, int]:
    """Participants by status; statuses without participants are omitted."""
    rows = Participant.objects.filter(study=study, mode=mode).order_by().values_list("status").annotate(n=Count("pk"))
    counts = dict(rows)
    return {status: counts[status] for status in ParticipantStatus.values if status in counts}


def funnel(study: Study, mode: str) -> list[tuple[str, int]]:
    """Each page from the list on, and how many participants reached at least this one, whatever their status."""
    flow = flow_of(study)
    people = Participant.objects.filter(study=study, mode=mode)
    here = [
        (flow.order(Place(step, 1, occasion)), n)
        for step, occasion, n in people.order_by().values_list("step", "occasion").annotate(n=Count("pk"))
    ]
    n_assigned = people.filter(assigned_at__isnull=False).count()
    steps = [(STEP_NAMES["consent"], sum(n for _order, n in here)), (STEP_NAMES["assigned"], n_assigned)]
    for visit in flow.places((1,) * n_occasions(study)):
        if visit.page in flow.with_list:
            of = f" of list {visit.occasion}" if flow.is_repeated(visit.page) else ""
            name = f"Reached the page {visit.page}{of}" if study.design.flow.pages else ""
            n = sum(n for reached, n in here if reached >= flow.order(visit))
            steps.append((name or STEP_NAMES[flow.page(visit.page).part], n))
    return steps


def lists_judged(study: Study, mode: str) -> list[tuple[str, int]]:
    """How many lists of each condition participants have answered about, where each has several; else empty."""
    flow = flow_of(study)
    if not flow.lists.is_several:
        return []
    judged: Counter[int] = Counter()
    occasions = {sequence.pk: sequence.occasions for sequence in study.sequences.all()}
    people = Participant.objects.filter(study=study, mode=mode, sequence__isnull=False, erased_at__isnull=True)
    rows = people.order_by().values_list("sequence", "step", "occasion").annotate(n=Count("pk"))
    for sequence, step, here, n in rows:
        for occasion, positions in enumerate(occasions[sequence], start=1):
            is_over = flow.order(Place(step, 1, here)) >= flow.order(Place(flow.listed[0], 0, occasion + 1))
            judged.update(dict.fromkeys(positions, n * is_over))
    return [(condition.label, judged[condition.position]) for condition in study.conditions.order_by("position")]


def newest_activity(study: Study, mode: str, n: int = 10) -> list[tuple[datetime, str, str]]:
    """The newest moves of participants, newest first: time, code and new status, without anything they answered."""
    codes = dict(Participant.objects.filter(study=study, mode=mode).values_list("pk", "code"))
    rows = LogEntry.objects.filter(
        kind="studies.participant",
        object_id__in=Participant.objects.filter(study=study, mode=mode).values("pk"),
    ).exclude(from_status=F("to_status"))  # exclusions are logged too, without a change of status
    rows = rows.order_by("-at", "-id")[:n]
    names = dict(ParticipantStatus.choices)
    return [(row.at, codes[row.object_id], str(names.get(row.to_status, row.to_status))) for row in rows]


@dataclass(frozen=True)
class ConditionProgress:
    """Participants of one condition or sequence who completed and hold their slot, and its target."""

    label: str
    completed: int
    target: int

    @property
    def percent(self) -> int:
        return min(100, 100 * self.completed // max(self.target, 1))


@dataclass(frozen=True)
class StudyProgress:
    """The conditions, or sequences, in design order."""

    conditions: tuple[ConditionProgress, ...]

    @property
    def completed(self) -> int:
        return sum(condition.completed for condition in self.conditions)

    @property
    def target(self) -> int:
        return sum(condition.target for condition in self.conditions)


def progress_of(study: Study) -> StudyProgress:
    """Count the participants who completed, without those whose slots have reopened; previews and pilots do not count.

    Shows no outcome: the same numbers are on the overview while outcomes are blinded.
    """
    counted = Q(participants__mode=Mode.LIVE, participants__status=ParticipantStatus.COMPLETED)
    if study.design.refill_excluded:
        counted &= Q(participants__place__isnull=False)
    arms: Any = study.sequences if flow_of(study).lists.is_several else study.conditions
    counts = arms.annotate(n_completed=Count("participants", filter=counted)).order_by("position")
    return StudyProgress(tuple(ConditionProgress(arm.label, arm.n_completed, arm.target) for arm in counts))
