"""How participants moved through the study, as CONSORT asks."""

from __future__ import annotations

from dataclasses import dataclass, field

from analysis.results.codec import stored
from analysis.results.exclusions import ExclusionReason

Counted = tuple[tuple[str, int], ...]  # a list keeps its order in every database, and the keys of a mapping do not


@dataclass(frozen=True, kw_only=True)
class Interviews:
    """Participants started by interviewers, and whether each interviewer had one condition alone."""

    n: int
    interviewers: int
    is_nested: bool


@dataclass(frozen=True, kw_only=True)
class ConditionFlow:
    """The same in one condition."""

    condition: str
    target: int
    assigned: int
    under_way: int
    abandoned: int
    completed: int
    analysed: int


@dataclass(frozen=True, kw_only=True)
class Flow:
    """Numbers of participants from consent to analysis; `left_before` and `left_after` are about the assignment."""

    interviews: Interviews | None = field(default=None, metadata=stored(is_omitted=True))
    declined: int = 0
    consented: int
    screened_out: int = 0
    quota_full: int = 0
    assigned: int
    abandoned: int = 0
    withdrawn: int = 0
    under_way: int = 0
    completed: int
    excluded: int = 0
    excluded_for: tuple[ExclusionReason, ...] = ()
    analysed: int
    is_collecting: bool = field(default=False, metadata=stored(is_omitted=True))  # before its sample is complete
    left_before: Counted | None = None
    left_after: Counted | None = None
    by_condition: tuple[ConditionFlow, ...]

    @property
    def planned(self) -> int:
        """The participants that all conditions together were planned with."""
        return sum(condition.target for condition in self.by_condition)
