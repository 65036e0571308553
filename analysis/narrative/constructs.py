"""Sentences about the measurement of constructs and the structural model."""

from __future__ import annotations

from analysis.results.constructs import Constructs, ScaleConstruct
from documents.numbers import interval, listed, number, p_with_sign
from inference.factor_analysis import FactorModel
from inference.fit_indices import FitIndices
from inference.invariance import InvarianceResult
from inference.results import Undefined
from inference.structural import StructuralModel
from studies.plans import in_text

EXPLORATORY = (
    "These analyses are exploratory: the plan does not name them. They describe how the questions measure the scales, "
    "and which differences go together. Qualities and satisfaction were answered at the same time, so the order of "
    "their effects is an assumption of the model."
)


def fit_words(fit: FitIndices) -> str:
    """The fit of a model as papers state it."""
    if fit.p is None:
        return "the model is saturated, so its fit is not tested"
    return (
        f"χ²({fit.df}) = {number(fit.chi_square)}, p {p_with_sign(fit.p)}, CFI = {number(fit.cfi, 3, True)}, "
        f"TLI = {number(fit.tli, 3)}, RMSEA = {number(fit.rmsea, 3, True)}, "
        f"90% CI {interval(fit.rmsea_low, fit.rmsea_high, 3, True)}, SRMR = {number(fit.srmr, 3, True)}"
    )


def factors(model: FactorModel) -> list[str]:
    """Fit, validity and warnings of the factor model."""
    sentences = [f"Confirmatory factor analysis ({model.estimator}, n = {model.n:,}): {fit_words(model.fit)}."]
    if low := [f"{factor.name} ({number(factor.ave, 2, True)})" for factor in model.factors if factor.ave < 0.5]:
        sentences.append(f"The average variance extracted is below .50 for {listed(low)}.")
    close = [
        f"{pair.a} and {pair.b} ({number(pair.htmt, 2, True)})"
        for pair in model.pairs
        if pair.htmt is not None and pair.htmt >= 0.85
    ]
    if close:
        sentences.append(f"HTMT is .85 or more for {listed(close)}: the scales are hard to distinguish empirically.")
    if model.n_left_out:
        sentences.append(_left_out(model.n_left_out))
    return sentences


def _left_out(n: int) -> str:
    return f"{n:,} participant{' is' if n == 1 else 's are'} excluded for missing answers."


def improper(model: FactorModel | StructuralModel) -> str:
    """A warning about an improper solution; nothing where it is proper."""
    if not model.improper:
        return ""
    return (
        f"Improper solution (Heywood case) for {listed(model.improper)}: a variance is negative or a correlation is "
        "beyond 1. The estimates of this model should not be interpreted."
    )


def invariance(scale: ScaleConstruct) -> list[str]:
    """The highest level of invariance that the data do not reject, or why it was not computed."""
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
            f"Δχ²({change.df}) = {number(max(change.chi_square, 0.0))}, p {p_with_sign(change.p)}, "
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
        f"(ML, n = {model.n:,}, R² of {outcome} = {number(model.r_squared, 2, True)}): {fit_words(model.fit)}."
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


def diagram_title(model: StructuralModel) -> str:
    """What the path diagram shows."""
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
