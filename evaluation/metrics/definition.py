"""Definitions of metrics, from which names, documentation and forms are derived."""

from __future__ import annotations

import math
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from core.errors import ParameterError
from evaluation.metrics.half_life import canonical

OF_LISTS = ("full-ranking", "test-observations")
LONGEST_METRIC_NAME = 80  # that is stored
Value = float | int | str
Task = Literal["some", "all", "utility", "prediction"]

TASKS = MappingProxyType(
    {
        "some": "recommend some good items",
        "all": "recommend all good items",
        "utility": "optimise utility",
        "prediction": "predict ratings",
    }
)


def task_comment(name: str, tasks: tuple[str, ...], task: str, reason: str, *, joined_by: str) -> str | None:
    """Return None if `task` is one of the tasks that something suits, else a sentence about those it suits."""
    if task in tasks:
        return None
    suited = f" {joined_by} ".join(f"“{TASKS[key]}”" for key in tasks) or "none of the tasks alone"
    return f"{name} does not suit the task “{TASKS[task]}” but {suited}: {reason}"


@dataclass(frozen=True, slots=True)
class Choice:
    """An option that changes a metric's value."""

    name: str  # as printed in the metric's name
    default: Value | None  # None: no default; the metric defines the behaviour. Its type is the type of the choice.
    description: str
    words: tuple[str, ...] = ()  # the allowed values of a categorical choice
    # `low`, `high`: limits of a number, inclusive; `is_open` makes the lower one exclusive.
    low: float = -math.inf
    high: float = math.inf
    is_open: bool = False
    is_printed: bool = True  # whether the metric's name prints the default too
    is_by_rank: bool = False  # whether its value is a probability by rank, as `half_life.probabilities` reads them
    replaces: str = ""  # the choice that it takes the place of when stated

    def check(self, value: Value, of: str) -> Value:
        """Validate a value or text and convert it to its type: whole numbers to int. Raises ParameterError for a word
        outside `words`; text that is not probabilities by rank; not a number, outside the limits, or not a whole number
        where one is required.

        Examples
        --------
        >>> Choice("least", 2, "Fewest items.", low=2).check(3.0, "kendall")
        3
        """
        if self.is_by_rank:
            return canonical(str(value))
        if self.words:
            if value not in self.words:
                allowed = " or ".join(repr(word) for word in self.words)
                raise ParameterError(f"{self.name} of {of} can be {allowed}, not {value!r}.")
            return value
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise ParameterError(f"{self.name} of {of} is {value!r}: it must be a number.") from None
        is_low = number <= self.low if self.is_open else number < self.low
        if not math.isfinite(number) or is_low or number > self.high:
            raise ParameterError(f"{self.name} of {of} is {value!r}: it must be {self.limits()}.")
        if isinstance(self.default, int):
            if number != int(number):
                raise ParameterError(f"{self.name} of {of} is {value!r}: it must be a whole number.")
            return int(number)
        return number

    def limits(self) -> str:
        """Describe the allowed values."""
        if self.is_by_rank:
            return "probabilities by rank, as in 1x3:.5"
        if self.words:
            return " or ".join(self.words)
        lower = f"above {self.low:g}" if self.is_open else f"at least {self.low:g}"
        match math.isfinite(self.low), math.isfinite(self.high):
            case True, True if not self.is_open:
                return f"between {self.low:g} and {self.high:g}"
            case True, True:
                return f"{lower}, at most {self.high:g}"
            case True, False:
                return lower
            case _:
                return "a finite number"


def written(value: Value) -> str:
    """Format a value as in metric names: shares without the leading 0.

    Examples
    --------
    >>> written(0.8), written(2.0), written(5), written("linear")
    ('.8', '2', '5', 'linear')
    """
    if isinstance(value, float):
        return repr(float(value)).removeprefix("0").removesuffix(".0") if value else "0"
    return str(value)


@dataclass(frozen=True, slots=True)
class Definition:
    """The definition of a metric."""

    key: str  # the name before "@"
    title: str  # as printed in tables
    group: str  # "rating", "list", "whole list", "curve" or "beyond accuracy"
    formula: str  # in TeX
    empty: str  # when it is undefined; such a value is None, never NaN
    tasks: tuple[Task, ...]  # the recommendation tasks it suits, from `TASKS`; empty: no specific task
    why: str  # why it suits those, with caveats
    source: str  # the publication that defines it, and how the definition here deviates
    short: str = ""  # its name within a sentence, if that is not its key
    protocols: tuple[str, ...] = OF_LISTS  # keys of the protocols that measure it
    options: tuple[Choice, ...] = ()  # options that a name may state in parentheses
    needs_n: bool = True  # whether a name has a list length
    # `low`, `high`: the range of its values.
    low: float = 0.0
    high: float = 1.0
    direction: Literal["higher", "lower", "neither"] = "higher"  # which direction is better
    has_user_values: bool = True  # whether it has a value for each user, as paired tests require
    # Whether it compares two algorithms: it is measured for every pair of a run and cannot be requested by name.
    is_of_pairs: bool = False

    @property
    def choices(self) -> tuple[str, ...]:
        """The names of the options."""
        return tuple(option.name for option in self.options)

    def task_problem(self, task: str) -> str | None:
        """None if the metric suits the task, else a sentence about the tasks it suits; see `task_comment`."""
        return task_comment(self.title, self.tasks, task, self.why, joined_by="or")
