"""Questions that are answered by choosing among what they offer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.errors import ParameterError
from studies.instrument.questionnaires.questions import LONGEST_OTHER, POINTS, Question, Said, gettext_noop, own_words

MOST_ROWS = 7  # more choices are folded into a list


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

    def what_is_missing(self, value: Any) -> Said:
        if value is None or own_words(value) == "":
            return super().what_is_missing(value)
        return gettext_noop("Please choose at least %(n)s."), {"n": self.minimum}

    def what_is_wrong(self, value: Any) -> Said:
        if not isinstance(value, list) or len(own_words(value) or "") > LONGEST_OTHER:
            return super().what_is_wrong(value)
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

    def lacks_part(self, value: Any) -> bool:
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

    def what_is_missing(self, value: Any) -> Said:
        return super().what_is_missing(value) if value is None else (gettext_noop("Please answer every row."), {})

    @property
    def seconds_needed(self) -> float:
        return self.seconds * len(self.rows)

    def checked(self, value: Any) -> dict[str, Any]:
        rows = [row.key for row in self.rows]
        if not isinstance(value, Mapping) or set(value) - set(rows):
            raise ParameterError(f"The answer to {self.key!r} has one value for each of its rows; got {value!r}.")
        answered = super().checked
        return {key: answered(value[key]) for key in rows if value.get(key) is not None}

    def lacks_part(self, value: Any) -> bool:
        return self.required and any(row.key not in value for row in self.rows)
