"""Tiers of a partial order as rows of a table, on either side."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.present.words import whole
from analysis.results.rankings import Order
from documents.tables import Cell, text
from inference.partial_order import Tier

TIER_NAMES = {
    Tier.MAXIMAL: "Maximal",
    Tier.INTERMEDIATE: "Intermediate",
    Tier.MINIMAL: "Minimal",
    Tier.UNORDERED: "Unordered: no significant differences",
}


def tiered_names(order: Order) -> Iterator[tuple[str, str]]:
    """The title of its tier and each condition: tiers from the top, the best location first within a tier."""
    for tier, title in TIER_NAMES.items():
        yield from ((title, name) for name in order.best_first if order.tiers[name] is tier)


def dominance_cells(order: Order, name: str) -> tuple[Cell, Cell, Cell]:
    """How many conditions a condition dominates, how many dominate it, and its letters."""
    return whole(len(order.dominates[name])), whole(len(order.dominated_by[name])), text(order.letters[name])
