"""Sentences on the specification curve."""

from __future__ import annotations

from analysis.results.report import Results
from inference.average_advantage import AverageAdvantage


def title(results: Results) -> str:
    """How many analyses are positive, and how many have an interval above 0."""
    outcomes = [result for _name, result in results.defined_alternatives]
    positive, above = (
        sum(outcome.value > 0 for outcome in outcomes),
        sum(outcome.interval.low > 0 for outcome in outcomes),
    )
    return f"{positive} of {len(outcomes)} analyses positive, {above} with a CI above 0"


def caption(results: Results) -> str:
    """What the curve shows, and what had no result."""
    missing = [outcome.name for outcome in results.alternatives if not isinstance(outcome.result, AverageAdvantage)]
    without = f" Without a result: {'; '.join(missing)}." if missing else ""
    return (
        "The average advantage by analyses that differ from the plan in one decision, with 95% CI, the largest first. "
        f"No test: all of them share their data.{without}"
    )
