"""Batteries of a questionnaire: what stands together, and what somebody marked in it."""

from __future__ import annotations

import doctest
from typing import Any

import pytest

from studies.design.presets.loader import load_preset
from studies.instrument import scales
from studies.instrument.questionnaires.schema import questionnaire_from
from studies.instrument.scales import batteries_of

pytestmark = pytest.mark.unit
WORDS = {"en": "Words"}
SCALES = [{"key": "trust", "name": WORDS}]


def likert(key: str, maximum: int = 5, **more: Any) -> dict[str, Any]:
    return {"key": key, "kind": "likert", "text": WORDS, "minimum": 1, "maximum": maximum, **more}


def matrix(key: str, *rows: tuple[str, bool], **more: Any) -> dict[str, Any]:
    own = [{"key": name, "text": WORDS, "reversed": is_reversed} for name, is_reversed in rows]
    return {"key": key, "kind": "matrix", "text": WORDS, "rows": own, **more}


def test_examples() -> None:
    assert doctest.testmod(scales).failed == 0


def test_questions_and_rows_stand_together_by_block_and_number_of_points() -> None:
    given = {
        "items": [likert("fits")],
        "overall": [likert("whole")],
        "after": [
            likert("a", shown_if={"question": "whole", "equals": 1}),
            likert("wide", 7),
            matrix("m", ("r", False), ("s", True), minimum=0, maximum=4, scale="trust"),
            matrix("said", ("r", False), choices=[{"value": "x", "label": WORDS}, {"value": "y", "label": WORDS}]),
            {"key": "hours", "kind": "number", "text": WORDS, "minimum": 1, "maximum": 5},
            {"key": "look", "kind": "attention", "text": WORDS, "minimum": 1, "maximum": 5, "expects": 2},
        ],
        "scales": SCALES,
    }
    found = batteries_of(questionnaire_from(given))
    assert [(one.block, one.n_points, [member.name for member in one.members]) for one in found] == [
        ("overall", 5, ["whole"]), ("after", 5, ["a", "m.r", "m.s"]), ("after", 7, ["wide"]),
    ]  # fmt: skip
    # The lowest point of a scale from 1 and of one from 0 stand in the same place.
    assert found[1].points({"a": 1, "m": {"r": 0, "s": 0}, "wide": 7}) == [(0, False), (0, False), (0, True)]


def test_what_was_not_answered_or_declined_is_not_marked_and_nothing_is_turned_round_outside_a_scale() -> None:
    given = {
        "after": [
            likert("a", reversed=True, may_decline=True),
            matrix("m", ("r", False), ("s", True), minimum=1, maximum=5, scale="trust"),
        ],
        "scales": SCALES,
    }
    (battery,) = batteries_of(questionnaire_from(given))
    assert battery.points({"a": {"declined": True}, "m": {"s": 5}}) == [(4, True)]
    assert battery.points({"a": 5}) == [(4, False)]
    assert battery.points({}) == []


def test_the_papers_own_questionnaire_has_one_question_on_points_outside_items() -> None:
    (battery,) = batteries_of(questionnaire_from(load_preset("cremonesi-2011").questionnaire))
    assert [member.name for member in battery.members] == ["satisfaction"]
