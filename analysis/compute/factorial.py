"""Effects of the factors of a design, and the trend over doses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import Any

from analysis.compute.in_turn import effect_in_turn
from analysis.compute.perceived import groups_of, values_of
from analysis.enums import Variable, scale_variables
from analysis.read.inputs import Answers
from analysis.results.factorial import TREND, Factorial, FactorialVariable, PlannedEffect
from inference.factorial import (
    TIMES,
    CellMeans,
    Cells,
    MeanContrast,
    factor_term,
    factorial_anova,
    interaction_term,
    levels_of,
    mean_contrast,
    trend_term,
)
from inference.results import Undefined, defined
from studies.effects import design_of, effect_weights
from studies.settings import Effect

FEWEST_DOSES = 3  # of an unplanned trend: two doses are a pair


def factorial_of(
    answers: Answers,
    conditions: Iterable[Any],
    variables: Iterable[Variable],
    primary: str,
    effect: Effect | None,
    *,
    alpha: float,
) -> Factorial | None:
    """The effects on every tested variable, the primary one first; None where the design has no crossed factors, no
    doses and no planned effect.

    Raises ParameterError where the design does not have the planned effect, which a launch refuses.
    """
    cells, doses = design_of(conditions)
    factors = [name for name in next(iter(cells.values()), {}) if len(levels_of(cells, name)) > 1]
    if len(factors) < 2 and (effect is None or effect.trend):
        factors = []  # one factor is the conditions themselves
    if len(set(doses.values())) < FEWEST_DOSES and not (effect and effect.trend):
        doses = {}
    if not factors and not doses:
        return None
    crossed = {label: {name: own[name] for name in factors} for label, own in cells.items()}
    tested = sorted(variables, key=lambda variable: variable.key != primary)
    return Factorial(
        alpha=alpha,
        doses=doses,
        # Where each participant met all conditions, the planned effect alone.
        variables=()
        if answers.occasions
        else tuple(_effects_on(answers, each, crossed, doses, alpha) for each in tested),
        planned=next(
            (_planned(answers, each, effect, cells, doses, alpha) for each in tested if effect and each.key == primary),
            None,
        ),
    )


def _effects_on(
    answers: Answers, variable: Variable, cells: Cells, doses: Mapping[str, float], alpha: float
) -> FactorialVariable:
    groups, factors = groups_of(answers, variable), list(next(iter(cells.values())))
    means, of = CellMeans.of_groups(groups, list(cells)), scale_variables([variable])
    if isinstance(means, Undefined):
        return FactorialVariable(variable_key=variable.key, scale_variables=of, terms={}, reason=means.reason)
    terms = {factor: factor_term(means, cells, factor, alpha=alpha) for factor in factors}
    terms |= {TIMES.join(pair): interaction_term(means, cells, *pair, alpha=alpha) for pair in combinations(factors, 2)}
    terms |= {TREND: trend_term(means, doses, alpha=alpha)} if doses else {}
    anova = defined(factorial_anova(groups, cells)) if len(factors) > 1 else None
    return FactorialVariable(variable_key=variable.key, scale_variables=of, terms=terms, anova=anova or {})


def _planned(
    answers: Answers, variable: Variable, effect: Effect, cells: Cells, doses: Mapping[str, float], alpha: float
) -> PlannedEffect:
    weights = effect_weights(effect, cells, doses)
    result: MeanContrast | Undefined
    if answers.occasions:
        result = effect_in_turn(answers, values_of(answers, variable), weights, alpha)
    else:
        means = CellMeans.of_groups(groups_of(answers, variable), list(weights))
        result = means if isinstance(means, Undefined) else mean_contrast(means, weights, alpha=alpha)
    levels = {"levels": effect.levels or levels_of(cells, effect.factor)[::-1]} if effect.factor else {}
    return PlannedEffect(
        variable_key=variable.key,
        scale_variables=scale_variables([variable]),
        effect=effect.model_copy(update=levels).stored(),
        result=result,
    )
