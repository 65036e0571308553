"""When a question is shown: comparisons with answers given before it, joined by all, any and not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from studies.questionnaires.erased import is_erased

ALL, ANY, NOT = "all", "any", "not"
JOINS = (ALL, ANY, NOT)
RELATIONS = (
    "equals", "differs", "one_of", "includes", "below", "at_most", "above", "at_least", "answered",
)  # fmt: skip
DEEPEST = 6  # conditions within conditions


def plain_answer(value: Any) -> Any:
    """Return an answer as it is compared: nothing if declined or erased, "other" if in own words, also among several.

    Parameters
    ----------
    value : object
        An answer as it is stored.

    Returns
    -------
    object
        None where there is nothing to compare with.

    Examples
    --------
    >>> plain_answer({"declined": True}), plain_answer({"other": "a friend"}), plain_answer(3)
    (None, 'other', 3)
    >>> plain_answer(["phone", {"other": "at work"}])
    ['phone', 'other']
    """
    if isinstance(value, Mapping):
        if "declined" in value or is_erased(value):
            return None
        if "other" in value:
            return "other"
    return [plain_answer(one) for one in value] if isinstance(value, list) else value


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _ordered(compare: Callable[[float, float], bool]) -> Callable[[Any, Any], bool]:
    return lambda given, value: _number(given) and _number(value) and compare(given, value)


def _same(given: Any, value: Any) -> bool:
    # In Python True is 1: a yes is no number.
    return isinstance(given, bool) == isinstance(value, bool) and bool(given == value)


_HOLDS: dict[str, Callable[[Any, Any], bool]] = {
    "equals": _same,
    "differs": lambda given, value: not _same(given, value),
    "one_of": lambda given, value: any(_same(given, one) for one in value),
    "includes": lambda given, value: isinstance(given, Sequence) and value in given,
    "below": _ordered(lambda given, value: given < value),
    "at_most": _ordered(lambda given, value: given <= value),
    "above": _ordered(lambda given, value: given > value),
    "at_least": _ordered(lambda given, value: given >= value),
}


@dataclass(frozen=True)
class Test:
    """One comparison with the answer to an earlier question.

    Parameters
    ----------
    question : str
        Key of the question.
    relation : str
        One of `RELATIONS`.
    value : object
        What it is compared with; for "answered" whether it was answered.
    row : str
        Key of a matrix's row; empty for every other kind.
    """

    question: str
    relation: str
    value: Any
    row: str = ""

    __test__ = False  # no test of pytest's

    def holds(self, answers: Mapping[str, Any]) -> bool:
        """Whether it holds; no comparison holds with an answer that was not given or was declined.

        Of one that was erased it is known that it was given, and no more.

        Parameters
        ----------
        answers : mapping
            Question key to stored value.

        Returns
        -------
        bool

        Examples
        --------
        >>> Test("age", "at_least", 18).holds({"age": 20}), Test("age", "differs", 18).holds({})
        (True, False)
        """
        stored = answers.get(self.question)
        if is_erased(stored):
            return self.relation == "answered" and bool(self.value)
        given = plain_answer(stored)
        if self.row:
            given = given.get(self.row) if isinstance(given, Mapping) else None
        if self.relation == "answered":
            return (given is not None) == bool(self.value)
        return given is not None and _HOLDS[self.relation](given, self.value)

    def tests(self) -> Iterator[Test]:
        """The comparisons it is made of: itself."""
        yield self

    def as_data(self) -> dict[str, Any]:
        """As a document holds it."""
        found: dict[str, Any] = {"question": self.question}
        if self.row:
            found["row"] = self.row
        value = list(self.value) if self.relation == "one_of" else self.value
        return {**found, self.relation: value}

    def as_script(self, here: frozenset[str], answers: Mapping[str, Any]) -> Any:
        """As the page's script reads it: a comparison of fields, or how it stands where no field is on the page."""
        if self.question not in here:
            return self.holds(answers)
        name = f"{self.question}.{self.row}" if self.row else self.question
        return {"q": name, "is": self.relation, "v": _in_a_form(self.value)}

    def in_words(self) -> str:
        """As the console says it."""
        name = f"{self.question}, row {self.row}," if self.row else self.question
        if self.relation == "answered":
            return f"{name} is {'answered' if self.value else 'not answered'}"
        value = " or ".join(map(_told, self.value)) if self.relation == "one_of" else _told(self.value)
        return f"{name} {IN_WORDS[self.relation]} {value}"


IN_WORDS = {
    "equals": "is", "differs": "is not", "one_of": "is", "includes": "includes", "below": "is below",
    "at_most": "is at most", "above": "is above", "at_least": "is at least", "answered": "is answered",
}  # fmt: skip


def _told(value: Any) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _in_a_form(value: Any) -> Any:
    """The value as fields hold it, which is as text."""
    if isinstance(value, list | tuple):
        return [_in_a_form(one) for one in value]
    return _told(value)


@dataclass(frozen=True)
class Joined:
    """Conditions joined: all of them, any of them, or not the one.

    Parameters
    ----------
    join : str
        "all", "any" or "not".
    parts : tuple of Test or Joined
        At least one; exactly one for "not".
    """

    join: str
    parts: tuple[Condition, ...]

    def holds(self, answers: Mapping[str, Any]) -> bool:
        """Whether it holds.

        Parameters
        ----------
        answers : mapping
            Question key to stored value.

        Returns
        -------
        bool

        Examples
        --------
        >>> Joined("not", (Test("a", "equals", True),)).holds({"a": False})
        True
        """
        found = (part.holds(answers) for part in self.parts)
        if self.join == ANY:
            return any(found)
        return all(found) if self.join == ALL else not next(found)

    def tests(self) -> Iterator[Test]:
        """The comparisons it is made of."""
        for part in self.parts:
            yield from part.tests()

    def as_data(self) -> dict[str, Any]:
        """As a document holds it."""
        parts = [part.as_data() for part in self.parts]
        return {self.join: parts[0] if self.join == NOT else parts}

    def as_script(self, here: frozenset[str], answers: Mapping[str, Any]) -> Any:
        """As the page's script reads it."""
        parts = [part.as_script(here, answers) for part in self.parts]
        return {self.join: parts[0] if self.join == NOT else parts}

    def in_words(self) -> str:
        """As the console says it."""
        said = [f"({part.in_words()})" if isinstance(part, Joined) else part.in_words() for part in self.parts]
        return f"not {said[0]}" if self.join == NOT else (" or " if self.join == ANY else " and ").join(said)


Condition = Test | Joined


@dataclass(frozen=True)
class Alternative:
    """One line of a condition's form: comparisons of one group hold together, groups are alternatives."""

    group: int
    is_negated: bool
    test: Test


def as_alternatives(condition: Condition) -> tuple[Alternative, ...] | None:
    """The condition as lines of a form, or None where it is nested deeper than a form shows.

    Parameters
    ----------
    condition : Condition
        Any condition.

    Returns
    -------
    tuple of Alternative or None

    Examples
    --------
    >>> lines = as_alternatives(Joined("any", (Test("a", "equals", 1), Test("b", "equals", 2))))
    >>> [(line.group, line.test.question) for line in lines]
    [(1, 'a'), (2, 'b')]
    """
    groups = condition.parts if isinstance(condition, Joined) and condition.join == ANY else (condition,)
    found = []
    for number, group in enumerate(groups, start=1):
        parts = group.parts if isinstance(group, Joined) and group.join == ALL else (group,)
        for part in parts:
            is_negated = isinstance(part, Joined) and part.join == NOT
            test = part.parts[0] if isinstance(part, Joined) and is_negated else part
            if not isinstance(test, Test):
                return None
            found.append(Alternative(number, is_negated, test))
    return tuple(found)


def from_alternatives(lines: Sequence[Alternative]) -> Condition | None:
    """The condition that the lines of a form make; None where there is no line.

    Parameters
    ----------
    lines : sequence of Alternative
        In any order.

    Returns
    -------
    Condition or None

    Examples
    --------
    >>> from_alternatives([Alternative(1, True, Test("a", "equals", 1))]).as_data()
    {'not': {'question': 'a', 'equals': 1}}
    """
    groups: dict[int, list[Condition]] = {}
    for line in lines:
        part: Condition = Joined(NOT, (line.test,)) if line.is_negated else line.test
        groups.setdefault(line.group, []).append(part)
    joined = [_one_or(ALL, parts) for _number, parts in sorted(groups.items())]
    return _one_or(ANY, joined) if joined else None


def _one_or(join: str, parts: Sequence[Condition]) -> Condition:
    return parts[0] if len(parts) == 1 else Joined(join, tuple(parts))
