"""Sentences on other participants and other items, and on contradictions that do not generalise to them."""

from __future__ import annotations

from analysis.narrative.words import in_words
from analysis.results.comparison import Comparison
from analysis.results.perceived import PerceivedVariable
from analysis.results.report import Results
from analysis.tables.cells import equals, f_statistic, listed, percent, relation, written
from inference.agreement import Verdict
from inference.item_effects import ItemEffectsResult, ItemPair, ItemPairs
from inference.results import Undefined

RATED = "accuracy"  # the variable whose values are means over ratings of items
MOST_PAIRS = 3  # by name; the table has all
NO_NESTED_MODEL = (
    "This report lacks the model with items nested in algorithms, which generalises to other items from the same "
    "algorithms. Build a new report to add it."
)


def nested(model: ItemEffectsResult | Undefined | None, variable: PerceivedVariable, alpha: float) -> list[str]:
    """Whether the differences hold with other participants and with other items from the same algorithms."""
    if model is None:
        return [NO_NESTED_MODEL]
    if isinstance(model, Undefined):
        return [f"There is no model of participants and of items nested in algorithms. {model.reason}"]
    sentences = [
        f"Generalised to other participants and to other items from the same algorithms (items nested in algorithms), "
        f"{_difference(model, alpha)}. {_shares(model, 'items within algorithms')}"
    ]
    order = variable.orders.tukey
    if lost := order.pairs - {(better.a, better.b) for better in _directed(model.pairs) if better.is_significant}:
        sentences.append(
            "This model with Holm's correction does not confirm these of Tukey's pairs: "
            f"{relation(order.sorted_pairs(lost))}."
        )
    elif order.pairs:
        sentences.append(
            "This model with Holm's correction confirms every pair that Tukey's HSD orders in perceived accuracy."
        )
    return sentences


def crossed(model: ItemEffectsResult | Undefined, alpha: float) -> list[str]:
    """Which difference remains beyond the items themselves."""
    if isinstance(model, Undefined):
        return [f"There is no model of participants and of items crossed with algorithms. {model.reason}"]
    return [
        f"Beyond the items themselves (items crossed with algorithms), {_difference(model, alpha)}. "
        f"{_shares(model, 'items')}",
        "This second model compares algorithms as if they had recommended the same items. Algorithms choose their "
        "items, so it credits a better choice to the items; it does not test whether an algorithm is perceived as "
        "better.",
    ]


def _difference(model: ItemEffectsResult, alpha: float) -> str:
    if model.df_denominator is None:
        test = f"Wald χ²({model.df}) = {written(model.chi_squared)}, p {equals(model.p)} (large-sample)"
    else:
        test = f"{f_statistic(model.df, model.df_denominator, model.f)}, p {equals(model.p)}"
    if model.p < alpha:
        return f"the ratings of single items differed significantly between the algorithms, {test}"
    return f"we found no significant difference between the algorithms in the ratings of single items, {test}"


def _shares(model: ItemEffectsResult, items: str) -> str:
    return (
        f"Participants account for {percent(model.share_persons)} of the variance, {items} for "
        f"{percent(model.share_items)}, and the residual for {percent(model.share_residual)}."
    )


def _directed(pairs: ItemPairs) -> list[ItemPair]:
    """Every pair with the larger mean first."""
    return [pair if pair.difference > 0 else _reversed(pair) for pair in pairs.pairs]


def _reversed(pair: ItemPair) -> ItemPair:
    return ItemPair(pair.b, pair.a, -pair.difference, pair.p, pair.is_significant, se=pair.se)


def unconfirmed(results: Results) -> str:
    """Contradictions of the first screen that the model with nested items does not confirm; empty where it does."""
    primary, model = results.primary, results.nested
    if primary is None or model is None or primary.variable_key != RATED or not results.flow.analysed:
        return ""
    pairs = contradicted(primary)
    if not pairs:
        return ""
    if isinstance(model, Undefined):
        return (
            f"Whether the ranking of {relation(pairs[:MOST_PAIRS])} in perceived accuracy, which contradicts "
            f"{primary.metric_word}, holds with other items from the same algorithms could not be tested. "
            f"{model.reason}"
        )
    by_names = {(pair.a, pair.b): pair for one in model.pairs.pairs for pair in (one, _reversed(one))}
    tested = [by_names[pair] for pair in pairs if pair in by_names]
    lost = [pair for pair in tested if not pair.is_significant or pair.difference <= 0]
    return _unconfirmed(lost, len(tested), primary.metric_word) if lost else ""


def _unconfirmed(lost: list[ItemPair], n: int, kind: str) -> str:
    """One sentence about the pairs that are lost, of `n` contradictions."""
    if n == 1:
        (pair,) = lost
        se = "" if pair.se is None else f", SE = {written(pair.se)}"
        return (
            f"The ranking of {pair.a} over {pair.b} in perceived accuracy, which contradicts {kind}, is not confirmed "
            f"for other items from the same algorithms (difference {written(pair.difference)}{se}, {_p(pair)})."
        )
    names = [f"{pair.a} over {pair.b} ({_p(pair)})" for pair in lost[:MOST_PAIRS]]
    if (n_more := len(lost) - MOST_PAIRS) > 0:
        names.append(f"{in_words(n_more)} more")
    pairs = (
        f"of the {in_words(n)} pairs that perceived accuracy and {kind} order in opposite directions, at the top of "
        "the rankings or significantly,"
    )
    if len(lost) == n:
        finding = f"{'Neither' if n == 2 else 'None'} {pairs} is confirmed"
    else:
        finding = f"O{pairs[1:]} {in_words(len(lost))} {'is' if len(lost) == 1 else 'are'} not confirmed"
    return f"{finding} for other items from the same algorithms: {listed(names)}."


def _p(pair: ItemPair) -> str:
    return "not tested" if pair.p is None else f"corrected p {equals(pair.p)}"


def contradicted(comparison: Comparison) -> list[tuple[str, str]]:
    """The contradictions of the first screen: the two winners, where they differ, and the significant ones.

    In each pair the first is better to participants, and the second by the metric.
    """
    perceived, objective = comparison.ranks.perceived, comparison.ranks.objective
    if not perceived or not objective:
        return []
    best = [
        [name for name in comparison.conditions if ranks[name] == min(ranks.values())]
        for ranks in (perceived, objective)
    ]
    winners = [] if set(best[0]) & set(best[1]) else [(a, b) for a in best[0] for b in best[1]]
    significant = [(pair.a, pair.b) for pair in comparison.pairs(Verdict.CONTRADICTED)]
    return list(dict.fromkeys([*winners, *significant]))
