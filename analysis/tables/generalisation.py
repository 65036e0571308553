"""Tables of the model of participants and of items nested in algorithms."""

from __future__ import annotations

from analysis.tables.cells import MISSING, decimal, interval, probability, whole
from documents.tables import Column, Row, Table, text
from inference.item_effects import ItemEffectsResult
from inference.results import Undefined


def means_table(model: ItemEffectsResult | Undefined | None) -> Table | None:
    """Mean of each algorithm; None where the model has no result."""
    if model is None or isinstance(model, Undefined):
        return None
    rows = tuple(
        Row(
            (
                text(estimate.condition),
                whole(estimate.n_persons),
                whole(estimate.n_items),
                whole(estimate.n_answers),
                decimal(estimate.mean),
                decimal(estimate.se),
                interval(estimate.interval.low, estimate.interval.high),
            )
        )
        for estimate in model.conditions
    )
    columns = (
        Column("Algorithm"), Column("Participants", True), Column("Items", True), Column("Ratings", True),
        Column("Mean", True, "perceived"), Column("SE", True), Column("95% CI", True),
    )  # fmt: skip
    return Table(
        "nested",
        "Ratings of items, generalised to other participants and other items from the same algorithms",
        columns,
        rows,
        "Observed means over participants; standard errors by random intercepts of participants and of items within "
        f"algorithms. REML; limits by {_distribution(model)}.",
    )


def pairs_table(model: ItemEffectsResult | Undefined | None) -> Table | None:
    """Every pair of algorithms; None where the model has no result."""
    if model is None or isinstance(model, Undefined):
        return None
    rows = tuple(
        Row(
            (
                text(pair.a),
                text(pair.b),
                decimal(pair.difference),
                decimal(pair.se),
                MISSING if pair.interval is None else interval(pair.interval.low, pair.interval.high),
                probability(pair.p),
            ),
            is_quiet=not pair.is_significant,
        )
        for pair in model.pairs.pairs
    )
    columns = (
        Column("Algorithm"), Column("and"), Column("Difference", True, "perceived"), Column("SE", True),
        Column("95% CI", True), Column("p, Holm", True),
    )  # fmt: skip
    note = f"Limits for each pair separately, by {_distribution(model)}."
    return Table("nested-pairs", "Pairwise comparisons with items nested in algorithms", columns, rows, note)


def _distribution(model: ItemEffectsResult) -> str:
    if model.df_denominator is None:
        return "the normal distribution"
    return "the t distribution with Satterthwaite's degrees of freedom"
