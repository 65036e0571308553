"""How large the differences of one variable are: effect sizes, models of single answers, and what could be seen."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from analysis.enums import Variable, described_in_results
from analysis.selectors.inputs import Answers, ScaleAnswers
from analysis.services.perceived import LEAST_N, groups_of
from analysis.services.rankings import ALPHA, Ranking, told
from analysis.services.scales import variable_of_scale
from inference.anova import one_way
from inference.bca import bca_of_mean
from inference.bootstrap import percentile_intervals
from inference.effect_sizes import hedges_g_between
from inference.groups import ExactGroups, Groups
from inference.ordinal import cumulative_link
from inference.power import detectable_effect
from inference.results import Undefined

POWER = 0.8


def effects_of_variable(answers: Answers, variable: Variable, ranking: Ranking, alpha: float = ALPHA) -> dict[str, Any]:
    """Effect sizes of every pair, intervals of the means by resampling, and the ordinal model of a single answer."""
    groups = groups_of(answers, variable)
    return {
        "key": variable.key,
        "name": variable.name,
        **described_in_results(variable),
        **_effects(groups, variable, alpha),
        "intervals": _intervals(groups, ranking),
    }


def effects_of_scale(answers: Answers, scale: ScaleAnswers, alpha: float = ALPHA) -> dict[str, Any]:
    """Effect sizes of a scale that the plan does not name, and its ordinal model if it is one answer in whole steps."""
    variable = variable_of_scale(scale)
    return {"key": scale.key, "name": scale.name, **_effects(groups_of(answers, variable), variable, alpha)}


def _effects(groups: ExactGroups, variable: Variable, alpha: float) -> dict[str, Any]:
    steps = range(math.ceil(variable.low), math.floor(variable.high) + 1)
    return {
        "hedges": _hedges(groups),
        "cohens_f": _cohens_f(groups),
        "detectable": _detectable(groups, alpha),
        "ordinal": told(cumulative_link(groups, steps, alpha=alpha)) if variable.in_steps else None,
    }


def _hedges(groups: ExactGroups) -> list[dict[str, Any]]:
    """Hedges' g of every pair; one without a value keeps its two names beside the reason."""
    names = list(groups)
    pairs = [(a, b) for place, a in enumerate(names) for b in names[place + 1 :]]
    found = hedges_g_between(groups)
    return [{"a": a, "b": b, **told(one)} for (a, b), one in zip(pairs, found, strict=True)]


def _cohens_f(groups: ExactGroups) -> float | None:
    found = one_way(groups, least_n=LEAST_N)
    if isinstance(found, Undefined) or found.eta_squared >= 1:
        return None
    return math.sqrt(found.eta_squared / (1 - found.eta_squared))


def _detectable(groups: ExactGroups, alpha: float) -> dict[str, Any]:
    """The smallest effect that a study of this size finds, by its smallest condition, also as a difference of means.

    It follows from the numbers of participants alone, not from what they answered; only the unit of the difference is
    the spread that was seen.
    """
    read = Groups.read(groups, least_n=LEAST_N)
    if read.k < 2:
        return {"is_defined": False, "reason": "Fewer than two conditions have two participants."}
    least = min(group.n for group in read.members)
    found = detectable_effect(read.k, least, POWER, alpha)
    tested = one_way(groups, least_n=LEAST_N)
    sd = None if isinstance(tested, Undefined) else math.sqrt(tested.ms_within)
    return {**told(found), "difference": None if sd is None else found.difference_in_sd * sd}


def _intervals(groups: ExactGroups, ranking: Ranking) -> dict[str, dict[str, Any]]:
    """Percentile and BCa intervals of each condition's mean, from the same resamples."""
    if ranking.resampled is None:
        return {}
    found: dict[str, dict[str, Any]] = {}
    for column, name in enumerate(ranking.values):
        drawn = ranking.resampled[:, column]
        (plain,) = percentile_intervals(drawn[:, None])
        values = np.array(groups.points(name), dtype=np.float64) / groups.scale
        found[name] = {"percentile": plain.as_dict(), "bca": told(bca_of_mean(values, drawn))}
    return found


def effects_of_all(
    answers: Answers, rankings: Mapping[Variable, Ranking], alpha: float = ALPHA
) -> dict[str, list[dict[str, Any]]]:
    """Effects of every variable that is tested, and of the questionnaire's other scales where there are any."""
    # One thread: the last bits of a sum over threads would move where a fit stops.
    with threadpool_limits(limits=1, user_api="blas"):
        found = {"effects": [effects_of_variable(answers, one, ranking, alpha) for one, ranking in rankings.items()]}
        tested = {variable.scale for variable in rankings}
        if explored := [scale for scale in answers.scales if scale.key not in tested]:
            found["scale_effects"] = [effects_of_scale(answers, scale, alpha) for scale in explored]
    return found
