"""What a page says about an answer that is missing, or that a question does not allow."""

from __future__ import annotations

from typing import Any

import pytest

from studies.instrument.questionnaires.schema import Question, questionnaire_from

pytestmark = pytest.mark.unit
CHOICES = [{"value": name, "label": {"en": name}} for name in ("phone", "cinema", "tv")]


def question(**fields: Any) -> Question:
    asked = {"key": "asked", "text": {"en": "Asked?"}, **fields}
    return questionnaire_from({"after": [asked]}).block("after")[0]


@pytest.mark.parametrize(
    ("fields", "value", "message", "facts"),
    [
        ({"kind": "multiple", "choices": CHOICES, "minimum": 2}, ["tv"], "Please choose at least %(n)s.", {"n": 2}),
    ],
)
def test_missing_answer(fields: dict[str, Any], value: Any, message: str, facts: dict[str, Any]) -> None:
    assert question(**fields).missing_message(value) == (message, facts)


@pytest.mark.parametrize(
    ("fields", "value", "message", "facts"),
    [
        ({"kind": "number", "minimum": 1}, "x", "Please enter a number that this question allows.", {}),
        (
            {"kind": "number", "minimum": 0, "maximum": 9, "decimals": 1},
            12,
            "Please enter a number from %(low)s to %(high)s.",
            {"low": 0, "high": 9},
        ),
        (
            {"kind": "number", "minimum": 0, "maximum": 9},
            12,
            "Please enter a whole number from %(low)s to %(high)s.",
            {"low": 0, "high": 9},
        ),
        ({"kind": "long_text", "max_length": 3}, "long", "Please use at most %(n)s characters.", {"n": 3}),
        ({"kind": "long_text", "max_length": 3}, 7, "Please choose one of the answers that the page offers.", {}),
    ],
)
def test_answer_that_is_not_allowed(fields: dict[str, Any], value: Any, message: str, facts: dict[str, Any]) -> None:
    assert question(**fields).error_message(value) == (message, facts)
