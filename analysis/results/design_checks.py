"""What a study's own data say of its design before anything is tested."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


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


DesignCheck = OtherLengths | OtherDays | SeveralConditions | Overdispersed | AtTheEnd | Ungraded | NegativeItem
