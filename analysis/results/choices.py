"""What participants picked of their lists."""

from __future__ import annotations

from dataclasses import dataclass


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
