"""Tables of exclusions, and of the analysis with and without them."""

from __future__ import annotations

from analysis.results.exclusions import Exclusions
from analysis.tables.cells import MISSING, NONE, decimal, f_statistic, probability, whole
from documents.tables import Cell, Column, Numbers, Row, Table, Words, table, text
from inference.results import Undefined

HOW = {"hand": "By hand", "rule": "By the plan's rule"}
SIDES = ("as analysed", "all completers")


def reasons(exclusions: Exclusions) -> Table:
    """How many participants are excluded for each reason."""
    return table(
        "exclusions-reasons",
        "Excluded from the analysis",
        exclusions.reasons,
        Words("How", lambda reason: HOW[reason.how]),
        Words("Reason", lambda reason: reason.reason),
        Numbers("n", lambda reason: whole(reason.n)),
        note="Each participant is counted once: by hand before by rule, and by the first flag that the rule names.",
    )


def tests(exclusions: Exclusions) -> Table:
    """Welch's test of each variable, and the number of ordered pairs, with and without exclusions."""
    rows = []
    for variable in exclusions.variables:
        cells: list[Cell] = []
        counts = (variable.n_ordered.analysed, variable.n_ordered.completers)
        for side, n_ordered in zip(variable.sides, counts, strict=True):
            found = side.test
            if isinstance(found, Undefined):
                cells += [MISSING, MISSING, whole(n_ordered)]
            else:
                statistic = f_statistic(found.df_between, found.df_within, found.f)
                cells += [Cell(statistic, found.f), probability(found.p), whole(n_ordered)]
        survives = {True: "yes", False: "no", None: NONE}[variable.survives]
        rows.append(Row((text(variable.variable.name), *cells, text(survives))))
    columns = [Column("Variable", side="perceived")]
    for name in SIDES:
        columns += [Column(f"F, {name}"), Column("p", True), Column("Significant pairs", True)]
    columns.append(Column("Same conclusion"))
    return Table(
        "exclusions-tests",
        "Each variable as analysed, and over all completers",
        tuple(columns),
        tuple(rows),
        "The conclusion is the same where both tests are significant, or neither is, with the same significant pairs.",
    )


def means(exclusions: Exclusions) -> Table:
    """n, mean and tier of each condition, with and without exclusions."""
    rows = []
    for variable in exclusions.variables:
        defined = variable.variable
        for name in exclusions.conditions:
            cells: list[Cell] = []
            for side in variable.sides:
                cells += [
                    whole(side.n[name]),
                    decimal(side.means.get(name), 2, defined.is_share),
                    text(side.tiers[name].value if name in side.tiers else NONE),
                ]
            rows.append(Row((text(name), *cells), group=defined.name))
    columns = [Column("Algorithm")]
    for name in SIDES:
        columns += [Column(f"n, {name}", True), Column("M", True, "perceived"), Column("Tier")]
    return Table(
        "exclusions-means",
        "Means and tiers as analysed, and over all completers",
        tuple(columns),
        tuple(rows),
        group_name="Variable",
    )
