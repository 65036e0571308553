"""Parses conditions from plain data and validates them against earlier questions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from studies.instrument.questionnaires.conditions import ALL, DEEPEST, JOINS, NOT, RELATIONS, Condition, Joined, Test
from studies.instrument.questionnaires.problems import Notes, Path
from studies.instrument.questionnaires.questions import Question


def is_number(value: Any) -> bool:
    """Whether a value is a plain number: finite, and neither true nor false."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


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
    relations = [name for name in RELATIONS if name in data]
    unknown = sorted(set(data) - {"question", "row", *RELATIONS})
    if not isinstance(data.get("question"), str) or len(relations) != 1 or unknown:
        notes.wrong(
            path,
            f"A condition is a question with one of {', '.join(RELATIONS)}, or one of {', '.join(JOINS)} with "
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
        return Joined(NOT, (part,)) if part is not None else None
    if not isinstance(inner, list | tuple) or not inner:
        what = "all of" if join == ALL else "any of"
        notes.wrong((*path, join), f"{join} needs a list of conditions, {what} which must hold.")
        return None
    parts = [
        read_condition(condition, (*path, join, number), notes, depth + 1) for number, condition in enumerate(inner)
    ]
    whole = tuple(part for part in parts if part is not None)
    return Joined(join, whole) if len(whole) == len(parts) else None


def test_problem(test: Test, earlier: Mapping[str, Question]) -> str:
    """Return the problem of a comparison as part of a sentence; empty if there is none.

    `earlier` has the questions it may refer to, by key.
    """
    question = earlier.get(test.question)
    if question is None:
        return (
            f"depends on {test.question!r}, which does not come before it. A condition may refer to questions earlier "
            "in its block or in earlier blocks; questions about items can be used only within their block."
        )
    if question.is_identifying and (test.relation != "answered" or test.row):
        return (
            f"depends on the answer to {question.key!r}, which identifies a person and may be erased. Ask whether it "
            "was answered."
        )
    if bool(question.rows) != bool(test.row) and test.relation != "answered":
        if question.rows:
            return f"depends on the matrix {question.key!r}: name the row with row: …."
        return f"depends on a row of {question.key!r}, which is not a matrix. Remove row."
    if test.row and test.row not in {row.key for row in question.rows}:
        return f"depends on the row {test.row!r} of {question.key!r}, which has no such row."
    if (test.relation == "includes") != question.takes_several and test.relation != "answered":
        right = "includes" if question.takes_several else "equals"
        return f"compares {question.key!r} by {test.relation}. Use {right}."
    if test.relation in ("below", "at_most", "above", "at_least") and not question.is_numeric:
        return f"compares {question.key!r} by {test.relation}, but its answers are not numbers."
    known = question.possible_answers(test.row)
    values = test.value if test.relation == "one_of" else (test.value,)
    if test.relation in ("equals", "differs", "one_of", "includes") and known:
        wrong = [
            value for value in values if not any(value == answer and type(value) is type(answer) for answer in known)
        ]
        if wrong:
            return f"expects {wrong[0]!r}, which is not an answer to {question.key!r}; its answers are {list(known)}."
    if test.relation in ("equals", "differs", "one_of") and question.is_in_words:
        return f"compares the text of {question.key!r}. Ask whether it was answered."
    return ""
