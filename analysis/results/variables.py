"""The variables that results name: one of the four, or a planned scale that the result describes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from analysis.enums import VARIABLE_OF, Variable


@dataclass(frozen=True)
class ScaleVariable:
    """What a planned scale of the questionnaire is as a variable."""

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
