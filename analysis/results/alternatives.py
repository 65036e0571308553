"""The specification curve: the average advantage of the primary pair by other defensible analyses."""

from __future__ import annotations

from dataclasses import dataclass

from inference.average_advantage import AverageAdvantage
from inference.results import Undefined


@dataclass(frozen=True, kw_only=True)
class Alternative:
    """One analysis: what it does differently from the plan, in words, and its result."""

    name: str
    result: AverageAdvantage | Undefined
