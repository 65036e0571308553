"""The table of the summary: both sides of every algorithm."""

from __future__ import annotations

from analysis.results.advantage import DecidedPairs
from analysis.results.comparison import Comparison
from analysis.results.objective import ProfileLength
from analysis.results.perceived import PerceivedVariable
from analysis.results.report import Results
from analysis.tables.cells import MISSING, decimal, ranks_cell, whole
from analysis.tables.objective import length_name
from documents.tables import Cell, Column, Row, Side, Table, text
from evaluation.reported_kinds import ERRORS, kind_at
from inference.rank_sets import Ranks


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
