"""Tables of both sides together: comparisons, verdicts pair by pair, rankings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from analysis.enums import Metric, variable_of
from analysis.tables.cells import (
    NONE,
    Cell,
    Column,
    Row,
    Table,
    decimal,
    interval,
    probability,
    share_cell,
    text,
    whole,
    written,
)
from analysis.tables.levels import level_of

Result = Mapping[str, Any]


def comparisons_table(comparisons: Sequence[Result], n: int) -> Table:
    """Every variable with every metric: coefficients, exact p, and pairs that point the same way."""
    level = level_of(comparisons[0]) if comparisons else ""
    rows = []
    for one in comparisons:
        tau, rho, directions, drawn = one["tau"], one["rho"], one["directions"], one["tau_bootstrap"]
        same = f"{directions['same']} of {directions['n_pairs']}" if directions["is_defined"] else NONE
        rows.append(
            Row(
                (
                    text(variable_of(one["variable"], one).name),
                    text(Metric(one["kind"], one["profile_length"], n).name),
                    decimal(tau.get("coefficient"), 2, is_share=True),
                    interval(drawn.get("ci_low"), drawn.get("ci_high"), 2, is_share=True),
                    probability(tau.get("p")),
                    _corrected(one),
                    decimal(tau.get("smallest_detectable"), 2, is_share=True),
                    decimal(rho.get("coefficient"), 2, is_share=True),
                    probability(rho.get("p")),
                    Cell(same, directions.get("same")),
                    probability(directions.get("p")),
                ),
                group="Primary pair" if one["is_primary"] else "Exploratory pairs",
            )
        )
    columns = (
        Column("Variable", side="perceived"), Column("Metric", side="objective"), Column("τ_b", True),
        Column("95 % of resamples", True), Column("p, τ_b", True), Column("p, Holm", True),
        Column(f"Least |τ_b| with p < {level}", True), Column("ρ", True), Column("p, ρ", True),
        Column("Pairs alike", True), Column("p, pairs", True),
    )  # fmt: skip
    return Table(
        "comparisons",
        "Perceived against objective, every variable with every metric",
        columns,
        tuple(rows),
        "All p are exact, by permutation. Both sides with the better first: fallout is turned over, and more novelty "
        "counts as more. Holm's correction "
        "is over the exploratory pairs. Resampled τ_b shrinks toward 0, because resampling adds noise to "
        "both rankings.",
        "Family",
    )


def metrics_table(comparisons: Sequence[Result], primary: Result, n: int) -> Table:
    """How far each metric orders the algorithms as the primary variable does."""
    variable = variable_of(primary["variable"], primary)
    rows = []
    for one in comparisons:
        if one["variable"] != primary["variable"]:
            continue
        tau, drawn, directions = one["tau"], one["tau_bootstrap"], one["directions"]
        same = f"{directions['same']} of {directions['n_pairs']}" if directions["is_defined"] else NONE
        rows.append(
            Row(
                (
                    text(Metric(one["kind"], one["profile_length"], n).name),
                    decimal(tau.get("coefficient"), 2, is_share=True),
                    interval(drawn.get("ci_low"), drawn.get("ci_high"), 2, is_share=True),
                    probability(tau.get("p")),
                    _corrected(one),
                    decimal(tau.get("smallest_detectable"), 2, is_share=True),
                    Cell(same, directions.get("same")),
                    probability(directions.get("p")),
                ),
                group="Primary pair, named before the study" if one["is_primary"] else "Exploratory",
            )
        )
    columns = (
        Column("Metric", side="objective"), Column("τ_b", True), Column("95 % of resamples", True),
        Column("p, τ_b", True), Column("p, Holm", True), Column("Least |τ_b| told from chance", True),
        Column("Pairs alike", True), Column("p, pairs", True),
    )  # fmt: skip
    return Table(
        "metrics",
        f"Which metric orders the algorithms as {variable.in_text} does",
        columns,
        tuple(rows),
        "Recall and F order alike and count as one metric. Fallout is turned over: less is better.",
        "Family",
    )


def verdicts_table(comparison: Result) -> Table:
    """Every pair of algorithms: what people tell apart, and what the metric does."""
    rows = tuple(
        Row(
            (
                text(pair["a"]),
                text(pair["b"]),
                probability(pair["perceived_p"]),
                probability(pair["objective_p"]),
                text(VERDICTS[pair["verdict"]]),
            ),
            is_quiet=pair["verdict"] == "neither",
        )
        for pair in comparison["orders"]["pairs"]
    )
    columns = (
        Column("The better"), Column("and"), Column("p, participants", True, "perceived"),
        Column("p, users", True, "objective"), Column("Told apart"),
    )  # fmt: skip
    return Table(
        "verdicts",
        "Pair by pair, the primary pair of measures",
        columns,
        rows,
        "The better is named by participants where they tell the two apart, else by the metric.",
    )


def contradictions_table(comparisons: Sequence[Result], n: int) -> Table:
    """What participants and a metric tell apart in opposite directions, over the exploratory pairs of measures."""
    rows = tuple(
        Row(
            (
                text(pair["a"]),
                text(pair["b"]),
                text(variable_of(one["variable"], one).name),
                probability(pair["perceived_p"]),
                text(Metric(one["kind"], one["profile_length"], n).name),
                probability(pair["objective_p"]),
            )
        )
        for one in comparisons
        for pair in one["orders"]["pairs"]
        if not one["is_primary"] and pair["verdict"] == "contradicted"
    )
    columns = (
        Column("Participants find"), Column("above"), Column("in", side="perceived"), Column("p, participants", True),
        Column("the opposite says", side="objective"), Column("p, users", True),
    )  # fmt: skip
    return Table(
        "contradictions",
        f"Contradictions in the exploratory pairs of measures ({len(rows)})",
        columns,
        rows,
        "Each p is adjusted within its own test; over the pairs of measures nothing is adjusted here.",
    )


def _corrected(comparison: Result) -> Cell:
    """The corrected p; the primary pair has none, but where another test is primary."""
    is_tested = comparison["is_primary"] and comparison.get("is_tested", True)
    return Cell("primary", None) if is_tested else probability(comparison["p_holm"])


def contrast_table(contrast: Result) -> Table | None:
    """The planned contrast with pooled and with separate variances; None where it has no result."""
    if not contrast["is_defined"]:
        return None
    variable = variable_of(contrast["variable"], contrast)
    tests = [("Pooled variance (planned)", contrast["pooled"]), ("Separate variances (Welch)", contrast["welch"])]
    rows = tuple(
        Row(
            (
                text(name),
                decimal(contrast["difference"], 2, variable.is_share),
                decimal(test["se"], 2, variable.is_share),
                decimal(test["t"]),
                whole(round(test["df"])) if test["df"] == round(test["df"]) else decimal(test["df"]),
                probability(test["p"]),
                decimal(test["ci_low"], 2, variable.is_share),
                decimal(test["ci_high"], 2, variable.is_share),
            )
        )
        for name, test in tests
        if test is not None
    )
    columns = (
        Column("Test"), Column("Difference of means", True, "perceived"), Column("SE", True), Column("t", True),
        Column("df", True), Column("p", True), Column("CI, lower limit", True), Column("CI, upper limit", True),
    )  # fmt: skip
    sides = "One-sided, so the interval has no upper limit." if contrast["sides"] == 1 else "Two-sided."
    return Table(
        "contrast",
        f"Planned contrast, {variable.in_text}: {', '.join(contrast['higher'])} against {', '.join(contrast['lower'])}",
        columns,
        rows,
        f"{sides} Intervals at the level of the test, α = {level_of(contrast)}; conditions of one set count alike.",
    )


VERDICTS = {
    "agreed": "by both alike",
    "perceived only": "by participants only",
    "objective only": "by the metric only",
    "contradicted": "by both, in opposite directions",
    "neither": "by neither",
}


def ranks_table(comparison: Result) -> Table:
    """The two rankings side by side with the ranks that 95 % of resamples give."""
    rows = []
    for name in sorted(comparison["conditions"], key=lambda one: comparison["ranks"]["perceived"][one]):
        cells = [text(name)]
        for side in ("perceived", "objective"):
            found = comparison["ranks_resampled"][side]
            rank = comparison["ranks"][side][name]
            low, high = found["bounds"].get(name, (None, None))
            cells.append(Cell(written(rank, 0 if float(rank).is_integer() else 1), rank))
            cells.append(Cell(NONE if low is None else f"{low} to {high}", None if low is None else f"{low} {high}"))
            cells.append(share_cell(found["best"].get(name)))
        rows.append(Row(tuple(cells)))
    columns = [Column("Algorithm")]
    for side in ("perceived", "objective"):
        columns += [
            Column(f"Rank, {side}", True, "perceived" if side == "perceived" else "objective"),
            Column("95 % of resamples", True),
            Column("Best in", True),
        ]
    return Table("ranks", "The two rankings", tuple(columns), tuple(rows))
