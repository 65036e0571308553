"""The chart of list metrics with measures."""

from __future__ import annotations

from analysis.charts.matrix import column_labels
from analysis.results.lists_shown import LIST_METRIC_OF, ListsShown
from charting import marks
from charting.theme import Spec
from inference.results import Undefined


def lists_chart(lists: ListsShown, title: str) -> Spec | None:
    """Correlations within conditions: a row per metric, a column per measure; None where there is none."""
    if all(isinstance(pair.within, Undefined) for pair in lists.correlations):
        return None
    column_of = column_labels(lists.variables)
    values: dict[str, dict[str, float | None]] = {}
    reasons: dict[tuple[str, str], str] = {}
    for pair in lists.correlations:
        row, column = LIST_METRIC_OF[pair.metric].name, column_of[pair.variable_key]
        if isinstance(pair.within, Undefined):
            reasons[row, column] = pair.within.reason
        values.setdefault(row, {})[column] = (
            None if isinstance(pair.within, Undefined) else pair.within.coefficient
        )  # fmt: skip
    return marks.matrix(
        values,
        title=title,
        subtitle="Correlation r of each metric of a participant's list with each measure, within conditions",
        emphasised=[
            (LIST_METRIC_OF[pair.metric].name, column_of[pair.variable_key]) for pair in lists.significant_within
        ],
        reasons=reasons,
        coefficient="r",
        side="perceived",
    )
