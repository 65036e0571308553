"""What participants picked of their lists, opened and played."""

from __future__ import annotations

from dataclasses import dataclass

from analysis.results.rankings import OfVariable
from inference.choices import SharesTest
from inference.results import Undefined
from studies.flow_pages import CHOSEN


def is_of_picks(variable_key: str) -> bool:
    """Whether an outcome says that a participant picked something or nothing; else it is a share of items."""
    return variable_key.endswith(f".{CHOSEN}")


@dataclass(frozen=True, kw_only=True)
class ComparedShares(OfVariable):
    """The planned test of a choice or of recorded behaviour."""

    result: SharesTest | Undefined


@dataclass(frozen=True, kw_only=True)
class ChoicesOfCondition:
    """The choices of one condition's `n` participants; `low` and `high` are the 95% limits of the share who picked
    something, `rank` and `popularity` the mean rank and mean number of ratings of what they picked.
    """

    condition: str
    n: int
    n_chosen: int
    share: float | None
    low: float | None
    high: float | None
    rank: float | None
    popularity: float | None
