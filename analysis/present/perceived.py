"""What participants perceived, measure by measure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from analysis.present.comparison import primary_variable
from analysis.present.words import (
    MISSING,
    PAIR,
    TIER_NAMES,
    axis,
    cell_of,
    coverage,
    decimal,
    dominance_columns,
    f_test,
    interval_cell,
    means_of,
    probability,
    span,
    tiered_names,
    whole,
)
from analysis.results.perceived import PerceivedVariable
from analysis.results.report import Results
from charting import marks
from charting.theme import Spec
from documents.blocks import Figure, FigureMaker, Section
from documents.numbers import NONE, capital, f_statistic, listed, named_p, number, percent, plural
from documents.tables import Cell, Column, Numbers, Row, Table, Words, plain_table, table, text
from inference.partial_order import Tier
from inference.results import (
    AnovaResult,
    KruskalResult,
    NormalityResult,
    Pair,
    SpreadResult,
    Undefined,
    WelchResult,
)
from studies.design.narrative.plan import level
from studies.plans import in_text


def measures_section(results: Results, figure: FigureMaker) -> Section:
    """All measures, their tests and partial orders, with the differences and the distribution of the primary one."""
    section = Section("measures", "Measures", "perceived")
    if not results.flow.analysed or not results.variables:
        return section
    leading = primary_variable(results)
    for variable in results.variables:
        if variable.described:
            section.say(omnibus(variable), style="says" if variable is leading else "")
    section.say(order(leading), *map(disagreeing_tests, results.variables))
    section.draw(_forest(leading, figure), _steps(leading, figure) or _box(leading, figure))
    section.put(described(results.variables))
    section.put(_tests_table(results.variables))
    section.put(table_1(results.variables))
    return section


def variable_sections(results: Results, figure: FigureMaker) -> list[Section]:
    """Every measure in the supplement."""
    return [
        _variable_section(variable, figure, is_primary=variable is primary_variable(results))
        for variable in results.variables
    ]


def _variable_section(variable: PerceivedVariable, figure: FigureMaker, *, is_primary: bool) -> Section:
    """One measure in the supplement: box plot, unless the main report has it; order and pairs."""
    defined = variable.variable
    section = Section(f"variable-{defined.key}", defined.name, "perceived")
    if not variable.described:
        section.say(omnibus(variable) if defined.scale else "")
        return section
    section.say(order(variable))
    is_drawn = is_primary and not is_in_steps(variable)
    section.draw(None if is_drawn else _box(variable, figure), _hasse(variable, figure))
    if not variable.points:
        section.say("Individual scores were erased with the answers of a participant; charts of them are omitted.")
    section.put(_order_table(variable))
    section.put(pairs_table(variable))
    section.put(_box_table(variable))
    return section


def _box(variable: PerceivedVariable, figure: FigureMaker) -> Figure | None:
    defined = variable.variable
    boxes = f"As Figure {defined.figure} of Cremonesi et al. (2011): boxes" if defined.figure else "Boxes"
    caption = (
        f"{boxes} from the first to the third quartile, a line for the median, a dot for the mean, whiskers to the "
        "last point within 1.5 interquartile ranges, circles for points beyond. Each participant is one point."
    )
    if not isinstance(variable.tests.games_howell, Undefined):
        caption += " No significant difference was found between algorithms that share a letter."
    chart = box(variable, box_title(variable))
    return figure(f"box-{defined.key}", chart, caption, _box_table(variable))


def _hasse(variable: PerceivedVariable, figure: FigureMaker) -> Figure | None:
    order, defined = variable.orders.games_howell, variable.variable
    if order.is_empty:
        return None
    n = sum(numbers.n for numbers in variable.described.values())
    dominated = [f"{name} dominates {listed(order.dominates[name])}" for name in order.names if order.dominates[name]]
    caption = (
        f"Games-Howell at α = {level(variable.alpha)}, n = {n:,}; up is more. A line joins two algorithms where the "
        "upper dominates the lower and no other lies between them; numbers are means. A dashed box has no significant "
        f"differences. {'; '.join(dominated)}."
    )
    chart = marks.hasse(
        means_of(variable),
        list(order.covers),
        title=f"{len(order.pairs)} of {plural(order.n_possible, 'pair')} differ significantly in {defined.in_text}",
        y_title=axis(variable),
        is_share=defined.is_share,
    )
    return figure(f"hasse-{variable.key}", chart, caption, _order_table(variable))


def _steps(variable: PerceivedVariable, figure: FigureMaker) -> Figure | None:
    if not variable.points or not variable.described or not is_in_steps(variable):
        return None
    steps, counts = steps_of(variable)
    rows = []
    for name in variable.conditions:
        n = sum(counts[name].values())
        mean = sum(step * count for step, count in counts[name].items()) / n if n else None
        rows.append(Row((text(name), *(whole(counts[name][step]) for step in steps), whole(n), decimal(mean))))
    columns = (
        Column("Algorithm"),
        *(Column(f"Answer {step}", True) for step in steps),
        Column("n", True),
        Column("M", True, "perceived"),
    )
    numbers = Table(f"{variable.key}-steps", f"Answers by step, {in_text(variable.name)}", columns, tuple(rows))
    return figure(
        f"steps-{variable.key}",
        marks.likert_bars(counts, steps=steps, title=_steps_title(variable, steps, counts), x_title=axis(variable)),
        "Share of participants who gave each answer, the lowest at the left; the mean at the right.",
        numbers,
    )


def _forest(variable: PerceivedVariable, figure: FigureMaker) -> Figure | None:
    if (numbers := pairs_table(variable)) is None:
        return None
    caption = (
        f"Games-Howell at α = {level(variable.alpha)}: differences of means, the larger first, with simultaneous "
        "intervals. Filled and bold: significant. Hollow: the interval includes 0."
    )
    tests, name = variable.tests.games_howell, variable.variable.in_text
    pairs = () if isinstance(tests, Undefined) else tests.pairs
    n = sum(pair.is_significant for pair in pairs)
    verb = "differs" if n == 1 else "differ"
    title = f"{n} of {plural(len(pairs), 'pair')} of algorithms {verb} significantly in {name}"
    chart = forest(variable, title, coverage(variable.alpha))
    return figure(f"forest-{variable.key}", chart, caption, numbers)


def classic_section(results: Results) -> Section:
    """The analyses of the paper: analysis of variance and Tukey's HSD, which assume equal variances."""
    section = Section("as-in-2011", "As in Cremonesi et al. (2011)", "perceived")
    if not results.flow.analysed or not results.variables:
        return section
    section.say(
        "The analysis of variance and Tukey's HSD of Cremonesi et al. (2011) assume equal variances in all conditions. "
        "They are shown for comparison; no conclusion of this report rests on them."
    )
    section.put(table_1(results.variables, by_tukey=True))
    for variable in results.variables:
        section.put(_anova_table(variable))
        section.put(pairs_table(variable, by_tukey=True))
    return section


# Sentences


def omnibus(variable: PerceivedVariable) -> str:
    """Welch's analysis of variance in the style of APA, or the reason why there is none."""
    name, (result, left_out) = variable.variable.in_text, _welch(variable)
    if isinstance(result, Undefined):
        return f"Welch's analysis of variance of {name} has no result. {result.reason}"
    opening = (
        f"{capital(name)} differed significantly between the algorithms"
        if result.p < variable.alpha
        else f"We found no significant difference in {name} between the algorithms"
    )
    without = f" The test leaves out {left_out}, without variance." if left_out else ""
    return f"{opening}, Welch's {f_test(result)}.{without}"


def _welch(variable: PerceivedVariable) -> tuple[WelchResult | Undefined, str]:
    """Welch's test and the conditions that it leaves out for having no variance."""
    reduced = variable.welch_without_constant
    if isinstance(variable.welch, Undefined) and isinstance(reduced, WelchResult):
        return reduced, listed(reduced.left_out)
    return variable.welch, ""


NO_PAIR = "Welch's test shows that the means are not all equal; no pair of algorithms can be named."


def order(variable: PerceivedVariable) -> str:
    """The significant pairs of Games-Howell and the ends of the order, or the detectable difference."""
    tests, tiers = variable.tests.games_howell, variable.orders.games_howell
    if isinstance(tests, Undefined):
        return f"No order can be claimed. {tests.reason}"
    n_significant, welch = sum(pair.is_significant for pair in tests.pairs), _welch(variable)[0]
    if not n_significant:
        pairs = f"any of the {len(tests.pairs)} pairs" if len(tests.pairs) > 1 else "the only pair"
        omnibus_alone = NO_PAIR if not isinstance(welch, Undefined) and welch.p < variable.alpha else ""
        found_none = f"Games-Howell found no significant difference in {pairs}."
        return " ".join(filter(None, [found_none, omnibus_alone, _detectable(variable)]))
    maximal, minimal = (
        listed([name for name in tiers.best_first if tiers.tiers[name] is tier])
        for tier in (Tier.MAXIMAL, Tier.MINIMAL)
    )
    addition = ""
    if not isinstance(welch, Undefined) and welch.p >= variable.alpha:
        addition = " The test controls its own error rate, so these differences hold without a significant F."
    return (
        f"Games-Howell found significant differences in {n_significant} of {plural(len(tests.pairs), 'pair')}. Maximal "
        f"in {variable.variable.in_text}: {maximal}; minimal: {minimal}.{addition}"
    )


def _detectable(variable: PerceivedVariable) -> str:
    if variable.detectable_difference is None:
        return ""
    low, high = (number(value, 2, variable.variable.is_share) for value in variable.detectable_difference)
    span = low if low == high else f"{low} to {high}, depending on the pair"
    return (
        f"With these sample sizes and variances, the difference that Games-Howell detects with 80% power is {span}. "
        "The result is no evidence that smaller differences do not exist."
    )


def disagreeing_tests(variable: PerceivedVariable) -> str:
    """Tests of all algorithms that come to another conclusion than Welch's; empty where all agree."""
    welch, _left_out = _welch(variable)
    if isinstance(welch, Undefined):
        return ""
    tests = {
        "An analysis of variance with equal variances": variable.anova,
        "The Kruskal-Wallis test": variable.kruskal,
    }
    verdict = "not significant" if welch.p < variable.alpha else "significant"
    return " ".join(
        f"{name} was {verdict} ({named_p(test.p)}), unlike Welch's."
        for name, test in tests.items()
        if not isinstance(test, Undefined) and (test.p < variable.alpha) != (welch.p < variable.alpha)
    )


def box_title(variable: PerceivedVariable) -> str:
    """The finding of a box plot."""
    tiers, name = variable.orders.games_howell, variable.variable.in_text
    if len(variable.described) == 1:
        return f"{capital(name)} of {next(iter(variable.described))}, the only algorithm with answers"
    if tiers.is_empty:
        return f"No significant differences between algorithms in {name}"
    best, worst = tiers.best_first[0], tiers.best_first[-1]
    n_below, n_above, n_others = len(tiers.dominates[best]), len(tiers.dominated_by[worst]), len(tiers.names) - 1
    if n_below >= n_above and n_below:
        return f"{best} has the highest {name}, significantly above {n_below} of {n_others} others"
    if n_above:
        return f"{worst} has the lowest {name}, significantly below {n_above} of {n_others} others"
    return f"Some algorithms differ significantly in {name}, but neither the highest nor the lowest does"


def _steps_title(variable: PerceivedVariable, steps: list[int], counts: Mapping[str, Mapping[int, int]]) -> str:
    name, upper = variable.variable.in_text, steps[-2:]
    shares = {
        condition: sum(counts[condition][step] for step in upper) / n
        for condition in variable.conditions
        if (n := sum(counts.get(condition, {}).values()))
    }
    best, worst = max(shares, key=shares.__getitem__), min(shares, key=shares.__getitem__)
    words = f"{percent(shares[best])} answer {upper[0]} or {upper[1]} in {name}"
    if shares[worst] == shares[best]:
        return f"With {'every algorithm' if len(shares) > 1 else best}, {words}"
    return f"{words} with {best}, {percent(shares[worst])} with {worst}"


# Tables


Test = AnovaResult | WelchResult | KruskalResult | SpreadResult | NormalityResult


def described(variables: Sequence[PerceivedVariable]) -> Table:
    """n, mean, sd, interval and quartiles of every measure in each condition."""
    lines = [
        (variable.name, variable.variable.is_share, name, variable.described.get(name))
        for variable in variables
        for name in variable.conditions
    ]
    return table(
        "measures",
        "Measures by algorithm",
        lines,
        Words("Algorithm", lambda line: line[2]),
        Numbers("n", lambda line: whole(0 if line[3] is None else line[3].n)),
        Numbers("M", lambda line: cell_of(line[3], lambda numbers: decimal(numbers.mean, 2, line[1])), "perceived"),
        Numbers("SD", lambda line: cell_of(line[3], lambda numbers: decimal(numbers.sd, 2, line[1]))),
        Numbers(
            "95% CI of M",
            lambda line: cell_of(line[3], lambda own: interval_cell(own.ci_low, own.ci_high, 2, line[1])),
        ),
        Numbers("Median", lambda line: cell_of(line[3], lambda numbers: decimal(numbers.median, 2, line[1]))),
        Numbers("Quartiles", lambda line: cell_of(line[3], lambda numbers: span(numbers.q1, numbers.q3, 2, line[1]))),
        group_name="Measure",
        group=lambda line: line[0],
        is_quiet=lambda line: line[3] is None,
    )


def _anova_table(variable: PerceivedVariable) -> Table | None:
    anova = variable.anova
    if isinstance(anova, Undefined):
        return None
    blank = Cell("", None)
    between = (decimal(anova.ss_between), whole(anova.df_between), decimal(anova.ms_between))
    within = (decimal(anova.ss_within), whole(anova.df_within), decimal(anova.ms_within))
    total = (decimal(anova.ss_between + anova.ss_within), whole(anova.df_between + anova.df_within))
    sizes = (decimal(anova.eta_squared, 2, True), decimal(max(0.0, anova.omega_squared), 2, True))
    rows: list[list[str | Cell]] = [
        ["Between algorithms", *between, decimal(anova.f), probability(anova.p), *sizes],
        ["Within algorithms", *within, *[blank] * 4],
        ["Total", *total, *[blank] * 5],
    ]
    heads = ("Source", "SS", "df", "MS", "F", "p", "η²", "ω²")
    return plain_table(f"{variable.key}-anova", f"Analysis of variance, {in_text(variable.name)}", heads, rows)


def pairs_table(variable: PerceivedVariable, *, by_tukey: bool = False) -> Table | None:
    """Every pair by Games-Howell, with p by ranks, or, as in the paper, by Tukey's HSD; None without a result."""
    tests, dunn = variable.tests.tukey if by_tukey else variable.tests.games_howell, variable.tests.dunn_holm
    if isinstance(tests, Undefined):
        return None
    key, by = (f"{variable.key}-tukey", "Tukey") if by_tukey else (f"{variable.key}-pairs", "Games-Howell")
    is_share, name = variable.variable.is_share, in_text(variable.name)
    p_of = {} if isinstance(dunn, Undefined) else {(pair.a, pair.b): pair.p for pair in dunn.pairs}
    by_ranks = Numbers[Pair]("p, Dunn-Holm", lambda pair: probability(p_of.get((pair.a, pair.b))))
    return table(
        key,
        f"All {len(tests.pairs)} pairs by {by}, {name}" if len(tests.pairs) > 1 else f"The pair by {by}, {name}",
        tests.pairs,
        *PAIR,
        Numbers("Difference of means", lambda pair: decimal(pair.difference, 2, is_share), "perceived"),
        Numbers(
            f"Simultaneous {coverage(variable.alpha)} CI",
            lambda pair: interval_cell(pair.ci_low, pair.ci_high, 2, is_share),
        ),
        Numbers(f"p, {by}", lambda pair: probability(pair.p)),
        *(() if by_tukey else (by_ranks,)),
        note="Every p is adjusted for all pairs of this variable; a dash means that the pair could not be tested.",
        is_quiet=lambda pair: not pair.is_significant,
    )


def _order_table(variable: PerceivedVariable) -> Table:
    is_share = variable.variable.is_share
    order = variable.orders.games_howell
    return table(
        f"{variable.key}-order",
        f"Pairwise comparisons, {in_text(variable.name)}",
        tiered_names(order),
        Words("Algorithm", lambda row: row[1]),
        Numbers("M", lambda row: decimal(variable.described[row[1]].mean, 2, is_share), "perceived"),
        Numbers("SD", lambda row: decimal(variable.described[row[1]].sd, 2, is_share)),
        *dominance_columns(order),
        note="One algorithm dominates another where its mean is higher and Games and Howell's adjusted p is below "
        f"{level(variable.alpha)}. No significant difference was found between algorithms that share a letter.",
        group_name="Tier",
        group=lambda row: row[0],
    )


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


def _tests_table(variables: Sequence[PerceivedVariable]) -> Table:
    rows = []
    for variable in variables:
        welch, left_out = _welch(variable)
        welch_name = f"Welch's ANOVA without {left_out} (no variance)" if left_out else "Welch's ANOVA"
        tests: tuple[tuple[str, Test | Undefined], ...] = (
            (welch_name, welch),
            ("One-way ANOVA", variable.anova),
            ("Kruskal-Wallis", variable.kruskal),
            ("Brown-Forsythe (equal variances)", variable.brown_forsythe),
            ("Shapiro-Wilk (residuals)", variable.shapiro_residuals),
        )
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
        return f"H({test.df}) = {number(test.h)}"
    if isinstance(test, NormalityResult):
        return f"W = {number(test.w, 3, is_share=True)}"
    return f_statistic(test.df_between, test.df_within, test.f)


def _box_table(variable: PerceivedVariable) -> Table:
    is_share = variable.variable.is_share
    return table(
        f"{variable.key}-box",
        f"Numbers of the box plot, {in_text(variable.name)}",
        [(name, variable.described[name]) for name in variable.conditions if name in variable.described],
        Words("Algorithm", lambda row: row[0]),
        Numbers("Lower whisker", lambda row: decimal(row[1].whisker_low, 2, is_share)),
        Numbers("Quartile 1", lambda row: decimal(row[1].q1, 2, is_share)),
        Numbers("Median", lambda row: decimal(row[1].median, 2, is_share)),
        Numbers("Quartile 3", lambda row: decimal(row[1].q3, 2, is_share)),
        Numbers("Upper whisker", lambda row: decimal(row[1].whisker_high, 2, is_share)),
        Numbers("Mean", lambda row: decimal(row[1].mean, 2, is_share)),
        Words("Outliers", lambda row: ", ".join(number(value, 2, is_share) for value in row[1].outliers) or NONE),
    )


# Charts


MOST_STEPS = 11  # answers on more, such as on a slider, are drawn as a distribution


def box(variable: PerceivedVariable, title: str) -> Spec | None:
    """The paper's box plot of one variable, the highest mean first, with a point for every participant."""
    if not variable.described or not variable.points:
        return None
    means, per = means_of(variable), variable.points_per_unit
    names = sorted(variable.conditions, key=lambda name: -means[name][0] if name in means else 0)
    return marks.box_plot(
        {name: [point / per for point in variable.points[name]] for name in names},
        title=title,
        y_title=axis(variable),
        domain=(variable.low, variable.high),
        letters=None if isinstance(variable.tests.games_howell, Undefined) else variable.orders.games_howell.letters,
    )


def is_in_steps(variable: PerceivedVariable) -> bool:
    """Whether a participant's value is one answer on a scale of few steps, not a mean or a share."""
    defined = variable.variable
    return defined.in_steps and defined.high - defined.low < MOST_STEPS


def steps_of(variable: PerceivedVariable) -> tuple[list[int], dict[str, dict[int, int]]]:
    """The steps of a variable's scale, and how often each was chosen in each condition."""
    per = variable.points_per_unit
    steps = list(range(int(variable.low), int(variable.high) + 1))
    counts = {name: Counter(point // per for point in variable.points[name]) for name in variable.conditions}
    return steps, {name: {step: answers[step] for step in steps} for name, answers in counts.items()}


def forest(variable: PerceivedVariable, title: str, coverage: str) -> Spec | None:
    """Every pairwise difference with its simultaneous interval, the larger mean first, the largest on top."""
    tests, defined = variable.tests.games_howell, variable.variable
    pairs = () if isinstance(tests, Undefined) else tests.pairs
    differences = [difference for pair in pairs if (difference := _difference(pair)) is not None]
    if not differences:
        return None
    return marks.forest(
        sorted(differences, key=lambda difference: -difference.value),
        title=title,
        x_title=f"Difference of means in {defined.in_text}, with simultaneous {coverage} intervals",
        is_share=defined.is_share,
        interval_name=f"simultaneous {coverage} interval",
    )


def _difference(pair: Pair) -> marks.Difference | None:
    """A pair with the larger mean first; None where it was not tested."""
    if pair.p is None or pair.ci_low is None or pair.ci_high is None:
        return None
    names, limits = (pair.a, pair.b), (pair.ci_low, pair.ci_high)
    if pair.difference < 0:
        names, limits = (pair.b, pair.a), (-pair.ci_high, -pair.ci_low)
    return marks.Difference(
        *names, abs(pair.difference), *limits, named_p(pair.p).removeprefix("p "), pair.is_significant
    )
