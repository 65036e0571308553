"""Random orders of questions, choices and rows.

`seed` is the participant's throughout.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from studies.instrument.questionnaires.questions import Question


def shuffled(values: Sequence[str], seed: int, name: str) -> tuple[str, ...]:
    """Return the values in an order determined by the seed and the name.

    Examples
    --------
    >>> sorted(shuffled(["a", "b", "c"], 1, "q")) == ["a", "b", "c"]
    True
    """
    return tuple(sorted(values, key=lambda value: hashlib.sha256(f"{seed}\n{name}\n{value}".encode()).digest()))


def order_of_questions(questions: Sequence[Question], seed: int) -> tuple[str, ...]:
    """Return the question keys of a block as shown, with adjacent questions of a random group shuffled."""
    order: list[str] = []
    start = 0
    while start < len(questions):
        group = questions[start].random_group
        end = start + 1
        while group and end < len(questions) and questions[end].random_group == group:
            end += 1
        keys = [question.key for question in questions[start:end]]
        order += shuffled(keys, seed, f"group {group}") if group else keys
        start = end
    return tuple(order)


def order_within(question: Question, seed: int) -> tuple[str, ...]:
    """Return the values of a question's choices, or the keys of its rows, as shown.

    Exclusive choices stay at the end. Empty if the question has neither.
    """
    if question.rows:
        rows = [row.key for row in question.rows]
        return shuffled(rows, seed, question.key) if question.random_order else tuple(rows)
    moving = [choice.value for choice in question.choices if not choice.is_exclusive]
    last = [choice.value for choice in question.choices if choice.is_exclusive]
    if not question.random_order:
        return tuple(choice.value for choice in question.choices)
    return (*shuffled(moving, seed, question.key), *last)
