"""Tables of the lists shown: every metric by condition, and its correlations with the measures."""

from __future__ import annotations

from analysis.results.lists_shown import LIST_METRIC_OF, CorrelatedLists, ListMean, ListMetric, ListsShown
from analysis.tables.cells import MISSING, NONE, decimal, interval, listed, probability, whole
from documents.tables import Cell, Column, Row, Table, text
from inference.correlation import CorrelationResult
from inference.results import AgreementResult, Undefined

WITHIN, BETWEEN = "Within conditions, Pearson", "Between conditions, Kendall"


def means_table(lists: ListsShown) -> Table:
    """Mean, standard deviation and 95% interval of each metric in each condition."""
    rows = tuple(
        _mean_row(LIST_METRIC_OF[measured.metric], row)
        for measured in lists.metrics
        for row in measured.conditions
        if measured.metric != "predicted_rating" or row.condition not in lists.unscored
    )
    columns = (
        Column("Algorithm"), Column("M", True), Column("95% CI", True), Column("SD", True), Column("Lists", True),
    )  # fmt: skip
    note = (
        "Limits by Student's t over participants. Overlaps share lists with each other, so the limits of both are "
        f"approximate. {_unscored(lists)}"
    ).rstrip()
    return Table("list-means", "Metrics of the lists shown", columns, rows, note, "Metric")


def _unscored(lists: ListsShown) -> str:
    """The conditions without predicted ratings by reason, in the order of the design."""
    names: dict[str, list[str]] = {}
    for row in lists.metrics[0].conditions:
        if row.condition in lists.unscored:
            names.setdefault(lists.unscored[row.condition], []).append(row.condition)
    return " ".join(f"No predicted rating for {listed(own)}: {reason}." for reason, own in names.items())


def _mean_row(metric: ListMetric, row: ListMean) -> Row:
    limits = interval(row.ci_low, row.ci_high, metric.digits, metric.is_share)
    cells = (
        text(row.condition), decimal(row.mean, metric.digits, metric.is_share), limits,
        decimal(row.sd, metric.digits, metric.is_share), whole(row.n),
    )  # fmt: skip
    return Row(cells, group=metric.title, is_quiet=row.mean is None)


def correlations_table(lists: ListsShown) -> Table:
    """Every metric with every measure, within conditions and between their means, or why there is no correlation."""
    columns = (
        Column("List metric"), Column("Measure", side="perceived"), Column("Correlation", True),
        Column("95% limits", True), Column("n", True), Column("p", True), Column("p, Holm", True),
        Column("Without a value"),
    )  # fmt: skip
    rows = [
        *(_row(lists, pair, WITHIN, pair.within, _within_limits(pair), pair.p_holm_within)
          for pair in lists.correlations),
        *(_row(lists, pair, BETWEEN, pair.between, MISSING, pair.p_holm_between)
          for pair in lists.correlations),
    ]  # fmt: skip
    note = (
        "Within conditions: Pearson's r of deviations from the mean of the condition, pooled, n participants, with "
        "95% confidence limits by Fisher's z. Between conditions: τ_b of the means of n conditions, p by permutation. "
        f"Holm's correction is over the {lists.n_family:,} exploratory correlations of this table. Overlaps of "
        "participants share lists, so their p values are approximate."
    )
    return Table("list-correlations", "Correlations of list metrics with measures", columns, tuple(rows), note, "Level")


def _row(
    lists: ListsShown, pair: CorrelatedLists, level: str, result: CorrelationResult | AgreementResult | Undefined,
    limits: Cell, p_holm: float | None,
) -> Row:  # fmt: skip
    names = (text(LIST_METRIC_OF[pair.metric].name), text(lists.variable(pair).name))
    if isinstance(result, Undefined):
        nothing = (MISSING, MISSING, Cell(NONE, None), MISSING, MISSING)
        return Row((*names, *nothing, text(result.reason)), group=level, is_quiet=True)
    numbers = (decimal(result.coefficient, 2, is_share=True), limits, whole(result.n))
    return Row((*names, *numbers, probability(result.p), probability(p_holm), text("")), group=level)


def _within_limits(pair: CorrelatedLists) -> Cell:
    limits = None if isinstance(pair.within, Undefined) else pair.within.interval
    return MISSING if limits is None else interval(limits.low, limits.high, 2, True)
