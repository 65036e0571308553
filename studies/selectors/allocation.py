"""The allocation as it stands: targets, quotas, the log, and whether it replays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from django.db.models import Count

from studies.assignment.ledger import Line, replay
from studies.assignment.methods import method_from
from studies.assignment.quotas import Quota, held, quotas_from
from studies.enums import HOLDS_SLOT, Mode
from studies.models import Condition, Participant, Response, Study
from studies.questionnaires.schema import plain_answer
from studies.selectors.assignment_seed import seeds_by_line
from studies.selectors.compiled import Columns

_held = Columns(
    lambda mode, *rest: (
        Participant.objects.filter(mode=mode, status__in=rest[:-1], study=rest[-1], place__isnull=False)
        .order_by()
        .values_list("stratum", "condition_id")
        .annotate(n=Count("pk"))
    )
)
Held = tuple[str, int | None, int | None]  # stratum, place, and the condition's key


def targets(study: Study, conditions: Sequence[Condition], mode: str) -> list[int | None]:
    """How many participants of that mode each condition is to have; None for as many as come."""
    if mode == Mode.PREVIEW:
        return [None] * len(conditions)
    simulated = study.settings.get("simulated_per_condition")
    if mode == Mode.SIMULATED and simulated is not None:
        return [int(simulated)] * len(conditions)
    return [condition.target for condition in conditions]


def slots_held_by_stratum(study: Study, mode: str) -> dict[tuple[str, int], int]:
    """Slots held, by the stratum and the condition's key."""
    return {(stratum, condition): n for stratum, condition, n in _held.columns(mode, *HOLDS_SLOT, study.pk)}


def slots_held(study: Study, mode: str) -> dict[int, int]:
    """Slots held in each condition, by the condition's key."""
    in_all: Counter[int] = Counter()
    for (_stratum, condition), n in slots_held_by_stratum(study, mode).items():
        in_all[condition] += n
    return dict(in_all)


def answers_of_holders(study: Study, mode: str, quotas: Sequence[Quota]) -> list[dict[str, object]]:
    """What everybody who holds a slot answered to the questions that quotas are about."""
    asked = {test["question"] for quota in quotas for test in quota.where}
    rows = Response.objects.filter(
        participant__study=study,
        participant__mode=mode,
        participant__status__in=HOLDS_SLOT,
        participant__place__isnull=False,
        question__in=asked,
        rank=0,
    ).order_by()
    people: dict[int, dict[str, object]] = {}
    for person, question, value in rows.values_list("participant_id", "question", "value"):
        people.setdefault(person, {})[question] = plain_answer(value)
    return list(people.values())


@dataclass(frozen=True)
class QuotaCount:
    """How many participants count in a quota, and how many may."""

    name: str
    n: int
    most: int

    @property
    def is_full(self) -> bool:
        """Whether newcomers of this kind are thanked and sent away."""
        return self.n >= self.most


def quota_counts(study: Study) -> list[QuotaCount]:
    """One line a quota, in the order of the design; quotas are about people alone."""
    quotas = quotas_from(study.settings)
    counted = held(quotas, answers_of_holders(study, Mode.LIVE, quotas)) if quotas else []
    return [QuotaCount(quota.name, n, quota.most) for quota, n in zip(quotas, counted, strict=True)]


@dataclass(frozen=True)
class ReplayedLog:
    """What became of replaying one mode's log. `problem` is a sentence, or empty where everything agrees."""

    mode: str
    n_lines: int
    n_holding: int
    problem: str


def log_lines(study: Study, mode: str, conditions: Sequence[Condition]) -> list[Line]:
    """The allocation log of one mode, as the replay reads it."""
    index_of = {condition.pk: index for index, condition in enumerate(conditions)}
    now = targets(study, conditions, mode)  # what lines of before targets were logged go by
    rows = study.allocations.filter(mode=mode).order_by("id")
    return [
        Line(
            row.kind,
            row.stratum,
            row.place,
            row.block,
            index_of[row.condition_id],
            row.participant_id,
            tuple(now if row.targets is None else row.targets),
        )
        for row in rows
    ]


def replayed_log(study: Study, mode: str) -> ReplayedLog:
    """Make every assignment of one mode again from seed, method and order of arrival, and compare.

    Compared are the log, line by line, and then who holds which slot with the participants' own rows.
    """
    conditions = list(study.conditions.order_by("position"))
    lines = log_lines(study, mode, conditions)
    seeds = seeds_by_line(study, mode)
    found = replay(method_from(study.settings), seeds[0], lines, later_seeds=seeds)
    if found.difference is not None:
        part = found.difference
        problem = (
            f"Line {part.number} differs: the log has {_told(part.logged, conditions)}, "
            f"and the design gives {_told(part.expected, conditions)}."
        )
        return ReplayedLog(mode, found.n_lines, len(found.holding), problem)
    rows = Participant.objects.filter(study=study, mode=mode, status__in=HOLDS_SLOT, place__isnull=False)
    by_rows: dict[Hashable, Held] = {row.pk: (row.stratum, row.place, row.condition_id) for row in rows}
    by_log: dict[Hashable, Held] = {
        person: (stratum, slot.place, conditions[slot.condition].pk)
        for person, (stratum, slot) in found.holding.items()
    }
    wrong = sorted(str(pk) for pk in by_rows.keys() | by_log.keys() if by_rows.get(pk) != by_log.get(pk))
    problem = f"The log agrees, but not with the rows of participants {', '.join(wrong)}." if wrong else ""
    return ReplayedLog(mode, found.n_lines, len(found.holding), problem)


def _told(line: Line | None, conditions: Sequence[Condition]) -> str:
    if line is None:
        return "nothing"
    who = "" if line.person is None else f" to participant {line.person}"
    return f"{line.kind} place {line.place} of {line.stratum!r} in {conditions[line.condition].label}{who}"
