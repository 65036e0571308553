"""Sentences on the specification curve."""

from __future__ import annotations

from analysis.results.report import Results
from inference.average_advantage import AverageAdvantage


def title(results: Results) -> str:
    """How many analyses are positive, and how many have an interval above 0."""
    found = [result for _name, result in results.defined_alternatives]
    positive, above = sum(one.value > 0 for one in found), sum(one.interval.low > 0 for one in found)
    return f"{positive} of {len(found)} analyses positive, {above} with a CI above 0"


def caption(results: Results) -> str:
    """What the curve shows, and what had no result."""
    missing = [one.name for one in results.alternatives if not isinstance(one.result, AverageAdvantage)]
    without = f" Without a result: {'; '.join(missing)}." if missing else ""
    return (
        "The average advantage by analyses that differ from the plan in one decision, with 95% CI, the largest first. "
        f"No test: all of them share their data.{without}"
    )
