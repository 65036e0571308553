"""What participants picked of their lists, and what they opened and played, in studies that asked or recorded it."""

from __future__ import annotations

from analysis.present.words import PAIR, coverage, decimal, interval_cell, probability, share_cell, whole
from analysis.results.choices import ComparedShares
from analysis.results.report import Results
from documents.blocks import Section
from documents.numbers import capital, f_statistic, interval, listed, named_p, number, percent
from documents.tables import Numbers, Table, Words, table
from inference.agreement import SAMPLED
from inference.attrition import EXACT
from inference.choices import ItemChoice, SharesTest
from inference.results import Undefined


def choices_section(results: Results) -> Section:
    """The share who picked something, with rank and popularity of what they picked, and the tests of picks and of
    recorded behaviour; empty without either.
    """
    section = Section("choices", "Choices and behaviour", "perceived")
    section.say(*(sentence(each) for each in results.shares), style="says")
    if results.choices:
        section.say(
            "Participants could pick one of their recommendations, or none. The 95% intervals are those of Wilson "
            "(1927), without correction for several conditions. Rank and popularity, which is the number of ratings in "
            "the dataset, describe what was picked.",
            _of_items(results.item_choice),
        )
        section.put(
            table(
                "choices",
                "Choices by condition",
                results.choices,
                Words("Condition", lambda row: row.condition),
                Numbers("Participants", lambda row: whole(row.n)),
                Numbers("Picked one", lambda row: whole(row.n_chosen)),
                Numbers("Share", lambda row: share_cell(row.share), "perceived"),
                Numbers("95% CI", lambda row: interval_cell(row.low, row.high, is_share=True)),
                Numbers("Rank, M", lambda row: decimal(row.rank)),
                Numbers("Ratings of the item, M", lambda row: decimal(row.popularity, 1)),
            )
        )
    for each in results.shares:
        if isinstance(each.result, SharesTest):
            section.put(_pairs(each, each.result, results.plan.tests[each.variable_key]))
    return section


def _pairs(tested: ComparedShares, result: SharesTest, words: str) -> Table:
    return table(
        f"shares-{tested.variable_key.replace('.', '-')}-pairs",
        f"Differences between conditions, {tested.variable.in_text}",
        result.pairs.pairs,
        *PAIR,
        Numbers("Difference", lambda pair: decimal(pair.difference, 2, True), "perceived"),
        Numbers(f"{coverage(result.pairs.alpha)} CI", lambda pair: interval_cell(pair.ci_low, pair.ci_high, 2, True)),
        Numbers("p", lambda pair: probability(pair.p)),
        note=f"{capital(words)}.",
    )


def finding(tested: ComparedShares, alpha: float) -> str:
    """The words before the variable's name in a headline."""
    result = tested.result
    if isinstance(result, Undefined):
        return "The conditions could not be compared in the "
    return "Conditions differed in the " if result.p < alpha else "No evidence that conditions differ in the "


def sentence(tested: ComparedShares) -> str:
    """The shares, their joint test, and the pairs that differ where the joint test finds a difference."""
    name, result = tested.variable.in_text, tested.result
    if isinstance(result, Undefined):
        return f"{capital(name)}: no result. {result.reason}"
    shares = listed([f"{condition} {percent(share)}" for condition, share in result.pairs.locations.items()])
    opening, evidence, alpha = f"{capital(name)}: {shares}.", _evidence(result), result.pairs.alpha
    if result.p >= alpha:
        return f"{opening} We found no evidence that it differs between conditions ({evidence})."
    pairs = []
    for pair in result.pairs.pairs:
        if pair.is_significant and pair.ci_low is not None and pair.ci_high is not None:
            ends = interval(pair.ci_low, pair.ci_high, 2, True)
            value = number(pair.difference, 2, True)
            pairs.append(f"{pair.a} against {pair.b} {value}, {coverage(alpha)} CI {ends}")
    return f"{opening} It differed between conditions ({evidence}): {'; '.join(pairs) or 'no pair by itself'}."


def _evidence(result: SharesTest) -> str:
    if result.method in (EXACT, SAMPLED):
        return f"{result.method} {named_p(result.p)}"
    if result.df_within is not None:
        return f"{f_statistic(result.df, result.df_within, result.statistic)}, {named_p(result.p)}"
    n = sum(result.pairs.n.values())
    return f"χ²({result.df}, N = {n:,}) = {number(result.statistic)}, {named_p(result.p)}"


def _of_items(chosen: ItemChoice | Undefined | None) -> str:
    if not isinstance(chosen, ItemChoice):
        return "" if chosen is None else f"What picks depend on: no result. {chosen.reason}"
    odds = (
        f"{number(each.ratio)} times as high for {name}, 95% CI {interval(each.interval.low, each.interval.high)}"
        for name, each in chosen.odds.items()
    )
    return (
        f"Among the items of a list, the odds of being picked were {', and '.join(odds)} (exploratory "
        f"conditional logit of {chosen.n:,} picks in all conditions; rank is the recommender's, so neither is a cause)."
    )
