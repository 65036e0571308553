"""Tables of the factor, invariance and structural models of the questionnaire's constructs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from analysis.results.constructs import Constructs, ScaleConstruct
from analysis.tables.cells import MISSING, decimal, interval, probability, whole
from documents.numbers import number
from documents.tables import Cell, Column, Numbers, Row, Table, Words, table, text
from inference.factor_analysis import FactorModel
from inference.fit_indices import FitIndices
from inference.invariance import InvarianceModel, InvarianceResult
from inference.results import Undefined
from inference.structural import StructuralModel

FIT = ("χ²(df)", "p", "CFI", "TLI", "RMSEA", "90% CI of RMSEA", "SRMR")


def _numbers(names: Iterable[str]) -> tuple[Column, ...]:
    return tuple(Column(name, True) for name in names)


def _chi_square(statistic: float, df: int) -> Cell:
    return Cell(f"χ²({df}) = {number(max(statistic, 0.0))}", statistic)


def _fit_cells(fit: FitIndices) -> tuple[Cell, ...]:
    return (
        _chi_square(fit.chi_square, fit.df),
        probability(fit.p),
        decimal(fit.cfi, 3, True),
        decimal(fit.tli, 3),
        decimal(fit.rmsea, 3, True),
        interval(fit.rmsea_low, fit.rmsea_high, 3, True),
        decimal(fit.srmr, 3, True),
    )


def fit(constructs: Constructs) -> Table:
    """Fit of the factor model and the structural model."""
    models = (("Factor model", constructs.factors), ("Structural model", constructs.structural))
    rows = []
    for name, model in models:
        if isinstance(model, Undefined):
            continue
        estimator = model.estimator if isinstance(model, FactorModel) else "ML"
        rows.append(Row((text(name), text(estimator), whole(model.n), *_fit_cells(model.fit))))
    columns = (Column("Model"), Column("Estimator"), Column("n", True), *_numbers(FIT))
    return Table(
        "construct-fit",
        "Fit of the models of constructs",
        columns,
        tuple(rows),
        "WLSMV: polychoric correlations with diagonally weighted least squares; its χ² is scaled and shifted, and CFI, "
        "TLI and RMSEA follow from it. ML: maximum likelihood for continuous answers.",
    )


def loadings(model: FactorModel) -> Table:
    """Standardised loadings by factor."""
    return table(
        "loadings",
        "Standardised loadings",
        model.loadings,
        Words("Question", lambda loading: loading.item),
        Numbers("Loading", lambda loading: decimal(loading.estimate, 2, True), "perceived"),
        Numbers("SE", lambda loading: decimal(loading.se, 2, True)),
        Numbers("95% CI", lambda loading: interval(loading.ci_low, loading.ci_high, 2, True)),
        group_name="Scale",
        group=lambda loading: loading.factor,
    )


def convergent(model: FactorModel) -> Table:
    """Average variance extracted of each factor."""
    return table(
        "convergent-validity",
        "Convergent validity",
        model.factors,
        Words("Scale", lambda factor: factor.name),
        Numbers("Questions", lambda factor: whole(factor.n_items)),
        Numbers("AVE", lambda factor: decimal(factor.ave, 2, True)),
        Numbers("√AVE", lambda factor: decimal(factor.ave**0.5, 2, True)),
        note="AVE: average variance extracted, the mean squared standardised loading; at least .50 by convention.",
    )


def discriminant(model: FactorModel) -> Table:
    """Correlations of factors and HTMT."""
    return table(
        "discriminant-validity",
        "Discriminant validity",
        model.pairs,
        Words("Scales", lambda pair: f"{pair.a} with {pair.b}"),
        Numbers("r of factors", lambda pair: decimal(pair.correlation, 2, True)),
        Numbers("SE", lambda pair: decimal(pair.se, 2, True)),
        Numbers("HTMT", lambda pair: decimal(pair.htmt, 2, True)),
        note="HTMT: heterotrait-monotrait ratio of correlations; below .85 by convention.",
    )


def invariance(scales: Sequence[ScaleConstruct]) -> Table:
    """Configural, metric and scalar models of each scale."""
    rows = []
    for scale in scales:
        for across, result in (("conditions", scale.across_conditions), ("languages", scale.across_languages)):
            if isinstance(result, InvarianceResult):
                rows += [
                    Row((text(model.level), *_invariance_cells(model)), group=f"{scale.name} across {across}")
                    for model in result.models
                ]
    names = ("χ²(df)", "p", "CFI", "RMSEA", "SRMR", "Δχ²(Δdf)", "p of Δχ²", "ΔCFI", "ΔRMSEA")
    return Table(
        "invariance",
        "Measurement invariance",
        (Column("Model"), *_numbers(names)),
        tuple(rows),
        "One factor per scale in all groups, by maximum likelihood for continuous answers. Metric: equal loadings; "
        "scalar: equal intercepts too. Criteria of Chen (2007): CFI falls by at most .010 and RMSEA rises by at most "
        ".015.",
        group_name="Scale",
    )


def _invariance_cells(model: InvarianceModel) -> tuple[Cell, ...]:
    own, change = model.fit, model.change
    cells = (
        _chi_square(own.chi_square, own.df),
        probability(own.p),
        decimal(own.cfi, 3, True),
        decimal(own.rmsea, 3, True),
        decimal(own.srmr, 3, True),
    )
    if change is None:
        return (*cells, *[MISSING] * 4)
    ratio = _chi_square(change.chi_square, change.df)
    return (*cells, ratio, probability(change.p), decimal(change.cfi, 3, True), decimal(change.rmsea, 3, True))


def paths(model: StructuralModel) -> Table:
    """Standardised paths."""
    groups = (
        (f"Algorithms on qualities, compared with {model.reference}", model.on_qualities),
        (f"Qualities on {model.outcome}", model.on_outcome),
        (f"Algorithms on {model.outcome} beside the qualities, compared with {model.reference}", model.direct),
    )
    return table(
        "paths",
        "Paths of the structural model",
        [(name, path) for name, members in groups for path in members],
        Words("Path", lambda row: f"{row[1].start} → {row[1].end}"),
        Numbers("Estimate", lambda row: decimal(row[1].estimate), "perceived"),
        Numbers("SE", lambda row: decimal(row[1].se)),
        Numbers("95% CI", lambda row: interval(row[1].ci_low, row[1].ci_high)),
        Numbers("z", lambda row: decimal(row[1].z)),
        Numbers("p", lambda row: probability(row[1].p)),
        note="In standard deviations of the path's end and, for qualities, of its start. p values are not adjusted for "
        "one another.",
        group_name="Paths",
        group=lambda row: row[0],
    )


def indirect(model: StructuralModel) -> Table:
    """Indirect effects with simultaneous intervals."""
    return table(
        "indirect-effects",
        f"Indirect effects on {model.outcome}, compared with {model.reference}",
        model.indirect,
        Words("Algorithm", lambda effect: effect.condition),
        Numbers("Indirect effect", lambda effect: decimal(effect.estimate), "perceived"),
        Numbers("SE", lambda effect: decimal(effect.se)),
        Numbers("95% CI", lambda effect: interval(effect.ci_low, effect.ci_high)),
        note="In standard deviations of the outcome. Monte Carlo intervals, simultaneous over all indirect effects "
        "(Bonferroni).",
        group_name="Quality",
        group=lambda effect: f"Through {effect.quality}",
    )
