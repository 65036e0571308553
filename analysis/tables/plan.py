"""The table of the plan and of every deviation from it."""

from __future__ import annotations

from analysis.narrative import plan as narrative
from analysis.results.plan import Planned
from analysis.results.report import Results
from documents.tables import Table, Words, table


def plan_table(results: Results, planned: Planned) -> Table:
    """What was planned, and where the report departs from it."""
    rows = [("Plan", sentence) for sentence in narrative.frozen(results, planned)]
    rows += [("Deviations", sentence) for sentence in narrative.deviations(results, planned)]
    return table(
        "plan",
        "Plan and deviations",
        rows,
        Words("Part", lambda row: row[0]),
        Words("In words", lambda row: row[1]),
    )
