"""Sentences on other participants and other items."""

from __future__ import annotations

from analysis.results.perceived import PerceivedVariable
from analysis.tables.cells import equals, f_statistic, percent, relation, written
from inference.item_effects import ItemEffectsResult, ItemPair, ItemPairs
from inference.results import Undefined


def nested(model: ItemEffectsResult | Undefined, variable: PerceivedVariable, alpha: float) -> list[str]:
    """Whether the differences hold with other participants and with other items from the same algorithms."""
    if isinstance(model, Undefined):
        return [f"There is no model of participants and of items nested in algorithms. {model.reason}"]
    sentences = [
        f"Generalised to other participants and to other items from the same algorithms (items nested in algorithms), "
        f"{_difference(model, alpha)}. {_shares(model)}"
    ]
    order = variable.orders.games_howell
    if lost := order.pairs - {(better.a, better.b) for better in _directed(model.pairs) if better.is_significant}:
        sentences.append(
            "This model with Holm's correction does not confirm these of Games and Howell's pairs: "
            f"{relation(order.sorted_pairs(lost))}."
        )
    elif order.pairs:
        sentences.append(
            "This model with Holm's correction confirms every pair that Games-Howell orders in perceived accuracy."
        )
    return sentences


def _difference(model: ItemEffectsResult, alpha: float) -> str:
    if model.df_denominator is None:
        test = f"Wald χ²({model.df}) = {written(model.chi_squared)}, p {equals(model.p)} (large-sample)"
    else:
        test = f"{f_statistic(model.df, model.df_denominator, model.f)}, p {equals(model.p)}"
    if model.p < alpha:
        return f"the ratings of single items differed significantly between the algorithms, {test}"
    return f"we found no significant difference between the algorithms in the ratings of single items, {test}"


def _shares(model: ItemEffectsResult) -> str:
    return (
        f"Participants account for {percent(model.share_persons)} of the variance, items within algorithms for "
        f"{percent(model.share_items)}, and the residual for {percent(model.share_residual)}."
    )


def _directed(pairs: ItemPairs) -> list[ItemPair]:
    """Every pair with the larger mean first."""
    return [pair if pair.difference > 0 else _reversed(pair) for pair in pairs.pairs]


def _reversed(pair: ItemPair) -> ItemPair:
    return ItemPair(pair.b, pair.a, -pair.difference, pair.p, pair.is_significant, se=pair.se)
