"""Tiers of a partial order as rows of a table, on either side."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.present.words import whole
from analysis.results.rankings import Order
from documents.tables import Numbers, Words
from inference.partial_order import Tier

Placed = tuple[str, str]  # the title of a tier, and a condition in it
TIER_NAMES = {
    Tier.MAXIMAL: "Maximal",
    Tier.INTERMEDIATE: "Intermediate",
    Tier.MINIMAL: "Minimal",
    Tier.UNORDERED: "Unordered: no significant differences",
}


def tiered_names(order: Order) -> Iterator[Placed]:
    """The title of its tier and each condition: tiers from the top, the best location first within a tier."""
    for tier, title in TIER_NAMES.items():
        yield from ((title, name) for name in order.best_first if order.tiers[name] is tier)


def dominance_columns(order: Order) -> tuple[Numbers[Placed], Numbers[Placed], Words[Placed]]:
    """How many conditions a condition dominates, how many dominate it, and its letters."""
    return (
        Numbers("Dominates", lambda row: whole(len(order.dominates[row[1]]))),
        Numbers("Dominated by", lambda row: whole(len(order.dominated_by[row[1]]))),
        Words("Letters", lambda row: order.letters[row[1]]),
    )
