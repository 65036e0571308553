"""Display conditions: comparisons with earlier answers, joined by all, any and not, and how documents write them.

`answers` maps the keys of questions to stored values throughout.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from studies.instrument.questionnaires.problems import Notes, Path

ALL, ANY, NOT = "all", "any", "not"
JOINS = (ALL, ANY, NOT)
# Every relation of a comparison, in words
IN_WORDS = {
    "equals": "is", "differs": "is not", "one_of": "is", "includes": "includes", "below": "is below",
    "at_most": "is at most", "above": "is above", "at_least": "is at least", "answered": "is answered",
}  # fmt: skip
DEEPEST = 6  # nesting levels
# In the place of a single erased answer: the question was answered, but the content is gone.
ERASED: Mapping[str, bool] = {"erased": True}


def is_erased(value: Any) -> bool:
    """Whether an answer has been erased.

    Examples
    --------
    >>> is_erased({"erased": True}), is_erased({"erased": 1}), is_erased("erased")
    (True, False, False)
    """
    # A matrix may have a row called "erased", but its answers are numbers or text.
    return isinstance(value, Mapping) and value.get("erased") is True


def plain_answer(value: Any) -> Any:
    """Return an answer as conditions compare it: None if declined or erased, "other" for free-text options.

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
    return [plain_answer(item) for item in value] if isinstance(value, list) else value


def is_number(value: object) -> bool:
    """Whether a value is a plain number: finite, and neither true nor false."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _ordered(compare: Callable[[float, float], bool]) -> Callable[[Any, Any], bool]:
    return lambda answer, value: is_number(answer) and is_number(value) and compare(answer, value)


def _same(answer: Any, value: Any) -> bool:
    # True == 1 in Python, but "yes" is not a number.
    return isinstance(answer, bool) == isinstance(value, bool) and bool(answer == value)


_HOLDS: dict[str, Callable[[Any, Any], bool]] = {
    "equals": _same,
    "differs": lambda answer, value: not _same(answer, value),
    "one_of": lambda answer, value: any(_same(answer, option) for option in value),
    "includes": lambda answer, value: isinstance(answer, Sequence) and value in answer,
    "below": _ordered(lambda answer, value: answer < value),
    "at_most": _ordered(lambda answer, value: answer <= value),
    "above": _ordered(lambda answer, value: answer > value),
    "at_least": _ordered(lambda answer, value: answer >= value),
}


@dataclass(frozen=True)
class Test:
    """One comparison with the answer to an earlier question."""

    question: str  # key of the question
    relation: str  # one of `IN_WORDS`
    value: Any  # the value compared with; for "answered", whether the question was answered
    row: str = ""  # key of a matrix row; empty for other kinds

    __test__ = False  # not a pytest test

    def holds(self, answers: Mapping[str, Any]) -> bool:
        """Whether it holds; missing and declined answers meet no comparison.

        An erased answer counts as answered but meets no other comparison.

        Examples
        --------
        >>> Test("age", "at_least", 18).holds({"age": 20}), Test("age", "differs", 18).holds({})
        (True, False)
        """
        stored = answers.get(self.question)
        if is_erased(stored):
            return self.relation == "answered" and bool(self.value)
        answer = plain_answer(stored)
        if self.row:
            answer = answer.get(self.row) if isinstance(answer, Mapping) else None
        if self.relation == "answered":
            return (answer is not None) == bool(self.value)
        return answer is not None and _HOLDS[self.relation](answer, self.value)

    def tests(self) -> Iterator[Test]:
        """Yield the comparison itself."""
        yield self

    def as_data(self) -> dict[str, Any]:
        """Return the condition as plain data for documents."""
        data: dict[str, Any] = {"question": self.question}
        if self.row:
            data["row"] = self.row
        value = list(self.value) if self.relation == "one_of" else self.value
        return {**data, self.relation: value}

    def as_script(self, here: frozenset[str], answers: Mapping[str, Any]) -> Any:
        """Return the condition for the page's script; already evaluated if its question is not on the page."""
        if self.question not in here:
            return self.holds(answers)
        name = f"{self.question}.{self.row}" if self.row else self.question
        return {"q": name, "is": self.relation, "v": _in_a_form(self.value)}

    def in_words(self) -> str:
        """Return the condition as a phrase for the console."""
        name = f"{self.question}, row {self.row}," if self.row else self.question
        if self.relation == "answered":
            return f"{name} is {'answered' if self.value else 'not answered'}"
        value = " or ".join(map(as_text, self.value)) if self.relation == "one_of" else as_text(self.value)
        return f"{name} {IN_WORDS[self.relation]} {value}"


def as_text(value: Any) -> str:
    """Return a value as form fields hold it; yes and no for true and false."""
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _in_a_form(value: Any) -> Any:
    """Return the value as form fields hold it: as text."""
    if isinstance(value, list | tuple):
        return [_in_a_form(item) for item in value]
    return as_text(value)


@dataclass(frozen=True)
class JoinedConditions:
    """Conditions joined by all, any or not."""

    join: str  # "all", "any" or "not"
    parts: tuple[Condition, ...]  # at least one; exactly one for "not"

    def holds(self, answers: Mapping[str, Any]) -> bool:
        """Whether it holds.

        Examples
        --------
        >>> JoinedConditions("not", (Test("a", "equals", True),)).holds({"a": False})
        True
        """
        results = (part.holds(answers) for part in self.parts)
        if self.join == ANY:
            return any(results)
        return all(results) if self.join == ALL else not next(results)

    def tests(self) -> Iterator[Test]:
        """Yield all comparisons of the condition."""
        for part in self.parts:
            yield from part.tests()

    def as_data(self) -> dict[str, Any]:
        """Return the condition as plain data for documents."""
        parts = [part.as_data() for part in self.parts]
        return {self.join: parts[0] if self.join == NOT else parts}

    def as_script(self, here: frozenset[str], answers: Mapping[str, Any]) -> Any:
        """Return the condition for the page's script."""
        parts = [part.as_script(here, answers) for part in self.parts]
        return {self.join: parts[0] if self.join == NOT else parts}

    def in_words(self) -> str:
        """Return the condition as a phrase for the console."""
        parts = [
            f"({part.in_words()})" if isinstance(part, JoinedConditions) else part.in_words() for part in self.parts
        ]
        return f"not {parts[0]}" if self.join == NOT else (" or " if self.join == ANY else " and ").join(parts)


Condition = Test | JoinedConditions


def read_condition(data: Any, path: Path, notes: Notes, depth: int = 0) -> Condition | None:
    """Parse a comparison or joined comparisons; record problems and return None if there are any.

    Examples
    --------
    >>> read_condition({"question": "age", "at_least": 18}, (), Notes()).holds({"age": 20})
    True
    """
    if not isinstance(data, Mapping):
        notes.wrong(path, f"A condition needs a question and a comparison; got {data!r}.")
        return None
    if depth > DEEPEST:
        notes.wrong(path, f"Conditions can be nested at most {DEEPEST} levels deep. Simplify the condition.")
        return None
    joins = [name for name in JOINS if name in data]
    if joins:
        return _joined(data, joins[0], path, notes, depth)
    relations = [name for name in IN_WORDS if name in data]
    unknown = sorted(set(data) - {"question", "row", *IN_WORDS})
    if not isinstance(data.get("question"), str) or len(relations) != 1 or unknown:
        notes.wrong(
            path,
            f"A condition is a question with one of {', '.join(IN_WORDS)}, or one of {', '.join(JOINS)} with "
            f"conditions; got {dict(data)!r}.",
        )
        return None
    relation = relations[0]
    value = data[relation]
    if relation == "one_of":
        if not isinstance(value, list | tuple) or not value:
            notes.wrong((*path, relation), f"one_of needs a list of answers; got {value!r}.")
            return None
        value = tuple(value)
    elif relation == "answered":
        if not isinstance(value, bool):
            notes.wrong((*path, relation), f"answered is true or false; got {value!r}.")
            return None
    elif relation in ("below", "at_most", "above", "at_least"):
        if not is_number(value):
            notes.wrong((*path, relation), f"{relation} needs a number; got {value!r}.")
            return None
    elif not isinstance(value, str | int | float):
        notes.wrong((*path, relation), f"{relation} needs a single answer; got {value!r}.")
        return None
    return Test(data["question"], relation, value, str(data.get("row") or ""))


def _joined(data: Mapping[str, Any], join: str, path: Path, notes: Notes, depth: int) -> Condition | None:
    if len(data) != 1:
        notes.wrong(path, f"{join} must be the only key; move the other conditions into it.")
        return None
    inner = data[join]
    if join == NOT:
        part = read_condition(inner, (*path, join), notes, depth + 1)
        return JoinedConditions(NOT, (part,)) if part is not None else None
    if not isinstance(inner, list | tuple) or not inner:
        what = "all of" if join == ALL else "any of"
        notes.wrong((*path, join), f"{join} needs a list of conditions, {what} which must hold.")
        return None
    parts = [
        read_condition(condition, (*path, join, number), notes, depth + 1) for number, condition in enumerate(inner)
    ]
    whole = tuple(part for part in parts if part is not None)
    return JoinedConditions(join, whole) if len(whole) == len(parts) else None


@dataclass(frozen=True)
class Alternative:
    """One line of the condition form: lines of a group are joined by "and", groups by "or"."""

    group: int
    is_negated: bool
    test: Test


def as_alternatives(condition: Condition) -> tuple[Alternative, ...] | None:
    """Return the condition as form lines, or None if it is nested too deeply for the form.

    Examples
    --------
    >>> lines = as_alternatives(JoinedConditions("any", (Test("a", "equals", 1), Test("b", "equals", 2))))
    >>> [(line.group, line.test.question) for line in lines]
    [(1, 'a'), (2, 'b')]
    """
    groups = condition.parts if isinstance(condition, JoinedConditions) and condition.join == ANY else (condition,)
    lines = []
    for number, group in enumerate(groups, start=1):
        parts = group.parts if isinstance(group, JoinedConditions) and group.join == ALL else (group,)
        for part in parts:
            is_negated = isinstance(part, JoinedConditions) and part.join == NOT
            test = part.parts[0] if isinstance(part, JoinedConditions) and is_negated else part
            if not isinstance(test, Test):
                return None
            lines.append(Alternative(number, is_negated, test))
    return tuple(lines)


def from_alternatives(lines: Sequence[Alternative]) -> Condition | None:
    """Build a condition from form lines; None if there are none.

    Examples
    --------
    >>> from_alternatives([Alternative(1, True, Test("a", "equals", 1))]).as_data()
    {'not': {'question': 'a', 'equals': 1}}
    """
    groups: dict[int, list[Condition]] = {}
    for line in lines:
        part: Condition = JoinedConditions(NOT, (line.test,)) if line.is_negated else line.test
        groups.setdefault(line.group, []).append(part)
    joined = [_join(ALL, parts) for _number, parts in sorted(groups.items())]
    return _join(ANY, joined) if joined else None


def _join(join: str, parts: Sequence[Condition]) -> Condition:
    return parts[0] if len(parts) == 1 else JoinedConditions(join, tuple(parts))
