"""Tables of adjusted comparisons, losses and bounds, known items, and the lists that participants saw."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.results.covariates import AdjustedVariable, Attrition, ItemView, ListEffects
from analysis.tables.cells import MISSING, decimal, interval, limits, probability, share_cell, whole
from documents.tables import Cell, Column, Numbers, Row, Table, Words, table, text
from inference.ancova import Estimate
from inference.attrition_bounds import Bounds
from inference.item_covariates import AdjustedItems
from inference.item_effects import ItemEffectsResult, ItemPair
from inference.results import Undefined

EACH_PAIR = "Limits for each pair separately."


def tests_table(variables: tuple[AdjustedVariable, ...]) -> Table | None:
    """The F tests of every variable without and with the covariates."""
    models = [(variable.name, variable.ancova) for variable in variables]
    defined = [(name, model) for name, model in models if not isinstance(model, Undefined)]
    if not defined:
        return None
    return table(
        "adjusted-tests",
        "Comparisons without and with covariates",
        defined,
        Words("Variable", lambda row: row[0]),
        Numbers("n", lambda row: whole(row[1].n)),
        Numbers("F", lambda row: decimal(row[1].unadjusted.f)),
        Numbers("p", lambda row: probability(row[1].unadjusted.p)),
        Numbers("F, adjusted", lambda row: decimal(row[1].adjusted.f)),
        Numbers("p, adjusted", lambda row: probability(row[1].adjusted.p)),
        Numbers("Partial η², adjusted", lambda row: decimal(row[1].partial_eta_squared, is_share=True)),
        Numbers("Residual SD", lambda row: decimal(row[1].sd_unadjusted)),
        Numbers("Residual SD, adjusted", lambda row: decimal(row[1].sd_adjusted)),
        note="Adjusted: analysis of covariance with the stratification factors and declared covariates.",
    )


def means_table(variable: AdjustedVariable) -> Table | None:
    """Observed and adjusted means of one variable."""
    if isinstance(variable.ancova, Undefined):
        return None
    return table(
        f"adjusted-means-{variable.key}",
        f"{variable.name}: observed and adjusted means",
        variable.ancova.means,
        Words("Algorithm", lambda mean: mean.condition),
        Numbers("n", lambda mean: whole(mean.n)),
        Numbers("Mean", lambda mean: decimal(mean.mean), "perceived"),
        Numbers("Adjusted mean", lambda mean: decimal(mean.adjusted), "perceived"),
        Numbers("SE", lambda mean: decimal(mean.se)),
        Numbers("95% CI", lambda mean: limits(mean.interval)),
        note="Adjusted to the mean of every covariate.",
    )


def pairs_table(variable: AdjustedVariable) -> Table | None:
    """Every pair of one variable, unadjusted beside adjusted."""
    if isinstance(variable.ancova, Undefined):
        return None
    title = f"{variable.name}: pairwise comparisons without and with covariates"
    pairs = [((pair.a, pair.b), pair.unadjusted, pair.adjusted) for pair in variable.ancova.pairs]
    return _beside(f"adjusted-pairs-{variable.key}", title, pairs, EACH_PAIR)


def ratings_table(
    adjusted: AdjustedItems | Undefined, unadjusted: ItemEffectsResult | Undefined | None
) -> Table | None:
    """Every pair by the mixed model of single ratings, without and with covariates; None where either has no result."""
    if isinstance(adjusted, Undefined) or unadjusted is None or isinstance(unadjusted, Undefined):
        return None
    without = {(pair.a, pair.b): pair for pair in unadjusted.pairs.pairs}
    pairs = [
        ((pair.a, pair.b), without[pair.a, pair.b], pair)
        for pair in adjusted.model.pairs.pairs
        if (pair.a, pair.b) in without
    ]
    note = f"Random intercepts of participants and of items within algorithms. {EACH_PAIR}"
    return _beside("adjusted-ratings", "Ratings of items: mixed models without and with covariates", pairs, note)


def _beside(
    key: str,
    title: str,
    pairs: Sequence[tuple[tuple[str, str], Estimate | ItemPair, Estimate | ItemPair]],
    note: str,
) -> Table:
    return table(
        key,
        title,
        pairs,
        Words("Algorithm", lambda pair: pair[0][0]),
        Words("and", lambda pair: pair[0][1]),
        Numbers("Difference", lambda pair: decimal(pair[1].difference), "perceived"),
        Numbers("95% CI", lambda pair: limits(pair[1].interval)),
        Numbers("p, Holm", lambda pair: probability(pair[1].p)),
        Numbers("Adjusted difference", lambda pair: decimal(pair[2].difference), "perceived"),
        Numbers("95% CI, adjusted", lambda pair: limits(pair[2].interval)),
        Numbers("p, Holm, adjusted", lambda pair: probability(pair[2].p)),
        note=note,
        is_quiet=lambda pair: not pair[2].is_significant,
    )


def attrition_table(results: Attrition) -> Table | None:
    """Participants lost by condition."""
    if isinstance(results.test, Undefined):
        return None
    return table(
        "attrition",
        "Participants lost after assignment",
        results.test.rates,
        Words("Algorithm", lambda rate: rate.condition),
        Numbers("Assigned", lambda rate: whole(rate.n_assigned)),
        Numbers("Not analysed", lambda rate: whole(rate.n_lost)),
        Numbers("Share", lambda rate: share_cell(rate.share)),
        Numbers("95% CI", lambda rate: limits(rate.interval, is_share=True)),
        note="Limits after Wilson.",
    )


def bounds_table(results: Attrition, name: str) -> Table | None:
    """What the losses leave possible of every difference."""
    return table(
        "attrition-bounds",
        f"{name}: bounds of the differences under attrition",
        results.pairs,
        Words("Algorithm", lambda pair: pair.a),
        Words("and", lambda pair: pair.b),
        Numbers("Difference", lambda pair: decimal(pair.observed), "perceived"),
        Numbers("Lee's bounds", lambda pair: limits(pair.lee)),
        Numbers("95% CI, Lee", lambda pair: _uncertainty(pair.lee)),
        Numbers("Worst-case bounds", lambda pair: limits(pair.worst_case)),
        Numbers("95% CI, worst case", lambda pair: _uncertainty(pair.worst_case)),
        note="Confidence intervals of the difference after Imbens and Manski (2004), for each pair separately.",
    )


def _uncertainty(bounds: Bounds | Undefined) -> Cell:
    return MISSING if isinstance(bounds, Undefined) else limits(bounds.interval)


def known_items_table(view: ItemView, consumed: str) -> Table | None:
    """Means of ratings at equal shares of consumed and heard-of items; `consumed` is the study's participle."""
    if isinstance(view.model, Undefined):
        return None
    return table(
        "known-items",
        f"Ratings of items at equal shares of items {consumed} and heard of",
        view.model.model.conditions,
        Words("Algorithm", lambda mean: mean.condition),
        Numbers("Ratings", lambda mean: whole(mean.n_answers)),
        Numbers("Adjusted mean", lambda mean: decimal(mean.mean), "perceived"),
        Numbers("SE", lambda mean: decimal(mean.se)),
        Numbers("95% CI", lambda mean: limits(mean.interval)),
        note="Random intercepts of participants and of items within algorithms; every participant has the same weight.",
    )


def lists_table(results: ListEffects) -> Table:
    """Popularity and diversity of the lists of every condition."""
    return table(
        "shown-lists",
        "Popularity and diversity of the lists that participants saw",
        results.conditions,
        Words("Algorithm", lambda row: row.condition),
        Numbers("Lists", lambda row: whole(row.n)),
        Numbers("Popularity, %", lambda row: decimal(row.popularity)),
        Numbers("Diversity", lambda row: decimal(row.diversity, is_share=True)),
    )


def mediation_table(results: ListEffects, name: str) -> Table | None:
    """Every difference in its parts."""
    model = results.mediation
    if isinstance(model, Undefined):
        return None
    rows = tuple(
        Row(
            (
                text(pair.a), text(pair.b), decimal(pair.total),
                *(
                    cell
                    for part in pair.indirect
                    for cell in (decimal(part.estimate), interval(part.interval.low, part.interval.high))
                ),
                decimal(pair.direct), interval(pair.direct_interval.low, pair.direct_interval.high),
            )
        )
        for pair in model.pairs
    )  # fmt: skip
    parts = [
        column
        for slope in model.slopes
        for column in (Column(f"With {slope.mediator}", True), Column(f"95% CI, {slope.mediator}", True))
    ]
    columns = (
        Column("Algorithm"), Column("and"), Column("Difference", True, "perceived"), *parts, Column("Remainder", True),
        Column("95% CI, remainder", True),
    )  # fmt: skip
    note = "Percentile intervals of the bootstrap, for each pair separately. Associations, not causes."
    title = f"{name}: parts of the differences that go along with list characteristics"
    return Table("list-parts", title, columns, rows, note)
