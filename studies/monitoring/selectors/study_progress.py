"""Progress of a study towards its targets: one line per condition, in one query."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count, Q

from studies.enums import Mode, ParticipantStatus
from studies.models import Study


@dataclass(frozen=True)
class ConditionProgress:
    """Participants of one condition who completed and hold their slot, and its target."""

    label: str
    completed: int
    target: int

    @property
    def percent(self) -> int:
        """Completed participants in percent of the target, at most 100."""
        return min(100, 100 * self.completed // max(self.target, 1))


@dataclass(frozen=True)
class StudyProgress:
    """The conditions in design order."""

    conditions: tuple[ConditionProgress, ...]

    @property
    def completed(self) -> int:
        """Completed participants in all conditions."""
        return sum(condition.completed for condition in self.conditions)

    @property
    def target(self) -> int:
        """The sum of the targets."""
        return sum(condition.target for condition in self.conditions)


def progress_of(study: Study) -> StudyProgress:
    """Count the participants who completed, without those whose slots have reopened; previews and pilots do not count.

    Shows no outcome: the same numbers are on the overview while outcomes are blinded.
    """
    counted = Q(participants__mode=Mode.LIVE, participants__status=ParticipantStatus.COMPLETED)
    if study.design.refill_excluded:
        counted &= Q(participants__place__isnull=False)
    conditions = study.conditions.annotate(n_completed=Count("participants", filter=counted)).order_by("position")
    return StudyProgress(
        tuple(ConditionProgress(condition.label, condition.n_completed, condition.target) for condition in conditions)
    )
