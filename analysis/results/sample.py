"""The analysed participants: what they said about themselves, how long they took, and what they opened."""

from __future__ import annotations

from dataclasses import dataclass, field

from analysis.results.codec import stored
from inference.balance import LargestDifference
from inference.results import Undefined


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
    """The analysed participants by condition; `asks_comments` says whether a question could be answered in words."""

    conditions: tuple[str, ...]
    characteristics: tuple[Characteristic, ...]
    by_condition: tuple[Conduct, ...]
    total: Conduct
    asks_comments: bool = field(default=True, metadata=stored(is_omitted=True))
