"""Questions that are answered by a number: typed, on a slider, or by a point of a Likert scale."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from core.errors import ParameterError
from studies.instrument.questionnaires.conditions import is_number
from studies.instrument.questionnaires.questions import POINTS, Question, Said, Wrong, gettext_noop, whole_number

AGE = "age"
MOST_COUNTED = 10_000  # possible answers of one question
_DECIMAL = re.compile(r"-?[0-9]{1,9}([.,][0-9]{1,9})?")


class _Numeric(Question):
    is_covariate = True

    @property
    def is_numeric(self) -> bool:
        return True

    def parsed(self, raw: str) -> Any:
        if (whole := whole_number(raw)) is not None:
            return whole
        if self.takes_decimals_with(self.decimals) and _DECIMAL.fullmatch(raw):
            return float(raw.replace(",", "."))  # the decimal separator is a comma or a point
        return raw

    def what_is_wrong(self, value: Any) -> Said:
        if self.minimum is None or self.maximum is None:
            return gettext_noop("Please enter a number that this question allows."), {}
        limits = {"low": self.minimum, "high": self.maximum}
        if self.takes_decimals_with(self.decimals):
            return gettext_noop("Please enter a number from %(low)s to %(high)s."), limits
        return gettext_noop("Please enter a whole number from %(low)s to %(high)s."), limits

    def _number(self, value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise ParameterError(f"The question {self.key!r} is answered by a number, not by {value!r}.")
        self._within(value, "a number")
        return value

    def _in_steps_of(self, step: float) -> tuple[float, ...]:
        low, high = self.minimum, self.maximum
        if low is None or high is None:
            return ()
        n = round((high - low) / step) + 1
        return tuple(low + step * at for at in range(n)) if n <= MOST_COUNTED else ()


class Number(_Numeric):
    """A number that is typed."""

    kind = "number"
    label = "Number"
    template = "number"
    limit_labels = ("Smallest", "Largest")
    fields = frozenset({"minimum", "maximum", "decimals", "unit"})
    seconds = 8.0

    @classmethod
    def takes_decimals_with(cls, decimals: Any) -> bool:
        return bool(decimals)

    @property
    def typed_step(self) -> Any:
        return "any" if self.decimals else 1

    def what_is_wrong(self, value: Any) -> Said:
        if self.key == AGE and isinstance(value, str):
            return gettext_noop("Enter your age in whole years, for example 34."), {}
        return super().what_is_wrong(value)

    @property
    def column_type(self) -> str:
        return "number" if self.decimals else "integer"

    def checked(self, value: Any) -> float:
        if not self.decimals:
            return self._whole(value)
        number = self._number(value)
        if round(number, self.decimals) != number:
            raise ParameterError(f"The answer to {self.key!r} has at most {self.decimals} decimals; got {value}.")
        return number

    def simulated(self, whole_number: Callable[[int, int], int]) -> str:
        low, high = (1 if self.minimum is None else self.minimum), (100 if self.maximum is None else self.maximum)
        return str(whole_number(int(low), int(high)))

    def countable_answers(self) -> tuple[float, ...]:
        return self._in_steps_of(10.0**-self.decimals)


@dataclass(frozen=True)
class Slider(_Numeric):
    """A number on a line between two ends."""

    kind = "slider"
    label = "Slider"
    template = "slider"
    limit_labels = ("Left end", "Right end")
    new_limits = (0, 100)
    fields = frozenset({"minimum", "maximum", "step", "ends", "unit", "scale", "reversed"})
    seconds = 8.0
    is_span = True
    column_type = "number"

    step: Any = 1  # > 0

    @classmethod
    def takes_decimals_with(cls, decimals: Any) -> bool:
        return True

    @classmethod
    def own_fields(cls, data: Mapping[str, Any], limits: tuple[Any, Any], wrong: Wrong) -> dict[str, Any]:
        key, step, (low, high) = str(data["key"]), data.get("step", 1), limits
        if not is_number(step) or step <= 0:
            wrong(f"The step of the slider {key!r} is a number above 0; got {step!r}.", "step")
        elif low is not None and high is not None and ((n := (high - low) / step) < 1 or abs(n - round(n)) > 1e-6):
            wrong(f"The slider {key!r} does not go from {low} to {high} in steps of {step}.", "step")
        return {"step": step}

    @property
    def typed_step(self) -> Any:
        return self.step

    def checked(self, value: Any) -> float:
        number = self._number(value)
        steps = (number - self.minimum) / self.step
        if abs(steps - round(steps)) > 1e-6:
            raise ParameterError(
                f"The answer to {self.key!r} goes from {self.minimum} in steps of {self.step}; got {value}."
            )
        return number

    def countable_answers(self) -> tuple[float, ...]:
        return self._in_steps_of(self.step)


class Likert(Question):
    """A point of a scale."""

    kind = "likert"
    label = "Likert scale"
    new_limits = (1, 5)
    fields = POINTS | {"scale", "reversed"}
    seconds = 7.0
    is_covariate = True

    @classmethod
    def is_on_points_with(cls, choices: Any) -> bool:
        return True
