"""Tables of who was left out, and of what the analysis says with and without them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analysis.enums import variable_of
from analysis.tables.cells import NONE, Cell, Column, Row, Table, decimal, probability, text, whole, written

Result = Mapping[str, Any]
HOW = {"hand": "By hand", "rule": "By the plan's rule"}


def reasons(found: Result) -> Table:
    """How many are left out for each reason; never who."""
    rows = tuple(Row((text(HOW[one["how"]]), text(one["reason"]), whole(one["n"]))) for one in found["reasons"])
    return Table(
        "exclusions-reasons",
        "Left out of the analysis",
        (Column("How"), Column("Reason"), Column("n", True)),
        rows,
        "Each participant is counted once: by hand before by rule, and by the first flag that the rule names.",
    )


def tests(found: Result) -> Table:
    """The analysis of variance of each variable, and how many pairs are in order, without and with them."""
    rows = []
    for one in found["variables"]:
        cells: list[Cell] = []
        for side in ("kept", "everybody"):
            anova = one[side]["anova"]
            if anova["is_defined"]:
                statistic = f"F({anova['df_between']}, {anova['df_within']}) = {written(anova['f'])}"
                cells += [Cell(statistic, anova["f"]), probability(anova["p"]), whole(one["n_ordered"][side])]
            else:
                cells += [Cell(NONE, None), Cell(NONE, None), whole(one["n_ordered"][side])]
        survives = {True: "yes", False: "no", None: NONE}[one["survives"]]
        rows.append(Row((text(variable_of(one["key"], one).name), *cells, text(survives))))
    columns = [Column("Variable", side="perceived")]
    for name in ("as analysed", "with everybody"):
        columns += [Column(f"F, {name}"), Column("p", True), Column("Pairs in order", True)]
    columns.append(Column("Survives"))
    return Table(
        "exclusions-tests",
        "Each variable as analysed, and with everybody who completed",
        tuple(columns),
        tuple(rows),
        "A conclusion survives where the test falls on the same side of α and the same pairs are in the same order.",
    )


def means(found: Result) -> Table:
    """n, mean and tier of each condition, without and with them."""
    rows = []
    for one in found["variables"]:
        is_share = variable_of(one["key"], one).is_share
        for name in found["conditions"]:
            cells: list[Cell] = []
            for side in ("kept", "everybody"):
                cells += [
                    whole(one[side]["n"][name]),
                    decimal(one[side]["means"].get(name), 2, is_share),
                    text(one[side]["tiers"].get(name, NONE)),
                ]
            rows.append(Row((text(name), *cells), group=variable_of(one["key"], one).name))
    columns = [Column("Algorithm")]
    for name in ("as analysed", "with everybody"):
        columns += [Column(f"n, {name}", True), Column("M", True, "perceived"), Column("Tier")]
    return Table(
        "exclusions-means",
        "Means and tiers as analysed, and with everybody who completed",
        tuple(columns),
        tuple(rows),
        group_name="Variable",
    )
