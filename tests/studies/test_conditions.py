"""When a question is shown: comparisons, what joins them, and the lines of the form that says them."""

from __future__ import annotations

import doctest
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import ParameterError
from studies.instrument import scales
from studies.instrument.questionnaires import conditions, core, document, orders, questions, reading, schema
from studies.instrument.questionnaires.conditions import (
    Condition,
    JoinedConditions,
    Test,
    as_alternatives,
    from_alternatives,
    read_condition,
)
from studies.instrument.questionnaires.problems import Notes
from studies.instrument.questionnaires.schema import questionnaire_from

pytestmark = pytest.mark.unit
TEXT = {"en": "What?"}


@pytest.mark.parametrize("module", [conditions, questions, document, orders, scales, core])
def test_examples_in_docstrings_run(module: object) -> None:
    result = doctest.testmod(module)  # type: ignore[arg-type]
    assert result.attempted > 0
    assert result.failed == 0


@pytest.mark.parametrize(
    ("relation", "value", "given", "holds"),
    [
        ("equals", True, True, True), ("equals", True, 1, False), ("equals", 1, True, False),
        ("differs", "a", "b", True), ("differs", "a", None, False), ("one_of", ("a", "b"), "b", True),
        ("includes", "a", ["a", "b"], True), ("includes", "c", ["a", "b"], False), ("below", 3, 2, True),
        ("below", 3, True, False), ("at_most", 3, 3, True), ("above", 3, 3, False), ("at_least", 3, "4", False),
        ("answered", True, "x", True), ("answered", True, {"declined": True}, False), ("answered", False, None, True),
        ("equals", "other", {"other": "my own"}, True),
    ],
)  # fmt: skip
def test_a_comparison_holds(relation: str, value: Any, given: Any, holds: bool) -> None:
    assert Test("q", relation, value).holds({"q": given}) is holds


CASES = json.loads((Path(__file__).parents[1] / "data" / "conditions.json").read_text())


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_condition_holds_as_in_the_cases_shared_with_the_script(case: dict[str, Any]) -> None:
    condition = read_condition(case["condition"], (), Notes())
    assert condition is not None
    assert condition.holds(case["answers"]) is case["holds"]
    here = frozenset("acmnt")
    assert json.loads(json.dumps(condition.as_script(here, case["answers"]))) == case["script"]


def test_a_row_of_a_matrix_is_compared_by_itself() -> None:
    test = Test("m", "at_least", 4, "a")
    assert test.holds({"m": {"a": 4, "b": 1}})
    assert not test.holds({"m": {"b": 5}})
    assert test.as_script(frozenset({"m"}), {}) == {"q": "m.a", "is": "at_least", "v": "4"}
    assert test.as_script(frozenset(), {"m": {"a": 5}}) is True


def conditions_of(depth: int = 2) -> st.SearchStrategy[Condition]:
    tests = st.builds(Test, st.sampled_from("abc"), st.just("equals"), st.booleans())
    return st.recursive(
        tests,
        lambda inner: st.one_of(
            st.builds(lambda part: JoinedConditions("not", (part,)), inner),
            st.builds(
                lambda join, parts: JoinedConditions(join, tuple(parts)),
                st.sampled_from(["all", "any"]),
                st.lists(inner, min_size=1, max_size=3),
            ),
        ),
        max_leaves=6,
    )


@given(conditions_of(), st.dictionaries(st.sampled_from("abc"), st.booleans()))
def test_lines_of_a_form_mean_what_the_condition_means(condition: Condition, answers: dict[str, bool]) -> None:
    lines = as_alternatives(condition)
    if lines is not None:
        again = from_alternatives(lines)
        assert again is not None
        assert again.holds(answers) == condition.holds(answers)


@given(conditions_of())
def test_a_condition_reads_back_from_its_data(condition: Condition) -> None:
    asked = [{"key": key, "kind": "yes_no", "text": TEXT} for key in "abc"]
    last = {"key": "d", "kind": "text", "text": TEXT, "shown_if": condition.as_data()}
    assert questionnaire_from({"about": [*asked, last]}).about[-1].shown_if == condition


def test_what_hangs_on_a_hidden_question_is_hidden_with_it() -> None:
    found = questionnaire_from(
        {
            "about": [
                {"key": "a", "kind": "yes_no", "text": TEXT},
                {"key": "b", "kind": "yes_no", "text": TEXT, "shown_if": {"question": "a", "equals": True}},
            ],
            "overall": [
                {"key": "c", "kind": "text", "text": TEXT, "shown_if": {"question": "b", "equals": True}},
                {"key": "d", "kind": "text", "text": TEXT, "shown_if": {"not": {"question": "b", "answered": True}}},
            ],
        }
    )
    assert [q.key for q in found.shown("overall", {"a": True, "b": True})] == ["c"]
    assert [q.key for q in found.shown("overall", {"a": False, "b": True})] == ["d"]
    assert found.missing("overall", {"a": False, "b": True}) == ("d",)


M = {"key": "m", "kind": "matrix", "text": TEXT, "minimum": 1, "maximum": 5, "rows": [{"key": "r", "text": TEXT}]}
L = {"key": "l", "kind": "likert", "text": TEXT, "minimum": 1, "maximum": 5}
C = {"key": "c", "kind": "multiple", "text": TEXT, "choices": [{"value": "x", "label": TEXT}]}


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        ({"question": "z", "equals": 1}, "does not come before"),
        ({"question": "m", "equals": 1}, "name the row"),
        ({"question": "m", "row": "s", "equals": 1}, "no such row"),
        ({"question": "l", "row": "r", "equals": 1}, "not a matrix"),
        ({"question": "l", "equals": 6}, "not an answer to 'l'"),
        ({"question": "l", "includes": 3}, "Use equals"),
        ({"question": "c", "equals": "x"}, "Use includes"),
        ({"question": "c", "includes": "y"}, "not an answer to 'c'"),
        ({"question": "l", "above": "3"}, "needs a number"),
        ({"question": "l", "equals": 3, "above": 2}, "with one of"),
        ({"question": "l", "answered": 3}, "true or false"),
        ({"question": "l", "one_of": 3}, "list of answers"),
        ({"all": []}, "list of conditions"),
        ({"all": [{"question": "l", "equals": 3}], "any": []}, "must be the only key"),
        ("l", "needs a question"),
        ({"not": {"not": {"not": {"not": {"not": {"not": {"not": {"not": {}}}}}}}}}, "nested at most 6 levels deep"),
    ],
)
def test_a_condition_that_could_never_be_looked_at_is_refused(condition: Any, said: str) -> None:
    last = {"key": "t", "kind": "text", "text": TEXT, "shown_if": condition}
    with pytest.raises(ParameterError, match=said):
        questionnaire_from({"about": [M, L, C, last]})
    assert reading.KEY.fullmatch("t")
    assert schema.BLOCKS
