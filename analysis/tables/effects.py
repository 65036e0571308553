"""Tables of effect sizes, the ordinal model and correlations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from analysis.results.follow_up import CorrelatedVariables, Effects, NoveltyCorrelation
from analysis.results.report import ItemWords
from analysis.tables.cells import MISSING, decimal, interval, probability, share_cell, whole
from documents.tables import Cell, Column, Row, Table, text
from inference.correlation import CorrelationResult
from inference.ordinal import OrdinalResult
from inference.results import Interval, Undefined
from studies.plans import in_text


def _interval_cell(limits: Interval | None, is_share: bool = False) -> Cell:
    return MISSING if limits is None else interval(limits.low, limits.high, 2, is_share)


def hedges_table(effects: Effects) -> Table:
    """Hedges' g of every pair of one variable or scale; the reason where there is none."""
    has_reasons = any(isinstance(pair.effect, Undefined) for pair in effects.hedges)
    rows = []
    for pair in effects.hedges:
        cells, reason = [MISSING, MISSING], ""
        if isinstance(pair.effect, Undefined):
            reason = pair.effect.reason
        else:
            cells = [decimal(pair.effect.g), _interval_cell(pair.effect.interval)]
        reasons = (text(reason),) if has_reasons else ()
        rows.append(Row((text(pair.a), text(pair.b), *cells, *reasons), is_quiet=bool(reason)))
    columns = (
        Column("Algorithm"), Column("and"), Column("Hedges' g", True, "perceived"), Column("95% CI", True),
        *((Column("Reason"),) if has_reasons else ()),
    )  # fmt: skip
    return Table(
        f"{effects.key}-hedges",
        f"Effect sizes of all pairs, {in_text(effects.name)}",
        columns,
        tuple(rows),
        "g is the difference of means in pooled standard deviations of the two, corrected for bias (exact correction); "
        "limits by the noncentral t distribution, for each pair separately.",
    )


def _model(effects: Effects) -> OrdinalResult | None:
    return None if isinstance(effects.ordinal, Undefined) else effects.ordinal


def ordinal_table(effects: Effects) -> Table | None:
    """Shifts of the ordinal model against the reference; None where it has no result."""
    model = _model(effects)
    if model is None:
        return None
    rows = tuple(
        Row(
            (
                text(shift.condition),
                decimal(shift.estimate),
                decimal(shift.se),
                interval(shift.ci_low, shift.ci_high),
                decimal(shift.odds_ratio),
                probability(shift.p),
            )
        )
        for shift in model.effects
    )
    columns = (
        Column("Algorithm"), Column("Shift, log odds", True, "perceived"), Column("SE", True), Column("95% CI", True),
        Column("Odds ratio", True), Column("p", True),
    )  # fmt: skip
    return Table(
        f"{effects.key}-ordinal",
        f"Ordinal model, {in_text(effects.name)}: every algorithm against {model.reference}",
        columns,
        rows,
        "Cumulative logit model: an odds ratio of 2 doubles the odds of an answer above any step of the scale. "
        "p by Wald's test, not adjusted.",
    )


def shares_table(effects: Effects) -> Table | None:
    """Predicted and observed share of each answer."""
    model = _model(effects)
    if model is None:
        return None
    rows = []
    for name in (model.reference, *(shift.condition for shift in model.effects)):
        total = sum(model.counts[name])
        cells = [text(name)]
        for share, count in zip(model.shares[name], model.counts[name], strict=True):
            cells += [share_cell(share), share_cell(count / total)]
        rows.append(Row(tuple(cells)))
    columns = [Column("Algorithm")]
    for category in model.categories:
        columns += [Column(f"{category:g}, predicted", True, "perceived"), Column("observed", True)]
    return Table(
        f"{effects.key}-ordinal-shares",
        f"Predicted and observed shares of each answer, {in_text(effects.name)}",
        tuple(columns),
        tuple(rows),
    )


def correlations_table(
    correlations: Sequence[CorrelatedVariables], novelty: NoveltyCorrelation | None, words: ItemWords
) -> Table:
    """Every pair of variables within conditions, between their means, and over all participants."""
    parts = [
        ("Within algorithms", "within"),
        ("Between the means of algorithms", "between"),
        ("All participants", "overall"),
    ]
    named: list[tuple[str, CorrelatedVariables | NoveltyCorrelation]] = [
        (_pair_name(pair), pair) for pair in correlations
    ]
    if novelty is not None:
        named.insert(0, (f"First-order novelty and share unheard of among {words.other_items}", novelty))
    rows = tuple(
        _corrected_row(_correlation_row(name, getattr(pair, key), part), getattr(pair.p_holm, key, None))
        for part, key in parts
        for name, pair in named
    )
    columns = (
        Column("Variables"), Column("n", True), Column("r", True, "perceived"), Column("95% CI", True),
        Column("p", True), Column("p, Holm", True),
    )  # fmt: skip
    return Table(
        "correlations",
        "Correlations of every pair of variables",
        columns,
        rows,
        "Within: participants of the same algorithm, deviations from its mean. Between: one point per algorithm. "
        "All participants: both combined. Two-sided p; Holm's correction is over all rows. Intervals by Fisher's z; a "
        "dash where a variable does not vary.",
        "Part",
    )


def _pair_name(pair: CorrelatedVariables) -> str:
    first, second = pair.variables
    return f"{first.name} and {second.in_text}"


def _correlation_row(name: str, result: CorrelationResult | Undefined, group: str) -> Row:
    if isinstance(result, Undefined):
        return Row((text(name), MISSING, MISSING, MISSING, MISSING), group, is_quiet=True)
    cells = (decimal(result.coefficient, 2, True), _interval_cell(result.interval, True), probability(result.p))
    return Row((text(name), whole(result.n), *cells), group)


def _corrected_row(row: Row, p: float | None) -> Row:
    return replace(row, cells=(*row.cells, probability(p)))
