"""Effects of the factors of a design, and the trend over doses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations

from analysis.compute.exclusions import by_key
from analysis.compute.perceived import groups_of
from analysis.enums import Variable, scale_variables
from analysis.read.inputs import Answers
from analysis.read.responses import Reading
from analysis.results.factorial import Factorial, FactorialVariable, PlannedEffect
from inference.factorial import (
    CellMeans,
    Cells,
    MeanContrast,
    Weights,
    factor_effect,
    factorial_anova,
    interaction,
    levels_of,
    linear_trend,
    mean_contrast,
)
from inference.results import Undefined
from studies.effects import DesignedCondition, design_of, effect_weights
from studies.settings import Effect

FEWEST_FACTORS = 2
FEWEST_DOSES = 3  # of a trend that nobody planned: two doses are a pair


def factorial_of(
    reading: Reading,
    conditions: Iterable[DesignedCondition],
    variables: Iterable[Variable],
    primary: str,
    effect: Effect | None,
    *,
    alpha: float,
) -> Factorial | None:
    """The effects on every tested variable, the primary one first; None where the design has neither factors nor doses.

    Raises ParameterError where the design does not have the planned effect, which a launch refuses.
    """
    cells, doses = design_of(conditions)
    factors = [name for name in next(iter(cells.values()), {}) if len(levels_of(cells, name)) > 1]
    is_crossed = len(factors) >= FEWEST_FACTORS
    if len(set(doses.values())) < FEWEST_DOSES and (effect is None or not effect.trend):
        doses = {}
    if not is_crossed and not doses and effect is None:
        return None
    crossed = {label: {name: own[name] for name in factors} for label, own in cells.items()}
    if not is_crossed and not (effect and effect.factors):
        crossed = {}  # one factor is the conditions themselves
    tested = sorted(variables, key=lambda variable: variable.key != primary)
    leading = by_key(dict.fromkeys(tested), primary)
    return Factorial(
        alpha=alpha,
        cells=crossed,
        doses=doses,
        variables=tuple(_effects_on(reading.analysed, each, crossed, doses, alpha) for each in tested),
        planned=None if effect is None or leading is None else _planned(reading, leading, effect, cells, doses, alpha),
    )


def _effects_on(
    answers: Answers, variable: Variable, cells: Cells, doses: Mapping[str, float], alpha: float
) -> FactorialVariable:
    groups, scales = groups_of(answers, variable), scale_variables([variable])
    means = CellMeans.of_groups(groups, list(cells or doses))
    if isinstance(means, Undefined):
        return FactorialVariable(variable_key=variable.key, scale_variables=scales, reason=means.reason)
    factors = list(next(iter(cells.values()), {}))
    return FactorialVariable(
        variable_key=variable.key,
        scale_variables=scales,
        factors=tuple(factor_effect(means, cells, factor, alpha=alpha) for factor in factors),
        interactions=tuple(interaction(means, cells, *pair, alpha=alpha) for pair in combinations(factors, 2)),
        anova=factorial_anova(groups, cells) if len(factors) >= FEWEST_FACTORS else None,
        trend=linear_trend(means, doses, alpha=alpha) if doses else None,
    )


def _planned(
    reading: Reading, variable: Variable, effect: Effect, cells: Cells, doses: Mapping[str, float], alpha: float
) -> PlannedEffect:
    weights = effect_weights(effect, cells, doses)
    results = [_tested(side, variable, weights, alpha) for side in reading.sides]
    return PlannedEffect(
        variable_key=variable.key,
        scale_variables=scale_variables([variable]),
        effect=effect.stored(),
        levels=(effect.levels or levels_of(cells, effect.factor)[::-1]) if effect.factor else (),
        weights=weights,
        result=results[0],
        completers=results[1] if reading.n_left_out else None,
    )


def _tested(answers: Answers, variable: Variable, weights: Weights, alpha: float) -> MeanContrast | Undefined:
    names = [name for name, weight in weights.items() if weight]
    means = CellMeans.of_groups(groups_of(answers, variable), names)
    return means if isinstance(means, Undefined) else mean_contrast(means, weights, alpha=alpha)
