"""The plan of a report, the plan that was frozen, and every deviation from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from analysis.results.codec import decode, stored
from studies.plans import PrimaryTest, primary_test_of
from studies.settings import SCALE_PREFIX, Contrast, Effect


@dataclass(frozen=True, kw_only=True)
class Primary:
    """The primary pair, the smallest effect of interest, and the planned contrast or effect as the settings hold it."""

    perceived: str
    objective: str
    contrast: dict[str, Any] | None = field(default=None, metadata=stored(is_omitted=True))
    effect: dict[str, Any] | None = field(default=None, metadata=stored(is_omitted=True))
    smallest_effect: float | None = field(default=None, metadata=stored(is_omitted=True))

    @property
    def planned_contrast(self) -> Contrast | None:
        """The planned contrast; None where another test is the primary one."""
        return None if self.contrast is None else Contrast.model_validate(self.contrast, strict=False)

    @property
    def planned_effect(self) -> Effect | None:
        """The planned effect of a factorial design or of doses."""
        return None if self.effect is None else Effect.model_validate(self.effect, strict=False)


@dataclass(frozen=True, kw_only=True)
class FrozenAnalysis:
    """The plan as the launch froze it."""

    alpha: float
    variables: tuple[str, ...]
    scales: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    exclude_words: str = ""
    resamples: int
    covariates: tuple[str, ...] = field(default=(), metadata=stored(is_omitted=True))
    outcomes: tuple[str, ...] = field(default=(), metadata=stored(is_omitted=True))
    tests: dict[str, str] = field(default_factory=dict)
    primary: Primary
    list_length: int = 0
    n: int | None = None
    profile_lengths: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ReportPlan(FrozenAnalysis):
    """What a report does: the frozen plan, but for what an analyst chose instead of parts of it."""

    by_hand: bool = True
    metrics: tuple[str, ...] = ()
    n: int

    @property
    def primary_test(self) -> PrimaryTest:
        """The test of the headline."""
        if self.primary.contrast is not None:
            return "contrast"
        return "effect" if self.primary.effect is not None else primary_test_of(self.tests, self.primary.perceived)

    @property
    def tested(self) -> tuple[str, ...]:
        """Every variable that is tested, scales under their prefix."""
        return (*self.variables, *(f"{SCALE_PREFIX}{key}" for key in self.scales), *self.outcomes)


@dataclass(frozen=True, kw_only=True)
class OtherAlpha:
    """Another level of the tests."""

    of: Literal["alpha"] = "alpha"
    planned: float
    actual: float = field(metadata=stored("done"))


@dataclass(frozen=True, kw_only=True)
class MissingPrimary:
    """A side of the primary pair that the report lacks: a variable or a metric."""

    of: Literal["primary"] = "primary"
    lacks: str
    key: str


@dataclass(frozen=True, kw_only=True)
class OmittedVariables:
    """Planned variables that are not tested."""

    of: Literal["variables"] = "variables"
    omitted: tuple[str, ...] = field(metadata=stored("left_out"))


@dataclass(frozen=True, kw_only=True)
class OtherRule:
    """Another rule of exclusion."""

    of: Literal["rule"] = "rule"
    planned: tuple[str, ...]
    actual: tuple[str, ...] = field(metadata=stored("done"))


@dataclass(frozen=True, kw_only=True)
class HandExclusionsIgnored:
    """Participants who were excluded by hand are analysed."""

    of: Literal["by_hand_taken_in"] = "by_hand_taken_in"


@dataclass(frozen=True, kw_only=True)
class HandExclusions:
    """Participants excluded by hand, beside the rule that the plan states in words."""

    of: Literal["by_hand"] = "by_hand"
    n: int
    words: str


@dataclass(frozen=True, kw_only=True)
class ConditionSize:
    """A condition whose number of participants differs from the plan."""

    condition: str
    target: int
    analysed: int
    extended: int | None = field(default=None, metadata=stored(is_omitted=True))


@dataclass(frozen=True, kw_only=True)
class ExtendedTarget:
    """The target of one condition before and after an extension."""

    condition: str
    before: int
    after: int


@dataclass(frozen=True, kw_only=True)
class TargetExtension:
    """Targets that grew after the launch: the version of the design, the day (UTC), the account, and the reason.

    `targets` are those that grew. `by` is empty where the account is gone or nameless.
    """

    version: int
    day: str
    by: str
    why: str
    targets: tuple[ExtendedTarget, ...]


@dataclass(frozen=True, kw_only=True)
class OtherSize:
    """Another number of participants than planned."""

    of: Literal["participants"] = "participants"
    target: int
    analysed: int
    under_way: int
    conditions: tuple[ConditionSize, ...]
    extended: int | None = field(default=None, metadata=stored(is_omitted=True))
    extensions: tuple[TargetExtension, ...] = field(default=(), metadata=stored(is_omitted=True))


@dataclass(frozen=True, kw_only=True)
class Reopened:
    """Recruitment that was reopened after a close, when outcomes could already be seen; the days are UTC."""

    of: Literal["reopened"] = "reopened"
    closed: str
    day: str
    by: str
    why: str


@dataclass(frozen=True, kw_only=True)
class OtherSetting:
    """A setting of the run that differs from the plan: a number, or several."""

    name: str
    planned: Any
    actual: Any = field(metadata=stored("done"))


@dataclass(frozen=True, kw_only=True)
class OtherRun:
    """Another run than the design pins, by the hashes of their inputs."""

    of: Literal["run"] = "run"
    planned: str
    actual: str = field(metadata=stored("done"))
    settings: tuple[OtherSetting, ...]


@dataclass(frozen=True, kw_only=True)
class OtherVersions:
    """Software that changed since the launch."""

    of: Literal["versions"] = "versions"
    changed: tuple[OtherSetting, ...]


Deviation = (
    OtherAlpha
    | MissingPrimary
    | OmittedVariables
    | OtherRule
    | HandExclusionsIgnored
    | HandExclusions
    | OtherSize
    | Reopened
    | OtherRun
    | OtherVersions
)


@dataclass(frozen=True, kw_only=True)
class Planned:
    """The frozen plan in the very words of the design, and every deviation of the report from it."""

    is_frozen: bool
    plan: dict[str, Any]
    deviations: tuple[Deviation, ...]

    @property
    def analysis(self) -> FrozenAnalysis:
        """The frozen plan."""
        return frozen_analysis(self.plan)


def frozen_analysis(plan: Mapping[str, Any]) -> FrozenAnalysis:
    """A plan as a frozen design holds it."""
    return decode(FrozenAnalysis, plan)
