"""The level that a result was tested at, in numbers and in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from studies.narrative.plan import level
from studies.plans import AnalysisPlan


def alpha_of(result: Mapping[str, Any]) -> float:
    """The level of a variable's or a comparison's tests; of one that names none, the one where a plan says nothing."""
    return float(result.get("alpha", AnalysisPlan().alpha))


def level_of(result: Mapping[str, Any]) -> str:
    """The same as it is printed.

    Examples
    --------
    >>> level_of({"alpha": 0.01}), level_of({})
    ('.01', '.05')
    """
    return level(alpha_of(result))


def simultaneous(result: Mapping[str, Any]) -> str:
    """The coverage of intervals that belong to tests at that level.

    Examples
    --------
    >>> simultaneous({"alpha": 0.05}), simultaneous({"alpha": 0.005})
    ('95 %', '99.5 %')
    """
    return f"{round(100 * (1 - alpha_of(result)), 4):g} %"
