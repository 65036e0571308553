"""Plain data read as conditions, and held against the questions that stand before them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from studies.questionnaires.conditions import ALL, DEEPEST, JOINS, NOT, RELATIONS, Condition, Joined, Test
from studies.questionnaires.problems import Notes, Path
from studies.questionnaires.questions import IN_WORDS, MATRIX, MULTIPLE, NUMBER, OTHER, SLIDER, YES_NO, Question


def is_number(value: Any) -> bool:
    """Whether a value is a plain number: finite, and neither true nor false."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def read_condition(given: Any, path: Path, notes: Notes, depth: int = 0) -> Condition | None:
    """Read a comparison, or several joined; None where there is a problem, which is noted.

    Parameters
    ----------
    given : object
        The condition as plain data.
    path : tuple
        Where it stands.
    notes : Notes
        Takes the problems.
    depth : int
        How many conditions it stands in.

    Returns
    -------
    Condition or None

    Examples
    --------
    >>> read_condition({"question": "age", "at_least": 18}, (), Notes()).holds({"age": 20})
    True
    """
    if not isinstance(given, Mapping):
        notes.wrong(path, f"A condition names a question and what its answer is; got {given!r}.")
        return None
    if depth > DEEPEST:
        notes.wrong(path, f"Conditions go {DEEPEST} deep at most. Join them in another way.")
        return None
    joins = [name for name in JOINS if name in given]
    if joins:
        return _joined(given, joins[0], path, notes, depth)
    relations = [name for name in RELATIONS if name in given]
    unknown = sorted(set(given) - {"question", "row", *RELATIONS})
    if not isinstance(given.get("question"), str) or len(relations) != 1 or unknown:
        notes.wrong(
            path,
            f"A condition is a question with one of {', '.join(RELATIONS)}, or one of {', '.join(JOINS)} with "
            f"conditions; got {dict(given)!r}.",
        )
        return None
    relation = relations[0]
    value = given[relation]
    if relation == "one_of":
        if not isinstance(value, list | tuple) or not value:
            notes.wrong((*path, relation), f"one_of is followed by a list of answers; got {value!r}.")
            return None
        value = tuple(value)
    elif relation == "answered":
        if not isinstance(value, bool):
            notes.wrong((*path, relation), f"answered is true or false; got {value!r}.")
            return None
    elif relation in ("below", "at_most", "above", "at_least"):
        if not is_number(value):
            notes.wrong((*path, relation), f"{relation} is followed by a number; got {value!r}.")
            return None
    elif not isinstance(value, str | int | float):
        notes.wrong((*path, relation), f"{relation} is followed by one answer; got {value!r}.")
        return None
    return Test(given["question"], relation, value, str(given.get("row") or ""))


def _joined(given: Mapping[str, Any], join: str, path: Path, notes: Notes, depth: int) -> Condition | None:
    if len(given) != 1:
        notes.wrong(path, f"{join} stands alone; put the other conditions beside those it joins.")
        return None
    inner = given[join]
    if join == NOT:
        part = read_condition(inner, (*path, join), notes, depth + 1)
        return Joined(NOT, (part,)) if part is not None else None
    if not isinstance(inner, list | tuple) or not inner:
        what = "all of" if join == ALL else "any of"
        notes.wrong((*path, join), f"{join} is followed by a list of conditions, {what} which are to hold.")
        return None
    parts = [read_condition(one, (*path, join, number), notes, depth + 1) for number, one in enumerate(inner)]
    whole = tuple(part for part in parts if part is not None)
    return Joined(join, whole) if len(whole) == len(parts) else None


def possible_answers(question: Question, row: str = "") -> tuple[Any, ...]:
    """The answers that a question can have, where there are few.

    Parameters
    ----------
    question : Question
        Any question.
    row : str
        Key of a matrix's row.

    Returns
    -------
    tuple
        Empty for numbers and words.
    """
    if question.kind == YES_NO:
        return (True, False)
    if question.choices:
        return (*(choice.value for choice in question.choices), *((OTHER,) if question.other else ()))
    if question.is_on_points and question.minimum is not None and (row or question.kind != MATRIX):
        return tuple(range(question.minimum, question.maximum + 1))
    return ()


def test_problem(test: Test, earlier: Mapping[str, Question]) -> str:
    """What is wrong with a comparison, in a sentence; empty where nothing is.

    Parameters
    ----------
    test : Test
        The comparison.
    earlier : mapping
        The questions it may speak of, by key.

    Returns
    -------
    str
    """
    asked = earlier.get(test.question)
    if asked is None:
        return (
            f"depends on {test.question!r}, which does not come before it. A condition speaks of a question earlier "
            "in its block, or in a block before it (not of one about items, outside their block)."
        )
    if asked.is_identifying and (test.relation != "answered" or test.row):
        return (
            f"depends on what {asked.key!r} is answered by, which names a person and may be erased. Ask whether it "
            "was answered."
        )
    if (asked.kind == MATRIX) != bool(test.row) and test.relation != "answered":
        if asked.kind == MATRIX:
            return f"depends on the matrix {asked.key!r}: say of which row, with row: …."
        return f"depends on a row of {asked.key!r}, which is no matrix. Leave the row out."
    if test.row and test.row not in {row.key for row in asked.rows}:
        return f"depends on the row {test.row!r} of {asked.key!r}, which has no such row."
    if (test.relation == "includes") != (asked.kind == MULTIPLE) and test.relation != "answered":
        right = "includes" if asked.kind == MULTIPLE else "equals"
        return f"compares {asked.key!r} by {test.relation}. Use {right}."
    if test.relation in ("below", "at_most", "above", "at_least") and not (
        asked.kind in (NUMBER, SLIDER) or asked.is_on_points
    ):
        return f"compares {asked.key!r} by {test.relation}, and its answers are no numbers."
    known = possible_answers(asked, test.row)
    values = test.value if test.relation == "one_of" else (test.value,)
    if test.relation in ("equals", "differs", "one_of", "includes") and known:
        wrong = [value for value in values if not any(value == one and type(value) is type(one) for one in known)]
        if wrong:
            return f"waits for {wrong[0]!r}, which is no answer to {asked.key!r}; its answers are {list(known)}."
    if test.relation in ("equals", "differs", "one_of") and asked.kind in IN_WORDS:
        return f"compares the words of {asked.key!r}. Ask whether it was answered."
    return ""
