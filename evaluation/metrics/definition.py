"""What a metric's definition states, so that its name, its table and its form say the same."""

from __future__ import annotations

import math
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from core.errors import ParameterError

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


@dataclass(frozen=True, slots=True)
class Choice:
    """One choice that changes a metric's value.

    Parameters
    ----------
    name : str
        As a metric's name prints it.
    default : number, str or None
        None: nothing is chosen, and the metric says what happens then. Its type is the choice's type.
    description : str
    words : tuple of str
        The values allowed, for a choice that is a word.
    low, high : float
        Limits of a number, inclusive, unless `is_open` makes the lower one exclusive.
    is_open : bool
    is_printed : bool
        Whether a name prints the default too.
    """

    name: str
    default: Value | None
    description: str
    words: tuple[str, ...] = ()
    low: float = -math.inf
    high: float = math.inf
    is_open: bool = False
    is_printed: bool = True

    def check(self, value: Value, of: str) -> Value:
        """Give the value, or text, as its type: whole numbers as int.

        Parameters
        ----------
        value : number or str
            As it was given, or as a name or form states it.
        of : str
            The metric, named in the complaint.

        Returns
        -------
        float, int or str
            One that the choice allows.

        Raises
        ------
        ParameterError
            A word that is none of `words`; no number, one outside the limits, or not whole where it has to be.

        Examples
        --------
        >>> Choice("least", 2, "Fewest items.", low=2).check(3.0, "kendall")
        3
        """
        if self.words:
            if value not in self.words:
                allowed = " or ".join(repr(word) for word in self.words)
                raise ParameterError(f"{self.name} of {of} can be {allowed}, not {value!r}.")
            return value
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise ParameterError(f"{self.name} of {of} is {value!r}: it has to be a number.") from None
        is_low = number <= self.low if self.is_open else number < self.low
        if not math.isfinite(number) or is_low or number > self.high:
            raise ParameterError(f"{self.name} of {of} is {value!r}: it has to be {self.limits()}.")
        if isinstance(self.default, int):
            if number != int(number):
                raise ParameterError(f"{self.name} of {of} is {value!r}: it has to be a whole number.")
            return int(number)
        return number

    def limits(self) -> str:
        """Say which values are allowed."""
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
    """A value as metric names print it: shares without the leading 0.

    Parameters
    ----------
    value : float, int or str
        Finite where it is a number.

    Returns
    -------
    str

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
    """What a metric is.

    Parameters
    ----------
    key : str
        The name before "@".
    title : str
        As tables print it.
    group : str
        "rating", "list", "whole list", "curve" or "beyond accuracy".
    formula : str
        In TeX.
    empty : str
        When it has no value; such a cell is None, never NaN.
    tasks : tuple of str
        The recommendation tasks it suits, of `TASKS`; empty: none of them alone.
    why : str
        Why it suits those, and what to mind.
    options : tuple of Choice
        What a name may state in parentheses.
    needs_n : bool
        Whether a name has a list length.
    low, high : float
        The range of its values.
    direction : {"higher", "lower", "neither"}
        Which is better.
    has_user_values : bool
        Whether users have values of their own, which paired tests need.
    is_of_pairs : bool
        Whether it compares two algorithms: it is measured of every pair of a run, and not asked for by name.
    """

    key: str
    title: str
    group: str
    formula: str
    empty: str
    tasks: tuple[Task, ...]
    why: str
    options: tuple[Choice, ...] = ()
    needs_n: bool = True
    low: float = 0.0
    high: float = 1.0
    direction: Literal["higher", "lower", "neither"] = "higher"
    has_user_values: bool = True
    is_of_pairs: bool = False

    @property
    def choices(self) -> tuple[str, ...]:
        """The names of the options."""
        return tuple(option.name for option in self.options)

    @property
    def task(self) -> str:
        """The tasks it suits, and why, in one text."""
        named = " and ".join(TASKS[task] for task in self.tasks) or "no task alone"
        return f"{named[0].upper()}{named[1:]}: {self.why}"

    def suits(self, task: str) -> str | None:
        """None where the metric suits the task, else a sentence that says which it suits.

        Parameters
        ----------
        task : str
            A key of `TASKS`.

        Returns
        -------
        str or None

        Raises
        ------
        ParameterError
            No task has that name.
        """
        if task not in TASKS:
            raise ParameterError(f"There is no task {task!r}: the tasks are {', '.join(TASKS)}.")
        if task in self.tasks:
            return None
        suited = " or ".join(f"“{TASKS[one]}”" for one in self.tasks) or "none of the tasks alone"
        return f"{self.title} does not suit the task “{TASKS[task]}” but {suited}: {self.why}"
