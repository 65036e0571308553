"""Tables of adjusted comparisons, losses and bounds, known items, and the lists that participants saw."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.results.covariates import AdjustedVariable, Attrition, ItemView, ListEffects
from analysis.tables.cells import MISSING, decimal, interval, probability, share_cell, whole
from documents.tables import Cell, Column, Row, Table, text
from inference.ancova import Estimate
from inference.attrition_bounds import Bounds
from inference.item_covariates import AdjustedItems
from inference.item_effects import ItemEffectsResult, ItemPair
from inference.results import Undefined

EACH_PAIR = "Limits for each pair separately."


def tests_table(variables: tuple[AdjustedVariable, ...]) -> Table | None:
    """The F tests of every variable without and with the covariates."""
    rows = tuple(
        Row(
            (
                text(variable.name), whole(model.n), decimal(model.unadjusted.f), probability(model.unadjusted.p),
                decimal(model.adjusted.f), probability(model.adjusted.p),
                decimal(model.partial_eta_squared, is_share=True), decimal(model.sd_unadjusted),
                decimal(model.sd_adjusted),
            )
        )
        for variable in variables
        if not isinstance(model := variable.ancova, Undefined)
    )  # fmt: skip
    columns = (
        Column("Variable"), Column("n", True), Column("F", True), Column("p", True), Column("F, adjusted", True),
        Column("p, adjusted", True), Column("Partial η², adjusted", True), Column("Residual SD", True),
        Column("Residual SD, adjusted", True),
    )  # fmt: skip
    note = "Adjusted: analysis of covariance with the stratification factors and declared covariates."
    return Table("adjusted-tests", "Comparisons without and with covariates", columns, rows, note) if rows else None


def means_table(variable: AdjustedVariable) -> Table | None:
    """Observed and adjusted means of one variable."""
    if isinstance(variable.ancova, Undefined):
        return None
    rows = tuple(
        Row(
            (
                text(mean.condition), whole(mean.n), decimal(mean.mean), decimal(mean.adjusted), decimal(mean.se),
                interval(mean.interval.low, mean.interval.high),
            )
        )
        for mean in variable.ancova.means
    )  # fmt: skip
    columns = (
        Column("Algorithm"), Column("n", True), Column("Mean", True, "perceived"),
        Column("Adjusted mean", True, "perceived"), Column("SE", True), Column("95% CI", True),
    )  # fmt: skip
    title = f"{variable.name}: observed and adjusted means"
    return Table(f"adjusted-means-{variable.key}", title, columns, rows, "Adjusted to the mean of every covariate.")


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
    rows = tuple(
        Row(
            (*(text(name) for name in names), *_difference(unadjusted), *_difference(adjusted)),
            is_quiet=not adjusted.is_significant,
        )
        for names, unadjusted, adjusted in pairs
    )
    columns = (
        Column("Algorithm"), Column("and"), Column("Difference", True, "perceived"), Column("95% CI", True),
        Column("p, Holm", True), Column("Adjusted difference", True, "perceived"), Column("95% CI, adjusted", True),
        Column("p, Holm, adjusted", True),
    )  # fmt: skip
    return Table(key, title, columns, rows, note)


def _difference(pair: Estimate | ItemPair) -> tuple[Cell, Cell, Cell]:
    limits = MISSING if pair.interval is None else interval(pair.interval.low, pair.interval.high)
    return decimal(pair.difference), limits, probability(pair.p)


def attrition_table(results: Attrition) -> Table | None:
    """Participants lost by condition."""
    if isinstance(results.test, Undefined):
        return None
    rows = tuple(
        Row(
            (
                text(rate.condition), whole(rate.n_assigned), whole(rate.n_lost), share_cell(rate.share),
                interval(rate.interval.low, rate.interval.high, is_share=True),
            )
        )
        for rate in results.test.rates
    )  # fmt: skip
    columns = (
        Column("Algorithm"), Column("Assigned", True), Column("Not analysed", True), Column("Share", True),
        Column("95% CI", True),
    )  # fmt: skip
    return Table("attrition", "Participants lost after assignment", columns, rows, "Limits after Wilson.")


def bounds_table(results: Attrition, name: str) -> Table | None:
    """What the losses leave possible of every difference."""
    rows = tuple(
        Row(
            (
                text(pair.a), text(pair.b), decimal(pair.observed), *_bounds(pair.lee), *_bounds(pair.worst_case),
            )
        )
        for pair in results.pairs
    )  # fmt: skip
    columns = (
        Column("Algorithm"), Column("and"), Column("Difference", True, "perceived"), Column("Lee's bounds", True),
        Column("95% CI, Lee", True), Column("Worst-case bounds", True), Column("95% CI, worst case", True),
    )  # fmt: skip
    note = "Confidence intervals of the difference after Imbens and Manski (2004), for each pair separately."
    return Table("attrition-bounds", f"{name}: bounds of the differences under attrition", columns, rows, note)


def _bounds(bounds: Bounds | Undefined) -> tuple[Cell, Cell]:
    if isinstance(bounds, Undefined):
        return MISSING, MISSING
    return interval(bounds.low, bounds.high), interval(bounds.interval.low, bounds.interval.high)


def known_items_table(view: ItemView, consumed: str) -> Table | None:
    """Means of ratings at equal shares of consumed and heard-of items; `consumed` is the study's participle."""
    if isinstance(view.model, Undefined):
        return None
    rows = tuple(
        Row(
            (
                text(mean.condition), whole(mean.n_answers), decimal(mean.mean), decimal(mean.se),
                interval(mean.interval.low, mean.interval.high),
            )
        )
        for mean in view.model.model.conditions
    )  # fmt: skip
    columns = (
        Column("Algorithm"), Column("Ratings", True), Column("Adjusted mean", True, "perceived"), Column("SE", True),
        Column("95% CI", True),
    )  # fmt: skip
    title = f"Ratings of items at equal shares of items {consumed} and heard of"
    note = "Random intercepts of participants and of items within algorithms; every participant has the same weight."
    return Table("known-items", title, columns, rows, note)


def lists_table(results: ListEffects) -> Table:
    """Popularity and diversity of the lists of every condition."""
    rows = tuple(
        Row((text(row.condition), whole(row.n), decimal(row.popularity), decimal(row.diversity, is_share=True)))
        for row in results.conditions
    )
    columns = (
        Column("Algorithm"), Column("Lists", True), Column("Popularity, %", True), Column("Diversity", True),
    )  # fmt: skip
    return Table("shown-lists", "Popularity and diversity of the lists that participants saw", columns, rows)


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
