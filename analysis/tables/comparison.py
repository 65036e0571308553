"""Tables of the comparison: rank correlations, verdicts pair by pair, rankings, and the planned contrast."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.results.comparison import HALVES, Comparison, Equivalence, PlannedContrast
from analysis.results.perceived import PerceivedVariable
from analysis.tables.cells import MISSING, decimal, interval, probability, share_cell, whole, written
from analysis.tables.levels import coverage
from documents.tables import Cell, Column, Row, Table, text
from inference.agreement import Verdict
from inference.results import AgreementResult, PairDirections, Undefined
from studies.design.narrative.plan import level

VERDICTS = {
    Verdict.AGREED: "on both sides, same direction",
    Verdict.PERCEIVED_ONLY: "for participants only",
    Verdict.OBJECTIVE_ONLY: "in the metric only",
    Verdict.CONTRADICTED: "on both sides, opposite directions",
    Verdict.NEITHER: "on neither side",
}

STABILITY = "In 95% of resamples"
STABILITY_NOTE = (
    "τ_b in 95% of the resamples of participants and test users describes its stability. It is not a confidence "
    "interval: resampling adds noise to both rankings and pulls τ_b toward 0."
)


def _tau_cells(comparison: Comparison) -> list[Cell]:
    """The coefficient with its interval, its p values, and the smallest one that could have been significant."""
    tau, bootstrap = comparison.tau, comparison.tau_bootstrap
    limits = MISSING if isinstance(bootstrap, Undefined) else interval(bootstrap.ci_low, bootstrap.ci_high, 2, True)
    if isinstance(tau, Undefined):
        return [MISSING, limits, MISSING, _corrected(comparison), MISSING]
    return [
        *_correlation_cells(tau)[:1],
        limits,
        probability(tau.p),
        _corrected(comparison),
        decimal(tau.smallest_detectable, 2, is_share=True),
    ]


def _correlation_cells(result: AgreementResult | Undefined) -> list[Cell]:
    if isinstance(result, Undefined):
        return [MISSING, MISSING]
    return [decimal(result.coefficient, 2, is_share=True), probability(result.p)]


def _direction_cell(result: PairDirections | Undefined) -> Cell:
    if isinstance(result, Undefined):
        return MISSING
    return Cell(f"{result.same} of {result.n_pairs}", result.same)


def _corrected(comparison: Comparison) -> Cell:
    """The corrected p; the primary pair has none, unless another test is primary."""
    if comparison.is_primary and comparison.is_tested:
        return Cell("primary", None)
    return probability(comparison.p_holm)


def _permuted(comparisons: Sequence[Comparison]) -> str:
    """How the p values were computed."""
    tests = [
        test
        for comparison in comparisons
        for test in (comparison.tau, comparison.rho)
        if not isinstance(test, Undefined) and test.p_error
    ]
    if not tests:
        return "All p values are two-sided and exact, by permutation."
    error = max(test.p_error for test in tests)
    return (
        "All p values are two-sided, by permutation: exact, or with many tied algorithms estimated from 100,000 random "
        f"orders with a fixed seed (largest standard error {written(error, 4, is_share=True)})."
    )


def comparisons_table(comparisons: Sequence[Comparison], n: int, n_family: int | None = None) -> Table:
    """Every variable with every metric that has sign tests: coefficients, exact p, and pairs ordered in the same
    direction.

    `n_family` is the number of exploratory pairs of the matrix; None where there is no matrix.
    """
    family = "the exploratory pairs" if n_family is None else f"all {n_family:,} exploratory pairs of the matrix"
    alpha = level(comparisons[0].alpha) if comparisons else ""
    rows = tuple(
        Row(
            (
                text(comparison.variable.name),
                text(comparison.metric(n).name),
                *_tau_cells(comparison),
                *_correlation_cells(comparison.rho),
                _direction_cell(comparison.directions),
            ),
            group="Primary pair" if comparison.is_primary else "Exploratory pairs",
        )
        for comparison in comparisons
    )
    columns = (
        Column("Variable", side="perceived"), Column("Metric", side="objective"), Column("τ_b", True),
        Column(STABILITY, True), Column("p, τ_b", True), Column("p, Holm", True),
        Column(f"Smallest |τ_b| with p < {alpha}", True), Column("ρ", True), Column("p, ρ", True),
        Column("Same direction", True),
    )  # fmt: skip
    return Table(
        "comparisons",
        "Rank correlations of every variable with every metric",
        columns,
        rows,
        f"{_permuted(comparisons)} The better value ranks first on both sides: lower fallout is better, and more "
        f"novelty ranks higher. Holm's correction is over {family}. {STABILITY_NOTE}",
        "Family",
    )


def metrics_table(comparisons: Sequence[Comparison], primary: Comparison, n: int, *, is_by_user: bool = False) -> Table:
    """How well each metric ranks the algorithms as the primary variable does.

    `is_by_user`: values are means over users, and F does not follow from recall.
    """
    rows = tuple(
        Row(
            (text(comparison.metric(n).name), *_tau_cells(comparison), _direction_cell(comparison.directions)),
            group="Primary pair, named before the study" if comparison.is_primary else "Exploratory",
        )
        for comparison in comparisons
        if comparison.variable_key == primary.variable_key
    )
    columns = (
        Column("Metric", side="objective"), Column("τ_b", True), Column(STABILITY, True),
        Column("p, τ_b", True), Column("p, Holm", True), Column("Smallest significant |τ_b|", True),
        Column("Same direction", True),
    )  # fmt: skip
    return Table(
        "metrics",
        f"Rank correlations of the metrics with {primary.variable.in_text}",
        columns,
        rows,
        f"{'' if is_by_user else 'Recall and F give the same ranking and count as one metric. '}"
        f"Lower fallout is better and ranks first. {STABILITY_NOTE}",
        "Family",
    )


def verdicts_table(comparison: Comparison) -> Table:
    """Every pair of algorithms: where participants and the metric find significant differences."""
    rows = tuple(
        Row(
            (
                text(pair.a),
                text(pair.b),
                probability(pair.perceived_p),
                probability(pair.objective_p),
                text(VERDICTS[pair.verdict]),
            ),
            is_quiet=pair.verdict is Verdict.NEITHER,
        )
        for pair in comparison.orders.pairs
    )
    columns = (
        Column("Better"), Column("Worse"), Column("p, participants", True, "perceived"),
        Column("p, users", True, "objective"), Column("Significant"),
    )  # fmt: skip
    return Table(
        "verdicts",
        "Pairwise comparisons on both sides, primary pair of measures",
        columns,
        rows,
        "The better algorithm is the participants' where their difference is significant, else the metric's.",
    )


def contradictions_table(comparisons: Sequence[Comparison], n: int) -> Table:
    """Significant differences in opposite directions, over the exploratory pairs of measures."""
    rows = tuple(
        Row(
            (
                text(pair.a),
                text(pair.b),
                text(comparison.variable.name),
                probability(pair.perceived_p),
                text(comparison.metric(n).name),
                probability(pair.objective_p),
            )
        )
        for comparison in comparisons
        if not comparison.is_primary
        for pair in comparison.pairs(Verdict.CONTRADICTED)
    )
    columns = (
        Column("Participants rank"), Column("above"), Column("in", side="perceived"), Column("p, participants", True),
        Column("opposite order in", side="objective"), Column("p, users", True),
    )  # fmt: skip
    return Table(
        "contradictions",
        f"Contradictions in the exploratory pairs of measures ({len(rows)})",
        columns,
        rows,
        "Each p is adjusted within its own test, not over the pairs of measures.",
    )


def contrast_table(contrast: PlannedContrast) -> Table | None:
    """The planned contrast with pooled and with separate variances; None where it has no result."""
    result = contrast.test.result
    if isinstance(result, Undefined):
        return None
    is_share = contrast.variable.is_share
    tests = [("Pooled variance (planned)", result.pooled), ("Separate variances (Welch)", result.welch)]
    rows = tuple(
        Row(
            (
                text(name),
                decimal(result.difference, 2, is_share),
                decimal(test.se, 2, is_share),
                decimal(test.t),
                whole(round(test.df)) if test.df == round(test.df) else decimal(test.df),
                probability(test.p),
                decimal(test.ci_low, 2, is_share),
                decimal(test.ci_high, 2, is_share),
            )
        )
        for name, test in tests
        if test is not None
    )
    columns = (
        Column("Test"), Column("Difference of means", True, "perceived"), Column("SE", True), Column("t", True),
        Column("df", True), Column("p", True), Column("CI, lower limit", True), Column("CI, upper limit", True),
    )  # fmt: skip
    sides = "One-sided, so the interval has no upper limit." if result.sides == 1 else "Two-sided."
    return Table(
        "contrast",
        f"Planned contrast, {contrast.variable.in_text}: {', '.join(result.higher)} against {', '.join(result.lower)}",
        columns,
        rows,
        f"{sides} Intervals at the level of the test, α = {level(contrast.test.alpha)}; conditions of one set have "
        "equal weight.",
    )


def equivalence_table(tested: Equivalence) -> Table | None:
    """Every pair against the smallest effect of interest; None where it was not tested."""
    result, is_share = tested.result, tested.variable.is_share
    if isinstance(result, Undefined):
        return None
    rows = []
    for pair in result.pairs:
        if isinstance(pair.test, Undefined) or pair.p_equivalence is None or pair.p_minimum is None:
            continue
        conclusion = (
            "practically the same" if pair.is_equivalent else "beyond the bound" if pair.is_beyond else "undecided"
        )
        rows.append(
            Row(
                (
                    text(pair.a),
                    text(pair.b),
                    decimal(pair.test.difference, 2, is_share),
                    decimal(pair.test.interval.low, 2, is_share),
                    decimal(pair.test.interval.high, 2, is_share),
                    probability(pair.p_equivalence),
                    probability(pair.p_minimum),
                    text(conclusion),
                )
            )
        )
    columns = (
        Column("Algorithm"), Column("Compared with"), Column("Difference of means", True, "perceived"),
        Column("CI, lower limit", True), Column("CI, upper limit", True), Column("p, equivalence", True),
        Column("p, minimum effect", True), Column("Conclusion"),
    )  # fmt: skip
    return Table(
        "equivalence",
        f"Equivalence of pairs in {tested.variable.in_text} within ± {written(tested.bound, 2, is_share)}",
        columns,
        tuple(rows),
        f"Welch’s standard errors. Intervals of {coverage(2 * tested.alpha)}, unadjusted; each family of p is "
        "corrected by Holm.",
    )


def same_table(tested: Equivalence, variable: PerceivedVariable | None) -> Table | None:
    """The algorithms with letters: those that share one are practically the same."""
    result, is_share = tested.result, tested.variable.is_share
    if isinstance(result, Undefined) or variable is None:
        return None
    means = {name: variable.described[name].mean for name in result.letters}
    columns = (Column("Algorithm"), Column("M", True, "perceived"), Column("Practically the same"))
    rows = tuple(
        Row((text(name), decimal(means[name], 2, is_share), text(result.letters[name])))
        for name in sorted(means, key=lambda name: -means[name])
    )
    return Table(
        "practically-the-same",
        f"Algorithms that are practically the same in {tested.variable.in_text}",
        columns,
        rows,
        "Algorithms share a letter only if they were shown to differ by less than the smallest effect of interest.",
    )


def ranks_table(comparison: Comparison) -> Table:
    """The two rankings side by side, with the ranks in 95% of the resamples."""
    rows = []
    for name in sorted(comparison.conditions, key=comparison.ranks.perceived.__getitem__):
        cells = [text(name)]
        for half in HALVES:
            resampled, rank = comparison.ranks_resampled.of(half), comparison.ranks.of(half)[name]
            bounds = resampled.bounds.get(name)
            cells.append(Cell(written(rank, 0 if float(rank).is_integer() else 1), rank))
            cells.append(MISSING if bounds is None else Cell(f"[{bounds[0]}, {bounds[1]}]", f"{bounds[0]} {bounds[1]}"))
            cells.append(share_cell(resampled.best.get(name)))
        rows.append(Row(tuple(cells)))
    columns = [Column("Algorithm")]
    for half in HALVES:
        columns += [Column(f"Rank, {half}", True, half), Column(STABILITY, True), Column("Ranked first", True)]
    return Table("ranks", "The two rankings", tuple(columns), tuple(rows))
