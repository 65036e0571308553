"""The planned effect of a factorial design or of doses, as a contrast of the conditions' means.

The doses of a study are the strengths of a re-ranking, read from the conditions' models, so that they are stated once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import Any, NamedTuple

from core.errors import ParameterError
from core.field_problems import FieldProblems, Problem
from core.provenance import canonical_json
from inference.factorial import Cells, interaction_weights, levels_of, pair_weights, trend_weights
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
        rest = {name: value for name, value in params.items() if name.startswith(f"{method}_")}
        own = {name: value for name, value in params.items() if name not in rest}
        strength = float(rest.pop(f"{method}_strength"))
        return cls(canonical_json([base, own]), canonical_json([method, rest]), strength)


def design_of(conditions: Iterable[Any]) -> tuple[dict[str, dict[str, str]], dict[str, float]]:
    """The levels of each stored condition by factor; and the strength of each where all re-rank one base by one method,
    or do not re-rank it, else nothing.
    """
    stored = {each.label: each for each in conditions}
    recipes = {label: Recipe.of(each.model.algorithm, each.model.params) for label, each in stored.items()}
    methods, bases = ({getattr(recipe, part) for recipe in recipes.values()} - {""} for part in ("method", "base"))
    doses = {label: recipe.strength for label, recipe in recipes.items()}
    is_dosed = len(bases) == len(methods) == 1 and len(set(doses.values())) > 1
    return {label: dict(each.levels) for label, each in stored.items()}, doses if is_dosed else {}


def effect_weights(effect: Effect, cells: Cells, doses: Mapping[str, float]) -> dict[str, float]:
    """The weights of the conditions in a planned effect; `cells` and `doses` are those of `design_of`.

    Raises ParameterError where the design does not have the effect.
    """
    if effect.trend:
        if not doses:
            raise ParameterError(
                "A trend over the strength of re-ranking needs conditions that re-rank one model by one method with "
                "different strengths, such as puresvd and puresvd|mmr:strength=0.3."
            )
        return trend_weights(doses)
    known, pairs = list(next(iter(cells.values()), {})), []
    for factor in effect.interaction or (effect.factor,):
        if factor not in known:
            raise ParameterError(
                f"The planned effect names {factor!r}, which is no factor of the design; it has "
                f"{', '.join(known) or 'none'}."
            )
        levels = levels_of(cells, factor)
        pair = effect.levels or levels[::-1]
        if len(pair) != 2 or not set(pair) <= set(levels):
            raise ParameterError(
                f"The planned effect of {factor!r} needs two levels: a factor of an interaction has just two, and a "
                f"factor alone may state two, the one expected to be higher first. They are {', '.join(levels)}."
            )
        pairs.append(pair_weights(cells, factor, *pair))
    return pairs[0] if len(pairs) == 1 else interaction_weights(cells, *pairs)


def check_primary(primary: Primary, conditions: Iterable[Any]) -> None:
    """Raise FieldProblems where the conditions do not have the planned contrast or the planned effect."""
    cells, doses = design_of(conditions)
    try:
        if primary.contrast is not None:
            primary.contrast.check(list(cells))
        if primary.effect is not None:
            effect_weights(primary.effect, cells, doses)
    except ParameterError as problem:
        raise FieldProblems([Problem(("primary",), str(problem))]) from problem


def possible_effects(conditions: Iterable[Any]) -> list[Effect]:
    """Every effect that a plan can name without stating levels, the trend last."""
    cells, doses = design_of(conditions)
    factors = [name for name in next(iter(cells.values()), {}) if len(levels_of(cells, name)) == 2]
    effects = [Effect(factor=factor) for factor in factors]
    effects += [Effect(interaction=pair) for pair in combinations(factors, 2)]
    return [*effects, *([Effect(trend="strength")] if doses else [])]
