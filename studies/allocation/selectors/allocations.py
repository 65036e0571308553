"""Current allocation: targets, quotas, the log and its replay."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence, Set
from dataclasses import dataclass

from django.db.models import Count, Exists, F, OuterRef
from django.db.models.functions import Coalesce

from studies.allocation.assignment.ledger import Line, replay
from studies.allocation.assignment.methods import method_from
from studies.allocation.assignment.quotas import count_by_quota
from studies.allocation.selectors.assignment_seed import seeds_by_line
from studies.enums import HOLDS_SLOT, Mode
from studies.flow_pages import SHOWN, SIDE_BY_SIDE
from studies.instrument.questionnaires.schema import plain_answer
from studies.models import Condition, Participant, Response, Study
from studies.models import Sequence as ConditionSequence
from studies.settings import Quota

Arm = Condition | ConditionSequence
Held = tuple[str, int | None, int | None]  # stratum, place, and the arm's key
ARM = Coalesce(F("sequence_id"), F("condition_id"))  # the arm's key, of participants; null before the assignment


def arms_of(study: Study) -> list[Arm]:
    """Return what participants are assigned to, by position: the sequences of a study that has some, else conditions.

    A study's arms are all of one kind, so that their keys tell them apart.
    """
    sequences = ConditionSequence.objects.order_by("position")
    # In the same query, as nearly all studies have none.
    is_in_turn = Exists(sequences.filter(study=OuterRef("study")))
    conditions = Condition.objects.filter(study=study).annotate(is_in_turn=is_in_turn).order_by("position")
    if any(condition.is_in_turn for condition in conditions):
        return [*sequences.filter(study=study)]
    return [*conditions]


def assigned_to(arm: Arm) -> dict[str, Arm]:
    """Return the arm by the field that holds it, of participants and of the log."""
    return {"sequence" if isinstance(arm, ConditionSequence) else "condition": arm}


def n_slots(study: Study) -> int:
    """Count the slots for people that the study has."""
    return sum(arm.target for arm in arms_of(study))


def n_occasions(study: Study) -> int:
    """Count the lists, or pairs of lists, that each person meets one after the other."""
    occasions = study.sequences.order_by("position").values_list("occasions", flat=True).first()
    return len(occasions) if occasions else 1


def n_left_out(study: Study) -> int:
    """Count the earlier lists whose items the last list of a person leaves out."""
    lists = study.design.flow.lists
    n_shown = 2 if lists.shown == SIDE_BY_SIDE else 1
    return n_shown * (n_occasions(study) - 1) if lists.leave_out == SHOWN else 0


def targets(study: Study, arms: Sequence[Arm], mode: str) -> list[int | None]:
    """Return the target of each arm in that mode; None for no limit."""
    # Previews take slots of their own and must never run out of them.
    if mode == Mode.PREVIEW:
        return [None] * len(arms)
    simulated = study.design.simulated_per_condition
    if mode == Mode.SIMULATED and simulated is not None:
        # Who is in a sequence meets each condition.
        n_shared = len(arms) if arms and isinstance(arms[0], ConditionSequence) else 1
        return [-(-simulated // n_shared)] * len(arms)
    return [arm.target for arm in arms]


def slots_held_by_stratum(study: Study, mode: str) -> dict[tuple[str, int], int]:
    """Count the slots held, by stratum and key of the arm."""
    holders = Participant.objects.filter(study=study, mode=mode, status__in=HOLDS_SLOT, place__isnull=False)
    counts = holders.order_by().values_list("stratum", ARM).annotate(n=Count("pk"))
    return {(stratum, arm): n for stratum, arm, n in counts if arm is not None}


def slots_held(study: Study, mode: str) -> dict[int, int]:
    """Count the slots held, by key of the arm."""
    totals: Counter[int] = Counter()
    for (_stratum, arm), n in slots_held_by_stratum(study, mode).items():
        totals[arm] += n
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


def log_lines(study: Study, mode: str, arms: Sequence[Arm]) -> list[Line]:
    """Return the allocation log of one mode, for the replay."""
    index_of = {arm.pk: index for index, arm in enumerate(arms)}
    now = targets(study, arms, mode)  # for lines older than the logging of targets
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
    arms = arms_of(study)
    lines = log_lines(study, mode, arms)
    seeds = seeds_by_line(study, mode)
    replayed = replay(method_from(study.design), seeds[0], lines, later_seeds=seeds)
    if replayed.difference is not None:
        difference = replayed.difference
        problem = (
            f"Line {difference.number} differs: the log has {_described(difference.logged, arms)}, "
            f"but the replay has {_described(difference.expected, arms)}."
        )
        return ReplayedLog(replayed.n_lines, len(replayed.holding), problem)
    rows = Participant.objects.filter(study=study, mode=mode, status__in=HOLDS_SLOT, place__isnull=False)
    by_rows: dict[Hashable, Held] = {row.pk: (row.stratum, row.place, row.arm_id) for row in rows}
    by_log: dict[Hashable, Held] = {
        person: (stratum, slot.place, arms[slot.condition].pk) for person, (stratum, slot) in replayed.holding.items()
    }
    wrong = sorted(str(pk) for pk in by_rows.keys() | by_log.keys() if by_rows.get(pk) != by_log.get(pk))
    problem = f"The log replays, but these participants' rows do not match it: {', '.join(wrong)}." if wrong else ""
    return ReplayedLog(replayed.n_lines, len(replayed.holding), problem)


def _described(line: Line | None, arms: Sequence[Arm]) -> str:
    if line is None:
        return "nothing"
    who = "" if line.person is None else f" to participant {line.person}"
    return f"{line.kind} place {line.place} of {line.stratum!r} in {arms[line.condition].label}{who}"
