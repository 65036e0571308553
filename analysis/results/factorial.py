"""Effects of the factors of a design, and the trend over doses, on every tested variable."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from analysis.results.codec import stored
from analysis.results.rankings import OfVariable
from inference.ancova import FTest
from inference.factorial import MeanContrast, Term
from inference.results import Undefined
from studies.settings import Effect

TREND = "trend over λ"  # no factor can have this name


@dataclass(frozen=True, kw_only=True)
class PlannedEffect(OfVariable):
    """The planned effect on the primary variable; `effect` is as settings hold it, with the levels of its factor."""

    effect: dict[str, Any]
    result: MeanContrast | Undefined

    @property
    def planned(self) -> Effect:
        """The effect of the plan."""
        return Effect.model_validate(self.effect, strict=False)


@dataclass(frozen=True, kw_only=True)
class FactorialVariable(OfVariable):
    """The effects on one variable by name, such as ``text × recommender`` or `TREND`; `reason` says why none is
    defined. The type III analysis of variance is by the same names.
    """

    terms: dict[str, Term]
    anova: dict[str, FTest] = field(default_factory=dict)
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class Factorial:
    """The effects on every variable, the primary one first; `doses` are the strengths λ of a trend by condition."""

    alpha: float
    doses: dict[str, float] = field(default_factory=dict, metadata=stored(is_omitted=True))
    variables: tuple[FactorialVariable, ...]
    planned: PlannedEffect | None = field(default=None, metadata=stored(is_omitted=True))

    @property
    def contrasts(self) -> tuple[tuple[FactorialVariable, str, MeanContrast], ...]:
        """Every contrast that has a result, with a name."""
        return tuple(
            (of, f"{term}: {name}", contrast)
            for of in self.variables
            for term, own in of.terms.items()
            for name, contrast in own.contrasts.items()
            if isinstance(contrast, MeanContrast)
        )

    @property
    def weighted(self) -> tuple[tuple[OfVariable, str, MeanContrast], ...]:
        """These contrasts, the marginal means and the planned effect, as far as they have an interval, with a name."""
        margins = (
            (of, f"{factor}: {level}", mean)
            for of in self.variables
            for factor, term in of.terms.items()
            for level, mean in (term.margins or {}).items()
            if isinstance(mean, MeanContrast)
        )
        planned = [self.planned] if self.planned is not None else []
        effects = [(of, "planned", of.result) for of in planned if isinstance(of.result, MeanContrast)]
        return (*self.contrasts, *margins, *effects)
