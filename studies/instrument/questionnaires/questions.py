"""What questions of every kind have and do: wording, answer options and validation of answers.

A kind of question is a subclass of `Question` in `kinds`; other modules ask the question instead of its kind.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from core.errors import ParameterError
from studies.instrument.questionnaires.conditions import Condition, Test, as_text, is_erased

OTHER = "other"
DECLINED: Mapping[str, bool] = {"declined": True}

POINTS = frozenset({"minimum", "maximum", "ends", "labels"})  # fields of a question on points
LONGEST_TEXT = 5000
LONGEST_OTHER = 200
DECLINE_RAW = "--declined"  # no choice's value begins with a hyphen
WAS = "was."  # and a question's key: the field that says what its page was drawn with
CONFIRMED = "confirmed."  # and a question's key: the button that says the answer on its page is meant
IN_OWN_WORDS = "Nothing comes to my mind."  # of a simulated participant

Texts = Mapping[str, str]
Form = Mapping[str, Sequence[str]]  # the values of each name
FilledMessage = tuple[str, Mapping[str, Any]]
Wrong = Callable[..., None]  # a sentence, and the path of the field within the question


def gettext_noop(text: str) -> str:
    """Mark a text for translation; the page that shows it translates it, since this package knows no Django."""
    return text


def is_declined(value: Any) -> bool:
    """Whether the participant chose "prefer not to answer".

    Examples
    --------
    >>> is_declined({"declined": True}), is_declined("no")
    (True, False)
    """
    return isinstance(value, Mapping) and "declined" in value


def whole_number(raw: str) -> int | None:
    """Return the whole number in a form field or address, or None if there is none.

    `str.isdigit` would accept "²" and a text of thousands of digits; `int` rejects both.
    """
    return int(raw) if re.fullmatch(r"-?[0-9]{1,9}", raw) else None


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
    """One question; its class says what its kind means for documents, pages, exports, times and the editor."""

    kind: ClassVar[str]  # its name in documents
    label: ClassVar[str]  # its name in the editor
    template: ClassVar[str] = ""  # in `participant/questions`; empty for a list of buttons
    fields: ClassVar[frozenset[str]] = frozenset()  # of its documents, beside those of every kind
    seconds: ClassVar[float]  # assumed for an answer until participants have been timed
    longest: ClassVar[int] = 200  # default of `max_length`
    is_in_words: ClassVar[bool] = False  # whether it is answered by free text
    takes_several: ClassVar[bool] = False  # whether several choices answer it together
    is_covariate: ClassVar[bool] = False  # whether an answer is one number or one choice
    is_span: ClassVar[bool] = False  # whether it goes from one number to another, on points or not
    new_limits: ClassVar[tuple[int, ...]] = ()  # `minimum` and `maximum` of a new question in the editor
    # `minimum`, `maximum` and labels of the points by language, where every question of the kind has the same
    own_limits: ClassVar[tuple[int, ...]] = ()
    own_labels: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    limit_labels: ClassVar[tuple[str, str]] = ("Lowest point", "Highest point")  # their names in the editor
    mark: ClassVar[str] = ""  # what the editor can tick for a choice or a row
    # The answers where every question of the kind has the same, with their labels
    fixed_answers: ClassVar[tuple[tuple[Any, str], ...]] = ()

    key: str  # its name in answers and exports
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
    rows: tuple[MatrixRow, ...] = ()  # rows of a matrix, all answered on the same points or choices
    random_order: bool = False  # whether choices or rows are shuffled for each participant
    random_group: str = ""  # adjacent questions of the same group are shuffled for each participant
    may_decline: bool = False  # whether "prefer not to answer" is offered
    scale: str = ""  # key of the scale it belongs to, or empty
    is_reversed: bool = False  # whether it is reverse-scored
    expects: Any = None  # the answer that passes an attention check
    is_identifying: bool = False  # whether the answer identifies a person

    @classmethod
    def is_on_points_with(cls, choices: Any) -> bool:
        """Whether a question with these choices is answered by a whole number from `minimum` to `maximum`."""
        return False

    @classmethod
    def allows_decimals(cls, decimals: Any) -> bool:
        """Whether a question with that number of decimals is answered by a number that need not be whole."""
        return False

    @classmethod
    def own_fields(cls, data: Mapping[str, Any], limits: tuple[Any, Any], wrong: Wrong) -> dict[str, Any]:
        """Read the fields of a document that no other kind has.

        `limits` are the minimum and the maximum; `wrong` records a problem and the field it is in.
        """
        return {}

    @property
    def is_on_points(self) -> bool:
        """Whether it is answered by a whole number from `minimum` to `maximum`."""
        return self.is_on_points_with(self.choices)

    @property
    def is_numeric(self) -> bool:
        """Whether answers are numbers; of a matrix, those to its rows."""
        return self.is_on_points

    @property
    def is_check(self) -> bool:
        """Whether it checks attention."""
        return "expects" in self.fields

    @property
    def seconds_needed(self) -> float:
        """The time a participant needs, in seconds."""
        return self.seconds

    @property
    def column_type(self) -> str:
        """The type of its variable in codebooks."""
        return "integer" if self.is_on_points else "category"

    def check(self, value: Any) -> Any:
        """Validate an answer and return the value to store.

        Incomplete answers (some rows of a matrix, too few options of a multiple choice) are accepted; `is_incomplete`
        detects them. None and empty text, lists and mappings count as no answer; the result is then None if none is
        required. Raises ParameterError when the value does not answer the question, or an answer is required and
        missing.

        Examples
        --------
        >>> from studies.instrument.questionnaires.kinds import Likert
        >>> Likert("satisfaction", {"en": "Satisfied?"}, minimum=1, maximum=5).check(4)
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
        return self.checked(value)

    def is_incomplete(self, value: Any) -> bool:
        """Whether a required answer is missing, or an answer is incomplete.

        `value` is what `check` returned.

        Examples
        --------
        >>> from studies.instrument.questionnaires.kinds import Text
        >>> Text("why", {"en": "Why?"}, required=False).is_incomplete(None)
        False
        """
        if value is None:
            return self.required
        return not (is_declined(value) or is_erased(value)) and self.is_partial(value)

    def checked(self, value: Any) -> Any:
        """As `check`, of a value that is given and not declined."""
        return self._offered(value) if self.choices else self._whole(value)

    def is_partial(self, value: Any) -> bool:
        """Whether an answer that is given is incomplete."""
        return own_words(value) == ""

    def layout(self, *, is_about: bool) -> str:
        """Return the name of its template; `is_about`: on the page about the person."""
        return self.template or ("likert" if self.is_on_points and not self.labels else "rows")

    @property
    def typed_step(self) -> Any:
        """The step of what is typed, for the field's attributes."""
        return 1

    def missing_message(self, value: Any) -> FilledMessage:
        """Return what a page says beside an answer that is missing or incomplete, with what the text is filled with."""
        if own_words(value) == "":
            return gettext_noop("Please use your own words."), {}
        return gettext_noop("Please answer this question."), {}

    def error_message(self, value: Any) -> FilledMessage:
        """Return what a page says beside an answer that cannot be stored, with what the text is filled with."""
        if len(own_words(value) or "") > LONGEST_OTHER:
            return gettext_noop("Please use at most %(n)s characters."), {"n": LONGEST_OTHER}
        return gettext_noop("Please choose one of the answers that the page offers."), {}

    def posted(self, form: Form) -> tuple[bool, Any]:
        """Return whether a form contains the question, and the answer in it; None if it was left empty."""
        if self.may_decline and form.get(f"{self.key}--declined", ("",))[-1]:
            return True, dict(DECLINED)
        return self.posted_answer(form)

    def posted_answer(self, form: Form) -> tuple[bool, Any]:
        """As `posted`, of a form without the box beside a field that declines."""
        own = self._posted_words(form)
        if own is not None:
            return True, own
        return self.key in form, self.answer_in(form[self.key][-1]) if self.key in form else None

    def _posted_words(self, form: Form) -> dict[str, str] | None:
        """Return the free-text answer ("other"), if the participant chose it.

        Text without the choice counts as choosing it, unless another button is pressed. The page's script sends no such
        text; participants without the script need not select the option as well.
        """
        if not self.other:
            return None
        words = form.get(f"{self.key}.{OTHER}", ("",))[-1].strip()
        pressed = [raw for raw in form.get(self.key, ()) if raw]
        may_speak = self.takes_several or not pressed
        return {OTHER: words} if OTHER in pressed or (words and may_speak) else None

    def answer_in(self, raw: str) -> Any:
        """Return the answer that a radio button or field holds; None if it is empty."""
        raw = raw.strip()
        if raw == DECLINE_RAW and self.may_decline:
            return dict(DECLINED)
        return self.parsed(raw) if raw else None

    def parsed(self, raw: str) -> Any:
        """As `answer_in`, of text that is not empty; what is no answer stays as it is, for `check`."""
        if self.is_on_points and (whole := whole_number(raw)) is not None:
            return whole
        return {as_text(value): value for value, _label in self.fixed_answers}.get(raw, raw)

    def possible_answers(self, row: str = "") -> tuple[Any, ...]:
        """Return the possible answers where they are limited; empty for numbers and free text.

        `row` is the key of a matrix row.
        """
        if self.choices:
            return (*(choice.value for choice in self.choices), *((OTHER,) if self.other else ()))
        if self.is_on_points and (row or not self.rows):
            return tuple(range(self.minimum, self.maximum + 1))
        return tuple(value for value, _label in self.fixed_answers)

    def simulated(self, whole_number: Callable[[int, int], int]) -> str:
        """Return what a simulated participant types, where the page offers nothing to choose among.

        `whole_number` draws a number from the lowest to the highest that it is called with.
        """
        return IN_OWN_WORDS[: self.max_length]

    def comparison_problem(self, test: Test) -> str:
        """Return the problem of a comparison with its answers as part of a sentence; empty if there is none."""
        if self.is_identifying and (test.relation != "answered" or test.row):
            return (
                f"depends on the answer to {self.key!r}, which identifies a person and may be erased. Ask whether it "
                "was answered."
            )
        if bool(self.rows) != bool(test.row) and test.relation != "answered":
            if self.rows:
                return f"depends on the matrix {self.key!r}: name the row with row: …."
            return f"depends on a row of {self.key!r}, which is not a matrix. Remove row."
        if test.row and test.row not in {row.key for row in self.rows}:
            return f"depends on the row {test.row!r} of {self.key!r}, which has no such row."
        if (test.relation == "includes") != self.takes_several and test.relation != "answered":
            right = "includes" if self.takes_several else "equals"
            return f"compares {self.key!r} by {test.relation}. Use {right}."
        if test.relation in ("below", "at_most", "above", "at_least") and not self.is_numeric:
            return f"compares {self.key!r} by {test.relation}, but its answers are not numbers."
        known = self.possible_answers(test.row)
        values = test.value if test.relation == "one_of" else (test.value,)
        if test.relation in ("equals", "differs", "one_of", "includes") and known:
            wrong = [
                value
                for value in values
                if not any(value == answer and type(value) is type(answer) for answer in known)
            ]
            if wrong:
                return f"expects {wrong[0]!r}, which is not an answer to {self.key!r}; its answers are {list(known)}."
        if test.relation in ("equals", "differs", "one_of") and self.is_in_words:
            return f"compares the text of {self.key!r}. Ask whether it was answered."
        return ""

    def countable_answers(self) -> tuple[Any, ...]:
        """Return the possible answers as stored; empty if they cannot be counted."""
        return self.possible_answers()

    def _within(self, value: float, what: str) -> None:
        low, high = self.minimum, self.maximum
        if (low is not None and value < low) or (high is not None and value > high):
            raise ParameterError(f"The answer to {self.key!r} is {what} from {low} to {high}; got {value}.")

    def _whole(self, value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise ParameterError(f"The question {self.key!r} is answered by a whole number, not by {value!r}.")
        self._within(value, "a whole number")
        return value

    def _offered(self, value: Any) -> str:
        offered = [choice.value for choice in self.choices]
        if value not in offered:
            raise ParameterError(f"The answer to {self.key!r} is one of {', '.join(offered)}; got {value!r}.")
        return str(value)

    def _own_answer(self, value: Mapping[str, Any]) -> dict[str, str]:
        """Return the free-text answer; an empty text is an incomplete answer."""
        words = value.get(OTHER)
        if not self.other or set(value) != {OTHER} or not isinstance(words, str):
            raise ParameterError(f"The answer to {self.key!r} is one of those it offers; got {dict(value)!r}.")
        return {OTHER: self._plain_text(words.strip(), LONGEST_OTHER)}

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


def joined_controls(pairs: Iterable[tuple[str, str]]) -> str:
    """Return control names and values as one text; the page's script builds it identically."""
    filled = ((name, value.strip().replace("\r\n", "\n")) for name, value in pairs)
    return "\n".join(sorted(f"{name}={value}" for name, value in filled if value))


def _is_as_drawn(key: str, form: Form, prefix: str) -> bool:
    """Whether the posted answer equals the one that the page was drawn with, as its field of that prefix states it."""
    if f"{prefix}{key}" not in form:
        return False
    names = [name for name in form if name in (key, f"{key}--declined") or name.startswith(f"{key}.")]
    posted = joined_controls((name, value) for name in names for value in form[name])
    return posted == form[f"{prefix}{key}"][-1].replace("\r\n", "\n")


def _is_valid(question: Question, value: Any) -> bool:
    """Whether the value can be stored; None clears the answer."""
    try:
        if value is not None:
            question.check(value)
    except ParameterError:
        return False
    return True


def posted_answers(questions: Iterable[Question], form: Form) -> dict[str, Any]:
    """Return the answers of a form by question key, with None for fields left empty.

    Questions left unchanged are omitted: they may have been answered since in another tab or on another device, and
    participants who return with an id of another site are not shown the stored answers. What cannot be stored was
    not rendered but typed, and sent before by the page's script.
    """
    answers = {}
    for question in questions:
        is_present, value = question.posted(form)
        # The answer that the page was drawn with may be older than the stored one.
        if is_present and not (_is_as_drawn(question.key, form, WAS) and _is_valid(question, value)):
            answers[question.key] = value
    return answers


def confirmed_answers(questions: Iterable[Question], form: Form) -> frozenset[str]:
    """Return the keys of the questions whose answers the form confirms; an answer changed since is not confirmed."""
    return frozenset(question.key for question in questions if _is_as_drawn(question.key, form, CONFIRMED))
