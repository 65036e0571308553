"""Who answered what, how many are left out and why, and how many came how far."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from analysis.selectors.inputs import Answers, Person, ScaleAnswers, Shown, conditions_of
from studies.enums import Mode, ParticipantStatus
from studies.models import Interview, Participant, Study
from studies.scales import ScaleOfStudy, answers_of_member, scales_of, score_of_participant
from studies.selectors.consort import consort_of
from studies.selectors.left_out import LeftOut
from studies.selectors.monitor import counts_by_condition, counts_by_status
from studies.selectors.placeholders import asked_questions
from studies.selectors.recruiting import is_nested
from studies.selectors.responses import Record, completed_answers

ScaleRow = tuple[str, str | None, tuple[str | None, ...]]


@dataclass(frozen=True)
class Reading:
    """The answers that are analysed, and the same with everybody who completed.

    `reasons` say how many are left out, by hand or by the plan's rule, and why: each participant once.
    """

    kept: Answers
    everybody: Answers
    reasons: tuple[tuple[str, str, int], ...]

    @property
    def n_left_out(self) -> int:
        """Completed participants who are left out."""
        return self.kept.n_excluded


@dataclass
class _Gathered:
    """Rows of participants while they are read."""

    scales: Sequence[ScaleOfStudy]
    people: list[Person] = field(default_factory=list)
    shown: list[Shown] = field(default_factory=list)
    scored: list[list[ScaleRow]] = field(default_factory=list)
    n_answers: int = 0
    n_modelled: int = 0
    n_incomplete: int = 0

    def __post_init__(self) -> None:
        self.scored = [[] for _ in self.scales]

    def add(self, given: Record, row: _Row | None) -> None:
        if row is None:
            self.n_incomplete += 1
            return
        self.n_answers += given.n_answers
        self.n_modelled += given.n_modelled
        self.people.append(row.person)
        self.shown += row.shown
        for rows, one in zip(self.scored, row.scored, strict=True):
            rows.append(one)

    def answers(self, conditions: tuple[str, ...], n_excluded: int) -> Answers:
        return Answers(
            conditions=conditions,
            people=tuple(self.people),
            shown=tuple(self.shown),
            n_answers=self.n_answers,
            n_modelled=self.n_modelled,
            n_incomplete=self.n_incomplete,
            n_excluded=n_excluded,
            scales=tuple(
                ScaleAnswers(
                    key=scale.key,
                    name=next(iter(scale.name.values())),
                    low=scale.minimum,
                    high=scale.maximum,
                    questions=tuple(member.name for member in scale.members),
                    rows=tuple(rows),
                )
                for scale, rows in zip(self.scales, self.scored, strict=True)
            ),
        )


@dataclass(frozen=True)
class _Row:
    person: Person
    shown: tuple[Shown, ...]
    scored: tuple[ScaleRow, ...]


def mode_to_report(study: Study) -> str:
    """People, where any have completed; else simulated participants, where there are any; else people."""
    completed = set(
        study.participants.filter(status=ParticipantStatus.COMPLETED)
        .order_by()
        .values_list("mode", flat=True)
        .distinct()
    )
    if Mode.LIVE in completed:
        return Mode.LIVE
    if study.participants.filter(mode=Mode.SIMULATED).exists():
        return Mode.SIMULATED
    return Mode.LIVE


def read_answers(study: Study, mode: str, out: LeftOut) -> Reading:
    """Read the answers of the completed participants of one mode, in order of entry, with and without those `out`."""
    scales = scales_of(asked_questions(study))
    kept, everybody = _Gathered(scales), _Gathered(scales)
    reasons: Counter[tuple[str, str]] = Counter()
    for given in completed_answers(study, mode):
        row = _row(given, scales)
        everybody.add(given, row)
        if given.participant.pk in out:
            reasons[out[given.participant.pk]] += 1
        else:
            kept.add(given, row)
    conditions = tuple(condition.label for condition in conditions_of(study))
    counted = sorted(reasons.items(), key=lambda one: (-one[1], one[0]))
    return Reading(
        kept=kept.answers(conditions, reasons.total()),
        everybody=everybody.answers(conditions, 0),
        reasons=tuple((how, reason, n) for (how, reason), n in counted),
    )


def _row(given: Record, scales: Sequence[ScaleOfStudy]) -> _Row | None:
    """One participant; None where answers are missing."""
    if given.participant.condition is None or given.measures is None:
        return None
    condition, found = given.participant.condition.label, given.measures
    items = [item.answers for item in given.items]
    scored = []
    for scale in scales:
        score = score_of_participant(scale, given.answers, items)
        members = tuple(_fraction(answers_of_member(scale, one, given.answers, items)) for one in scale.members)
        scored.append((condition, _fraction(score), members))
    person = Person(
        condition=condition,
        n_items=found.n_items,
        accuracy_sum=found.accuracy_sum,
        fon_sum=found.fon_sum,
        son_sum=found.son_sum,
        satisfaction=found.satisfaction,
        n_liking=found.n_liking,
        liking_sum=found.liking_sum,
        n_interest=found.n_interest,
        interest_sum=found.interest_sum,
    )
    shown = tuple(
        Shown(
            condition=condition,
            item=item.slot.item.external_id,
            title=str(item.slot.item),
            rating=item.measures.rating,
            fon=item.measures.fon,
            son=item.measures.son,
            branch=item.measures.branch,
            is_filled=item.slot.is_filled,
        )
        for item in given.items
        if item.measures is not None
    )
    return _Row(person, shown, tuple(scored))


def _fraction(value: Fraction | None) -> str | None:
    return None if value is None else str(value)


def _interviews(study: Study, mode: str) -> dict[str, Any]:
    """Whom interviewers started, and whether each interviewer had one condition alone."""
    rows = Interview.objects.filter(participant__study=study, participant__mode=mode)
    n_interviewers = rows.order_by().values("number").distinct().count()
    return {"n": rows.count(), "interviewers": n_interviewers, "is_nested": is_nested(study)}


def flow_of(study: Study, mode: str, reading: Reading) -> dict[str, Any]:
    """Who came how far, as CONSORT asks: in all, and by condition."""
    rows = Participant.objects.filter(study=study, mode=mode)
    by_status = counts_by_status(study, mode)
    interviews = _interviews(study, mode)
    consort = consort_of(study, mode)
    return {
        **({"interviews": interviews} if interviews["n"] else {}),
        "declined": study.n_declined if mode == Mode.LIVE else 0,
        "consented": rows.count(),
        "screened_out": by_status.get(ParticipantStatus.SCREENED_OUT, 0),
        "quota_full": by_status.get(ParticipantStatus.QUOTA_FULL, 0),
        "assigned": rows.filter(assigned_at__isnull=False).count(),
        "abandoned": by_status.get(ParticipantStatus.ABANDONED, 0),
        "withdrawn": by_status.get(ParticipantStatus.WITHDRAWN, 0),
        "under_way": by_status.get(ParticipantStatus.CONSENTED, 0) + by_status.get(ParticipantStatus.ACTIVE, 0),
        "completed": by_status.get(ParticipantStatus.COMPLETED, 0),
        "excluded": reading.n_left_out,
        "excluded_for": [{"how": how, "reason": reason, "n": n} for how, reason, n in reading.reasons],
        "analysed": len(reading.kept.people),
        # Pairs, as a database may give the keys of a mapping back in any order.
        "left_before": [list(one) for one in consort.left_before.items()],
        "left_after": [list(one) for one in consort.left_after.items()],
        "by_condition": [
            {
                "condition": line.label,
                "target": line.target,
                "assigned": line.started,
                "under_way": line.active,
                "abandoned": line.abandoned,
                "completed": line.completed,
                "analysed": len(reading.kept.of(line.label)),
            }
            for line in counts_by_condition(study, mode)
        ],
    }
