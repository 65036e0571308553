"""The headline of a report and the facts beneath it; they claim no more than their tests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby

from analysis.enums import RATED
from analysis.present import contrast, factorial, side_by_side
from analysis.present.words import coverage
from analysis.results.comparison import Advantage, Comparison, DecidedPairs
from analysis.results.report import FEWEST_ANALYSED, Results
from documents.numbers import capital, coefficient, interval, listed, named_p, number, number_word, percent, plural
from documents.tables import Side
from evaluation.reported_kinds import ERRORS
from inference.average_advantage import AverageAdvantage, Verdict
from inference.pair_decisions import PairClass
from inference.rank_sets import RankSets
from inference.results import AgreementResult, Undefined
from studies.simulation.planted_effects import planted_sentence
from studies.usage_data import CHOICE

MOST_NAMED = 6  # contradictions in a sentence; the grid has all


@dataclass(frozen=True)
class Run:
    """A piece of a heading, and the side whose colour it has."""

    text: str
    side: Side = ""


def has_verdict(results: Results) -> bool:
    """Whether the report may conclude: collection has ended, and two conditions have enough participants."""
    return not results.flow.is_collecting and results.is_compared and results.primary is not None


def headline(results: Results) -> tuple[Run, ...]:
    """The verdict in one sentence; it begins with the mark of simulated participants or of a pilot."""
    mark = "Pilot: " if results.is_pilot else "" if results.is_live else "Simulated participants: "
    return tuple(run for run in (Run(mark), *_finding(results)) if run.text)


def _finding(results: Results) -> tuple[Run, ...]:
    comparison, flow = results.primary, results.flow
    if flow.is_collecting:
        of_planned = f"{flow.analysed:,} of {plural(flow.planned, 'participant')}"
        return (Run(f"Interim: {of_planned}. The verdict appears when collection ends."),)
    if not results.is_compared:
        return (Run("Nothing to compare yet."),)
    if comparison is None:
        return (Run("The planned pair of measures is missing from this report."),)
    if results.preferences:
        return (Run(side_by_side.finding(results.preferences[0], results.plan.alpha)),)
    if (planned := results.contrast) is not None:
        before, after = contrast.finding(planned.test)
        return (Run(before), Run(planned.variable.in_text, "perceived"), Run(f"{after}."))
    if results.factorial is not None and (effect := results.factorial.planned) is not None:
        before, after = factorial.finding(effect, results.plan.alpha)
        return (Run(before), Run(effect.variable.in_text, "perceived"), Run(f"{after}."))
    if results.advantage is None or results.plan.primary_test == "rank correlation":
        return _of_ranks(comparison)
    return _of_advantage(results, comparison, results.advantage.overall)


def _of_ranks(comparison: Comparison) -> tuple[Run, ...]:
    """The headline of a plan whose primary test is the rank correlation."""
    metric, variable, tau = comparison.metric_word, comparison.variable.in_text, comparison.tau
    if not isinstance(tau, Undefined) and tau.p < comparison.alpha:
        if tau.coefficient > 0:
            middle, end = " ranked the algorithms as ", " did."
        else:
            middle, end = " ranked the algorithms in the opposite direction to ", "."
        return (Run(capital(metric), "objective"), Run(middle), Run(variable, "perceived"), Run(end))
    numbers = (
        f"τ_b = {coefficient(tau.coefficient)}, {named_p(tau.p)}" if not isinstance(tau, Undefined) else tau.reason
    )
    return (
        Run("This study cannot tell whether "),
        Run(metric, "objective"),
        Run(" ranks the algorithms as "),
        Run(variable, "perceived"),
        Run(f" does ({numbers.removesuffix('.')})."),
    )


def _of_advantage(results: Results, comparison: Comparison, overall: AverageAdvantage | Undefined) -> tuple[Run, ...]:
    metric, variable = Run(comparison.metric_word, "objective"), Run(comparison.variable.in_text, "perceived")
    if isinstance(overall, Undefined) and _is_without_separated(comparison):
        no_pair = Run("The offline run separates no pair of algorithms by ")
        return (no_pair, metric, Run(", so nothing can be compared."))
    verdict = Verdict.CANNOT_TELL if isinstance(overall, Undefined) else overall.verdict
    if verdict is Verdict.NO_RELEVANT_RELATION:
        return (Run(capital(metric.text), "objective"), Run(" makes no relevant difference to "), variable, Run(":"))
    if verdict is Verdict.CANNOT_TELL:
        return (Run("This study cannot tell whether "), metric, Run(" and "), variable, Run(" go together:"))
    direction = "higher" if verdict is Verdict.AGREE else "lower"
    end = Run(", not shown for other items." if _is_lost_for_other_items(results) else ".")
    return (Run(f"{capital(_better(comparison))} "), metric, Run(f" went with {direction} "), variable, end)


def _better(comparison: Comparison) -> str:
    return "higher" if comparison.higher_is_better else "lower"


def _is_without_separated(comparison: Comparison) -> bool:
    """Whether pairs were decided, and the metric separates none; without values of participants no pair is decided."""
    decided = comparison.decided
    return isinstance(decided, DecidedPairs) and not any(pair.offline_favours is not None for pair in decided.pairs)


def _is_lost_for_other_items(results: Results) -> bool:
    """Whether agreement or disagreement is not shown for other items from the same algorithms."""
    nested_model = None if results.advantage is None else results.advantage.other_items
    return isinstance(nested_model, AverageAdvantage) and nested_model.interval.low <= 0 <= nested_model.interval.high


def evidence(results: Results) -> tuple[str, ...]:
    """The numbers behind the headline and what the rules add, a paragraph each; none without a verdict."""
    comparison = results.primary
    if not has_verdict(results) or comparison is None:
        return ()
    planned, advantage = results.contrast, results.advantage
    paragraphs = []
    if planned is not None:
        paragraphs += [contrast.sentence(planned), contrast.metric_sentence(planned, results.objective.n)]
    elif results.preferences:
        paragraphs += side_by_side.sentences(results.preferences[0], results.plan.alpha)
    elif results.factorial is not None and (effect := results.factorial.planned) is not None:
        paragraphs.append(factorial.planned_sentence(effect, results.plan.alpha))
    elif isinstance(tau := comparison.tau, AgreementResult) and (
        advantage is None or results.plan.primary_test == "rank correlation"
    ):
        of_tau = f"τ_b = {coefficient(tau.coefficient)}, {tau.p_method} {named_p(tau.p)}"
        paragraphs.append(f"Rank correlation of the primary pair: {of_tau}.")
    if advantage is not None:
        is_planned = results.plan.primary_test == "advantage"
        if of_advantage := _advantage(advantage, comparison, is_planned):
            paragraphs.append(f"{'' if is_planned else 'Not in the plan: '}{of_advantage}")
        if isinstance(advantage.other_items, AverageAdvantage):
            other_items = f"{_short(advantage.other_items, is_share=False)}, {named_p(advantage.other_items.p)}"
            paragraphs.append(f"For other items from the same algorithms: {other_items}.")
    paragraphs.append(" ".join(filter(None, (contradictions(comparison), _closed_early(results)))))
    return tuple(paragraph for paragraph in paragraphs if paragraph)


def _advantage(advantage: Advantage, comparison: Comparison, is_headline: bool) -> str:
    overall = advantage.overall
    if isinstance(overall, Undefined):
        return "" if _is_without_separated(comparison) else overall.reason
    is_share = comparison.variable.is_share
    opening = f"over the {plural(overall.n_pairs, 'pair')} of algorithms that {comparison.metric_word} separates, "
    if overall.n_pairs == 1:
        opening = f"in the one pair of algorithms that {comparison.metric_word} separates, "
    statistics = f"{coverage(overall.alpha)} CI {_limits(overall, is_share)}"
    is_decided = overall.verdict in (Verdict.AGREE, Verdict.DISAGREE)
    if overall.verdict is Verdict.NO_RELEVANT_RELATION and overall.bound and overall.p_equivalence is not None:
        low, high = overall.narrow_interval.low, overall.narrow_interval.high
        bound = f"±{number(overall.bound, 2, is_share)}{'' if is_share else ' points'}"
        statistics = (
            f"within {bound} ({coverage(2 * overall.alpha)} CI {interval(low, high, 2, is_share)}, equivalence "
            f"{named_p(overall.p_equivalence)})"
        )
    elif is_decided:
        statistics += f", t({number(overall.df)}) = {number(overall.t)}, {named_p(overall.p)}" if overall.df else ""
    else:
        statistics += f", {named_p(overall.p)}"
    # "This study cannot tell …:" goes on in the same sentence.
    sentence = f"{opening}{difference_in_words(comparison, overall.value)} on average, {statistics}."
    opened = capital(sentence) if is_decided and is_headline else sentence
    return " ".join(filter(None, (opened, _rests_on(advantage, is_share))))


def difference_in_words(comparison: Comparison, value: float) -> str:
    """How much higher or lower the measure was for the better algorithms of the metric."""
    variable, better = comparison.variable, f"the {_better(comparison)} {comparison.metric_word}"
    amount = f"{number(abs(value), 2, variable.is_share)}{'' if variable.is_share else ' points'}"
    direction = "higher" if value >= 0 else "lower"
    if round(value, 2) == 0:
        return f"both were {'rated' if variable.key == RATED else 'judged'} alike in {variable.in_text}, {amount} apart"
    if variable.key == RATED:
        return f"participants rated the one with {better} {amount} {direction}"
    return f"{variable.in_text} was {amount} {direction} with the one that has {better}"


def _limits(result: AverageAdvantage, is_share: bool) -> str:
    return interval(result.interval.low, result.interval.high, 2, is_share)


def _short(result: AverageAdvantage | Undefined, is_share: bool) -> str:
    if isinstance(result, Undefined):
        return "no average advantage"
    points = "" if is_share else " points"
    return f"{number(result.value, 2, is_share)}{points}, {coverage(result.alpha)} CI {_limits(result, is_share)}"


def _rests_on(advantage: Advantage, is_share: bool) -> str:
    names = advantage.influential_algorithms
    if not names:
        return ""
    if len(names) == 1:
        return f"This rests on {names[0]}: without it {_short(advantage.without[names[0]], is_share)}."
    each = "; ".join(f"without {name} {_short(advantage.without[name], is_share)}" for name in names)
    return f"This rests on each of {listed(names)}: {each}."


def contradictions(comparison: Comparison) -> str:
    """The pairs on which both sides contradict each other; empty where there are none."""
    pairs, decided = comparison.pairs(PairClass.CONTRADICT), comparison.decided
    if not pairs or decided is None or isinstance(decided, Undefined):
        return ""
    winners = sorted(
        ((pair.participants_favour or "", pair.offline_favours or "") for pair in pairs[:MOST_NAMED]),
        key=lambda pair: pair[0],
    )
    preferences = []
    for winner, group in groupby(winners, key=lambda pair: pair[0]):
        losers = [loser for _winner, loser in group]
        if comparison.variable.key == RATED:
            preferences.append(f"{winner} to {' and to '.join(losers)}")
        else:
            preferences.append(f"with {winner} than with {' and than with '.join(losers)}")
    if len(pairs) > MOST_NAMED:
        preferences.append(plural(len(pairs) - MOST_NAMED, "more pair"))
    opening = "participants prefer" if comparison.variable.key == RATED else f"{comparison.variable.in_text} was higher"
    return (
        f"They contradict each other on {len(pairs)} of {plural(len(decided.pairs), 'pair')}: {opening} "
        f"{', and '.join(preferences)}."
    )


def _closed_early(results: Results) -> str:
    flow = results.flow
    completed = sum(condition.completed for condition in flow.by_condition)
    if not results.is_live or completed >= flow.planned:
        return ""
    return f"{flow.analysed:,} of {flow.planned:,} planned participants."


def scope(results: Results) -> str:
    """What the verdict concerns."""
    if not has_verdict(results):
        return ""
    n = len({results.recommenders.get(condition.label, condition.label) for condition in results.conditions})
    return f"This concerns these {number_word(n)} models on this catalogue. It says nothing about other algorithms."


def full_text(results: Results) -> list[str]:
    """The headline, its evidence and its scope as plain text."""
    paragraphs = ["".join(run.text for run in headline(results)), *evidence(results), scope(results)]
    return [paragraph for paragraph in paragraphs if paragraph]


def simulated_notice(results: Results) -> str:
    """The notice at the top of a report on simulated participants; empty for people."""
    if results.is_live:
        return ""
    counts, shares = results.answers, ""
    if counts.n:
        true = counts.n_true / counts.n
        own = "choices" if results.study.elicitation == CHOICE else "ratings"
        shares = (
            f" Of {counts.n:,} answers, {percent(true)} are the users' own {own} and {100 - round(100 * true)}% are "
            "modelled."
        )
    planted = planted_sentence(results.planted_effects)
    planted = f" {planted} The effects found below were planted." if planted else ""
    pilot = (
        "PILOT of a draft that has not been launched: no participant has taken part, and the design may still change. "
    )
    return (
        f"{pilot if results.is_pilot else ''}These participants are simulated. They answer from the ratings of users "
        f"held out from every model: no evidence about people.{shares}{planted}"
    )


def limitations(results: Results) -> list[str]:
    """What limits the whole report: one condition, and conditions that are left out."""
    is_alone = len(results.conditions) + len(results.left_out) < 2
    limits = ["The study has one condition, so there is nothing to compare it with."] if is_alone else []
    few = results.left_out or tuple(each for each in results.conditions if each.n < FEWEST_ANALYSED)
    if few and results.flow.analysed:
        names = listed([f"{condition.label} ({condition.n})" for condition in few])
        limits.append(f"Not compared, with fewer than {number_word(FEWEST_ANALYSED)} analysed participants: {names}.")
    if results.flow.excluded and not results.flow.analysed:
        limits.append("All participants who completed the study are excluded.")
    return limits


@dataclass(frozen=True)
class Fact:
    """A tile: its heading, its side, the number or name, and what stands beneath."""

    heading: str
    side: Side
    number: str
    evidence: str


def facts(results: Results) -> list[Fact]:
    """The tiles; none without a verdict, and none in reports of versions that decided pairs by other tests."""
    comparison = results.primary
    if comparison is None or not has_verdict(results) or not isinstance(comparison.decided, DecidedPairs):
        return []
    decided, variable = comparison.decided, results.variable(comparison.variable_key)
    agree, contradict = (len(decided.of(decision)) for decision in (PairClass.AGREE, PairClass.CONTRADICT))
    n = len(decided.pairs)
    counts = f"{agree} agree, {contradict} contradict, {n - agree - contradict} open"
    tiles = [*_advantage_facts(results, comparison), Fact("Pairs of algorithms", "", counts, f"{n} pairs in all")]
    if variable is None:
        return tiles
    metric = results.objective.at(comparison.profile_length).defined_values(comparison.kind)
    word = "highest" if comparison.higher_is_better else "lowest"
    means = {name: numbers.mean for name, numbers in variable.described.items()}
    is_share, is_rate = variable.variable.is_share, comparison.kind not in ERRORS
    return [
        *tiles,
        _tile(word, comparison.metric_word, "objective", decided.offline_rank_sets, metric, is_rate),
        _tile("highest", variable.variable.in_text, "perceived", decided.participants_rank_sets, means, is_share),
    ]


def _advantage_facts(results: Results, comparison: Comparison) -> list[Fact]:
    overall = None if results.advantage is None else results.advantage.overall
    if overall is None or isinstance(overall, Undefined):
        return []
    is_share = comparison.variable.is_share
    planned = "" if results.plan.primary_test == "advantage" else "; not in the plan"
    heading, value = f"Average advantage{'' if is_share else ', points'}", number(overall.value, 2, is_share)
    return [Fact(heading, "", value, f"{coverage(overall.alpha)} CI {_limits(overall, is_share)}{planned}")]


def _tile(word: str, name: str, side: Side, ranks: RankSets, values: Mapping[str, float], is_share: bool) -> Fact:
    """The algorithm that alone may be the best on a side, or how many may be."""
    heading, k = f"{capital(word)} {name}", len(ranks.sets)
    first = [label for label, ranked in ranks.sets.items() if ranked == (1, 1)]
    if len(first) == 1:
        relation = "above" if word == "highest" else "below"
        rest = "the other" if k == 2 else "both others" if k == 3 else f"all {number_word(k - 1)}"
        return Fact(heading, side, first[0], f"{number(values[first[0]], 2, is_share)}, {relation} {rest}")
    low, high = (number(end(values[label] for label in ranks.sets), 2, is_share) for end in (min, max))
    return Fact(heading, side, f"{len(ranks.best)} of {k} may be {word}", f"all values: {low} to {high}")
