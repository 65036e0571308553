"""The first screen, and one pair of a metric and a measure in full."""

from __future__ import annotations

from analysis.present import comparison as both_sides
from analysis.present.estimates import around, axis, means_of
from analysis.present.objective import length_name
from analysis.present.verdict import has_verdict
from analysis.present.words import MISSING, cell_of, decimal, ranks_cell, tau_b, whole
from analysis.results.advantage import DecidedPairs
from analysis.results.comparison import Comparison
from analysis.results.objective import ProfileLength
from analysis.results.perceived import PerceivedVariable
from analysis.results.report import ConditionFacts, Results
from charting import marks
from charting.pairs import Ranked, Sides, pairs_grid, ranked_lists
from documents.blocks import Figure, FigureMaker, Section
from documents.tables import Cell, Numbers, Table, Words, table
from evaluation.reported_kinds import ERRORS, kind_at
from inference import apa
from inference.pair_decisions import PairClass
from inference.results import Undefined


def pairs_section(results: Results, figure: FigureMaker) -> Section:
    """The grid of pairs and the ranked lists of the primary pair, on the first screen."""
    section = Section("pairs-of-algorithms", "")
    if has_verdict(results) and results.primary is not None:
        section.draw(*pair_figures(results, results.primary, figure))
    return section


def summary_section(results: Results, figure: FigureMaker) -> Section:
    """The scatter of the primary pair, and every measure by algorithm."""
    section = Section("summary", "Both sides of every algorithm")
    if has_verdict(results) and results.primary is not None:
        numbers = both_sides_table(results, results.primary)
        section.draw(_scatter(results, results.primary, numbers, figure))
        section.put(numbers)
    return section


def pair_figures(
    results: Results, comparison: Comparison, figure: FigureMaker, prefix: str = ""
) -> tuple[Figure | None, ...]:
    """The grid of pairs and the two ranked lists; none in reports of versions that decided pairs by other tests."""
    variable, decided = results.variable(comparison.variable_key), comparison.decided
    if variable is None or not isinstance(decided, DecidedPairs):
        return ()
    n, length, metric = results.objective.n, results.objective.at(comparison.profile_length), comparison.metric_word
    names, cells = both_sides.grid_cells(comparison, variable, length)
    if not cells:
        return ()
    values, is_share = length.defined_values(comparison.kind), variable.variable.is_share
    write, write_mean = (
        (apa.number if comparison.kind in ERRORS else apa.share),
        (apa.share if is_share else apa.number),
    )
    offline, people = decided.offline_rank_sets.sets, decided.participants_rank_sets.sets
    grid = pairs_grid(
        names, {name: write(values[name], 3) for name in names}, cells, title=both_sides.grid_title(decided)
    )
    lists = ranked_lists(
        [
            Ranked(name, write(values[name], 3), *offline[name])
            for name in sorted(offline, key=comparison.ranks.objective.__getitem__)
        ],
        [
            Ranked(name, write_mean(variable.described[name].mean), *people[name])
            for name in sorted(people, key=comparison.ranks.perceived.__getitem__)
        ],
        title=both_sides.slope_title(comparison),
        sides=Sides(comparison.metric(n).in_text, variable.variable.in_text),
        reversed_pairs=[
            (pair.offline_favours or "", pair.participants_favour or "")
            for pair in comparison.pairs(PairClass.CONTRADICT)
        ],
    )
    return (
        figure(
            f"{prefix}pairs",
            grid,
            f"Left half filled: {metric} separates the pair. Right: participants. Slipped: opposite.",
            both_sides.pairs_table(comparison, cells, n),
        ),
        figure(
            f"{prefix}slope",
            lists,
            "Bars: rank confidence sets. Colour only where an order reverses significantly.",
            both_sides.ranks_table(comparison),
        ),
    )


def _scatter(
    results: Results, comparison: Comparison, numbers: Table, figure: FigureMaker, prefix: str = ""
) -> Figure | None:
    """One point per algorithm, with both intervals; None with fewer than two."""
    variable, names = results.variable(comparison.variable_key), comparison.conditions
    if variable is None or len(names) < 2:
        return None
    length, metric = results.objective.at(comparison.profile_length), comparison.metric(results.objective.n)
    means, values = means_of(variable), length.defined_values(metric.kind)
    intervals = {line.condition: line.intervals[metric.kind] for line in length.table}
    chart = marks.scatter(
        {name: means[name] for name in names},
        {name: around(values[name], intervals[name]) for name in names},
        title=both_sides.scatter_title(comparison, results.objective.n),
        perceived_title=axis(variable),
        objective_title=metric.name,
    )
    caption = (
        "One point per algorithm, with 95% intervals: vertically of the mean over participants, horizontally over "
        "resampled test users."
    )
    return figure(f"{prefix}scatter", chart, caption, numbers)


def primary_variable(results: Results) -> PerceivedVariable:
    """The perceived side of the primary pair; the first variable where no pair is primary."""
    primary = results.primary
    return (primary and results.variable(primary.variable_key)) or results.variables[0]


def pair_section(results: Results, comparison: Comparison, figure: FigureMaker) -> Section:
    """One measure with one metric, as the summary shows the primary pair; others are exploratory."""
    section = Section("pair", f"{comparison.variable.name} and {comparison.metric(results.objective.n).in_text}")
    section.say(_correlation(comparison), style="says")
    section.say(both_sides.agreement(comparison))
    section.draw(*pair_figures(results, comparison, figure, "pair-"))
    section.draw(_scatter(results, comparison, _values_table(results, comparison), figure, "pair-"))
    return section


def _correlation(comparison: Comparison) -> str:
    tau = comparison.tau
    role = "The primary pair of measures" if comparison.is_primary else "Another pair of measures"
    return f"{role}. {tau.reason}" if isinstance(tau, Undefined) else f"{role}: {tau_b(tau)}."


def _values_table(results: Results, comparison: Comparison) -> Table:
    """The numbers of the scatter: both values of every algorithm."""
    length, variable = results.objective.at(comparison.profile_length), results.variable(comparison.variable_key)
    return table(
        "pair-values",
        "Both values of every algorithm",
        comparison.conditions,
        Words[str]("Algorithm", str),
        Numbers(f"{comparison.variable.name}, M", lambda name: _mean(variable, name)),
        Numbers(
            f"{comparison.metric(results.objective.n).name}, {length.averaged}",
            lambda name: _metric(length, comparison.kind, name),
        ),
    )


# Tables


def both_sides_table(results: Results, primary: Comparison) -> Table:
    """Every perceived mean and every tested metric by algorithm, from the highest primary mean to the lowest."""
    leading, length = primary_variable(results), results.objective.at(primary.profile_length)
    tested = [kind for kind in results.objective.tested if length.defined_values(kind)]
    return table(
        "both-sides",
        "Both sides by algorithm",
        sorted(results.conditions, key=lambda condition: _place(leading, condition.label)),
        Words("Algorithm", lambda condition: condition.label),
        Numbers("n", lambda condition: whole(condition.n)),
        *(_mean_column(variable) for variable in results.variables),
        *(_metric_column(length, kind, kind_at(kind, results.objective.n)) for kind in tested),
        *_rank_sets(primary),
        note=f"From highest to lowest by {leading.variable.in_text}. Perceived measures are means over participants, "
        f"novelty as shares of items; objective measures are of {length_name(length.profile_length)}, "
        f"{length.aggregation}. Ranks: simultaneous confidence sets.",
    )


def _mean_column(variable: PerceivedVariable) -> Numbers[ConditionFacts]:
    return Numbers(variable.name, lambda condition: _mean(variable, condition.label), "perceived")


def _metric_column(length: ProfileLength, kind: str, name: str) -> Numbers[ConditionFacts]:
    heading = f"{name}, {length.averaged}"
    return Numbers(heading, lambda condition: _metric(length, kind, condition.label), "objective")


def _rank_sets(primary: Comparison) -> tuple[Numbers[ConditionFacts], ...]:
    """The rank sets of the primary pair; none in reports that did not decide pairs."""
    if not isinstance(primary.decided, DecidedPairs):
        return ()
    people, offline = primary.decided.participants_rank_sets.sets, primary.decided.offline_rank_sets.sets
    return (
        Numbers(
            f"Ranks by {primary.variable.in_text}", lambda row: cell_of(people.get(row.label), ranks_cell), "perceived"
        ),
        Numbers(
            f"Ranks by {primary.metric_word}", lambda row: cell_of(offline.get(row.label), ranks_cell), "objective"
        ),
    )


def _place(variable: PerceivedVariable, name: str) -> tuple[bool, float]:
    """Printed means from highest to lowest; conditions without one come last."""
    numbers = variable.described.get(name)
    if numbers is None:
        return True, 0.0
    return False, -round(numbers.mean, 2)


def _mean(variable: PerceivedVariable | None, name: str) -> Cell:
    numbers = None if variable is None else variable.described.get(name)
    return MISSING if variable is None or numbers is None else decimal(numbers.mean, 2, variable.variable.is_share)


def _metric(length: ProfileLength, kind: str, name: str) -> Cell:
    return decimal(length.values(kind)[name], 3, is_share=kind not in ERRORS)
