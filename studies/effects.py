"""The planned effect of a factorial design or of doses, as a contrast of the conditions' means.

The doses of a study are the strengths of a re-ranking: they are read from the conditions' models, so that nobody states
them twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from core.errors import ParameterError
from core.field_problems import FieldProblems, Problem
from core.provenance import canonical_json
from inference.factorial import Cells, difference, interaction_weights, levels_of, marginal_weights, trend_weights
from recommenders.reranking import BAR
from studies.settings import Effect, Primary


class Recipe(NamedTuple):
    """A model as a base that may be re-ranked: the base and the method as JSON, and the strength, 0 without one."""

    base: str
    method: str
    strength: float

    @classmethod
    def of(cls, algorithm: str, params: Mapping[str, Any]) -> Recipe:
        """Take an algorithm with its settings apart.

        Examples
        --------
        >>> Recipe.of("toppop|mmr", {"mmr_strength": 0.3})
        Recipe(base='["toppop",{}]', method='["mmr",{}]', strength=0.3)
        """
        base, bar, method = algorithm.rpartition(BAR)
        if not bar:
            return cls(canonical_json([algorithm, params]), "", 0.0)
        prefix = f"{method}_"
        own = {name: value for name, value in params.items() if not name.startswith(prefix)}
        rest = {name: value for name, value in params.items() if name.startswith(prefix)}
        strength = float(rest.pop(f"{prefix}strength"))
        return cls(canonical_json([base, own]), canonical_json([method, rest]), strength)


class DesignedCondition(Protocol):
    """A condition with its model and its levels, as a study stores it."""

    label: str
    levels: Any
    model: Any


def doses_of(models: Mapping[str, tuple[str, Mapping[str, Any]]]) -> dict[str, float]:
    """The strength of each condition where all re-rank one base by one method, or do not re-rank it; empty elsewhere.

    `models`: algorithm and settings by condition.

    Examples
    --------
    >>> doses_of({"A": ("toppop", {}), "B": ("toppop|mmr", {"mmr_strength": 0.3})})
    {'A': 0.0, 'B': 0.3}
    >>> doses_of({"A": ("toppop", {}), "B": ("lsa|mmr", {"mmr_strength": 0.3})})
    {}
    """
    recipes = {label: Recipe.of(*model) for label, model in models.items()}
    methods = {recipe.method for recipe in recipes.values()} - {""}
    doses = {label: recipe.strength for label, recipe in recipes.items()}
    is_dosed = len({recipe.base for recipe in recipes.values()}) == len(methods) == 1 and len(set(doses.values())) > 1
    return doses if is_dosed else {}


def effect_weights(effect: Effect, cells: Cells, doses: Mapping[str, float]) -> dict[str, float]:
    """The weights of the conditions in a planned effect; raises ParameterError where the design does not have it.

    `cells` are the levels of each condition by factor, and `doses` as `doses_of` has them.
    """
    if effect.trend:
        if not doses:
            raise ParameterError(
                "A trend over the strength of re-ranking needs conditions that re-rank one model by one method with "
                "different strengths, such as puresvd and puresvd|mmr:strength=0.3."
            )
        return trend_weights(doses)
    levels = {}
    known = list(next(iter(cells.values()), {}))
    for factor in effect.factors:
        if factor not in known:
            has = f"it has {', '.join(known)}" if known else "it has none"
            raise ParameterError(f"The planned effect names {factor!r}, which is no factor of the design; {has}.")
        levels[factor] = levels_of(cells, factor)
        if len(levels[factor]) < 2:
            raise ParameterError(f"The planned effect names {factor!r}, which has one level: nothing differs.")
    if effect.factor:
        own = levels[effect.factor]
        a, b = effect.levels or own[::-1] if len(own) == 2 else effect.levels or ("", "")
        if a not in own or b not in own:
            raise ParameterError(
                f"The planned effect of {effect.factor!r} states two of its levels, the one expected to be higher "
                f"first; they are {', '.join(own)}."
            )
        weights = marginal_weights(cells, effect.factor)
        return difference(weights[a], weights[b])
    if many := next((factor for factor, own in levels.items() if len(own) > 2), ""):
        raise ParameterError(
            f"A planned interaction is one contrast of two factors with two levels each; {many!r} has "
            f"{len(levels[many])}. Plan the effect of a factor instead; the report tests the interaction beside it."
        )
    first, second = ((factor, own[1], own[0]) for factor, own in levels.items())
    return interaction_weights(cells, first, second)


def design_of(conditions: Iterable[DesignedCondition]) -> tuple[dict[str, dict[str, str]], dict[str, float]]:
    """The levels of each condition by factor, and the doses, in the order of the conditions."""
    listed = list(conditions)
    return (
        {each.label: dict(each.levels) for each in listed},
        doses_of({each.label: (each.model.algorithm, each.model.params) for each in listed}),
    )


def check_primary(primary: Primary, conditions: Sequence[DesignedCondition]) -> None:
    """Raise FieldProblems where the conditions do not have the planned contrast or the planned effect."""
    try:
        if primary.contrast is not None:
            primary.contrast.check([condition.label for condition in conditions])
        if primary.effect is not None:
            effect_weights(primary.effect, *design_of(conditions))
    except ParameterError as problem:
        name = "contrast" if primary.contrast is not None else "effect"
        raise FieldProblems([Problem(("primary", name), str(problem))]) from problem


def possible_effects(conditions: Sequence[DesignedCondition]) -> list[Effect]:
    """Every effect that a plan can name without stating levels, the trend last."""
    cells, doses = design_of(conditions)
    factors = list(next(iter(cells.values()), {}))
    effects = [Effect(factor=factor) for factor in factors if len(levels_of(cells, factor)) == 2]
    two = [effect.factor for effect in effects]
    effects += [Effect(interaction=(a, b)) for place, a in enumerate(two) for b in two[place + 1 :]]
    return [*effects, *([Effect(trend="strength")] if doses else [])]
