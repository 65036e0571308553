"""Tables of a questionnaire's scales."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from analysis.tables.cells import NONE, Cell, Column, Row, Table, decimal, interval, probability, text, whole, written
from studies.plans import in_text

Result = Mapping[str, Any]


def reliability(scales: Sequence[Result]) -> Table:
    """Cronbach's alpha of each scale with its interval, and one analysis of variance by algorithm."""
    rows = []
    for scale in scales:
        alpha, anova = scale["reliability"], scale["anova"]
        is_known = alpha["is_defined"]
        rows.append(
            Row(
                (
                    text(scale["name"]),
                    whole(len(scale["questions"])),
                    whole(alpha["n"] if is_known else None),
                    decimal(alpha["alpha"] if is_known else None, 2, True),
                    interval(alpha["ci_low"], alpha["ci_high"], 2, True) if is_known else Cell(NONE, None),
                    text(_statistic(anova)),
                    probability(anova["p"] if anova["is_defined"] else None),
                    decimal(anova["eta_squared"] if anova["is_defined"] else None, 2, True),
                )
            )
        )
    columns = (
        Column("Scale"), Column("Questions", True), Column("n", True), Column("Cronbach's α", True, "perceived"),
        Column("95 % CI of α", True), Column("F by algorithm"), Column("p", True), Column("η²", True),
    )  # fmt: skip
    return Table(
        "scales",
        "Reliability of the scales",
        columns,
        tuple(rows),
        "α with Feldt's interval, over participants of all algorithms who answered every question of the scale; "
        "reversed answers were turned round first.",
    )


def _statistic(anova: Result) -> str:
    if not anova["is_defined"]:
        return NONE
    return f"F({anova['df_between']}, {anova['df_within']}) = {written(anova['f'])}"


def means(scales: Sequence[Result]) -> Table:
    """Mean score and standard deviation of each scale by algorithm."""
    rows = []
    for scale in scales:
        for name in scale["conditions"]:
            found = scale["described"].get(name)
            rows.append(
                Row(
                    (
                        text(name),
                        whole(found["n"] if found else 0),
                        decimal(found["mean"] if found else None),
                        decimal(found["sd"] if found else None),
                        interval(found["ci_low"], found["ci_high"]) if found else Cell(NONE, None),
                    ),
                    group=f"{scale['name']} ({scale['low']} to {scale['high']})",
                )
            )
    columns = (
        Column("Algorithm"), Column("n", True), Column("M", True, "perceived"), Column("SD", True),
        Column("95 % CI of M", True),
    )  # fmt: skip
    return Table("scale-means", "Scales by algorithm", columns, tuple(rows), group_name="Scale")


def reasons(scales: Sequence[Result]) -> list[str]:
    """Why a scale has no alpha, or whose scores are missing, in sentences."""
    found = []
    for scale in scales:
        if not scale["reliability"]["is_defined"]:
            found.append(f"{scale['name']} has no alpha. {scale['reliability']['reason']}")
        if missing := scale["n"] - scale["n_scored"]:
            who = "1 participant has" if missing == 1 else f"{missing:,} participants have"
            found.append(f"{who} no score of {in_text(scale['name'])}: too few of its questions were answered.")
    return found
