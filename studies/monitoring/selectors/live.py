"""Live page data other than counts: the newest answers, condition by stratum, and flags; blinded while outcomes are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from django.core.cache import cache
from django.db.models import Count

from core.provenance import digest_of
from studies.allocation.selectors.allocations import ARM, Arm
from studies.enums import Mode, ParticipantStatus
from studies.instrument.flow import questionnaire_of
from studies.models import Participant, Response, Study
from studies.monitoring.selectors.consort import consort_of
from studies.monitoring.selectors.monitor import Cell
from studies.monitoring.selectors.outcomes import are_outcomes_open
from studies.monitoring.selectors.page_times import StepTime, step_times
from studies.monitoring.selectors.quality import flag_counts
from studies.presentation import text_in

FLAGS_KEPT_SECONDS = 20  # the page asks every few seconds, and flags read every answer
NOT_PLACED = (ParticipantStatus.SCREENED_OUT, ParticipantStatus.QUOTA_FULL)


@dataclass(frozen=True)
class NewAnswer:
    """An answer as it came in. `value` and `condition` are None as long as outcomes are blinded.

    The value of one that identifies a person is never shown here: the exports that name people hold it.
    """

    at: datetime
    code: str
    question: str
    rank: int
    value: Any
    condition: str | None  # or the sequence of several
    is_identifying: bool = False


@dataclass(frozen=True)
class StratumLine:
    """One stratum over the arms in design order, with participants turned away before assignment."""

    stratum: str
    labels: tuple[str, ...]
    cells: tuple[Cell, ...]
    n_screened_out: int
    n_quota_full: int

    @property
    def by_condition(self) -> list[tuple[str, Cell]]:
        return list(zip(self.labels, self.cells, strict=True)) if any(cell.started for cell in self.cells) else []

    @property
    def n_held(self) -> int:
        return sum(cell.n_held for cell in self.cells)


def is_blinded(study: Study, mode: str) -> bool:
    """Whether answers of that mode are hidden: people's are, from the launch until outcomes are open."""
    return mode == Mode.LIVE and not are_outcomes_open(study)


def newest_answers(study: Study, mode: str, n: int = 10) -> list[NewAnswer]:
    """The newest answers, newest first; without their values while outcomes are blinded.

    Identifying answers are never shown.
    """
    questionnaire = questionnaire_of(study)
    words = {question.key: text_in(question.text, study.design.languages[0]) for question in questionnaire.questions}
    rows = Response.objects.filter(participant__study=study, participant__mode=mode)
    rows = rows.select_related("participant__condition", "participant__sequence").order_by("-answered_at", "-pk")[:n]
    hidden = is_blinded(study, mode)
    answers = []
    for row in rows:
        is_identifying = row.question in questionnaire.identifying
        arm = row.participant.sequence or row.participant.condition
        answers.append(
            NewAnswer(
                row.answered_at,
                row.participant.code,
                words.get(row.question) or row.question,
                row.rank,
                None if hidden or is_identifying else row.value,
                None if hidden or arm is None else arm.label,
                is_identifying,
            )
        )
    return answers


def stratum_lines(study: Study, mode: str, arms: Sequence[Arm]) -> list[StratumLine]:
    """One line per stratum with participants; those turned away without a stratum have an empty name."""
    rows = Participant.objects.filter(study=study, mode=mode).order_by()
    rows_of = rows.values_list("stratum", ARM, "status")
    placed: dict[str, dict[int, Counter[str]]] = {}
    reopened: Counter[tuple[str, int]] = Counter()
    refills = study.design.refill_excluded
    waiting: dict[str, Counter[str]] = {}
    counts = rows_of.annotate(n=Count("pk"), placed=Count("assigned_at"), n_held=Count("place"))
    for stratum, arm_id, status, n, n_placed, n_held in counts:
        if n_placed and arm_id is not None:
            placed.setdefault(stratum, {}).setdefault(arm_id, Counter())[status] += n_placed
            if refills and status == ParticipantStatus.COMPLETED:
                reopened[stratum, arm_id] += n - n_held
        waiting.setdefault(stratum, Counter())[status] += n - n_placed
    labels = tuple(arm.label for arm in arms)
    lines = []
    for stratum, away in sorted(waiting.items()):
        of_arms = placed.get(stratum, {})
        cells = tuple(Cell.of(of_arms.get(arm.pk, Counter()), reopened[stratum, arm.pk]) for arm in arms)
        line = StratumLine(stratum, labels, cells, *(away[status] for status in NOT_PLACED))
        if stratum or line.n_screened_out or line.n_quota_full:
            lines.append(line)
    return lines


def _lately(study: Study, mode: str, name: str, counts: Callable[[], Any]) -> Any:
    key = f"studies.{name}.{study.pk}.{study.created_at.timestamp()}.{mode}"
    return cache.get_or_set(key, counts, FLAGS_KEPT_SECONDS)


def cached_step_times(study: Study, mode: str) -> list[StepTime]:
    """The time of each step; at most some seconds old."""
    return cast("list[StepTime]", _lately(study, mode, "step-times", lambda: step_times(study, mode)))


def analysable_counts(study: Study, mode: str) -> dict[str, int]:
    """Included completers by condition label; at most some seconds old."""

    def counts() -> dict[str, int]:
        return {line.condition: line.analysed for line in consort_of(study, mode).by_condition}

    return cast("dict[str, int]", _lately(study, mode, "analysable", counts))


def cached_flag_counts(study: Study, mode: str) -> list[tuple[str, int]]:
    """Participants with each flag by the current thresholds; at most some seconds old."""
    thresholds = digest_of(study.design.quality.stored())
    counts = _lately(study, mode, f"flags.{thresholds}", lambda: flag_counts(study, [mode]))
    return cast("list[tuple[str, int]]", counts)
