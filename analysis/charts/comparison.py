"""Charts of both sides together."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.charts.estimates import around, axis, means_of
from analysis.results.advantage import DecidedPairs
from analysis.results.comparison import Comparison
from analysis.results.objective import ProfileLength
from analysis.results.perceived import PerceivedVariable
from analysis.results.report import Results
from charting import marks
from charting.pairs import GridCell, Ranked, Sides, pairs_grid, ranked_lists
from charting.theme import Spec
from evaluation.reported_kinds import ERRORS
from inference import apa
from inference.pair_decisions import PairClass


def grid(
    comparison: Comparison,
    names: Sequence[str],
    cells: Sequence[GridCell],
    length: ProfileLength,
    title: str,
) -> Spec:
    """The grid of pairs, algorithms in the metric's order."""
    values = length.defined_values(comparison.kind)
    write = apa.number if comparison.kind in ERRORS else apa.share
    return pairs_grid(names, {name: write(values[name], 3) for name in names}, cells, title=title)


def slope(
    comparison: Comparison, variable: PerceivedVariable, length: ProfileLength, *, title: str, n: int
) -> Spec | None:
    """The two ranked lists side by side; None where no pairs were decided."""
    decided = comparison.decided
    if not isinstance(decided, DecidedPairs):
        return None
    values = length.defined_values(comparison.kind)
    sets = decided.offline_rank_sets.sets, decided.participants_rank_sets.sets
    write, is_share = (apa.number if comparison.kind in ERRORS else apa.share), variable.variable.is_share
    objective, perceived = (
        sorted(sets[0], key=ranks.__getitem__) for ranks in (comparison.ranks.objective, comparison.ranks.perceived)
    )
    means = {name: variable.described[name].mean for name in perceived}
    return ranked_lists(
        [Ranked(name, write(values[name], 3), *sets[0][name]) for name in objective],
        [Ranked(name, (apa.share if is_share else apa.number)(means[name]), *sets[1][name]) for name in perceived],
        title=title,
        sides=Sides(comparison.metric(n).in_text, variable.variable.in_text),
        reversed_pairs=[
            (pair.offline_favours or "", pair.participants_favour or "")
            for pair in comparison.pairs(PairClass.CONTRADICT)
        ],
    )


def alternatives(results: Results, title: str) -> Spec | None:
    """The average advantage by every analysis of the specification curve; None without any."""
    analyses, primary = results.defined_alternatives, results.primary
    if not analyses or primary is None:
        return None
    return marks.forest(
        [
            marks.Difference(name, "", one.value, one.interval.low, one.interval.high, "", one.interval.low > 0)
            for name, one in analyses
        ],
        title=title,
        x_title=f"Average advantage in {primary.variable.in_text}, with 95% CI",
        is_share=primary.variable.is_share,
        interval_name="95% CI",
    )


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
