"""Tables of the comparison: average advantage, pairs, rankings, rank correlations, and the planned contrast."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.results.advantage import DecidedPairs
from analysis.results.comparison import HALVES, Comparison, Equivalence, PlannedContrast
from analysis.results.objective import ProfileLength
from analysis.results.perceived import PerceivedVariable
from analysis.results.report import Results
from analysis.tables.cells import (
    MISSING,
    bracketed,
    capital,
    decimal,
    interval,
    probability,
    ranks_cell,
    whole,
    written,
)
from analysis.tables.levels import coverage
from charting.pairs import Difference, GridCell
from documents.tables import Cell, Column, Numbers, Row, Table, Words, table, text
from evaluation.reported_kinds import ERRORS
from inference.pair_decisions import OfflinePairs, PairClass
from inference.results import Pair, Undefined
from studies.design.narrative.plan import level


def _pair_sentence(decision: PairClass, first: str, second: str, participants_favour: str, metric: str) -> str:
    """What both sides say of a pair whose first algorithm is the better one by the metric."""
    other = second if participants_favour == first else first
    return {
        PairClass.AGREE: f"Both sides put {first} above {second}.",
        PairClass.CONTRADICT: f"{capital(metric)} puts {first} above {second}, participants {second} above {first}.",
        PairClass.PARTICIPANTS_ONLY: f"Only participants separate them: {participants_favour} above {other}.",
        PairClass.OFFLINE_ONLY: f"Only {metric} separates them: {first} above {second}.",
        PairClass.UNDECIDED: "Neither side separates them.",
    }[decision]


def grid_cells(
    comparison: Comparison, variable: PerceivedVariable, length: ProfileLength
) -> tuple[list[str], list[GridCell]]:
    """The algorithms in the metric's order, the best first, and every pair with both differences.

    Differences are those of the algorithm with the better value of the metric minus the other.
    """
    metric, decided = length.tests(comparison.kind), comparison.decided
    people, offline = variable.tests.games_howell, metric.pairs
    if not isinstance(decided, DecidedPairs) or isinstance(people, Undefined) or not isinstance(offline, OfflinePairs):
        return [], []
    named = decided.offline_rank_sets.sets
    sign = -1 if comparison.higher_is_better else 1
    names = sorted(named, key=lambda name: sign * offline.locations[name])
    of_people = {frozenset((pair.a, pair.b)): pair for pair in people.pairs}
    of_metric = {frozenset((pair.a, pair.b)): pair for pair in offline.pairs}
    cells = []
    for pair in sorted(decided.pairs, key=lambda pair: sorted((names.index(pair.a), names.index(pair.b)))[::-1]):
        first, second = sorted((pair.a, pair.b), key=names.index)
        both = frozenset((first, second))
        says = _pair_sentence(
            pair.decision, first, second, pair.participants_favour or "", comparison.metric_word
        )  # fmt: skip
        cells.append(
            GridCell(
                first=first,
                second=second,
                kind=pair.decision.value,
                says=says,
                objective=_difference(of_metric[both], first, 3, comparison.kind not in ERRORS),
                perceived=_difference(of_people[both], first, 2, comparison.variable.is_share),
            )
        )
    return names, cells


def _difference(pair: Pair, first: str, digits: int, is_share: bool) -> Difference | None:
    """The difference of a pair with its simultaneous interval; None where the pair was not tested."""
    if pair.ci_low is None or pair.ci_high is None:
        return None
    value, low, high = pair.difference, pair.ci_low, pair.ci_high
    if pair.a != first:
        value, low, high = -value, -high, -low
    words = f"{written(value, digits, is_share)} {bracketed(low, high, digits, is_share)}"
    return Difference(words, value, low, high)


def pairs_table(comparison: Comparison, cells: Sequence[GridCell], n: int) -> Table:
    """Every pair of algorithms on both sides, with the class of the pair."""
    rows = tuple(
        Row(
            (
                text(cell.first),
                text(cell.second),
                text(cell.kind),
                *(
                    MISSING if side is None else Cell(side.words, side.value)
                    for side in (cell.objective, cell.perceived)
                ),
            ),
            is_quiet=cell.kind == PairClass.UNDECIDED,
        )
        for cell in cells
    )
    metric, variable = comparison.metric(n), comparison.variable
    columns = (
        Column("Algorithm"), Column("and"), Column("Class"),
        Column(f"{metric.name}, difference", True, "objective"),
        Column(f"{variable.name}, difference", True, "perceived"),
    )  # fmt: skip
    coverages = coverage(comparison.alpha)
    return Table(
        "pairs",
        f"All pairs of algorithms by {metric.in_text} and {variable.in_text}",
        columns,
        rows,
        f"Differences of the first minus the second with simultaneous {coverages} CI: {comparison.metric_word} by "
        f"single-step max-|t| clustered by user, {variable.in_text} by Games-Howell. A pair agrees or is contradicted "
        "where both sides separate it.",
    )


def ranks_table(comparison: Comparison) -> Table:
    """The rank of every algorithm on each side, with its confidence set."""
    decided = comparison.decided
    sets = (
        {"perceived": decided.participants_rank_sets.sets, "objective": decided.offline_rank_sets.sets}
        if isinstance(decided, DecidedPairs)
        else {}
    )
    rows = []
    for name in sorted(comparison.conditions, key=comparison.ranks.objective.__getitem__):
        cells = [text(name)]
        for half in HALVES:
            rank, ranks = comparison.ranks.of(half)[name], sets.get(half, {}).get(name)
            cells.append(Cell(written(rank, 0 if float(rank).is_integer() else 1), rank))
            cells.append(MISSING if ranks is None else ranks_cell(ranks))
        rows.append(Row(tuple(cells)))
    columns = [Column("Algorithm")]
    for half in HALVES:
        columns += [Column(f"Rank, {half}", True, half), Column("Rank confidence set", True)]
    return Table(
        "ranks",
        "The two rankings",
        tuple(columns),
        tuple(rows),
        f"All sets of one side contain the true ranks at once with {coverage(comparison.alpha)} confidence (Mogstad, "
        "Romano, Shaikh and Wilhelm, 2024).",
    )


def advantage_table(results: Results) -> Table | None:
    """The average advantage overall, for other items, and without each algorithm; None where there is none."""
    advantage, comparison = results.advantage, results.primary
    if advantage is None or comparison is None:
        return None
    lines = [("All compared algorithms", advantage.overall)]
    if advantage.other_items is not None:
        lines.append(("For other items from the same algorithms", advantage.other_items))
    lines += [(f"Without {name}", result) for name, result in advantage.without.items()]
    is_share = comparison.variable.is_share
    rows = tuple(
        Row(
            (
                text(name),
                whole(result.n_pairs),
                decimal(result.value, 2, is_share),
                interval(result.interval.low, result.interval.high, 2, is_share),
                decimal(result.t),
                decimal(result.df),
                probability(result.p),
                text(result.verdict.value if index == 0 else ""),
            )
        )
        for index, (name, result) in enumerate(lines)
        if not isinstance(result, Undefined)
    )
    columns = (
        Column("Algorithms"), Column("Separated pairs", True, "objective"),
        Column("Average advantage", True, "perceived"),
        Column(f"{coverage(results.plan.alpha)} CI", True), Column("t", True), Column("df", True), Column("p", True),
        Column("Verdict"),
    )  # fmt: skip
    return Table(
        "advantage",
        f"Average advantage of {comparison.metric(results.objective.n).in_text} in {comparison.variable.in_text}",
        columns,
        rows,
        "Mean difference between the better and the worse algorithm of every pair that the metric separates; t tests "
        "with separate variances (Welch). Leaving out an algorithm is a check and no test.",
    )


def alternatives_table(results: Results) -> Table:
    """The specification curve as numbers."""
    is_share = results.primary is not None and results.primary.variable.is_share
    return table(
        "alternatives",
        "Average advantage by other defensible analyses",
        results.defined_alternatives,
        Words("Analysis", lambda row: row[0]),
        Numbers("Separated pairs", lambda row: whole(row[1].n_pairs), "objective"),
        Numbers("Average advantage", lambda row: decimal(row[1].value, 2, is_share), "perceived"),
        Numbers("95% CI", lambda row: interval(row[1].interval.low, row[1].interval.high, 2, is_share)),
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
