"""What participants picked of their lists, in studies that asked them to."""

from __future__ import annotations

from analysis.present.words import decimal, interval_cell, share_cell, whole
from analysis.results.report import Results
from documents.blocks import Section
from documents.tables import Numbers, Words, table


def choices_section(results: Results) -> Section:
    """The share who picked something, with rank and popularity of what they picked; empty without such a page."""
    section = Section("choices", "Choices", "perceived")
    if not results.choices:
        return section
    section.say(
        "Participants could pick one of their recommendations, or none. The 95% intervals are those of Wilson (1927), "
        "without correction for several conditions. Rank and popularity, which is the number of ratings in the "
        "dataset, describe what was picked. No test compares them."
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
    return section
