"""The order in which a participant meets questions, choices and rows, where it is random."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from studies.questionnaires.questions import Question


def shuffled(values: Sequence[str], seed: int, name: str) -> tuple[str, ...]:
    """The values in an order of the seed's own; the same for the same seed and name.

    Parameters
    ----------
    values : sequence of str
        Different from one another.
    seed : int
        The participant's.
    name : str
        What is put in order.

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> sorted(shuffled(["a", "b", "c"], 1, "q")) == ["a", "b", "c"]
    True
    """
    return tuple(sorted(values, key=lambda value: hashlib.sha256(f"{seed}\n{name}\n{value}".encode()).digest()))


def order_of_questions(questions: Sequence[Question], seed: int) -> tuple[str, ...]:
    """Keys of a block's questions as they are shown: neighbours of one random group in a random order.

    Parameters
    ----------
    questions : sequence of Question
        The block.
    seed : int
        The participant's.

    Returns
    -------
    tuple of str
    """
    found: list[str] = []
    place = 0
    while place < len(questions):
        group = questions[place].random_group
        end = place + 1
        while group and end < len(questions) and questions[end].random_group == group:
            end += 1
        keys = [question.key for question in questions[place:end]]
        found += shuffled(keys, seed, f"group {group}") if group else keys
        place = end
    return tuple(found)


def order_within(question: Question, seed: int) -> tuple[str, ...]:
    """Values of a question's choices, or keys of its rows, as they are shown.

    A choice that goes with no other stays at the end.

    Parameters
    ----------
    question : Question
        Any question.
    seed : int
        The participant's.

    Returns
    -------
    tuple of str
        Empty where the question has neither.
    """
    if question.rows:
        rows = [row.key for row in question.rows]
        return shuffled(rows, seed, question.key) if question.random_order else tuple(rows)
    moving = [choice.value for choice in question.choices if not choice.is_exclusive]
    last = [choice.value for choice in question.choices if choice.is_exclusive]
    if not question.random_order:
        return tuple(choice.value for choice in question.choices)
    return (*shuffled(moving, seed, question.key), *last)


def has_random_order(questions: Sequence[Question]) -> bool:
    """Whether anything about a block is in a random order.

    Parameters
    ----------
    questions : sequence of Question
        The block.

    Returns
    -------
    bool
    """
    return any(question.random_group or question.random_order for question in questions)
