"""Current allocation: targets, quotas, the log and its replay."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence, Set
from dataclasses import dataclass

from django.db.models import Count

from studies.allocation.assignment.ledger import Line, replay
from studies.allocation.assignment.methods import method_from
from studies.allocation.assignment.quotas import count_by_quota
from studies.allocation.selectors.assignment_seed import seeds_by_line
from studies.enums import HOLDS_SLOT, Mode
from studies.instrument.questionnaires.schema import plain_answer
from studies.models import Condition, Participant, Response, Study
from studies.settings import Quota

Held = tuple[str, int | None, int | None]  # stratum, place, and the condition's key


def conditions_of(study: Study) -> list[Condition]:
    """Return the study's conditions by their position."""
    return list(Condition.objects.filter(study=study).order_by("position"))


def targets(study: Study, conditions: Sequence[Condition], mode: str) -> list[int | None]:
    """Return the target of each condition in that mode; None for no limit."""
    # Previews take slots of their own and must never run out of them.
    if mode == Mode.PREVIEW:
        return [None] * len(conditions)
    simulated = study.design.simulated_per_condition
    if mode == Mode.SIMULATED and simulated is not None:
        return [int(simulated)] * len(conditions)
    return [condition.target for condition in conditions]


def slots_held_by_stratum(study: Study, mode: str) -> dict[tuple[str, int], int]:
    """Count the slots held, by stratum and key of the condition."""
    holders = Participant.objects.filter(study=study, mode=mode, status__in=HOLDS_SLOT, place__isnull=False)
    counts = holders.order_by().values_list("stratum", "condition_id").annotate(n=Count("pk"))
    return {(stratum, condition): n for stratum, condition, n in counts if condition is not None}


def slots_held(study: Study, mode: str) -> dict[int, int]:
    """Count the slots held, by key of the condition."""
    totals: Counter[int] = Counter()
    for (_stratum, condition), n in slots_held_by_stratum(study, mode).items():
        totals[condition] += n
    return dict(totals)


def answers_of_holders(
    study: Study, mode: str, quotas: Sequence[Quota], statuses: Set[str] = HOLDS_SLOT
) -> list[dict[str, object]]:
    """Return the answers of the slot holders of these statuses to the questions that quotas use."""
    questions = {test.question for quota in quotas for test in quota.where}
    rows = Response.objects.filter(
        participant__study=study,
        participant__mode=mode,
        participant__status__in=statuses,
        participant__place__isnull=False,
        question__in=questions,
        rank=0,
    ).order_by()
    people: dict[int, dict[str, object]] = {}
    for person, question, value in rows.values_list("participant_id", "question", "value"):
        people.setdefault(person, {})[question] = plain_answer(value)
    return list(people.values())


@dataclass(frozen=True)
class QuotaCount:
    """Participants in a quota, and its maximum."""

    name: str
    n: int
    most: int

    @property
    def is_full(self) -> bool:
        return self.n >= self.most


def quota_counts(study: Study) -> list[QuotaCount]:
    """Count the live participants in each quota, in the order of the design."""
    quotas = study.design.quotas
    counted = count_by_quota(quotas, answers_of_holders(study, Mode.LIVE, quotas)) if quotas else []
    return [QuotaCount(quota.name, n, quota.most) for quota, n in zip(quotas, counted, strict=True)]


@dataclass(frozen=True)
class ReplayedLog:
    """Result of replaying one mode's log. `problem` is a sentence, or empty when log and replay agree."""

    n_lines: int
    n_holding: int
    problem: str


def log_lines(study: Study, mode: str, conditions: Sequence[Condition]) -> list[Line]:
    """Return the allocation log of one mode, for the replay."""
    index_of = {condition.pk: index for index, condition in enumerate(conditions)}
    now = targets(study, conditions, mode)  # for lines older than the logging of targets
    rows = study.allocations.filter(mode=mode).order_by("id")
    return [
        Line(
            row.kind,
            row.stratum,
            row.place,
            row.block,
            index_of[row.arm_id],
            row.participant_id,
            tuple(now if row.targets is None else row.targets),
        )
        for row in rows
    ]


def replayed_log(study: Study, mode: str) -> ReplayedLog:
    """Recompute every assignment of one mode from seed, method and order of arrival, and compare.

    The log is compared line by line; then the resulting slots are compared with the participants' rows.
    """
    conditions = list(study.conditions.order_by("position"))
    lines = log_lines(study, mode, conditions)
    seeds = seeds_by_line(study, mode)
    replayed = replay(method_from(study.design), seeds[0], lines, later_seeds=seeds)
    if replayed.difference is not None:
        difference = replayed.difference
        problem = (
            f"Line {difference.number} differs: the log has {_described(difference.logged, conditions)}, "
            f"but the replay has {_described(difference.expected, conditions)}."
        )
        return ReplayedLog(replayed.n_lines, len(replayed.holding), problem)
    rows = Participant.objects.filter(study=study, mode=mode, status__in=HOLDS_SLOT, place__isnull=False)
    by_rows: dict[Hashable, Held] = {row.pk: (row.stratum, row.place, row.condition_id) for row in rows}
    by_log: dict[Hashable, Held] = {
        person: (stratum, slot.place, conditions[slot.condition].pk)
        for person, (stratum, slot) in replayed.holding.items()
    }
    wrong = sorted(str(pk) for pk in by_rows.keys() | by_log.keys() if by_rows.get(pk) != by_log.get(pk))
    problem = f"The log replays, but these participants' rows do not match it: {', '.join(wrong)}." if wrong else ""
    return ReplayedLog(replayed.n_lines, len(replayed.holding), problem)


def _described(line: Line | None, conditions: Sequence[Condition]) -> str:
    if line is None:
        return "nothing"
    who = "" if line.person is None else f" to participant {line.person}"
    return f"{line.kind} place {line.place} of {line.stratum!r} in {conditions[line.condition].label}{who}"
