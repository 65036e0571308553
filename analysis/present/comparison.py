"""Both sides side by side: the first screen, one pair of a metric and a measure in full, and other analyses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from analysis.present import contrast
from analysis.present.matrix import exploratory_table
from analysis.present.objective import length_name
from analysis.present.verdict import has_verdict
from analysis.present.words import (
    MISSING,
    around,
    axis,
    cell_of,
    coverage,
    decimal,
    limits,
    means_of,
    presentations_note,
    probability,
    ranks_cell,
    tau_b,
    whole,
)
from analysis.results.comparison import HALVES, Comparison, DecidedPairs, Half
from analysis.results.objective import ProfileLength
from analysis.results.perceived import PerceivedVariable
from analysis.results.report import ConditionFacts, Results
from charting import marks
from charting.pairs import Difference, GridCell, Ranked, pairs_grid, ranked_lists
from documents.blocks import Figure, FigureMaker, Section
from documents.numbers import capital, interval, number, plural, relation
from documents.tables import Cell, Numbers, Table, Words, table
from evaluation.reported_kinds import ERRORS, kind_at
from inference.average_advantage import AverageAdvantage
from inference.equivalence import BoundedPair
from inference.pair_decisions import OfflinePairs, PairClass
from inference.rank_sets import Ranks
from inference.results import Pair, PairwiseResult, Undefined
from studies.design.narrative.plan import level


def pairs_section(results: Results, figure: FigureMaker) -> Section:
    """The grid of pairs and the ranked lists of the primary pair, on the first screen."""
    section = Section("pairs-of-algorithms", "")
    if has_verdict(results) and results.primary is not None:
        section.draw(*pair_figures(results, results.primary, figure))
    return section


def summary_section(results: Results, figure: FigureMaker) -> Section:
    """The scatter of the primary pair, and every measure by algorithm."""
    section = Section("summary", "Both sides of every algorithm")
    if has_verdict(results) and results.primary is not None and results.variables:
        leading, length = primary_variable(results), results.objective.at(results.primary.profile_length)
        tested = [kind for kind in results.objective.tested if length.defined_values(kind)]
        numbers = table(
            "both-sides",
            "Both sides by algorithm",
            sorted(results.conditions, key=lambda condition: _rank_key(leading, condition.label)),
            Words("Algorithm", lambda condition: condition.label),
            Numbers("n", lambda condition: whole(condition.n)),
            *(_mean_column(variable) for variable in results.variables),
            *(_metric_column(length, kind, kind_at(kind, results.objective.n)) for kind in tested),
            *_rank_sets(results.primary),
            note=f"From highest to lowest by {leading.variable.in_text}. Perceived measures are means over "
            f"participants, novelty as shares of items; objective measures are of "
            f"{length_name(length.profile_length)}, {length.aggregation}. Ranks: simultaneous confidence sets.",
        )
        section.draw(_scatter(results, results.primary, numbers, figure))
        section.put(numbers)
    return section


def pair_figures(
    results: Results, comparison: Comparison, figure: FigureMaker, prefix: str = ""
) -> tuple[Figure | None, ...]:
    """The grid of pairs and the two ranked lists; none in reports of versions that decided pairs by other tests."""
    judged, decided = _judged(results, comparison), comparison.decided
    if not isinstance(decided, DecidedPairs):
        return ()
    n, length, metric = results.objective.n, results.objective.at(comparison.profile_length), comparison.metric_word
    names, cells = grid_cells(comparison, judged.pairs, length)
    if not cells:
        return ()
    values, is_rate = length.defined_values(comparison.kind), comparison.kind not in ERRORS
    is_share = comparison.variable.is_share
    offline, people = decided.offline_rank_sets.sets, decided.participants_rank_sets.sets
    written = {name: number(values[name], 3, is_rate) for name in names}
    grid = pairs_grid(names, written, cells, title=grid_title(decided))
    lists = ranked_lists(
        [Ranked(name, written[name], *offline[name]) for name in names],
        [  # equal means stand in the metric's order: lines cross only where the orders differ
            Ranked(name, number(judged.values[name], 2, is_share), *people[name])
            for name in sorted(names, key=comparison.ranks.perceived.__getitem__)
        ],
        title=slope_title(comparison),
        sides=(comparison.metric(n).in_text, comparison.variable.in_text),
        reversed_pairs=[
            (pair.offline_favours or "", pair.participants_favour or "")
            for pair in comparison.pairs(PairClass.CONTRADICT)
        ],
    )
    of_pairs = f"Left half filled: {metric} separates the pair. Right: participants. Slipped: opposite."
    of_ranks = "Bars: rank confidence sets. Colour only where an order reverses significantly."
    return (
        figure(f"{prefix}pairs", grid, of_pairs, _pairs_table(comparison, cells, n, judged.test_name)),
        figure(f"{prefix}slope", lists, of_ranks, _ranks_table(comparison)),
    )


def _scatter(
    results: Results, comparison: Comparison, numbers: Table, figure: FigureMaker, prefix: str = ""
) -> Figure | None:
    variable, names = results.variable(comparison.variable_key), comparison.conditions
    if variable is None or len(names) < 2:
        return None
    length, metric = results.objective.at(comparison.profile_length), comparison.metric(results.objective.n)
    means, values = means_of(variable), length.defined_values(metric.kind)
    intervals = {line.condition: line.intervals[metric.kind] for line in length.table}
    chart = marks.scatter(
        {name: means[name] for name in names},
        {name: around(values[name], intervals[name]) for name in names},
        title=f"{capital(comparison.variable.in_text)} against {comparison.metric(results.objective.n).in_text}",
        perceived_title=axis(variable),
        objective_title=metric.name,
    )
    caption = (
        "One point per algorithm, with 95% intervals: vertically of the mean over participants, horizontally over "
        "resampled test users."
    )
    return figure(f"{prefix}scatter", chart, caption, numbers)


class _Judged(NamedTuple):
    """How participants' answers to one variable compare the conditions."""

    pairs: PairwiseResult | Undefined
    values: Mapping[str, float]
    test_name: str


def _judged(results: Results, comparison: Comparison) -> _Judged:
    """The participants' side of a comparison: means, or preferences between lists."""
    for preference in results.preferences:
        if preference.variable_key == comparison.variable_key:
            return _Judged(preference.tests, preference.values, preference.test_name)
    variable = next(each for each in results.variables if each.key == comparison.variable_key)
    means = {name: own.mean for name, own in variable.described.items()}
    return _Judged(variable.pairs, means, variable.test_name)


def primary_variable(results: Results) -> PerceivedVariable:
    """The perceived side of the primary pair; the first variable where no pair is primary."""
    primary = results.primary
    return (primary and results.variable(primary.variable_key)) or results.variables[0]


def pair_section(results: Results, comparison: Comparison, figure: FigureMaker) -> Section:
    """One measure with one metric, as the summary shows the primary pair; others are exploratory."""
    section = Section("pair", f"{comparison.variable.name} and {comparison.metric(results.objective.n).in_text}")
    tau, role = comparison.tau, "The primary pair" if comparison.is_primary else "Another pair"
    outcome = f". {tau.reason}" if isinstance(tau, Undefined) else f": {tau_b(tau)}."
    section.say(f"{role} of measures{outcome}", style="says")
    section.say(agreement(comparison))
    section.say(presentations_note(results.recommenders))
    section.draw(*pair_figures(results, comparison, figure, "pair-"))
    length, variable = results.objective.at(comparison.profile_length), results.variable(comparison.variable_key)
    numbers = table(
        "pair-values",
        "Both values of every algorithm",
        comparison.conditions,
        Words[str]("Algorithm", str),
        Numbers(f"{comparison.variable.name}, M", lambda name: _mean(variable, name)),
        Numbers(
            f"{comparison.metric(results.objective.n).name}, {length.averaged}",
            lambda name: _metric(length, comparison.kind, name),
        ),
    )
    section.draw(_scatter(results, comparison, numbers, figure, "pair-"))
    return section


def agreement_section(results: Results) -> Section:
    """The average advantage, the pairs in words, and the exploratory family."""
    section = Section("agreement", "Agreement of both sides")
    if has_verdict(results) and results.primary is not None:
        section.say(agreement(results.primary), style="says")
        section.say(same_direction(results.primary, capital(_judged(results, results.primary).test_name)))
        section.say(presentations_note(results.recommenders))
        section.put(_advantage_table(results))
        section.put(exploratory_table(results))
    return section


def alternatives_section(results: Results, figure: FigureMaker) -> Section:
    """The specification curve: the average advantage by every analysis."""
    section, primary = Section("other-analyses", "Other defensible analyses"), results.primary
    analyses = results.defined_alternatives
    if not has_verdict(results) or primary is None or not analyses:
        return section
    positive = sum(each.value > 0 for _name, each in analyses)
    above = sum(each.interval.low > 0 for _name, each in analyses)
    chart = marks.forest(
        [
            marks.Difference(name, "", each.value, each.interval.low, each.interval.high, "", each.interval.low > 0)
            for name, each in analyses
        ],
        title=f"{positive} of {len(analyses)} analyses positive, {above} with a CI above 0",
        x_title=f"Average advantage in {primary.variable.in_text}, with 95% CI",
        is_share=primary.variable.is_share,
        interval_name="95% CI",
    )
    missing = [outcome.name for outcome in results.alternatives if not isinstance(outcome.result, AverageAdvantage)]
    without = f" Without a result: {'; '.join(missing)}." if missing else ""
    caption = (
        "The average advantage by analyses that differ from the plan in one decision, with 95% CI, the largest first. "
        f"No test: all of them share their data.{without}"
    )
    is_share = primary.variable.is_share
    numbers = table(
        "alternatives",
        "Average advantage by other defensible analyses",
        results.defined_alternatives,
        Words("Analysis", lambda row: row[0]),
        Numbers("Separated pairs", lambda row: whole(row[1].n_pairs), "objective"),
        Numbers("Average advantage", lambda row: decimal(row[1].value, 2, is_share), "perceived"),
        Numbers("95% CI", lambda row: limits(row[1].interval, 2, is_share)),
    )
    section.draw(figure("alternatives", chart, caption, numbers))
    return section


def contrast_section(results: Results) -> Section:
    """The planned contrast, where it is the primary test."""
    section, planned = Section("contrast", "Planned contrast"), results.contrast
    if planned is None or not results.flow.analysed:
        return section
    section.say(contrast.sentence(planned), style="says")
    section.say(contrast.metric_sentence(planned, results.objective.n))
    result = planned.test.result
    if isinstance(result, Undefined):
        return section
    is_share = planned.variable.is_share
    planned_test = "Pooled variance (planned)" if not results.is_in_turn else "Mixed model (planned)"
    tests = [(planned_test, result.pooled), ("Separate variances (Welch)", result.welch)]
    sides = "One-sided, so the interval has no upper limit." if result.sides == 1 else "Two-sided."
    numbers = table(
        "contrast",
        f"Planned contrast, {planned.variable.in_text}: {', '.join(result.higher)} against {', '.join(result.lower)}",
        [(name, test) for name, test in tests if test is not None],
        Words("Test", lambda row: row[0]),
        Numbers("Difference of means", lambda _row: decimal(result.difference, 2, is_share), "perceived"),
        Numbers("SE", lambda row: decimal(row[1].se, 2, is_share)),
        Numbers("t", lambda row: decimal(row[1].t)),
        Numbers("df", lambda row: whole(round(row[1].df)) if row[1].df == round(row[1].df) else decimal(row[1].df)),
        Numbers("p", lambda row: probability(row[1].p)),
        Numbers("CI, lower limit", lambda row: decimal(row[1].ci_low, 2, is_share)),
        Numbers("CI, upper limit", lambda row: decimal(row[1].ci_high, 2, is_share)),
        note=f"{sides} Intervals at the level of the test, α = {level(planned.test.alpha)}; conditions of one set "
        "have equal weight.",
    )
    section.put(numbers)
    return section


def equivalence_section(results: Results) -> Section:
    """Equivalence within the smallest effect of interest, where one is planned."""
    section, tested = Section("equivalence", "Practical equivalence"), results.equivalence
    if tested is None or not results.flow.analysed:
        return section
    section.say(*contrast.sentences(tested), style="says")
    result, is_share = tested.result, tested.variable.is_share
    if isinstance(result, Undefined):
        return section
    numbers = table(
        "equivalence",
        f"Equivalence of pairs in {tested.variable.in_text} within ± {number(tested.bound, 2, is_share)}",
        [(pair, pair.test) for pair in result.pairs if not isinstance(pair.test, Undefined)],
        Words("Algorithm", lambda row: row[0].a),
        Words("Compared with", lambda row: row[0].b),
        Numbers("Difference of means", lambda row: decimal(row[1].difference, 2, is_share), "perceived"),
        Numbers("CI, lower limit", lambda row: decimal(row[1].interval.low, 2, is_share)),
        Numbers("CI, upper limit", lambda row: decimal(row[1].interval.high, 2, is_share)),
        Numbers("p, equivalence", lambda row: probability(row[0].p_equivalence)),
        Numbers("p, minimum effect", lambda row: probability(row[0].p_minimum)),
        Words("Conclusion", lambda row: _conclusion(row[0])),
        note=f"{'Welch’s standard errors' if not results.is_in_turn else 'Standard errors of the mixed model'}. "
        f"Intervals of {coverage(2 * tested.alpha)}, unadjusted; each family of p is "
        "corrected by Holm.",
    )
    section.put(numbers)
    return section


# Sentences


def agreement(comparison: Comparison) -> str:
    """How many pairs of algorithms each side separates, and in which direction."""
    decided, metric = comparison.decided, comparison.metric_word
    if not isinstance(decided, DecidedPairs):
        return ""
    counts = {decision: len(decided.of(decision)) for decision in PairClass}
    return (
        f"Of {plural(len(decided.pairs), 'pair')} of algorithms, participants and {metric} agree on "
        f"{counts[PairClass.AGREE]} and contradict each other on {counts[PairClass.CONTRADICT]}; participants alone "
        f"separate {counts[PairClass.PARTICIPANTS_ONLY]}, {metric} alone {counts[PairClass.OFFLINE_ONLY]}, and "
        f"{counts[PairClass.UNDECIDED]} are undecided."
    )


def same_direction(comparison: Comparison, test_name: str) -> str:
    """The pairs that both sides order alike, and those that the participants' test only implies."""
    sentences = []
    if pairs := comparison.pairs(PairClass.AGREE):
        above = [(pair.a, pair.b) if pair.participants_favour == pair.a else (pair.b, pair.a) for pair in pairs]
        sentences.append(f"Both sides put {relation(above, 'above')}.")
    if isinstance(comparison.decided, DecidedPairs) and (implied := comparison.decided.implied):
        sentences.append(
            f"{test_name} does not separate {relation(implied, 'from')}, which a chain of its pairs implies; such "
            "pairs are not counted."
        )
    return " ".join(sentences)


def slope_title(comparison: Comparison) -> str:
    """The finding of the two ranked lists."""
    n = len(comparison.pairs(PairClass.CONTRADICT))
    if not n:
        return "No order reverses significantly"
    total = len(comparison.conditions) * (len(comparison.conditions) - 1) // 2
    return f"{n} of {plural(total, 'order')} {'reverses' if n == 1 else 'reverse'} significantly"


def grid_title(decided: DecidedPairs) -> str:
    """The finding of the grid of pairs."""
    agree, contradict = (len(decided.of(decision)) for decision in (PairClass.AGREE, PairClass.CONTRADICT))
    verb = "agrees" if agree == 1 else "agree"
    return (
        f"{agree} of {plural(len(decided.pairs), 'pair')} {verb}, {contradict or 'none'} "
        f"{'contradicts' if contradict == 1 else 'contradict'}"
    )


# Tables


def _pair_sentence(decision: PairClass, first: str, second: str, participants_favour: str, metric: str) -> str:
    """What both sides say of a pair whose first algorithm is the better one by the metric."""
    less_favoured = second if participants_favour == first else first
    return {
        PairClass.AGREE: f"Both sides put {first} above {second}.",
        PairClass.CONTRADICT: f"{capital(metric)} puts {first} above {second}, participants {second} above {first}.",
        PairClass.PARTICIPANTS_ONLY: f"Only participants separate them: {participants_favour} above {less_favoured}.",
        PairClass.OFFLINE_ONLY: f"Only {metric} separates them: {first} above {second}.",
        PairClass.UNDECIDED: "Neither side separates them.",
    }[decision]


def grid_cells(
    comparison: Comparison, people: PairwiseResult | Undefined, length: ProfileLength
) -> tuple[list[str], list[GridCell]]:
    """The algorithms in the metric's order, the best first, and every pair with both differences.

    Differences are those of the algorithm with the better value of the metric minus the other.
    """
    metric, decided = length.tests(comparison.kind), comparison.decided
    offline = metric.pairs
    if not isinstance(decided, DecidedPairs) or isinstance(people, Undefined) or not isinstance(offline, OfflinePairs):
        return [], []
    sets = decided.offline_rank_sets.sets
    sign = -1 if comparison.higher_is_better else 1
    names = sorted(sets, key=lambda name: sign * offline.locations[name])
    of_people = {frozenset((pair.a, pair.b)): pair for pair in people.pairs}
    of_metric = {frozenset((pair.a, pair.b)): pair for pair in offline.pairs}
    cells = []
    for pair in sorted(decided.pairs, key=lambda pair: sorted((names.index(pair.a), names.index(pair.b)))[::-1]):
        first, second = sorted((pair.a, pair.b), key=names.index)
        both = frozenset((first, second))
        cell = GridCell(
            first=first,
            second=second,
            kind=pair.decision.value,
            says=_pair_sentence(pair.decision, first, second, pair.participants_favour or "", comparison.metric_word),
            objective=_difference(of_metric[both], first, 3, comparison.kind not in ERRORS),
            perceived=_difference(of_people[both], first, 2, comparison.variable.is_share),
        )
        cells.append(cell)
    return names, cells


def _difference(pair: Pair, first: str, digits: int, is_share: bool) -> Difference | None:
    """The difference of a pair with its simultaneous interval; None where the pair was not tested."""
    if pair.ci_low is None or pair.ci_high is None:
        return None
    value, low, high = pair.difference, pair.ci_low, pair.ci_high
    if pair.a != first:
        value, low, high = -value, -high, -low
    words = f"{number(value, digits, is_share)} {interval(low, high, digits, is_share)}"
    return Difference(words, value, low, high)


def _pairs_table(comparison: Comparison, cells: Sequence[GridCell], n: int, test_name: str) -> Table:
    metric, variable = comparison.metric(n), comparison.variable
    return table(
        "pairs",
        f"All pairs of algorithms by {metric.in_text} and {variable.in_text}",
        cells,
        Words("Algorithm", lambda cell: cell.first),
        Words("and", lambda cell: cell.second),
        Words("Class", lambda cell: cell.kind),
        Numbers(f"{metric.name}, difference", lambda cell: cell_of(cell.objective, _in_words), "objective"),
        Numbers(f"{variable.name}, difference", lambda cell: cell_of(cell.perceived, _in_words), "perceived"),
        note=f"Differences of the first minus the second with simultaneous {coverage(comparison.alpha)} CI: "
        f"{comparison.metric_word} by single-step max-|t| clustered by user, {variable.in_text} by {test_name}. A "
        "pair agrees or is contradicted where both sides separate it.",
        is_quiet=lambda cell: cell.kind == PairClass.UNDECIDED,
    )


def _in_words(difference: Difference) -> Cell:
    return Cell(difference.words, difference.value)


def _ranks_table(comparison: Comparison) -> Table:
    sets: dict[Half, dict[str, Ranks]] = {half: {} for half in HALVES}
    if isinstance(decided := comparison.decided, DecidedPairs):
        sets = {"perceived": decided.participants_rank_sets.sets, "objective": decided.offline_rank_sets.sets}

    def of(half: Half) -> tuple[Numbers[str], Numbers[str]]:
        return (
            Numbers(f"Rank, {half}", lambda name: _rank(comparison.ranks.of(half)[name]), half),
            Numbers("Rank confidence set", lambda name: cell_of(sets[half].get(name), ranks_cell)),
        )

    return table(
        "ranks",
        "The two rankings",
        sorted(comparison.conditions, key=comparison.ranks.objective.__getitem__),
        Words[str]("Algorithm", str),
        *(column for half in HALVES for column in of(half)),
        note=f"All sets of one side contain the true ranks at once with {coverage(comparison.alpha)} confidence "
        "(Mogstad, Romano, Shaikh and Wilhelm, 2024).",
    )


def _rank(rank: float) -> Cell:
    return Cell(number(rank, 0 if float(rank).is_integer() else 1), rank)


def _advantage_table(results: Results) -> Table | None:
    advantage, comparison = results.advantage, results.primary
    if advantage is None or comparison is None:
        return None
    lines = [("All compared algorithms", advantage.overall)]
    if advantage.other_items is not None:
        lines.append(("For other items from the same algorithms", advantage.other_items))
    lines += [(f"Without {name}", result) for name, result in advantage.without.items()]
    is_share = comparison.variable.is_share
    how = "with separate variances (Welch)" if not results.is_in_turn else "of the mixed model's means"
    return table(
        "advantage",
        f"Average advantage of {comparison.metric(results.objective.n).in_text} in {comparison.variable.in_text}",
        [(name, result) for name, result in lines if not isinstance(result, Undefined)],
        Words("Algorithms", lambda row: row[0]),
        Numbers("Separated pairs", lambda row: whole(row[1].n_pairs), "objective"),
        Numbers("Average advantage", lambda row: decimal(row[1].value, 2, is_share), "perceived"),
        Numbers(f"{coverage(results.plan.alpha)} CI", lambda row: limits(row[1].interval, 2, is_share)),
        Numbers("t", lambda row: decimal(row[1].t)),
        Numbers("df", lambda row: decimal(row[1].df)),
        Numbers("p", lambda row: probability(row[1].p)),
        Words("Verdict", lambda row: row[1].verdict.value if row[1] is advantage.overall else ""),
        note="Mean difference between the better and the worse algorithm of every pair that the metric separates; t "
        f"tests {how}. Leaving out an algorithm is a check and no test.",
    )


def _conclusion(pair: BoundedPair) -> str:
    return "practically the same" if pair.is_equivalent else "beyond the bound" if pair.is_beyond else "undecided"


# Charts


def _mean_column(variable: PerceivedVariable) -> Numbers[ConditionFacts]:
    return Numbers(variable.name, lambda condition: _mean(variable, condition.label), "perceived")


def _metric_column(length: ProfileLength, kind: str, name: str) -> Numbers[ConditionFacts]:
    heading = f"{name}, {length.averaged}"
    return Numbers(heading, lambda condition: _metric(length, kind, condition.label), "objective")


def _rank_sets(primary: Comparison) -> tuple[Numbers[ConditionFacts], ...]:
    """The rank sets of the primary pair; none in reports that did not decide pairs."""
    if not isinstance(primary.decided, DecidedPairs):
        return ()
    people, offline = primary.decided.participants_rank_sets.sets, primary.decided.offline_rank_sets.sets
    return (
        Numbers(
            f"Ranks by {primary.variable.in_text}", lambda row: cell_of(people.get(row.label), ranks_cell), "perceived"
        ),
        Numbers(
            f"Ranks by {primary.metric_word}", lambda row: cell_of(offline.get(row.label), ranks_cell), "objective"
        ),
    )


def _rank_key(variable: PerceivedVariable, name: str) -> tuple[bool, float]:
    """Printed means from highest to lowest; conditions without one come last."""
    numbers = variable.described.get(name)
    return (True, 0.0) if numbers is None else (False, -round(numbers.mean, 2))


def _mean(variable: PerceivedVariable | None, name: str) -> Cell:
    numbers = None if variable is None else variable.described.get(name)
    return MISSING if variable is None or numbers is None else decimal(numbers.mean, 2, variable.variable.is_share)


def _metric(length: ProfileLength, kind: str, name: str) -> Cell:
    return decimal(length.values(kind)[name], 3, is_share=kind not in ERRORS)
