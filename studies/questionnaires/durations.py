"""How long questions take to read and answer, by stated assumptions and not by measurement."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from studies.questionnaires.condition_reading import possible_answers
from studies.questionnaires.conditions import ALL, NOT, Condition, Joined, Test
from studies.questionnaires.questionnaire import KNOWN_IN, Questionnaire
from studies.questionnaires.questions import (
    ATTENTION,
    CHOICE,
    LIKERT,
    LONG_TEXT,
    MATRIX,
    MULTIPLE,
    NUMBER,
    SLIDER,
    TEXT,
    YES_NO,
    Question,
)

# Assumptions: what stands in where nobody has been timed yet. A matrix is as many Likert questions as it has rows.
SECONDS: Mapping[str, float] = MappingProxyType(
    {
        YES_NO: 5.0, LIKERT: 7.0, ATTENTION: 7.0, CHOICE: 7.0, SLIDER: 8.0, NUMBER: 8.0, MULTIPLE: 10.0, TEXT: 15.0,
        LONG_TEXT: 40.0,
    }
)  # fmt: skip
LONGEST_LINE = 200  # characters; a text that may be longer has a field that grows, and counts as long
EVEN = 0.5  # how often a comparison holds whose answers cannot be counted
MOST_COUNTED = 10_000  # answers of one number


def seconds_of(question: Question) -> float:
    """Seconds that somebody who is asked a question takes over it.

    Parameters
    ----------
    question : Question
        Of any kind.

    Returns
    -------
    float
        Above 0.

    Examples
    --------
    >>> seconds_of(Question("watched", "yes_no", {"en": "Watched?"}))
    5.0
    """
    if question.kind == MATRIX:
        return SECONDS[LIKERT] * len(question.rows)
    if question.kind == TEXT and question.max_length > LONGEST_LINE:
        return SECONDS[LONG_TEXT]
    return SECONDS[question.kind]


def expected_seconds(questionnaire: Questionnaire, block: str) -> float:
    """Seconds that a block takes: each question times how often it is asked; of the items, for one of them.

    A question that is shown only after certain answers is asked as often as its condition holds where every answer
    is as likely as any other, comparisons are independent, and everybody answers all that they are asked. A
    comparison holds by the share of the answers that meet it: of the choices, of the points, of the numbers from
    minimum to maximum; each choice of several is ticked half of the time. Where answers cannot be counted (words,
    numbers without limits) it holds half of the time. No comparison holds where its own question is not asked.

    Parameters
    ----------
    questionnaire : Questionnaire
        The whole: conditions speak of earlier blocks too.
    block : str
        One of `schema.BLOCKS`.

    Returns
    -------
    float
        At least 0; 0 for a block without questions.

    Examples
    --------
    >>> from studies.questionnaires.schema import questionnaire_from
    >>> asked = questionnaire_from({"items": [
    ...     {"key": "watched", "kind": "yes_no", "text": {"en": "Watched?"}},
    ...     {"key": "heard", "kind": "yes_no", "text": {"en": "Heard of?"},
    ...      "shown_if": {"question": "watched", "equals": False}},
    ... ]})
    >>> expected_seconds(asked, "items")
    7.5
    """
    shares = shares_asked(questionnaire, block)
    return math.fsum(shares[question.key] * seconds_of(question) for question in questionnaire.block(block))


def shares_asked(questionnaire: Questionnaire, block: str) -> dict[str, float]:
    """How often each question is asked that is known where a block is, by the rule of `expected_seconds`.

    Parameters
    ----------
    questionnaire : Questionnaire
        The whole.
    block : str
        One of `schema.BLOCKS`.

    Returns
    -------
    dict of str to float
        Question key to a share, 0 to 1; 1 where it is always asked.
    """
    earlier: dict[str, Question] = {}
    found: dict[str, float] = {}
    for name in KNOWN_IN[block]:
        for question in questionnaire.block(name):
            found[question.key] = 1.0 if question.shown_if is None else _chance(question.shown_if, earlier, found)
            earlier[question.key] = question
    return found


def _chance(condition: Condition, earlier: Mapping[str, Question], asked: Mapping[str, float]) -> float:
    if isinstance(condition, Joined):
        parts = [_chance(part, earlier, asked) for part in condition.parts]
        if condition.join == NOT:
            return 1.0 - parts[0]
        return math.prod(parts) if condition.join == ALL else 1.0 - math.prod(1.0 - part for part in parts)
    reached = asked[condition.question]
    if condition.relation == "answered":
        return reached if condition.value else 1.0 - reached
    return reached * _share_that_meets(condition, earlier[condition.question])


def _share_that_meets(test: Test, question: Question) -> float:
    answers = _answers(test, question)
    if not answers:
        return EVEN
    return sum(test.holds({test.question: answer}) for answer in answers) / len(answers)


def _answers(test: Test, question: Question) -> list[Any]:
    """The answers that are counted, as they are stored; none where they cannot be."""
    if question.kind == MULTIPLE:
        return []
    if test.row:
        return [{test.row: value} for value in possible_answers(question, test.row)]
    if question.kind in (NUMBER, SLIDER):
        return _numbers(question)
    return list(possible_answers(question))


def _numbers(question: Question) -> list[float]:
    low, high = question.minimum, question.maximum
    if low is None or high is None:
        return []
    step = question.step if question.kind == SLIDER else 10.0**-question.decimals
    n = round((high - low) / step) + 1
    return [low + step * at for at in range(n)] if n <= MOST_COUNTED else []
