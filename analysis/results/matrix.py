"""Every metric against every measure: one rank correlation for each pair."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from analysis.enums import Variable
from analysis.results.codec import stored
from analysis.results.variables import ScaleVariable, variable_of
from inference.results import AgreementResult, Undefined

Direction = Literal["higher", "lower", "neither"]
KNOWN_USERS = "known users"  # the test users of a run that are not strangers to its models


@dataclass(frozen=True, kw_only=True)
class MatrixMetric:
    """One metric as a run stored it: a row of the matrix.

    `name` is the stored name, `label` the name within a sentence. `protocol` is empty for the run of the report; it
    names the protocol of another run of the same models, or the test users of another run of the same algorithms.
    `direction` says which values are better.
    """

    key: str
    name: str
    label: str
    protocol: str = ""
    profile_length: int
    direction: Direction
    values: dict[str, float | None]

    @property
    def sign(self) -> int:
        """-1 where lower values are better, so that larger is better on both sides; else 1."""
        return -1 if self.direction == "lower" else 1

    @property
    def in_text(self) -> str:
        """The whole name within a sentence."""
        protocol = f" ({self.protocol})" if self.protocol else ""
        profiles = f" with profiles of {self.profile_length} ratings" if self.profile_length else ""
        return f"{self.label}{protocol}{profiles}"

    @property
    def title(self) -> str:
        """The name as the head of a row."""
        label = f"{self.label[0].upper()}{self.label[1:]}"
        profiles = f"profiles of {self.profile_length} ratings" if self.profile_length else ""
        return ", ".join(part for part in (label, self.protocol, profiles) if part)


@dataclass(frozen=True, kw_only=True)
class MatrixCell:
    """One metric with one measure: a description without a test."""

    metric: str
    variable_key: str = field(metadata=stored("variable"))
    tau: AgreementResult | Undefined
    is_primary: bool = False


@dataclass(frozen=True, kw_only=True)
class Matrix:
    """All metrics by all measures; `cells` go through the measures of the first metric, then of the next."""

    variable_keys: tuple[str, ...] = field(metadata=stored("variables"))
    scale_variables: dict[str, ScaleVariable] = field(default_factory=dict, metadata=stored(is_omitted=True))
    metrics: tuple[MatrixMetric, ...]
    cells: tuple[MatrixCell, ...]

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The measures, in the order of the columns."""
        return tuple(variable_of(key, self.scale_variables) for key in self.variable_keys)

    def metric(self, cell: MatrixCell) -> MatrixMetric:
        """The metric of a cell."""
        return next(metric for metric in self.metrics if metric.key == cell.metric)

    def variable(self, cell: MatrixCell) -> Variable:
        """The measure of a cell."""
        return variable_of(cell.variable_key, self.scale_variables)
