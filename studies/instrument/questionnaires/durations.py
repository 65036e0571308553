"""Expected answering times, from stated assumptions rather than measurements."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from studies.instrument.questionnaires.conditions import ALL, NOT, Condition, JoinedConditions, Test
from studies.instrument.questionnaires.questions import Question
from studies.instrument.questionnaires.schema import Questionnaire

EVEN = 0.5  # probability assumed for a comparison with uncountable answers


def expected_seconds(questionnaire: Questionnaire, block: str) -> float:
    """Return the expected duration of a block in seconds; for the items block, the duration of one item.

    The time of each question is weighted by the probability that it is asked. For a conditional question this is the
    probability of its condition, assuming that all answers are equally likely, comparisons are independent and
    participants answer every question they are asked. A comparison holds with the share of possible answers that meet
    it: choices, scale points, or numbers from minimum to maximum. Each option of a multiple choice is ticked with
    probability 1/2. Comparisons with uncountable answers (free text, numbers without limits) also hold with probability
    1/2. A comparison never holds if its own question is not asked. Conditions may refer to earlier blocks. 0 for a
    block without questions.

    Examples
    --------
    >>> from studies.instrument.questionnaires.schema import questionnaire_from
    >>> asked = questionnaire_from({"items": [
    ...     {"key": "watched", "kind": "yes_no", "text": {"en": "Watched?"}},
    ...     {"key": "heard", "kind": "yes_no", "text": {"en": "Heard of?"},
    ...      "shown_if": {"question": "watched", "equals": False}},
    ... ]})
    >>> expected_seconds(asked, "items")
    7.5
    """
    shares = shares_asked(questionnaire, block)
    return math.fsum(shares[question.key] * question.seconds_needed for question in questionnaire.block(block))


def shares_asked(questionnaire: Questionnaire, block: str) -> dict[str, float]:
    """Return the probability that each question up to a block is asked, as defined by `expected_seconds`.

    The result maps the keys of questions to probabilities; 1 if a question is always asked.
    """
    earlier: dict[str, Question] = {}
    shares: dict[str, float] = {}
    for name in questionnaire.known_in(block):
        for question in questionnaire.block(name):
            shares[question.key] = 1.0 if question.shown_if is None else _chance(question.shown_if, earlier, shares)
            earlier[question.key] = question
    return shares


def _chance(condition: Condition, earlier: Mapping[str, Question], shares: Mapping[str, float]) -> float:
    if isinstance(condition, JoinedConditions):
        parts = [_chance(part, earlier, shares) for part in condition.parts]
        if condition.join == NOT:
            return 1.0 - parts[0]
        return math.prod(parts) if condition.join == ALL else 1.0 - math.prod(1.0 - part for part in parts)
    reached = shares[condition.question]
    if condition.relation == "answered":
        return reached if condition.value else 1.0 - reached
    answers = _answers(condition, earlier[condition.question])
    if not answers:
        return reached * EVEN
    return reached * sum(condition.holds({condition.question: answer}) for answer in answers) / len(answers)


def _answers(test: Test, question: Question) -> list[Any]:
    """Return the possible answers as stored; empty if they cannot be counted."""
    if test.row:
        return [{test.row: value} for value in question.possible_answers(test.row)]
    return list(question.countable_answers())
