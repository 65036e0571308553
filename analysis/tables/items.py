"""Tables of the recommended items, and of the two kinds of rating."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.results.perceived import FrequentItem, ItemsOfCondition, Liking
from analysis.results.report import ItemWords
from analysis.tables.cells import decimal, share_cell, whole
from documents.numbers import capital, number
from documents.tables import Numbers, Table, Words, table


def items_table(items: Sequence[ItemsOfCondition]) -> Table:
    """How many items each condition recommended, with the most frequent."""
    return table(
        "items",
        "Recommended items by algorithm",
        items,
        Words("Algorithm", lambda condition: condition.condition),
        Numbers("Slots", lambda condition: whole(condition.n_slots)),
        Numbers("Distinct items", lambda condition: whole(condition.n_distinct)),
        Numbers("Share of the most frequent", lambda condition: share_cell(condition.share_of_most_shown)),
        Numbers("Filled by popularity", lambda condition: whole(condition.n_filled)),
        Words("Most frequent, mean rating", lambda condition: "; ".join(map(_frequent, condition.top))),
    )


def _frequent(item: FrequentItem) -> str:
    return f"{item.title} ({item.n}×, M\u00a0{number(item.mean_rating)})"


def liking_table(liking: Sequence[Liking], words: ItemWords) -> Table:
    """Liking of consumed items and interest in the others, with their shares."""
    trailers = Numbers[Liking](
        f"Items not {words.consumed}, trailer seen before", lambda row: whole(row.branches.get("trailer_seen"))
    )
    return table(
        "liking",
        "Perceived accuracy by kind of rating",
        liking,
        Words("Algorithm", lambda row: row.condition),
        Numbers(capital(words.consumed), lambda row: share_cell(row.share_watched)),
        Numbers(f"Items {words.consumed}", lambda row: whole(row.n_watched)),
        Numbers("Liking, M", lambda row: decimal(row.liking), "perceived"),
        Numbers(f"Items not {words.consumed}", lambda row: whole(row.n_not_watched)),
        Numbers("Interest, M", lambda row: decimal(row.interest), "perceived"),
        *((trailers,) if words.has_trailers else ()),
    )
