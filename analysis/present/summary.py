"""The first screen, and one pair of a metric and a measure in full."""

from __future__ import annotations

from analysis.present import comparison as both_sides
from analysis.present.objective import length_name
from analysis.present.verdict import has_verdict
from analysis.present.words import MISSING, decimal, ranks_cell, tau_b, whole
from analysis.results.advantage import DecidedPairs
from analysis.results.comparison import Comparison
from analysis.results.objective import ProfileLength
from analysis.results.perceived import PerceivedVariable
from analysis.results.report import Results
from documents.blocks import Figure, FigureMaker, Section
from documents.tables import Cell, Column, Row, Side, Table, plain_table, text
from evaluation.reported_kinds import ERRORS, kind_at
from inference.rank_sets import Ranks
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
    if not has_verdict(results):
        return section
    section.draw(_scatter(results, figure))
    section.put(both_sides_table(results))
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
    grid = both_sides.grid(comparison, names, cells, length, title=both_sides.grid_title(decided))
    lists = both_sides.slope(comparison, variable, length, title=both_sides.slope_title(comparison), n=n)
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


def _scatter(results: Results, figure: FigureMaker) -> Figure | None:
    primary, n = results.primary, results.objective.n
    if primary is None:
        return None
    length = results.objective.at(primary.profile_length)
    return figure(
        "scatter",
        both_sides.scatter(primary, primary_variable(results), length, both_sides.scatter_title(primary, n), n),
        "One point per algorithm, with 95% intervals: vertically of the mean over participants, horizontally over "
        "resampled test users.",
        both_sides_table(results),
    )


def primary_variable(results: Results) -> PerceivedVariable:
    """The perceived side of the primary pair; the first variable where no pair is primary."""
    primary = results.primary
    return (primary and results.variable(primary.variable_key)) or results.variables[0]


def pair_section(results: Results, comparison: Comparison, figure: FigureMaker) -> Section:
    """One measure with one metric, as the summary shows the primary pair; others are exploratory."""
    n = results.objective.n
    metric = comparison.metric(n)
    section = Section("pair", f"{comparison.variable.name} and {metric.in_text}")
    section.say(_correlation(comparison), "says")
    section.say(both_sides.agreement(comparison))
    section.draw(*pair_figures(results, comparison, figure, "pair-"))
    section.draw(_pair_scatter(results, comparison, figure))
    return section


def _correlation(comparison: Comparison) -> str:
    tau = comparison.tau
    role = "The primary pair of measures" if comparison.is_primary else "Another pair of measures"
    return f"{role}. {tau.reason}" if isinstance(tau, Undefined) else f"{role}: {tau_b(tau)}."


def _pair_scatter(results: Results, comparison: Comparison, figure: FigureMaker) -> Figure | None:
    variable = results.variable(comparison.variable_key)
    if variable is None:
        return None
    n = results.objective.n
    length = results.objective.at(comparison.profile_length)
    title = both_sides.scatter_title(comparison, n)
    return figure(
        "pair-scatter",
        both_sides.scatter(comparison, variable, length, title, n),
        "One point per algorithm, with 95% intervals: vertically of the mean over participants, horizontally over "
        "resampled test users.",
        _values_table(comparison, variable, length, n),
    )


def _values_table(comparison: Comparison, variable: PerceivedVariable, length: ProfileLength, n: int) -> Table:
    """The numbers of the scatter: both values of every algorithm."""
    values, is_share = length.defined_values(comparison.kind), comparison.kind not in ERRORS
    rows: list[list[str | Cell]] = [
        [
            name,
            decimal(variable.described[name].mean, 2, variable.variable.is_share),
            decimal(values[name], 3, is_share),
        ]
        for name in comparison.conditions
    ]
    names = ["Algorithm", f"{variable.name}, M", f"{comparison.metric(n).name}, {length.averaged}"]
    return plain_table("pair-values", "Both values of every algorithm", names, rows)


# Tables


def both_sides_table(results: Results) -> Table:
    """Every perceived mean and every tested metric by algorithm, from the highest primary mean to the lowest."""
    primary = results.primary
    whole_profiles = results.objective.at(primary.profile_length if primary else 0)
    tested = [kind for kind in results.objective.tested if whole_profiles.defined_values(kind)]
    key = primary.variable_key if primary else results.variables[0].key
    leading = results.variable(key) or results.variables[0]
    columns, ranks = [Column("Algorithm"), Column("n", True)], _rank_sets(primary)
    columns += [Column(variable.name, True, "perceived") for variable in results.variables]
    columns += [
        Column(f"{kind_at(kind, results.objective.n)}, {whole_profiles.averaged}", True, "objective") for kind in tested
    ]
    columns += [Column(name, True, side) for name, side, _sets in ranks]
    rows = [
        Row(
            (
                text(condition.label),
                whole(condition.n),
                *(_mean(variable, condition.label) for variable in results.variables),
                *(_metric(whole_profiles, kind, condition.label) for kind in tested),
                *(ranks_cell(sets[condition.label]) if condition.label in sets else MISSING for _, _, sets in ranks),
            )
        )
        for condition in sorted(results.conditions, key=lambda condition: _place(leading, condition.label))
    ]
    length = length_name(whole_profiles.profile_length)
    return Table(
        "both-sides",
        "Both sides by algorithm",
        tuple(columns),
        tuple(rows),
        f"From highest to lowest by {leading.variable.in_text}. Perceived measures are means over participants, "
        f"novelty as shares of items; objective measures are of {length}, {whole_profiles.aggregation}. "
        "Ranks: simultaneous confidence sets.",
    )


def _rank_sets(primary: Comparison | None) -> list[tuple[str, Side, dict[str, Ranks]]]:
    """The rank sets of the primary pair with their headings; none in reports that did not decide pairs."""
    if primary is None or not isinstance(primary.decided, DecidedPairs):
        return []
    decided = primary.decided
    return [
        (f"Ranks by {primary.variable.in_text}", "perceived", decided.participants_rank_sets.sets),
        (f"Ranks by {primary.metric_word}", "objective", decided.offline_rank_sets.sets),
    ]


def _place(variable: PerceivedVariable, name: str) -> tuple[bool, float]:
    """Printed means from highest to lowest; conditions without one come last."""
    numbers = variable.described.get(name)
    if numbers is None:
        return True, 0.0
    return False, -round(numbers.mean, 2)


def _mean(variable: PerceivedVariable, name: str) -> Cell:
    numbers = variable.described.get(name)
    return MISSING if numbers is None else decimal(numbers.mean, 2, variable.variable.is_share)


def _metric(length: ProfileLength, kind: str, name: str) -> Cell:
    return decimal(length.values(kind)[name], 3, is_share=kind not in ERRORS)
