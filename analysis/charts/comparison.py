"""Charts of both sides together."""

from __future__ import annotations

from analysis.charts.estimates import around, axis, means_of
from analysis.enums import Metric
from analysis.results.comparison import Comparison, Half
from analysis.results.objective import ProfileLength
from analysis.results.perceived import PerceivedVariable
from charting import marks
from charting.theme import Spec
from inference.agreement import Verdict


def slope(comparison: Comparison, title: str, n: int) -> Spec | None:
    """The two rankings side by side; None with fewer than two algorithms to rank."""
    if len(comparison.conditions) < 2:
        return None
    return marks.slope(
        _ranks(comparison, "perceived"),
        _ranks(comparison, "objective"),
        title=title,
        perceived_title=comparison.variable.in_text,
        objective_title=Metric(comparison.kind, 0, n).in_text,
        contradicted=[(pair.a, pair.b) for pair in comparison.pairs(Verdict.CONTRADICTED)],
    )


def _ranks(comparison: Comparison, half: Half) -> dict[str, tuple[float, float, float]]:
    ranks, bounds = comparison.ranks.of(half), comparison.ranks_resampled.of(half).bounds
    return {name: around(ranks[name], bounds.get(name)) for name in comparison.conditions}


def scatter(
    comparison: Comparison, variable: PerceivedVariable, length: ProfileLength, title: str, n: int
) -> Spec | None:
    """One point per algorithm, with both intervals; None with fewer than two."""
    names, metric = comparison.conditions, comparison.metric(n)
    if len(names) < 2:
        return None
    means, values = means_of(variable), length.defined_values(metric.kind)
    intervals = {line.condition: line.intervals[metric.kind] for line in length.table}
    return marks.scatter(
        {name: means[name] for name in names},
        {name: around(values[name], intervals[name]) for name in names},
        title=title,
        perceived_title=axis(variable),
        objective_title=metric.name,
    )


def rank_strip(comparison: Comparison, half: Half, title: str, subtitle: str) -> Spec | None:
    """The probability of each rank on one side, the best on top; None where nothing was resampled."""
    probabilities = comparison.ranks_resampled.of(half).probabilities
    names = sorted(comparison.conditions, key=comparison.ranks.of(half).__getitem__)
    if len(names) < 2 or not all(name in probabilities for name in names):
        return None
    return marks.rank_strip({name: probabilities[name] for name in names}, title=title, subtitle=subtitle, side=half)
