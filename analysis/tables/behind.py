"""Tables of what stands behind the means: the items, and the two kinds of rating."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from analysis.tables.cells import Column, Row, Table, decimal, share_cell, text, whole, written

Result = Mapping[str, Any]


def items_table(items: Sequence[Result]) -> Table:
    """How many items carry each condition, with the most shown."""
    rows = []
    for one in items:
        rows.append(
            Row(
                (
                    text(one["condition"]),
                    whole(one["n_slots"]),
                    whole(one["n_distinct"]),
                    share_cell(one["share_of_most_shown"]),
                    whole(one["n_filled"]),
                    text(
                        "; ".join(
                            f"{top['title']} ({top['n']}×, M {written(top['mean_rating'])})" for top in one["top"]
                        )
                    ),
                )
            )
        )
    columns = (
        Column("Algorithm"), Column("Slots", True), Column("Distinct items", True),
        Column("Share of the most shown", True), Column("Filled by popularity", True),
        Column("Most shown, mean rating"),
    )  # fmt: skip
    return Table("items", "Items behind each condition", columns, tuple(rows))


def liking_table(liking: Sequence[Result]) -> Table:
    """Liking of watched items and interest in the others, with their shares."""
    rows = [
        Row(
            (
                text(one["condition"]),
                share_cell(one["share_watched"]),
                whole(one["n_watched"]),
                decimal(one["liking"]),
                whole(one["n_not_watched"]),
                decimal(one["interest"]),
                whole(one["branches"]["trailer_seen"]),
            )
        )
        for one in liking
    ]
    columns = (
        Column("Algorithm"), Column("Watched", True), Column("Items watched", True),
        Column("Liking, M", True, "perceived"), Column("Items not watched", True),
        Column("Interest, M", True, "perceived"), Column("of them, trailer seen before", True),
    )  # fmt: skip
    return Table("liking", "Perceived accuracy taken apart", columns, tuple(rows))
