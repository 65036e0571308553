"""With and without exclusions: which conclusions depend on the participants who are excluded."""

from __future__ import annotations

from dataclasses import dataclass, field

from analysis.enums import ScaleVariable, Variable, variable_of
from analysis.results.codec import stored
from analysis.results.comparison import TestedContrast
from inference.ancova import FTest
from inference.average_advantage import AverageAdvantage
from inference.partial_order import Tier
from inference.results import AgreementResult, AnovaResult, Undefined, WelchResult


@dataclass(frozen=True, kw_only=True)
class ExclusionReason:
    """How many participants are excluded for one reason: by hand, or by the plan's rule."""

    how: str = "hand"
    reason: str
    n: int


@dataclass(frozen=True, kw_only=True)
class Counts:
    """A number for the analysed participants and for everyone who completed the study."""

    analysed: int = field(metadata=stored("kept"))
    completers: int = field(metadata=stored("everybody"))


@dataclass(frozen=True, kw_only=True)
class VariableOver:
    """One variable over one set of participants."""

    n: dict[str, int]
    means: dict[str, float]
    anova: AnovaResult | Undefined | None = field(default=None, metadata=stored(is_omitted=True))  # up to format 4
    welch: WelchResult | Undefined | None = field(default=None, metadata=stored(is_omitted=True))
    model: FTest | Undefined | None = field(default=None, metadata=stored(is_omitted=True))  # of conditions in turn
    tiers: dict[str, Tier]

    @property
    def test(self) -> AnovaResult | WelchResult | FTest | Undefined:
        """The test of all conditions."""
        return self.model or self.welch or self.anova or Undefined("The conditions were not tested.")


@dataclass(frozen=True, kw_only=True)
class ComparedVariable:
    """One variable over the analysed participants and over all completers.

    A robust conclusion is the same over both; None where the analysed participants give no test.
    """

    key: str
    scale_variables: dict[str, ScaleVariable] = field(default_factory=dict, metadata=stored(is_omitted=True))
    analysed: VariableOver = field(metadata=stored("kept"))
    completers: VariableOver = field(metadata=stored("everybody"))
    only_analysed: tuple[tuple[str, str], ...] = field(metadata=stored("only_kept"))
    only_completers: tuple[tuple[str, str], ...] = field(metadata=stored("only_everybody"))
    n_ordered: Counts
    is_robust: bool | None = field(metadata=stored("survives"))

    @property
    def variable(self) -> Variable:
        """What is measured."""
        return variable_of(self.key, self.scale_variables)

    @property
    def sides(self) -> tuple[VariableOver, VariableOver]:
        """Over the analysed participants, and over all completers."""
        return self.analysed, self.completers


@dataclass(frozen=True, kw_only=True)
class ComparedPrimary:
    """Kendall's τ_b of the primary pair both ways, with the verdict that follows from each."""

    variable_key: str = field(metadata=stored("variable"))
    metric_key: str = field(metadata=stored("metric"))
    analysed: AgreementResult | Undefined = field(metadata=stored("kept"))
    completers: AgreementResult | Undefined = field(metadata=stored("everybody"))
    verdicts: tuple[str, str]
    is_robust: bool = field(metadata=stored("survives"))


@dataclass(frozen=True, kw_only=True)
class ComparedContrast:
    """The planned contrast both ways."""

    analysed: TestedContrast = field(metadata=stored("kept"))
    completers: TestedContrast = field(metadata=stored("everybody"))


@dataclass(frozen=True, kw_only=True)
class ComparedAdvantage:
    """The average advantage of the primary pair both ways."""

    analysed: AverageAdvantage | Undefined
    completers: AverageAdvantage | Undefined


@dataclass(frozen=True, kw_only=True)
class Exclusions:
    """Every conclusion with and without those who are excluded."""

    conditions: tuple[str, ...]
    n: Counts
    reasons: tuple[ExclusionReason, ...]
    variables: tuple[ComparedVariable, ...]
    primary: ComparedPrimary | None
    contrast: ComparedContrast | None = field(default=None, metadata=stored(is_omitted=True))
    advantage: ComparedAdvantage | None = field(default=None, metadata=stored(is_omitted=True))
