"""The variables and metrics that a report compares."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from evaluation.reported_kinds import ERRORS, LOWER_IS_BETTER, kind_at, kind_word
from studies.plans import in_text
from studies.settings import SCALE_PREFIX

RATED = "accuracy"  # the variable whose values are means over ratings of items


@dataclass(frozen=True)
class Variable:
    """One dependent variable of the study: one of the four, or a scale or outcome that the plan names.

    `sum_field` names the whole sum of a participant, `per_item` says whether it is divided by the number of
    items; `low` and `high` are the ends of the scale. `figure` is its number in Cremonesi et al. (2011), and
    `in_steps` says whether a participant's value is one answer in whole steps. Of a scale `scale` is its key in the
    questionnaire, of an outcome its key in the plan; they have no sum and no figure.
    """

    key: str
    name: str
    sum_field: str
    per_item: bool
    low: float
    high: float
    figure: int
    unit: str
    in_steps: bool = False
    scale: str = ""

    @classmethod
    def of_scale(cls, key: str, *, name: str, low: float, high: float, in_steps: bool) -> Variable:
        """A scale as a variable; `key` is the variable's, such as ``scale.trust``.

        Examples
        --------
        >>> Variable.of_scale("scale.trust", name="Trust", low=1, high=7, in_steps=False).scale
        'trust'
        """
        unit, scale = f"{low:g} to {high:g}", key.removeprefix(SCALE_PREFIX)
        return cls(key, name, "", False, low, high, 0, unit, in_steps, scale)

    @property
    def in_text(self) -> str:
        """The name within a sentence."""
        return in_text(self.name)

    @property
    def is_share(self) -> bool:
        """Whether values cannot exceed 1, and so go without a leading zero."""
        return self.high <= 1


VARIABLES = (
    Variable("accuracy", "Perceived accuracy", "accuracy_sum", True, 1, 5, 2, "1 to 5"),
    Variable("fon", "First-order novelty", "fon_sum", True, 0, 1, 3, "share of items, 0 to 1"),
    Variable("son", "Second-order novelty", "son_sum", True, 0, 1, 4, "share of items, 0 to 1"),
    Variable("satisfaction", "Global satisfaction", "satisfaction", False, 1, 5, 5, "1 to 5", True),
)
VARIABLE_OF = {variable.key: variable for variable in VARIABLES}


@dataclass(frozen=True)
class Metric:
    """One objective metric at one profile length; `length` 0 is the user's whole profile."""

    kind: str
    length: int
    n: int

    @property
    def key(self) -> str:
        """Its name in results: ``recall``, or ``recall@profile5``."""
        return f"{self.kind}@profile{self.length}" if self.length else self.kind

    @property
    def higher_is_better(self) -> bool:
        """False for fallout and errors."""
        return self.kind not in LOWER_IS_BETTER

    @property
    def name(self) -> str:
        """The name that readers see."""
        head = kind_at(self.kind, self.n)
        return f"{head}, profiles of {self.length} ratings" if self.length else head

    @property
    def in_text(self) -> str:
        """The name within a sentence."""
        name = kind_word(self.kind) if self.kind in ERRORS else f"{self.kind} at {self.n}"
        return name + (f" with profiles of {self.length} ratings" if self.length else "")


@dataclass(frozen=True)
class ScaleVariable:
    """What a planned scale or outcome is as a variable."""

    name: str
    low: float
    high: float
    in_steps: bool


def scale_variables(variables: Iterable[Variable]) -> dict[str, ScaleVariable]:
    """The scales among these variables, by key; a result about them holds their description."""
    return {
        variable.key: ScaleVariable(variable.name, variable.low, variable.high, variable.in_steps)
        for variable in variables
        if variable.scale
    }


def variable_of(key: str, scales: Mapping[str, ScaleVariable]) -> Variable:
    """One of the four variables, or the scale described under this key."""
    if key in VARIABLE_OF:
        return VARIABLE_OF[key]
    scale = scales[key]
    return Variable.of_scale(key, name=scale.name, low=scale.low, high=scale.high, in_steps=scale.in_steps)
