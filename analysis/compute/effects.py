"""Effect sizes and ordinal models of variables and scales."""

from __future__ import annotations

import math
from collections.abc import Collection
from itertools import combinations

from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from analysis.compute.perceived import LEAST_N, groups_of
from analysis.compute.rankings import ALPHA
from analysis.compute.scales import variable_of_scale
from analysis.enums import Variable
from analysis.read.inputs import Answers, ScaleAnswers
from analysis.results.follow_up import Effects, PairEffect, VariableEffects
from analysis.results.variables import scale_variables
from inference.anova import one_way
from inference.effect_sizes import hedges_g_between
from inference.groups import ExactGroups
from inference.ordinal import OrdinalResult, cumulative_link
from inference.results import Undefined

POWER = 0.8


def effects_of_variable(answers: Answers, variable: Variable, alpha: float = ALPHA) -> VariableEffects:
    """Effect sizes of every pair, and the ordinal model of a single answer."""
    groups = groups_of(answers, variable)
    return VariableEffects(
        key=variable.key,
        name=variable.name,
        scale_variables=scale_variables([variable]),
        hedges=_hedges(groups),
        cohens_f=_cohens_f(groups),
        ordinal=_ordinal(groups, variable, alpha),
    )


def effects_of_scale(answers: Answers, scale: ScaleAnswers, alpha: float = ALPHA) -> Effects:
    """Effect sizes of a scale that the plan does not name, and its ordinal model if it is one answer in whole steps."""
    variable = variable_of_scale(scale)
    groups = groups_of(answers, variable)
    return Effects(
        key=scale.key,
        name=scale.name,
        hedges=_hedges(groups),
        cohens_f=_cohens_f(groups),
        ordinal=_ordinal(groups, variable, alpha),
    )


def _ordinal(groups: ExactGroups, variable: Variable, alpha: float) -> OrdinalResult | Undefined | None:
    """The ordinal model of answers in whole steps; None of any other value."""
    if not variable.in_steps:
        return None
    return cumulative_link(groups, range(math.ceil(variable.low), math.floor(variable.high) + 1), alpha=alpha)


def _hedges(groups: ExactGroups) -> tuple[PairEffect, ...]:
    """Hedges' g of every pair."""
    pairs = combinations(groups, 2)
    return tuple(
        PairEffect(a=a, b=b, effect=effect) for (a, b), effect in zip(pairs, hedges_g_between(groups), strict=True)
    )


def _cohens_f(groups: ExactGroups) -> float | None:
    anova = one_way(groups, least_n=LEAST_N)
    if isinstance(anova, Undefined) or anova.eta_squared >= 1:
        return None
    return math.sqrt(anova.eta_squared / (1 - anova.eta_squared))


def effects_of_all(
    answers: Answers, variables: Collection[Variable], alpha: float = ALPHA
) -> tuple[tuple[VariableEffects, ...], tuple[Effects, ...]]:
    """Effects of every tested variable, and of the questionnaire's scales that are not tested."""
    # One thread: sums over threads differ in their last bits, and so would the end of a fit.
    with threadpool_limits(limits=1, user_api="blas"):
        effects = [effects_of_variable(answers, variable, alpha) for variable in variables]
        tested = {variable.scale for variable in variables}
        explored = [scale for scale in answers.scales if scale.key not in tested]
        return tuple(effects), tuple(effects_of_scale(answers, scale, alpha) for scale in explored)
