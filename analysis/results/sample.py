"""The participants: how they moved through the study, what they said about themselves, and what they opened."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from analysis.results.codec import stored
from analysis.results.exclusions import ExclusionReason
from inference.balance import LargestDifference
from inference.results import Undefined

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
    """Numbers of participants from consent to analysis; `left_before` and `left_after` are about the assignment.

    `analysed` are those who completed; beside them `n_left` who left before the end count with `n_left_occasions`.
    """

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
    n_left: int = field(default=0, metadata=stored(is_omitted=True))
    n_left_occasions: int = field(default=0, metadata=stored(is_omitted=True))
    is_collecting: bool = field(default=False, metadata=stored(is_omitted=True))  # before its sample is complete
    left_before: Counted | None = None
    left_after: Counted | None = None
    by_condition: tuple[ConditionFlow, ...]

    @property
    def planned(self) -> int:
        """The participants that all conditions together were planned with."""
        return sum(condition.target for condition in self.by_condition)


@dataclass(frozen=True, kw_only=True)
class NumberSummary:
    """A number over some participants; `sd` is None for fewer than two."""

    mean: float
    sd: float | None
    median: float
    minimum: float
    maximum: float


@dataclass(frozen=True, kw_only=True)
class AnswersOfCondition:
    """The answers to one question in one condition, or in all of them.

    `n` participants answered; `counts` are those of each answer. The others declined, were not asked or gave none.
    """

    n: int
    n_missing: int
    number: NumberSummary | None = None
    counts: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Characteristic:
    """A question about the participant.

    `answers` names the answers that participants chose; a number has none, and neither have answers in words, which are
    counted alone. With `is_multiple`, participants chose any number of them.
    """

    key: str
    question: str
    unit: str = ""
    is_multiple: bool = False
    answers: tuple[str, ...] = ()
    by_condition: tuple[AnswersOfCondition, ...]  # in the order of the conditions
    total: AnswersOfCondition
    balance: LargestDifference | Undefined | None = None
    # What 95% of random assignments of the same people stay within; None without a difference, and in older reports.
    by_chance: float | None = field(default=None, metadata=stored(is_omitted=True))


@dataclass(frozen=True, kw_only=True)
class Conduct:
    """How the participants of one condition, or all of them, took part.

    `details_opened` and `trailers_opened` are numbers of events since the list was there, `opened_details` and
    `opened_trailers` the participants who did so.
    """

    n: int
    seconds: NumberSummary | None
    details_opened: int
    opened_details: int
    trailers_opened: int
    opened_trailers: int
    commented: int  # participants who wrote a comment


@dataclass(frozen=True, kw_only=True)
class Sample:
    """The analysed participants by condition, or by another `arm` that they were assigned to.

    `asks_comments` says whether a question could be answered in words.
    """

    conditions: tuple[str, ...]
    characteristics: tuple[Characteristic, ...]
    by_condition: tuple[Conduct, ...]
    total: Conduct
    asks_comments: bool = field(default=True, metadata=stored(is_omitted=True))
    arm: str = field(default="condition", metadata=stored(is_omitted=True))


@dataclass(frozen=True, kw_only=True)
class OtherLengths:
    """Participants of these conditions judged different numbers of items."""

    of: Literal["lengths"] = "lengths"
    fewest: dict[str, int]
    most: dict[str, int]


@dataclass(frozen=True, kw_only=True)
class OtherDays:
    """Conditions were not collected at the same time: the median day of each, counted from the first assignment."""

    of: Literal["days"] = "days"
    median_day: dict[str, float]
    p: float


@dataclass(frozen=True, kw_only=True)
class Waits:
    """How long participants waited for their lists, in studies with a remote recommender; `p` is of a rank test."""

    of: Literal["waits"] = "waits"
    median_seconds: dict[str, float]
    p: float | None  # None where no difference can be tested


@dataclass(frozen=True, kw_only=True)
class SeveralConditions:
    """People who took part in more than one condition, by the ids that they came with."""

    of: Literal["people"] = "people"
    n: int


@dataclass(frozen=True, kw_only=True)
class Overdispersed:
    """Counts that vary more within conditions than Poisson's distribution; `dispersion` is variance over mean."""

    of: Literal["counts"] = "counts"
    name: str
    dispersion: float


@dataclass(frozen=True, kw_only=True)
class AtTheEnd:
    """A condition with at least half of its ratings at one end of the scale; `share` of them are."""

    of: Literal["end"] = "end"
    condition: str
    is_ceiling: bool
    share: float


@dataclass(frozen=True, kw_only=True)
class Ungraded:
    """Participants who gave all items of their list the same rating; `n` of `analysed`."""

    of: Literal["ungraded"] = "ungraded"
    n: int
    analysed: int


@dataclass(frozen=True, kw_only=True)
class NegativeItem:
    """A question whose answers fall as the rest of its scale rises; `r` is the correlation with the rest."""

    of: Literal["negative"] = "negative"
    scale: str
    question: str
    r: float


DesignCheck = OtherLengths | OtherDays | Waits | SeveralConditions | Overdispersed | AtTheEnd | Ungraded | NegativeItem
