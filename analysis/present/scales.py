"""The scales of the questionnaire, and the constructs behind them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from analysis.present.words import cell_of, decimal, interval_cell, probability, whole
from analysis.results.perceived import Constructs, QuestionnaireScale, ScaleConstruct
from analysis.results.report import Results
from charting import marks
from charting.theme import Spec
from documents.blocks import FigureMaker, Section
from documents.numbers import f_statistic, interval, listed, named_p, number
from documents.tables import Cell, Numbers, Table, Words, table, text
from inference.covariance_fit import FitIndices
from inference.factor_analysis import FactorModel, OmegaResult
from inference.invariance import Change, InvarianceResult
from inference.reliability import ReliabilityResult
from inference.results import AnovaResult, Undefined
from inference.structural import StructuralModel
from studies.plans import in_text


def scale_section(results: Results) -> Section:
    """The reliability of each scale of the questionnaire, and the means of those that have no section of their own."""
    section = Section("scales", "Scales of the questionnaire", "perceived")
    if not results.scales or not results.flow.analysed:
        return section
    section.say(_planned_words(results.scales))
    constructs = results.constructs
    omegas = {} if constructs is None else {scale.key: scale.omega for scale in constructs.scales}
    section.put(reliability(results.scales, omegas))
    tested = {variable.variable.scale for variable in results.variables}
    section.put(means([scale for scale in results.scales if scale.key not in tested]))
    section.say(*reasons(results.scales))
    return section


# Sentences


def _planned_words(results: Sequence[QuestionnaireScale]) -> str:
    planned = [scale.name for scale in results if scale.is_planned]
    unadjusted = "Their p values are not adjusted for one another."
    if not planned:
        return f"These scales are exploratory: the plan names none of them. {unadjusted}"
    if len(planned) == len(results):
        return f"The plan names {'this scale' if len(results) == 1 else 'these scales'}. {unadjusted}"
    return f"The plan names {listed(planned)}; the other scales are exploratory. {unadjusted}"


# Tables


def reliability(scales: Sequence[QuestionnaireScale], omegas: Mapping[str, OmegaResult | Undefined]) -> Table:
    """Reliability of each scale with its interval, and one analysis of variance by algorithm."""
    of_omega = (
        Numbers[QuestionnaireScale](
            "McDonald's ω",
            lambda scale: cell_of(omegas.get(scale.key), lambda own: decimal(own.omega, 2, True)),
            "perceived",
        ),
        Numbers[QuestionnaireScale]("95% CI of ω", lambda scale: cell_of(omegas.get(scale.key), _limits)),
    )
    return table(
        "scales",
        "Reliability of the scales",
        scales,
        Words("Scale", lambda scale: scale.name),
        Numbers("Questions", lambda scale: whole(len(scale.questions))),
        Numbers("n", lambda scale: cell_of(scale.reliability, lambda own: whole(own.n))),
        Numbers(
            "Cronbach's α",
            lambda scale: cell_of(scale.reliability, lambda own: decimal(own.alpha, 2, True)),
            "perceived",
        ),
        Numbers("95% CI of α", lambda scale: cell_of(scale.reliability, _limits)),
        *(of_omega if omegas else ()),
        Words("F by algorithm", lambda scale: cell_of(scale.anova, _f)),
        Numbers("p", lambda scale: cell_of(scale.anova, lambda own: probability(own.p))),
        Numbers("η²", lambda scale: cell_of(scale.anova, lambda own: decimal(own.eta_squared, 2, True))),
        note="α with Feldt's interval, over participants of all algorithms who answered every question of the scale; "
        "negatively worded questions are reverse-scored."
        + (" ω from the one-factor model, with an interval by the delta method." if omegas else ""),
    )


def _limits(of: ReliabilityResult | OmegaResult) -> Cell:
    return interval_cell(of.ci_low, of.ci_high, 2, True)


def _f(anova: AnovaResult) -> Cell:
    return text(f_statistic(anova.df_between, anova.df_within, anova.f))


def means(scales: Sequence[QuestionnaireScale]) -> Table:
    """Mean score and standard deviation of each scale by algorithm."""
    return table(
        "scale-means",
        "Scales by algorithm",
        [(scale, name, scale.described.get(name)) for scale in scales for name in scale.conditions],
        Words("Algorithm", lambda row: row[1]),
        Numbers("n", lambda row: whole(0 if row[2] is None else row[2].n)),
        Numbers("M", lambda row: cell_of(row[2], lambda numbers: decimal(numbers.mean)), "perceived"),
        Numbers("SD", lambda row: cell_of(row[2], lambda numbers: decimal(numbers.sd))),
        Numbers("95% CI of M", lambda row: cell_of(row[2], lambda own: interval_cell(own.ci_low, own.ci_high))),
        group_name="Scale",
        group=lambda row: f"{row[0].name} ({row[0].low} to {row[0].high})",
    )


def reasons(scales: Sequence[QuestionnaireScale]) -> list[str]:
    """Why a scale has no alpha, and how many scores are missing, in sentences."""
    sentences = []
    for scale in scales:
        if isinstance(scale.reliability, Undefined):
            sentences.append(f"{scale.name} has no alpha. {scale.reliability.reason}")
        if n_missing := scale.n - scale.n_scored:
            subject = "1 participant has" if n_missing == 1 else f"{n_missing:,} participants have"
            sentences.append(f"{subject} no score of {in_text(scale.name)}: too few of its questions were answered.")
    return sentences


def construct_section(results: Results, figure: FigureMaker) -> Section:
    """How the scales measure their constructs; nothing without scales of at least three questions."""
    section, constructs = Section("constructs", "Constructs", "perceived"), results.constructs
    if constructs is None:
        return section
    section.say(EXPLORATORY)
    section.put(fit(constructs))
    if not isinstance(constructs.factors, Undefined):
        section.head("Measurement")
        section.say(_improper(constructs.factors), style="warning")
        section.say(*factors(constructs.factors))
        section.put(loadings(constructs.factors))
        section.put(_convergent(constructs.factors))
        section.put(_discriminant(constructs.factors))
    section.head("Measurement invariance")
    for scale in constructs.scales:
        section.say(*_invariance_words(scale))
    section.put(invariance(constructs.scales))
    if not isinstance(constructs.structural, Undefined):
        _say_structural(section, constructs.structural, figure)
    section.say(*missing(constructs))
    return section


def _say_structural(section: Section, model: StructuralModel, figure: FigureMaker) -> None:
    section.head("Structural model")
    section.say(_improper(model), style="warning")
    section.say(*structural(model))
    caption = (
        "Solid: p < .05. Arrows from the algorithm show the Wald test that all algorithms have the same mean of the "
        "quality; the lowest arrow shows the smallest p of a direct effect, adjusted by Bonferroni. Arrows from "
        "qualities show standardised paths."
    )
    groups = (
        (f"Algorithms on qualities, compared with {model.reference}", model.on_qualities),
        (f"Qualities on {model.outcome}", model.on_outcome),
        (f"Algorithms on {model.outcome} beside the qualities, compared with {model.reference}", model.direct),
    )
    paths = table(
        "paths",
        "Paths of the structural model",
        [(name, path) for name, members in groups for path in members],
        Words("Path", lambda row: f"{row[1].start} → {row[1].end}"),
        Numbers("Estimate", lambda row: decimal(row[1].estimate), "perceived"),
        Numbers("SE", lambda row: decimal(row[1].se)),
        Numbers("95% CI", lambda row: interval_cell(row[1].ci_low, row[1].ci_high)),
        Numbers("z", lambda row: decimal(row[1].z)),
        Numbers("p", lambda row: probability(row[1].p)),
        note="In standard deviations of the path's end and, for qualities, of its start. p values are not adjusted for "
        "one another.",
        group_name="Paths",
        group=lambda row: row[0],
    )
    section.draw(figure("path-diagram", _path_diagram(model, _diagram_title(model)), caption, paths))
    section.put(paths, is_folded=True)
    section.put(indirect(model))


# Sentences


EXPLORATORY = (
    "These analyses are exploratory: the plan does not name them. They describe how the questions measure the scales, "
    "and which differences go together. Qualities and satisfaction were answered at the same time, so the order of "
    "their effects is an assumption of the model."
)


def _fit_words(fit: FitIndices) -> str:
    if fit.p is None:
        return "the model is saturated, so its fit is not tested"
    return (
        f"χ²({fit.df}) = {number(fit.chi_square)}, {named_p(fit.p)}, CFI = {number(fit.cfi, 3, True)}, "
        f"TLI = {number(fit.tli, 3)}, RMSEA = {number(fit.rmsea, 3, True)}, "
        f"90% CI {interval(fit.rmsea_low, fit.rmsea_high, 3, True)}, SRMR = {number(fit.srmr, 3, True)}"
    )


def factors(model: FactorModel) -> list[str]:
    """Fit, validity and warnings of the factor model."""
    sentences = [f"Confirmatory factor analysis ({model.estimator}, n = {model.n:,}): {_fit_words(model.fit)}."]
    if low := [f"{factor.name} ({number(factor.ave, 2, True)})" for factor in model.factors if factor.ave < 0.5]:
        sentences.append(f"The average variance extracted is below .50 for {listed(low)}.")
    close = [
        f"{pair.a} and {pair.b} ({number(pair.htmt, 2, True)})"
        for pair in model.pairs
        if pair.htmt is not None and pair.htmt >= 0.85
    ]
    if close:
        sentences.append(f"HTMT is .85 or more for {listed(close)}: the scales are hard to distinguish empirically.")
    if n := model.n_left_out:
        sentences.append(f"{n:,} participant{' is' if n == 1 else 's are'} excluded for missing answers.")
    return sentences


def _improper(model: FactorModel | StructuralModel) -> str:
    if not model.improper:
        return ""
    return (
        f"Improper solution (Heywood case) for {listed(model.improper)}: a variance is negative or a correlation is "
        "beyond 1. The estimates of this model should not be interpreted."
    )


def _invariance_words(scale: ScaleConstruct) -> list[str]:
    sentences = []
    for across, result in (("conditions", scale.across_conditions), ("languages", scale.across_languages)):
        if isinstance(result, Undefined):
            sentences.append(f"Invariance of {in_text(scale.name)} across {across} is not computed: {result.reason}")
        elif result is not None:
            sentences.append(_level(scale, across, result))
    return sentences


def _level(scale: ScaleConstruct, across: str, result: InvarianceResult) -> str:
    subject = f"{scale.name} across {across}"
    if result.improper:
        subject += f" (improper solution for {listed(result.improper)})"
    for model in result.models[1:]:
        change = model.change
        if change is None or change.is_supported:
            continue
        difference = (
            f"Δχ²({change.df}) = {number(max(change.chi_square, 0.0))}, {named_p(change.p)}, "
            f"ΔCFI = {number(change.cfi, 3, True)}, ΔRMSEA = {number(change.rmsea, 3, True)}"
        )
        if not change.is_within_criteria and change.p < 0.05:
            return f"{subject}: the data reject {model.level} invariance, {difference}."
        return f"{subject}: the criteria disagree about {model.level} invariance, {difference}."
    return (
        f"{subject}: neither the likelihood ratio tests nor the criteria of Chen (2007) reject metric or scalar "
        "invariance. This does not prove that it holds."
    )


def structural(model: StructuralModel) -> list[str]:
    """Fit, and the indirect effects whose intervals exclude 0."""
    outcome = in_text(model.outcome)
    sentences = [
        f"Structural model of algorithm, {listed([in_text(name) for name in model.qualities])} and {outcome} "
        f"(ML, n = {model.n:,}, R² of {outcome} = {number(model.r_squared, 2, True)}): {_fit_words(model.fit)}."
    ]
    shown = [
        f"{effect.condition} through {in_text(effect.quality)} ({number(effect.estimate)}, simultaneous 95% CI "
        f"{interval(effect.ci_low, effect.ci_high)})"
        for effect in model.indirect
        if effect.ci_low > 0 or effect.ci_high < 0
    ]
    if shown:
        sentences.append(f"Indirect effects on {outcome} compared with {model.reference}: {listed(shown)}.")
    else:
        sentences.append(f"We found no evidence of indirect effects on {outcome} compared with {model.reference}.")
    return sentences


def _diagram_title(model: StructuralModel) -> str:
    significant = [path.start for path in model.on_outcome if path.p < 0.05]
    if not significant:
        return f"No quality predicts {in_text(model.outcome)} significantly"
    return f"{listed(significant)} significantly predict{'s' if len(significant) == 1 else ''} {in_text(model.outcome)}"


def missing(constructs: Constructs) -> list[str]:
    """Why models were not computed."""
    parts = [(f"McDonald's ω of {in_text(scale.name)}", scale.omega) for scale in constructs.scales]
    models = (("The factor model", constructs.factors), ("The structural model", constructs.structural))
    return [
        f"{name} is not computed: {result.reason}"
        for name, result in (*parts, *models)
        if isinstance(result, Undefined)
    ]


# Tables


def _chi_square(of: FitIndices | Change) -> Cell:
    return Cell(f"χ²({of.df}) = {number(max(of.chi_square, 0.0))}", of.chi_square)


def fit(constructs: Constructs) -> Table:
    """Fit of the factor model and the structural model."""
    models = [("Factor model", constructs.factors), ("Structural model", constructs.structural)]
    computed = [(name, model, model.fit) for name, model in models if not isinstance(model, Undefined)]
    return table(
        "construct-fit",
        "Fit of the models of constructs",
        computed,
        Words("Model", lambda row: row[0]),
        Words("Estimator", lambda row: row[1].estimator if isinstance(row[1], FactorModel) else "ML"),
        Numbers("n", lambda row: whole(row[1].n)),
        Numbers("χ²(df)", lambda row: _chi_square(row[2])),
        Numbers("p", lambda row: probability(row[2].p)),
        Numbers("CFI", lambda row: decimal(row[2].cfi, 3, True)),
        Numbers("TLI", lambda row: decimal(row[2].tli, 3)),
        Numbers("RMSEA", lambda row: decimal(row[2].rmsea, 3, True)),
        Numbers("90% CI of RMSEA", lambda row: interval_cell(row[2].rmsea_low, row[2].rmsea_high, 3, True)),
        Numbers("SRMR", lambda row: decimal(row[2].srmr, 3, True)),
        note="WLSMV: polychoric correlations with diagonally weighted least squares; its χ² is scaled and shifted, and "
        "CFI, TLI and RMSEA follow from it. ML: maximum likelihood for continuous answers.",
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
        Numbers("95% CI", lambda loading: interval_cell(loading.ci_low, loading.ci_high, 2, True)),
        group_name="Scale",
        group=lambda loading: loading.factor,
    )


def _convergent(model: FactorModel) -> Table:
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


def _discriminant(model: FactorModel) -> Table:
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
    models = [
        (f"{scale.name} across {across}", model, model.fit, model.change)
        for scale in scales
        for across, result in (("conditions", scale.across_conditions), ("languages", scale.across_languages))
        if isinstance(result, InvarianceResult)
        for model in result.models
    ]
    return table(
        "invariance",
        "Measurement invariance",
        models,
        Words("Model", lambda row: row[1].level),
        Numbers("χ²(df)", lambda row: _chi_square(row[2])),
        Numbers("p", lambda row: probability(row[2].p)),
        Numbers("CFI", lambda row: decimal(row[2].cfi, 3, True)),
        Numbers("RMSEA", lambda row: decimal(row[2].rmsea, 3, True)),
        Numbers("SRMR", lambda row: decimal(row[2].srmr, 3, True)),
        Numbers("Δχ²(Δdf)", lambda row: cell_of(row[3], _chi_square)),
        Numbers("p of Δχ²", lambda row: cell_of(row[3], lambda change: probability(change.p))),
        Numbers("ΔCFI", lambda row: cell_of(row[3], lambda change: decimal(change.cfi, 3, True))),
        Numbers("ΔRMSEA", lambda row: cell_of(row[3], lambda change: decimal(change.rmsea, 3, True))),
        note="One factor per scale in all groups, by maximum likelihood for continuous answers. Metric: equal "
        "loadings; scalar: equal intercepts too. Criteria of Chen (2007): CFI falls by at most .010 and RMSEA rises by "
        "at most .015.",
        group_name="Scale",
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
        Numbers("95% CI", lambda effect: interval_cell(effect.ci_low, effect.ci_high)),
        note="In standard deviations of the outcome. Monte Carlo intervals, simultaneous over all indirect effects "
        "(Bonferroni).",
        group_name="Quality",
        group=lambda effect: f"Through {effect.quality}",
    )


# Charts


LEVEL = 0.05


def _path_diagram(model: StructuralModel, title: str) -> Spec:
    mediators = [
        marks.Mediator(
            path.start,
            marks.Path(named_p(test.p), test.p < LEVEL),
            marks.Path(f"β = {number(path.estimate, 2)}", path.p < LEVEL),
        )
        for test, path in zip(model.tests, model.on_outcome, strict=True)
    ]
    smallest = min(path.p for path in model.direct)
    adjusted = min(1.0, smallest * len(model.direct))
    direct = marks.Path(named_p(adjusted), adjusted < LEVEL)
    subtitle = "Wald tests of algorithms; standardised paths of qualities"
    return marks.path_diagram("Algorithm", mediators, model.outcome, direct, title=title, subtitle=subtitle)
