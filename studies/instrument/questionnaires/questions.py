"""A question as data: wording, answer options and validation of answers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from core.errors import ParameterError
from studies.instrument.questionnaires.conditions import Condition, is_erased

YES_NO = "yes_no"
NUMBER = "number"
CHOICE = "choice"
MULTIPLE = "multiple"
TEXT = "text"
LONG_TEXT = "long_text"
LIKERT = "likert"
SLIDER = "slider"
MATRIX = "matrix"
ATTENTION = "attention"
KINDS = (YES_NO, NUMBER, CHOICE, TEXT, LIKERT, MULTIPLE, LONG_TEXT, SLIDER, MATRIX, ATTENTION)
IN_WORDS = (TEXT, LONG_TEXT)
OTHER = "other"
DECLINED: Mapping[str, bool] = {"declined": True}

LONGEST_TEXT = 5000
LONGEST_OTHER = 200

Texts = Mapping[str, str]


def is_declined(value: Any) -> bool:
    """Whether the participant chose "prefer not to answer".

    Examples
    --------
    >>> is_declined({"declined": True}), is_declined("no")
    (True, False)
    """
    return isinstance(value, Mapping) and "declined" in value


def own_words(value: Any) -> str | None:
    """Return the free text of an "other" answer, alone or within a multiple choice.

    Empty if "other" was chosen without text; None if it was not chosen.

    Examples
    --------
    >>> own_words(["phone", {"other": "at work"}]), own_words({"other": ""}), own_words("phone")
    ('at work', '', None)
    """
    for part in value if isinstance(value, list) else (value,):
        if isinstance(part, Mapping) and OTHER in part:
            return str(part[OTHER])
    return None


@dataclass(frozen=True)
class Choice:
    """One answer option of a question."""

    value: str  # stored value
    label: Texts  # displayed text, by language
    is_exclusive: bool = False  # whether it excludes all other choices ("none of these")


@dataclass(frozen=True)
class MatrixRow:
    """One row of a matrix."""

    key: str  # its name in answers and exports
    text: Texts  # its wording by language
    is_reversed: bool = False  # whether it is reverse-scored


@dataclass(frozen=True)
class Question:
    """One question."""

    key: str  # its name in answers and exports
    kind: str  # one of `KINDS`
    text: Texts  # its wording by language
    help: Texts = field(default_factory=dict)  # help text, by language; may be empty
    required: bool = True  # whether an answer is required if the question is shown
    # `minimum`, `maximum`: lowest and highest number, or points of a Likert scale; fewest and most answers of a
    # multiple choice
    minimum: Any = None
    maximum: Any = None
    choices: tuple[Choice, ...] = ()  # answer options of a choice
    max_length: int = 200  # longest text, in characters
    admits: tuple[Any, ...] | None = None  # screening: the only admitted values; None admits every value
    # `admits_minimum`, `admits_maximum`: screening: the admitted range, both ends included
    admits_minimum: int | None = None
    admits_maximum: int | None = None
    shown_if: Condition | None = None  # condition on earlier answers under which the question is shown; None for always
    ends: Mapping[str, tuple[str, str]] = field(default_factory=dict)  # labels of the two ends of a scale, by language
    # alternative wordings by branch ("watched", "trailer_seen", "neither"), each by language
    wordings: Mapping[str, Texts] = field(default_factory=dict)
    # A label for each point of a Likert scale, lowest first, by language
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    other: Texts = field(default_factory=dict)  # label of the free-text option "other", by language; empty for none
    decimals: int = 0  # maximum number of decimals
    unit: Texts = field(default_factory=dict)  # unit of a number, by language
    step: Any = 1  # step size of a slider, > 0
    rows: tuple[MatrixRow, ...] = ()  # rows of a matrix, all answered on the same points or choices
    random_order: bool = False  # whether choices or rows are shuffled for each participant
    random_group: str = ""  # adjacent questions of the same group are shuffled for each participant
    may_decline: bool = False  # whether "prefer not to answer" is offered
    scale: str = ""  # key of the scale it belongs to, or empty
    is_reversed: bool = False  # whether it is reverse-scored
    expects: Any = None  # the answer that passes an attention check
    is_identifying: bool = False  # whether the answer identifies a person

    @property
    def is_on_points(self) -> bool:
        """Whether it is answered by a whole number from `minimum` to `maximum`."""
        return self.kind == LIKERT or (self.kind in (MATRIX, ATTENTION) and not self.choices)

    def check(self, value: Any) -> Any:
        """Validate an answer and return the value to store.

        Incomplete answers (some rows of a matrix, too few options of a multiple choice) are accepted; `is_incomplete`
        detects them. None and empty text, lists and mappings count as no answer; the result is then None if none is
        required. Raises ParameterError when the value does not answer the question, or an answer is required and
        missing.

        Examples
        --------
        >>> Question("satisfaction", "likert", {"en": "Satisfied?"}, minimum=1, maximum=5).check(4)
        4
        """
        if isinstance(value, str):
            value = value.strip()
        if value is None or (isinstance(value, str | list | tuple | dict) and not value):
            if self.required:
                raise ParameterError(f"The question {self.key!r} needs an answer.")
            return None
        if is_declined(value):
            if not self.may_decline:
                raise ParameterError(f"The question {self.key!r} cannot be declined.")
            return dict(DECLINED)
        return getattr(self, f"_check_{self.kind}")(value)

    def is_incomplete(self, value: Any) -> bool:
        """Whether a required answer is missing, or an answer is incomplete.

        `value` is what `check` returned.

        Examples
        --------
        >>> Question("why", "text", {"en": "Why?"}, required=False).is_incomplete(None)
        False
        """
        if value is None:
            return self.required
        if is_declined(value) or is_erased(value):
            return False
        if self.kind == MATRIX:
            return self.required and any(row.key not in value for row in self.rows)
        if self.kind == MULTIPLE:
            is_alone = any(choice.is_exclusive and choice.value in value for choice in self.choices)
            return own_words(value) == "" or (not is_alone and len(value) < (self.minimum or 0))
        return own_words(value) == ""

    def _check_yes_no(self, value: Any) -> bool:
        if not isinstance(value, bool):
            raise ParameterError(
                f"The question {self.key!r} is answered by yes or no (true or false), not by {value!r}."
            )
        return value

    def _within(self, value: float, what: str) -> None:
        low, high = self.minimum, self.maximum
        if (low is not None and value < low) or (high is not None and value > high):
            raise ParameterError(f"The answer to {self.key!r} is {what} from {low} to {high}; got {value}.")

    def _check_number(self, value: Any) -> float:
        if not self.decimals:
            return self._check_likert(value)
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise ParameterError(f"The question {self.key!r} is answered by a number, not by {value!r}.")
        self._within(value, "a number")
        if round(value, self.decimals) != value:
            raise ParameterError(f"The answer to {self.key!r} has at most {self.decimals} decimals; got {value}.")
        return value

    def _check_likert(self, value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise ParameterError(f"The question {self.key!r} is answered by a whole number, not by {value!r}.")
        self._within(value, "a whole number")
        return value

    def _check_slider(self, value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise ParameterError(f"The question {self.key!r} is answered by a number, not by {value!r}.")
        self._within(value, "a number")
        steps = (value - self.minimum) / self.step
        if abs(steps - round(steps)) > 1e-6:
            raise ParameterError(
                f"The answer to {self.key!r} goes from {self.minimum} in steps of {self.step}; got {value}."
            )
        return value

    def _offered(self, value: Any) -> str:
        offered = [choice.value for choice in self.choices]
        if value not in offered:
            raise ParameterError(f"The answer to {self.key!r} is one of {', '.join(offered)}; got {value!r}.")
        return str(value)

    def _check_choice(self, value: Any) -> Any:
        return self._own_answer(value) if isinstance(value, Mapping) else self._offered(value)

    def _own_answer(self, value: Mapping[str, Any]) -> dict[str, str]:
        """Return the free-text answer; an empty text is an incomplete answer."""
        words = value.get(OTHER)
        if not self.other or set(value) != {OTHER} or not isinstance(words, str):
            raise ParameterError(f"The answer to {self.key!r} is one of those it offers; got {dict(value)!r}.")
        return {OTHER: self._plain_text(words.strip(), LONGEST_OTHER)}

    def _check_multiple(self, value: Any) -> list[Any]:
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

    def _check_matrix(self, value: Any) -> dict[str, Any]:
        rows = [row.key for row in self.rows]
        if not isinstance(value, Mapping) or set(value) - set(rows):
            raise ParameterError(f"The answer to {self.key!r} has one value for each of its rows; got {value!r}.")
        check = self._offered if self.choices else self._check_likert
        return {key: check(value[key]) for key in rows if value.get(key) is not None}

    def _check_attention(self, value: Any) -> Any:
        return self._offered(value) if self.choices else self._check_likert(value)

    def _check_text(self, value: Any) -> str:
        if not isinstance(value, str):
            raise ParameterError(f"The question {self.key!r} is answered by text, not by {value!r}.")
        return self._plain_text(value, self.max_length)

    _check_long_text = _check_text

    def _plain_text(self, value: str, longest: int) -> str:
        if len(value) > longest:
            raise ParameterError(f"The answer to {self.key!r} may have {longest} characters; it has {len(value)}.")
        if "\x00" in value:
            raise ParameterError(f"The answer to {self.key!r} holds a character that cannot be stored.")
        return value

    def is_shown(self, answers: Mapping[str, Any]) -> bool:
        """Whether the question is shown after the earlier answers."""
        return self.shown_if is None or self.shown_if.holds(answers)

    def admits_value(self, value: Any) -> bool:
        """Whether `value` passes the screening rule. `value` is what `check` returned."""
        if self.admits is not None and value not in self.admits:
            return False
        is_number = isinstance(value, int | float)
        if self.admits_minimum is not None and (not is_number or value < self.admits_minimum):
            return False
        return not (self.admits_maximum is not None and (not is_number or value > self.admits_maximum))

    def texts(self) -> list[tuple[str, Mapping[str, Any]]]:
        """Return all non-empty texts of the question by language, each with a description. The wording comes first."""
        labelled: list[tuple[str, Mapping[str, Any]]] = [("wording", self.text)]
        optional = (("help", self.help), ("unit", self.unit), ("ends", self.ends), ("labels", self.labels))
        labelled += [(name, texts) for name, texts in (*optional, ("other", self.other)) if texts]
        labelled += [(f"wording {branch}", texts) for branch, texts in self.wordings.items()]
        labelled += [(f"label of the choice {choice.value}", choice.label) for choice in self.choices]
        return [*labelled, *((f"wording of the row {row.key}", row.text) for row in self.rows)]
