"""The four tiles of the first screen: the average advantage, the pairs, and the best algorithm on either side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from analysis.narrative.verdict import has_verdict
from analysis.narrative.words import in_words
from analysis.results.advantage import DecidedPairs
from analysis.results.comparison import Comparison
from analysis.results.report import Results
from analysis.tables.cells import bracketed, capital, written
from analysis.tables.levels import coverage
from documents.tables import Side
from evaluation.reported_kinds import ERRORS
from inference.pair_decisions import PairClass
from inference.rank_sets import RankSets
from inference.results import Undefined


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
    return [*_advantage(results, comparison), _pairs(comparison.decided), *_best(results, comparison)]


def _advantage(results: Results, comparison: Comparison) -> list[Fact]:
    overall = None if results.advantage is None else results.advantage.overall
    if overall is None or isinstance(overall, Undefined):
        return []
    is_share = comparison.variable.is_share
    low, high = overall.interval.low, overall.interval.high
    planned = "" if results.plan.primary_test == "advantage" else "; not in the plan"
    return [
        Fact(
            f"Average advantage{'' if is_share else ', points'}",
            "",
            written(overall.value, 2, is_share),
            f"{coverage(overall.alpha)} CI {bracketed(low, high, 2, is_share)}{planned}",
        )
    ]


def _pairs(decided: DecidedPairs) -> Fact:
    agree, contradict = (len(decided.of(decision)) for decision in (PairClass.AGREE, PairClass.CONTRADICT))
    n = len(decided.pairs)
    n_open = n - agree - contradict
    return Fact(
        "Pairs of algorithms", "", f"{agree} agree, {contradict} contradict, {n_open} open", f"{n} pairs in all"
    )


def _best(results: Results, comparison: Comparison) -> list[Fact]:
    """The algorithm that alone may be the best on each side, or how many may be."""
    decided, variable = comparison.decided, results.variable(comparison.variable_key)
    if not isinstance(decided, DecidedPairs) or variable is None:
        return []
    metric = results.objective.at(comparison.profile_length).defined_values(comparison.kind)
    word = "highest" if comparison.higher_is_better else "lowest"
    means = {name: numbers.mean for name, numbers in variable.described.items()}
    is_share, is_metric_share = variable.variable.is_share, comparison.kind not in ERRORS
    return [
        _tile(word, comparison.metric_word, "objective", decided.offline_rank_sets, metric, is_metric_share),
        _tile("highest", variable.variable.in_text, "perceived", decided.participants_rank_sets, means, is_share),
    ]


def _tile(
    word: str, name: str, side: Side, ranks: RankSets, values: Mapping[str, float], is_share: bool
) -> Fact:  # fmt: skip
    heading, k = f"{capital(word)} {name}", len(ranks.sets)
    first = [label for label, ranked in ranks.sets.items() if ranked == (1, 1)]
    if len(first) == 1:
        relation = "above" if word == "highest" else "below"
        others = "the other" if k == 2 else "both others" if k == 3 else f"all {in_words(k - 1)}"
        return Fact(heading, side, first[0], f"{written(values[first[0]], 2, is_share)}, {relation} {others}")
    low, high = (written(end(values[label] for label in ranks.sets), 2, is_share) for end in (min, max))
    return Fact(heading, side, f"{len(ranks.best)} of {k} may be {word}", f"all values: {low} to {high}")
