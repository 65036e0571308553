"""Tables of the factor, invariance and structural models of the questionnaire's constructs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from analysis.results.constructs import Constructs, ScaleConstruct
from analysis.tables.cells import MISSING, decimal, interval, probability, whole
from documents.numbers import number
from documents.tables import Cell, Column, Row, Table, text
from inference.factor_analysis import FactorModel
from inference.fit_indices import FitIndices
from inference.invariance import InvarianceModel, InvarianceResult
from inference.results import Undefined
from inference.structural import StructuralModel, StructuralPath

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
    rows = [
        Row(
            (
                text(loading.item),
                decimal(loading.estimate, 2, True),
                decimal(loading.se, 2, True),
                interval(loading.ci_low, loading.ci_high, 2, True),
            ),
            group=loading.factor,
        )
        for loading in model.loadings
    ]
    columns = (Column("Question"), Column("Loading", True, "perceived"), *_numbers(("SE", "95% CI")))
    return Table("loadings", "Standardised loadings", columns, tuple(rows), group_name="Scale")


def convergent(model: FactorModel) -> Table:
    """Average variance extracted of each factor."""
    rows = [
        Row((text(factor.name), whole(factor.n_items), decimal(factor.ave, 2, True), decimal(factor.ave**0.5, 2, True)))
        for factor in model.factors
    ]
    columns = (Column("Scale"), *_numbers(("Questions", "AVE", "√AVE")))
    note = "AVE: average variance extracted, the mean squared standardised loading; at least .50 by convention."
    return Table("convergent-validity", "Convergent validity", columns, tuple(rows), note)


def discriminant(model: FactorModel) -> Table:
    """Correlations of factors and HTMT."""
    rows = [
        Row(
            (
                text(f"{pair.a} with {pair.b}"),
                decimal(pair.correlation, 2, True),
                decimal(pair.se, 2, True),
                decimal(pair.htmt, 2, True),
            )
        )
        for pair in model.pairs
    ]
    columns = (Column("Scales"), *_numbers(("r of factors", "SE", "HTMT")))
    note = "HTMT: heterotrait-monotrait ratio of correlations; below .85 by convention."
    return Table("discriminant-validity", "Discriminant validity", columns, tuple(rows), note)


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
    rows = [Row(_path_cells(path), group=name) for name, members in groups for path in members]
    columns = (Column("Path"), Column("Estimate", True, "perceived"), *_numbers(("SE", "95% CI", "z", "p")))
    return Table(
        "paths",
        "Paths of the structural model",
        columns,
        tuple(rows),
        "In standard deviations of the path's end and, for qualities, of its start. p values are not adjusted for one "
        "another.",
        group_name="Paths",
    )


def _path_cells(path: StructuralPath) -> tuple[Cell, ...]:
    return (
        text(f"{path.start} → {path.end}"),
        decimal(path.estimate),
        decimal(path.se),
        interval(path.ci_low, path.ci_high),
        decimal(path.z),
        probability(path.p),
    )


def indirect(model: StructuralModel) -> Table:
    """Indirect effects with simultaneous intervals."""
    rows = [
        Row(
            (
                text(effect.condition),
                decimal(effect.estimate),
                decimal(effect.se),
                interval(effect.ci_low, effect.ci_high),
            ),
            group=f"Through {effect.quality}",
        )
        for effect in model.indirect
    ]
    columns = (Column("Algorithm"), Column("Indirect effect", True, "perceived"), *_numbers(("SE", "95% CI")))
    return Table(
        "indirect-effects",
        f"Indirect effects on {model.outcome}, compared with {model.reference}",
        columns,
        tuple(rows),
        "In standard deviations of the outcome. Monte Carlo intervals, simultaneous over all indirect effects "
        "(Bonferroni).",
        group_name="Quality",
    )
