"""Effects of the factors of a design, and the trend over doses, on every tested variable."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from analysis.results.codec import stored
from analysis.results.rankings import OfVariable
from inference.factorial import (
    TIMES,
    FactorEffect,
    FactorialAnova,
    Interaction,
    MeanContrast,
    Trend,
    difference,
    interaction_weights,
    marginal_weights,
    trend_weights,
)
from inference.results import Undefined
from studies.settings import Effect


@dataclass(frozen=True, kw_only=True)
class PlannedEffect(OfVariable):
    """The planned effect on the primary variable; `completers` is of everyone who completed, where some are excluded.

    `effect` is as the settings hold it, `levels` are those of its factor, the first against the second; `weights` are
    those of the conditions in the contrast.
    """

    effect: dict[str, Any]
    levels: tuple[str, ...] = ()
    weights: dict[str, float]
    result: MeanContrast | Undefined
    completers: MeanContrast | Undefined | None = field(default=None, metadata=stored(is_omitted=True))

    @property
    def planned(self) -> Effect:
        """The effect of the plan."""
        return Effect.model_validate(self.effect, strict=False)


@dataclass(frozen=True, kw_only=True)
class FactorialVariable(OfVariable):
    """The effects on one variable, or why there are none; the trend where there are doses."""

    factors: tuple[FactorEffect, ...] = ()
    interactions: tuple[Interaction, ...] = ()
    anova: FactorialAnova | Undefined | None = None
    trend: Trend | None = None
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class Factorial:
    """The design and its effects; `cells` are the levels of each condition by factor, `doses` its strengths λ.

    Without two factors of two or more levels, `cells` is empty, and there are doses alone.
    """

    alpha: float
    cells: dict[str, dict[str, str]]
    doses: dict[str, float] = field(default_factory=dict, metadata=stored(is_omitted=True))
    variables: tuple[FactorialVariable, ...]
    planned: PlannedEffect | None = field(default=None, metadata=stored(is_omitted=True))

    def contrasts(
        self, variable: FactorialVariable
    ) -> Iterator[tuple[str, dict[str, float], MeanContrast | Undefined]]:
        """Every contrast of a variable: its name, the weights of the conditions, and its result."""
        if self.planned is not None and self.planned.variable_key == variable.variable_key:
            yield "planned", self.planned.weights, self.planned.result
        for effect in variable.factors:
            weights = marginal_weights(self.cells, effect.factor)
            for pair in effect.pairs:
                own = difference(weights[pair.a], weights[pair.b])
                yield f"{effect.factor}: {pair.a} against {pair.b}", own, pair.contrast
        for crossed in variable.interactions:
            first, second = crossed.factors
            for each in crossed.contrasts:
                own = interaction_weights(self.cells, (first, each.a, each.b), (second, each.at, each.than))
                name = f"{first}{TIMES}{second}: {each.a} against {each.b}, {each.at} against {each.than}"
                yield name, own, each.contrast
        if variable.trend is not None:
            yield "trend", trend_weights(self.doses), variable.trend.slope
