"""Questions as data: what a questionnaire may hold, and whether a value answers one of its questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from core.errors import ParameterError

YES_NO = "yes_no"
NUMBER = "number"
CHOICE = "choice"
TEXT = "text"
LIKERT = "likert"
KINDS = (YES_NO, NUMBER, CHOICE, TEXT, LIKERT)

ABOUT = "about"
ITEMS = "items"
OVERALL = "overall"
BLOCKS = (ABOUT, ITEMS, OVERALL)

LONGEST_TEXT = 5000

Texts = Mapping[str, str]


@dataclass(frozen=True)
class Choice:
    """One answer that a question offers.

    Parameters
    ----------
    value : str
        What is stored.
    label : mapping of str to str
        What is shown, by language.
    """

    value: str
    label: Texts


@dataclass(frozen=True)
class Question:
    """One question.

    Parameters
    ----------
    key : str
        Its name in answers and exports.
    kind : str
        One of `KINDS`.
    text : mapping of str to str
        Its wording by language.
    help : mapping of str to str
        A sentence beside it, by language; may be empty.
    required : bool
        Whether the page waits for an answer (where the question is shown).
    minimum, maximum : int or None
        Lowest and highest number, or points of a Likert scale.
    choices : tuple of Choice
        What a choice offers.
    max_length : int
        Longest text, in characters.
    admits : tuple or None
        The only values that let someone take part; None where every value does.
    admits_minimum, admits_maximum : int or None
        The numbers between which someone may take part, both included.
    shown_if : tuple of (str, value) or None
        The question of the same block, and the answer to it, that make this one appear.
    ends : mapping of str to (str, str)
        Labels of a Likert scale's two ends, by language.
    wordings : mapping of str to mapping
        Other wordings of the text by branch ("watched", "trailer_seen", "neither"), each by language.
    """

    key: str
    kind: str
    text: Texts
    help: Texts = field(default_factory=dict)
    required: bool = True
    minimum: int | None = None
    maximum: int | None = None
    choices: tuple[Choice, ...] = ()
    max_length: int = 200
    admits: tuple[Any, ...] | None = None
    admits_minimum: int | None = None
    admits_maximum: int | None = None
    shown_if: tuple[str, Any] | None = None
    ends: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    wordings: Mapping[str, Texts] = field(default_factory=dict)

    def check(self, value: Any) -> Any:
        """The value as it is stored.

        Parameters
        ----------
        value : object
            What was given; None and empty text are no answer.

        Returns
        -------
        bool, int, str or None
            None where no answer was given and none is required.

        Raises
        ------
        ParameterError
            The value does not answer the question, or an answer is required and missing.

        Examples
        --------
        >>> Question("satisfaction", "likert", {"en": "Satisfied?"}, minimum=1, maximum=5).check(4)
        4
        """
        if isinstance(value, str):
            value = value.strip()
        if value is None or value == "":
            if self.required:
                raise ParameterError(f"The question {self.key!r} needs an answer.")
            return None
        return getattr(self, f"_check_{self.kind}")(value)

    def _check_yes_no(self, value: Any) -> bool:
        if not isinstance(value, bool):
            raise ParameterError(
                f"The question {self.key!r} is answered by yes or no (true or false), not by {value!r}."
            )
        return value

    def _check_number(self, value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise ParameterError(f"The question {self.key!r} is answered by a whole number, not by {value!r}.")
        low, high = self.minimum, self.maximum
        if (low is not None and value < low) or (high is not None and value > high):
            raise ParameterError(f"The answer to {self.key!r} is a whole number from {low} to {high}; got {value}.")
        return value

    _check_likert = _check_number

    def _check_choice(self, value: Any) -> str:
        offered = [choice.value for choice in self.choices]
        if value not in offered:
            raise ParameterError(f"The answer to {self.key!r} is one of {', '.join(offered)}; got {value!r}.")
        return str(value)

    def _check_text(self, value: Any) -> str:
        if not isinstance(value, str):
            raise ParameterError(f"The question {self.key!r} is answered by text, not by {value!r}.")
        if len(value) > self.max_length:
            raise ParameterError(
                f"The answer to {self.key!r} may have {self.max_length} characters; it has {len(value)}."
            )
        if "\x00" in value:
            raise ParameterError(f"The answer to {self.key!r} holds a character that cannot be stored.")
        return value

    def is_shown(self, answers: Mapping[str, Any]) -> bool:
        """Whether the question is asked, given the answers of its block.

        Parameters
        ----------
        answers : mapping
            Question key to value.

        Returns
        -------
        bool
        """
        return self.shown_if is None or answers.get(self.shown_if[0]) == self.shown_if[1]

    def does_admit(self, value: Any) -> bool:
        """Whether someone who answers `value` may take part.

        Parameters
        ----------
        value : object
            A value that `check` returned.

        Returns
        -------
        bool
        """
        if self.admits is not None and value not in self.admits:
            return False
        if self.admits_minimum is not None and (value is None or value < self.admits_minimum):
            return False
        return not (self.admits_maximum is not None and (value is None or value > self.admits_maximum))


@dataclass(frozen=True)
class Questionnaire:
    """The questions of a study in three blocks.

    Parameters
    ----------
    about, items, overall : tuple of Question
        Asked about the person, about each recommended item, and about the list as a whole.
    """

    about: tuple[Question, ...]
    items: tuple[Question, ...]
    overall: tuple[Question, ...]

    def block(self, name: str) -> tuple[Question, ...]:
        """The questions of one block.

        Parameters
        ----------
        name : str
            One of `BLOCKS`.

        Returns
        -------
        tuple of Question
        """
        return {ABOUT: self.about, ITEMS: self.items, OVERALL: self.overall}[name]

    def find(self, key: str, *, about_item: bool) -> tuple[str, Question]:
        """The block and the question of that key.

        Parameters
        ----------
        key : str
            Key of the question.
        about_item : bool
            Whether it is asked about a recommended item.

        Returns
        -------
        tuple of str and Question

        Raises
        ------
        ParameterError
            No such question.
        """
        for name in (ITEMS,) if about_item else (ABOUT, OVERALL):
            for question in self.block(name):
                if question.key == key:
                    return name, question
        where = "about a recommended item" if about_item else "about the person or the whole list"
        raise ParameterError(f"This study asks no question {key!r} {where}.")


_FIELDS = {
    "key", "kind", "text", "help", "required", "minimum", "maximum", "choices", "max_length", "admits",
    "shown_if", "ends", "wordings",
}  # fmt: skip


def _question(given: Mapping[str, Any], where: str) -> Question:
    unknown = set(given) - _FIELDS
    if unknown:
        raise ParameterError(f"A question of the block {where!r} has unknown fields: {', '.join(sorted(unknown))}.")
    for name in ("key", "kind", "text"):
        if not given.get(name):
            raise ParameterError(f"A question of the block {where!r} has no {name}.")
    key, kind = given["key"], given["kind"]
    if kind not in KINDS:
        raise ParameterError(f"The question {key!r} has the unknown kind {kind!r}; known are {', '.join(KINDS)}.")
    if kind == CHOICE and not given.get("choices"):
        raise ParameterError(f"The question {key!r} is a choice and offers nothing to choose.")
    if kind in (NUMBER, LIKERT) and not isinstance(given.get("minimum"), int | None):
        raise ParameterError(f"The minimum of the question {key!r} is not a whole number.")
    if kind == LIKERT and not 2 <= given.get("maximum", 0) - given.get("minimum", 1) + 1 <= 11:
        raise ParameterError(f"The question {key!r} needs 2 to 11 points between its minimum and maximum.")
    if not 0 < given.get("max_length", 200) <= LONGEST_TEXT:
        raise ParameterError(f"The longest text of the question {key!r} is 1 to {LONGEST_TEXT} characters.")
    admits = given.get("admits") or {}
    shown_if = given.get("shown_if")
    return Question(
        key=key,
        kind=kind,
        text=dict(given["text"]),
        help=dict(given.get("help") or {}),
        required=bool(given.get("required", True)),
        minimum=given.get("minimum"),
        maximum=given.get("maximum"),
        choices=tuple(Choice(str(choice["value"]), dict(choice["label"])) for choice in given.get("choices") or ()),
        max_length=given.get("max_length", 200),
        admits=tuple(admits["values"]) if "values" in admits else None,
        admits_minimum=admits.get("minimum"),
        admits_maximum=admits.get("maximum"),
        shown_if=(shown_if["question"], shown_if["equals"]) if shown_if else None,
        ends={language: (ends[0], ends[1]) for language, ends in (given.get("ends") or {}).items()},
        wordings={branch: dict(texts) for branch, texts in (given.get("wordings") or {}).items()},
    )


class Kept(dict[str, Any]):
    """Plain data of a questionnaire that nobody changes any more: read once, and not at every request."""

    @cached_property
    def questionnaire(self) -> Questionnaire:
        """What it says; raises ParameterError as `questionnaire_from`."""
        return questionnaire_from(dict(self))


def questionnaire_from(mapping: Mapping[str, Sequence[Mapping[str, Any]]]) -> Questionnaire:
    """Read a questionnaire from plain data, as a preset's YAML or a study's JSON holds it.

    Parameters
    ----------
    mapping : mapping
        Block name to a list of questions.

    Returns
    -------
    Questionnaire

    Raises
    ------
    ParameterError
        An unknown block, field or kind, a key used twice in one block, or a condition on a question that does
        not come earlier in its block.

    Examples
    --------
    >>> asked = questionnaire_from({"overall": [{"key": "comment", "kind": "text", "text": {"en": "More?"}}]})
    >>> asked.overall[0].key
    'comment'
    """
    if isinstance(mapping, Kept):
        return mapping.questionnaire
    unknown = set(mapping) - set(BLOCKS)
    if unknown:
        raise ParameterError(f"A questionnaire has the blocks {', '.join(BLOCKS)}; got {', '.join(sorted(unknown))}.")
    blocks = {name: tuple(_question(given, name) for given in mapping.get(name, ())) for name in BLOCKS}
    for name, questions in blocks.items():
        seen: set[str] = set()
        for question in questions:
            if question.key in seen:
                raise ParameterError(f"The key {question.key!r} is used twice in the block {name!r}.")
            if question.shown_if is not None and question.shown_if[0] not in seen:
                raise ParameterError(
                    f"The question {question.key!r} depends on {question.shown_if[0]!r}, which does not come before it."
                )
            seen.add(question.key)
    return Questionnaire(**blocks)
