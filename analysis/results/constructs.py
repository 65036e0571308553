"""Measurement of the questionnaire's constructs, and how conditions act on satisfaction through them."""

from __future__ import annotations

from dataclasses import dataclass

from inference.factor_analysis import FactorModel, OmegaResult
from inference.invariance import InvarianceResult
from inference.results import Undefined
from inference.structural import StructuralModel


@dataclass(frozen=True, kw_only=True)
class ScaleConstruct:
    """One scale of at least three questions; `across_languages` is None where all participants used one language."""

    key: str
    name: str
    omega: OmegaResult | Undefined
    across_conditions: InvarianceResult | Undefined
    across_languages: InvarianceResult | Undefined | None = None


@dataclass(frozen=True, kw_only=True)
class Constructs:
    """The scales of at least three questions, as factors of one model."""

    scales: tuple[ScaleConstruct, ...]
    factors: FactorModel | Undefined
    structural: StructuralModel | Undefined


def omegas_of(constructs: Constructs | None) -> dict[str, OmegaResult | Undefined]:
    """McDonald's omega by key of the scale."""
    return {} if constructs is None else {scale.key: scale.omega for scale in constructs.scales}
