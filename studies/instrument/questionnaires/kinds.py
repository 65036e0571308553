"""The kinds of questions: one class each, registered at the end under its name in documents."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from core.errors import ParameterError
from studies.instrument.questionnaires.conditions import is_number
from studies.instrument.questionnaires.questions import (
    LONGEST_OTHER,
    OTHER,
    POINTS,
    FilledMessage,
    Form,
    Question,
    Wrong,
    gettext_noop,
    own_words,
    whole_number,
)

AGE = "age"
MOST_ROWS = 7  # more choices are folded into a list
MOST_COUNTED = 10_000  # possible answers of one numeric question
SHORT_TEXT = 200  # characters; longer texts get a field that grows, and count as long
_DECIMAL = re.compile(r"-?[0-9]{1,9}([.,][0-9]{1,9})?")


class YesNo(Question):
    """Yes or no."""

    kind = "yes_no"
    label = "Yes or no"
    template = "yes-no"
    seconds = 5.0
    is_covariate = True
    column_type = "boolean"
    fixed_answers = ((True, gettext_noop("Yes")), (False, gettext_noop("No")))

    def checked(self, value: Any) -> bool:
        if not isinstance(value, bool):
            raise ParameterError(
                f"The question {self.key!r} is answered by yes or no (true or false), not by {value!r}."
            )
        return value


class OneChoice(Question):
    """One of several answers."""

    kind = "choice"
    label = "One choice"
    fields = frozenset({"choices", "other", "random_order"})
    seconds = 7.0
    is_covariate = True

    def layout(self, *, is_about: bool) -> str:
        is_folded = is_about or len(self.choices) > MOST_ROWS
        return "select" if is_folded and not self.other else "rows"

    def checked(self, value: Any) -> Any:
        return self._own_answer(value) if isinstance(value, Mapping) else self._offered(value)


class Multiple(Question):
    """Any of several answers."""

    kind = "multiple"
    label = "Several choices"
    template = "checks"
    limit_labels = ("Fewest answers", "Most answers")
    mark = "Goes with no other"
    fields = frozenset({"choices", "other", "minimum", "maximum", "random_order"})
    seconds = 10.0
    takes_several = True

    def posted_answer(self, form: Form) -> tuple[bool, Any]:
        # A hidden field of the same name marks the question as present when no box is ticked.
        own = self._posted_words(form)
        chosen = [raw for raw in form.get(self.key, ()) if raw and not (self.other and raw == OTHER)]
        return self.key in form or own is not None, [*chosen, *([own] if own else [])] or None

    def missing_message(self, value: Any) -> FilledMessage:
        if value is None or own_words(value) == "":
            return super().missing_message(value)
        return gettext_noop("Please choose at least %(n)s."), {"n": self.minimum}

    def error_message(self, value: Any) -> FilledMessage:
        if not isinstance(value, list) or len(own_words(value) or "") > LONGEST_OTHER:
            return super().error_message(value)
        if self.maximum is not None and len(value) > self.maximum:
            return gettext_noop("Please choose at most %(n)s."), {"n": self.maximum}
        return gettext_noop("One of these answers cannot be combined with others. Please choose again."), {}

    def checked(self, value: Any) -> list[Any]:
        if not isinstance(value, list | tuple):
            raise ParameterError(f"The answer to {self.key!r} is a list of what it offers; got {value!r}.")
        own = [self._own_answer(part) for part in value if isinstance(part, Mapping)]
        chosen = [self._offered(part) for part in value if not isinstance(part, Mapping)]
        n = len(chosen) + len(own)
        if len(set(chosen)) != len(chosen) or len(own) > 1:
            raise ParameterError(f"Each answer to {self.key!r} is chosen once; got {value!r}.")
        if n > 1 and any(choice.is_exclusive for choice in self.choices if choice.value in chosen):
            raise ParameterError(f"An answer to {self.key!r} that goes with no other was chosen with another.")
        if self.maximum is not None and n > self.maximum:
            raise ParameterError(f"At most {self.maximum} answers to {self.key!r} can be chosen; got {n}.")
        order = [choice.value for choice in self.choices]
        return [*sorted(chosen, key=order.index), *own]

    def is_partial(self, value: Any) -> bool:
        is_alone = any(choice.is_exclusive and choice.value in value for choice in self.choices)
        return own_words(value) == "" or (not is_alone and len(value) < (self.minimum or 0))

    def countable_answers(self) -> tuple[Any, ...]:
        return ()


class _PointsOrChoices(Question):
    seconds = 7.0
    new_limits = (1, 5)

    @classmethod
    def is_on_points_with(cls, choices: Any) -> bool:
        return not choices


class Attention(_PointsOrChoices):
    """A check of attention: one answer passes."""

    kind = "attention"
    label = "Attention check"
    fields = POINTS | {"choices", "expects", "random_order"}


class Matrix(_PointsOrChoices):
    """Rows that are answered on the same points or among the same choices."""

    kind = "matrix"
    label = "Matrix"
    template = "matrix"
    mark = "Reversed"
    fields = POINTS | {"rows", "choices", "random_order", "scale"}

    def posted_answer(self, form: Form) -> tuple[bool, Any]:
        names = {row.key: f"{self.key}.{row.key}" for row in self.rows}
        rows = {row: self.answer_in(form[name][-1]) for row, name in names.items() if name in form}
        answered = {row: value for row, value in rows.items() if value is not None}
        return bool(rows) or self.key in form, answered or None

    def missing_message(self, value: Any) -> FilledMessage:
        return super().missing_message(value) if value is None else (gettext_noop("Please answer every row."), {})

    @property
    def seconds_needed(self) -> float:
        return self.seconds * len(self.rows)

    def checked(self, value: Any) -> dict[str, Any]:
        rows = [row.key for row in self.rows]
        if not isinstance(value, Mapping) or set(value) - set(rows):
            raise ParameterError(f"The answer to {self.key!r} has one value for each of its rows; got {value!r}.")
        answered = super().checked
        return {key: answered(value[key]) for key in rows if value.get(key) is not None}

    def is_partial(self, value: Any) -> bool:
        return self.required and any(row.key not in value for row in self.rows)


class _Numeric(Question):
    is_covariate = True

    @property
    def is_numeric(self) -> bool:
        return True

    def parsed(self, raw: str) -> Any:
        if (whole := whole_number(raw)) is not None:
            return whole
        if self.allows_decimals(self.decimals) and _DECIMAL.fullmatch(raw):
            return float(raw.replace(",", "."))  # the decimal separator is a comma or a point
        return raw

    def error_message(self, value: Any) -> FilledMessage:
        if self.minimum is None or self.maximum is None:
            return gettext_noop("Please enter a number that this question allows."), {}
        limits = {"low": self.minimum, "high": self.maximum}
        if self.allows_decimals(self.decimals):
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
    def allows_decimals(cls, decimals: Any) -> bool:
        return bool(decimals)

    @property
    def typed_step(self) -> Any:
        return "any" if self.decimals else 1

    def error_message(self, value: Any) -> FilledMessage:
        if self.key == AGE and isinstance(value, str):
            return gettext_noop("Enter your age in whole years, for example 34."), {}
        return super().error_message(value)

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
    def allows_decimals(cls, decimals: Any) -> bool:
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


class Preference(Question):
    """Which of two lists it is more of, in five steps: below 0 for list A on the left, above 0 for list B."""

    kind = "preference"
    label = "Preference between two lists"
    template = "preference"
    fields = frozenset({"labels"})
    seconds = 7.0
    own_limits = (-2, 2)
    own_labels = {
        "en": ("Clearly A", "Slightly A", "No difference", "Slightly B", "Clearly B"),
        "de": ("Eindeutig A", "Eher A", "Kein Unterschied", "Eher B", "Eindeutig B"),
        "it": ("Decisamente A", "Leggermente A", "Nessuna differenza", "Leggermente B", "Decisamente B"),
    }

    @classmethod
    def is_on_points_with(cls, choices: Any) -> bool:
        return True


class LongText(Question):
    """Paragraphs."""

    kind = "long_text"
    label = "Long text"
    template = "paragraph"
    fields = frozenset({"max_length"})
    seconds = 40.0
    longest = 2000
    is_in_words = True
    column_type = "text"

    def error_message(self, value: Any) -> FilledMessage:
        if len(str(value)) > self.max_length:
            return gettext_noop("Please use at most %(n)s characters."), {"n": self.max_length}
        return super().error_message(value)

    def checked(self, value: Any) -> str:
        if not isinstance(value, str):
            raise ParameterError(f"The question {self.key!r} is answered by text, not by {value!r}.")
        return self._plain_text(value, self.max_length)


class Text(LongText):
    """A line, or a few."""

    kind = "text"
    label = "Short text"
    seconds = 15.0
    longest = 200

    def layout(self, *, is_about: bool) -> str:
        return "line" if self.max_length <= SHORT_TEXT else "paragraph"

    @property
    def seconds_needed(self) -> float:
        return self.seconds if self.max_length <= SHORT_TEXT else LongText.seconds


# In the order in which sentences name them
KINDS: dict[str, type[Question]] = {
    kind.kind: kind for kind in (
        YesNo, Number, OneChoice, Text, Likert, Multiple, LongText, Slider, Matrix, Attention, Preference,
    )
}  # fmt: skip
