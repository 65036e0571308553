"""Tables of what participants perceived."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from analysis.results.perceived import PerceivedVariable
from analysis.results.rankings import Order
from analysis.tables.cells import (
    MISSING,
    NONE,
    decimal,
    f_statistic,
    interval,
    listed,
    probability,
    span,
    whole,
    written,
)
from analysis.tables.levels import coverage
from analysis.tables.orders import TIER_NAMES, dominance_cells, tiered_names
from documents.tables import Cell, Column, Row, Table, text
from inference.partial_order import Tier
from inference.results import (
    AnovaResult,
    KruskalResult,
    NormalityResult,
    PairwiseResult,
    SpreadResult,
    Undefined,
    WelchResult,
)
from studies.design.narrative.plan import level
from studies.plans import in_text

Test = AnovaResult | WelchResult | KruskalResult | SpreadResult | NormalityResult


def described(variables: Sequence[PerceivedVariable]) -> Table:
    """n, mean, sd, interval and quartiles of every measure in each condition."""
    rows = []
    for variable in variables:
        is_share = variable.variable.is_share
        for name in variable.conditions:
            numbers = variable.described.get(name)
            cells = (whole(0), *(MISSING for _ in range(5)))
            if numbers is not None:
                cells = (
                    whole(numbers.n),
                    decimal(numbers.mean, 2, is_share),
                    decimal(numbers.sd, 2, is_share),
                    interval(numbers.ci_low, numbers.ci_high, 2, is_share),
                    decimal(numbers.median, 2, is_share),
                    span(numbers.q1, numbers.q3, 2, is_share),
                )
            rows.append(Row((text(name), *cells), group=variable.name, is_quiet=numbers is None))
    columns = (
        Column("Algorithm"), Column("n", True), Column("M", True, "perceived"), Column("SD", True),
        Column("95% CI of M", True), Column("Median", True), Column("Quartiles", True),
    )  # fmt: skip
    return Table("measures", "Measures by algorithm", columns, tuple(rows), group_name="Measure")


def anova_table(variable: PerceivedVariable) -> Table | None:
    """The table of the analysis of variance; None where it has none."""
    anova = variable.anova
    if isinstance(anova, Undefined):
        return None
    blank = Cell("", None)
    rows = (
        Row(
            (
                text("Between algorithms"),
                decimal(anova.ss_between),
                whole(anova.df_between),
                decimal(anova.ms_between),
                decimal(anova.f),
                probability(anova.p),
                decimal(anova.eta_squared, 2, True),
                decimal(max(0.0, anova.omega_squared), 2, True),
            )
        ),
        Row(
            (
                text("Within algorithms"), decimal(anova.ss_within), whole(anova.df_within),
                decimal(anova.ms_within), blank, blank, blank, blank,
            )
        ),
        Row(
            (
                text("Total"), decimal(anova.ss_between + anova.ss_within),
                whole(anova.df_between + anova.df_within), blank, blank, blank, blank, blank,
            )
        ),
    )  # fmt: skip
    columns = (
        Column("Source"), Column("SS", True), Column("df", True), Column("MS", True), Column("F", True),
        Column("p", True), Column("η²", True), Column("ω²", True),
    )  # fmt: skip
    return Table(f"{variable.key}-anova", f"Analysis of variance, {in_text(variable.name)}", columns, rows)


def pairs_table(variable: PerceivedVariable) -> Table | None:
    """Every pair by Games-Howell, with p by ranks; None where it has no result."""
    p_of = _p_values(variable.tests.dunn_holm)
    return _pairs(
        variable, variable.tests.games_howell, f"{variable.key}-pairs", "p, Games-Howell", ("p, Dunn-Holm", p_of)
    )


def tukey_table(variable: PerceivedVariable) -> Table | None:
    """Every pair by Tukey's HSD, as in the paper; None where it has no result."""
    return _pairs(variable, variable.tests.tukey, f"{variable.key}-tukey", "p, Tukey")


def _pairs(
    variable: PerceivedVariable,
    tests: PairwiseResult | Undefined,
    key: str,
    p_name: str,
    beside: tuple[str, Mapping[tuple[str, str], float | None]] | None = None,
) -> Table | None:
    if isinstance(tests, Undefined):
        return None
    is_share = variable.variable.is_share
    rows = tuple(
        Row(
            (
                text(pair.a),
                text(pair.b),
                decimal(pair.difference, 2, is_share),
                interval(pair.ci_low, pair.ci_high, 2, is_share),
                probability(pair.p),
                *(() if beside is None else (probability(beside[1].get((pair.a, pair.b))),)),
            ),
            is_quiet=not pair.is_significant,
        )
        for pair in tests.pairs
    )
    columns = (
        Column("Algorithm"), Column("and"), Column("Difference of means", True, "perceived"),
        Column(f"Simultaneous {coverage(variable.alpha)} CI", True), Column(p_name, True),
        *(() if beside is None else (Column(beside[0], True),)),
    )  # fmt: skip
    name, by = in_text(variable.name), p_name.removeprefix("p, ")
    return Table(
        key,
        f"All {len(rows)} pairs by {by}, {name}" if len(rows) > 1 else f"The pair by {by}, {name}",
        columns,
        rows,
        "Every p is adjusted for all pairs of this variable; a dash means that the pair could not be tested.",
    )


def _p_values(tests: PairwiseResult | Undefined) -> dict[tuple[str, str], float | None]:
    return {} if isinstance(tests, Undefined) else {(pair.a, pair.b): pair.p for pair in tests.pairs}


def order_table(
    variable: PerceivedVariable, metric: Mapping[str, float | None] | None = None, metric_name: str = ""
) -> Table:
    """Pairwise comparisons as tiers: means, counts of dominance, letters, and the values of a metric."""
    is_share = variable.variable.is_share
    order = variable.orders.games_howell
    rows = tuple(
        Row(
            (
                text(name),
                decimal(variable.described[name].mean, 2, is_share),
                decimal(variable.described[name].sd, 2, is_share),
                *dominance_cells(order, name),
                *(() if metric is None else (decimal(metric.get(name), 3, True),)),
            ),
            group=tier,
        )
        for tier, name in tiered_names(order)
    )
    columns = (
        Column("Algorithm"), Column("M", True, "perceived"), Column("SD", True), Column("Dominates", True),
        Column("Dominated by", True), Column("Letters"),
        *(() if metric is None else (Column(metric_name, True, "objective"),)),
    )  # fmt: skip
    return Table(
        f"{variable.key}-order",
        f"Pairwise comparisons, {in_text(variable.name)}",
        columns,
        rows,
        "One algorithm dominates another where its mean is higher and Games and Howell's adjusted p is below "
        f"{level(variable.alpha)}. No significant difference was found between algorithms that share a letter.",
        "Tier",
    )


def dominated_pairs(order: Order) -> str:
    """The relation in words, as a description of the diagram."""
    lines = [f"{name} dominates {listed(order.dominates[name])}" for name in order.names if order.dominates[name]]
    return f"{'; '.join(lines)}." if lines else "No algorithm dominates another."


def table_1(variables: Sequence[PerceivedVariable], *, by_tukey: bool = False) -> Table:
    """Table 1 in the paper's layout, with a row of its own for algorithms that have no place in the order.

    By Games-Howell, or, as in the paper, by Tukey's HSD.
    """
    orders = {measure.key: measure.orders.tukey if by_tukey else measure.orders.games_howell for measure in variables}
    rows = []
    for index, tier in enumerate((Tier.MAXIMAL, Tier.INTERMEDIATE, Tier.MINIMAL)):
        tiers = [order.rows[index] for order in orders.values()]
        names = [[name for name in row.names if name not in row.unordered] for row in tiers]
        rows.append(Row((text(TIER_NAMES[tier]), *(text(", ".join(of) or NONE) for of in names))))
    unordered = [[name for row in order.rows for name in row.unordered] for order in orders.values()]
    if any(unordered):
        rows.append(Row((text("No place in the order"), *(text(", ".join(of) or NONE) for of in unordered))))
    return Table(
        "table-1-tukey" if by_tukey else "table-1",
        f"Table 1. Partial order of the algorithms{' by Tukey’s HSD' if by_tukey else ''}",
        (Column("Algorithms"), *(Column(variable.name, side="perceived") for variable in variables)),
        tuple(rows),
        f"Pairs by {'Tukey’s HSD' if by_tukey else 'Games-Howell'} at α = {level(variables[0].alpha)} within each "
        "variable. An algorithm without a significant difference has no place in the order. Best mean first.",
    )


def tests_table(variables: Sequence[PerceivedVariable]) -> Table:
    """Welch's test of every measure and those beside it, each with its result or the reason why it has none."""
    rows = []
    for variable in variables:
        welch, welch_name = variable.welch, "Welch's ANOVA"
        reduced = variable.welch_without_constant
        if isinstance(welch, Undefined) and isinstance(reduced, WelchResult):
            welch, welch_name = reduced, f"Welch's ANOVA without {listed(reduced.left_out)} (no variance)"
        tests: tuple[tuple[str, Test | Undefined], ...] = (
            (welch_name, welch), ("One-way ANOVA", variable.anova), ("Kruskal-Wallis", variable.kruskal),
            ("Brown-Forsythe (equal variances)", variable.brown_forsythe),
            ("Shapiro-Wilk (residuals)", variable.shapiro_residuals),
        )  # fmt: skip
        for name, test in tests:
            if isinstance(test, Undefined):
                cells = (text(test.reason), MISSING)
            else:
                cells = (text(_statistic(test)), probability(test.p))
            rows.append(Row((text(name), *cells), variable.name, isinstance(test, Undefined)))
    columns = (Column("Test"), Column("Statistic"), Column("p", True))
    return Table("tests", "Tests of the measures", columns, tuple(rows), group_name="Measure")


def _statistic(test: Test) -> str:
    if isinstance(test, KruskalResult):
        return f"H({test.df}) = {written(test.h)}"
    if isinstance(test, NormalityResult):
        return f"W = {written(test.w, 3, is_share=True)}"
    return f_statistic(test.df_between, test.df_within, test.f)


def box_table(variable: PerceivedVariable) -> Table:
    """The numbers of a box plot."""
    is_share = variable.variable.is_share
    rows = []
    for name in variable.conditions:
        if name not in variable.described:
            continue
        box = variable.described[name]
        numbers = (box.whisker_low, box.q1, box.median, box.q3, box.whisker_high, box.mean)
        outliers = ", ".join(written(value, 2, is_share) for value in box.outliers)
        rows.append(
            Row((text(name), *(decimal(number, 2, is_share) for number in numbers), text(outliers or NONE)))
        )  # fmt: skip
    columns = (
        Column("Algorithm"), Column("Lower whisker", True), Column("Quartile 1", True), Column("Median", True),
        Column("Quartile 3", True), Column("Upper whisker", True), Column("Mean", True), Column("Outliers"),
    )  # fmt: skip
    return Table(
        f"{variable.key}-box", f"Numbers of the box plot, {in_text(variable.name)}", columns, tuple(rows)
    )  # fmt: skip
