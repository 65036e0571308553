"""Tables of the recommended items, and of the two kinds of rating."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.results.perceived import ItemsOfCondition, Liking
from analysis.results.report import ItemWords
from analysis.tables.cells import decimal, share_cell, whole
from documents.numbers import capital, number
from documents.tables import Column, Row, Table, text


def items_table(items: Sequence[ItemsOfCondition]) -> Table:
    """How many items each condition recommended, with the most frequent."""
    rows = tuple(
        Row(
            (
                text(condition.condition),
                whole(condition.n_slots),
                whole(condition.n_distinct),
                share_cell(condition.share_of_most_shown),
                whole(condition.n_filled),
                text(
                    "; ".join(f"{item.title} ({item.n}×, M\u00a0{number(item.mean_rating)})" for item in condition.top)
                ),
            )
        )
        for condition in items
    )
    columns = (
        Column("Algorithm"), Column("Slots", True), Column("Distinct items", True),
        Column("Share of the most frequent", True), Column("Filled by popularity", True),
        Column("Most frequent, mean rating"),
    )  # fmt: skip
    return Table("items", "Recommended items by algorithm", columns, rows)


def liking_table(liking: Sequence[Liking], words: ItemWords) -> Table:
    """Liking of consumed items and interest in the others, with their shares."""
    rows = tuple(
        Row(
            (
                text(condition.condition),
                share_cell(condition.share_watched),
                whole(condition.n_watched),
                decimal(condition.liking),
                whole(condition.n_not_watched),
                decimal(condition.interest),
                *((whole(condition.branches.get("trailer_seen")),) if words.has_trailers else ()),
            )
        )
        for condition in liking
    )
    columns = (
        Column("Algorithm"), Column(capital(words.consumed), True), Column(f"Items {words.consumed}", True),
        Column("Liking, M", True, "perceived"), Column(f"Items not {words.consumed}", True),
        Column("Interest, M", True, "perceived"),
        *((Column(f"Items not {words.consumed}, trailer seen before", True),) if words.has_trailers else ()),
    )  # fmt: skip
    return Table("liking", "Perceived accuracy by kind of rating", columns, rows)
