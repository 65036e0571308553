"""Follow-up analyses of the perceived side: effect sizes, ordinal models, correlations, items as a sample, power."""

from __future__ import annotations

from dataclasses import dataclass, field

from analysis.enums import ScaleVariable, Variable, variable_of
from analysis.results.codec import stored
from inference.correlation import CorrelationResult
from inference.effect_sizes import EffectSize
from inference.ordinal import OrdinalResult
from inference.power import AnovaPower, DetectableEffect
from inference.results import Undefined


@dataclass(frozen=True, kw_only=True)
class PairEffect:
    """The standardised difference of two conditions, or the reason why it has none."""

    a: str
    b: str
    effect: EffectSize | Undefined = field(metadata=stored(is_flat=True))


@dataclass(frozen=True, kw_only=True)
class Effects:
    """Effect sizes of a variable or scale; `ordinal` is None where a value is not one answer in whole steps."""

    key: str
    name: str
    hedges: tuple[PairEffect, ...]
    cohens_f: float | None
    ordinal: OrdinalResult | Undefined | None


@dataclass(frozen=True, kw_only=True)
class VariableEffects(Effects):
    """The same of a tested variable."""

    scale_variables: dict[str, ScaleVariable] = field(default_factory=dict, metadata=stored(is_omitted=True))

    @property
    def variable(self) -> Variable:
        """What is measured."""
        return variable_of(self.key, self.scale_variables)


@dataclass(frozen=True, kw_only=True)
class ConditionCorrelation:
    """A correlation over the participants of one condition."""

    condition: str
    correlation: CorrelationResult | Undefined = field(metadata=stored(is_flat=True))


@dataclass(frozen=True, kw_only=True)
class CorrectedParts:
    """p values of one pair of variables by Holm over all correlations of the report; None where there is none."""

    overall: float | None = None
    within: float | None = None
    between: float | None = None


@dataclass(frozen=True, kw_only=True)
class NoveltyCorrelation:
    """First-order novelty with the share unheard of among the unwatched items.

    Second-order novelty counts a subset of what first-order novelty counts, so their correlation is that of a part with
    its whole; this share is free of that. `n_without` participants had watched every item and have no share.
    `r_if_independent` is the correlation of both orders if answers about items were independent at the study's rates.
    """

    overall: CorrelationResult | Undefined
    within: CorrelationResult | Undefined
    between: CorrelationResult | Undefined
    p_holm: CorrectedParts
    n_without: int
    r_if_independent: float | None = None


@dataclass(frozen=True, kw_only=True)
class CorrelatedVariables:
    """How two variables correlate: over all participants, within conditions, and between the conditions' means.

    `p_holm` is None in reports of versions that did not correct them.
    """

    a: str
    b: str
    scale_variables: dict[str, ScaleVariable] = field(default_factory=dict, metadata=stored(is_omitted=True))
    overall: CorrelationResult | Undefined
    within: CorrelationResult | Undefined
    between: CorrelationResult | Undefined
    by_condition: tuple[ConditionCorrelation, ...]
    p_holm: CorrectedParts | None = None

    @property
    def variables(self) -> tuple[Variable, Variable]:
        """The two of them."""
        return variable_of(self.a, self.scale_variables), variable_of(self.b, self.scale_variables)


@dataclass(frozen=True, kw_only=True)
class PowerCurve:
    """Power for one effect at every size of `Power.n_values`."""

    name: str
    power: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class Power:
    """Power of the analysis of variance at the size of the smallest tested condition; it ignores what was observed."""

    conditions: int
    n_per_condition: int
    is_smallest: bool
    alpha: float
    target_power: float = field(metadata=stored("wished_power"))
    stated: str
    n_values: tuple[int, ...]
    effects: tuple[PowerCurve, ...]
    at_stated: AnovaPower
    needed: AnovaPower
    smallest: DetectableEffect
