"""Strata, quotas and targets as text: written, read back, and refused by line."""

from __future__ import annotations

import pytest

from core.errors import ParameterError
from studies.allocation.assignment.wording import (
    quotas_as_text,
    quotas_from_text,
    strata_as_text,
    strata_from_text,
    targets_from_text,
)
from studies.design.presets.loader import load_preset

pytestmark = pytest.mark.unit


def test_the_strata_of_the_template_are_read_back_as_they_were() -> None:
    settings = load_preset("cremonesi-2011").settings
    text = strata_as_text(settings["strata"], settings["expected_shares"])
    assert text == "gender: women = woman; men = man; all others\nage: 20-34; 35-50"
    assert strata_from_text(text) == (settings["strata"], settings["expected_shares"])


def test_a_yes_no_question_makes_strata_of_yes_and_no() -> None:
    rules, shares = strata_from_text("seen: knows it = yes 12.5 %; new\n\nage: 20 – 29 10%; 30-39", ["seen"])
    assert rules[0] == {"question": "seen", "groups": [{"name": "knows it", "values": [True]}], "rest": "new"}
    assert rules[1]["bands"] == [[20, 29], [30, 39]]
    assert shares == {"seen": {"knows it": 12.5}, "age": {"20-29": 10.0}}
    assert strata_as_text(rules, shares) == "seen: knows it = yes 12.5%; new\nage: 20-29 10%; 30-39"


def test_groups_without_a_name_for_the_rest_get_one() -> None:
    (rule,) = strata_from_text("gender: women = woman, girl")[0]
    assert rule["groups"] == [{"name": "women", "values": ["woman", "girl"]}]
    assert rule["rest"] == "all others"
    assert strata_from_text("")[0] == []


@pytest.mark.parametrize(
    "line", ["gender", "gender:", ": women = woman", "gender: a; b", "gender: women = woman; 20-34", "age: 20-34; rest"]
)
def test_strata_that_cannot_be_read_are_refused_by_line(line: str) -> None:
    with pytest.raises(ParameterError, match="Line 2"):
        strata_from_text(f"age: 20-34\n{line}")


def test_quotas_are_read_back_as_they_were() -> None:
    text = "105 women: gender = woman\n60: gender = woman, man; age = 20-34\n9: seen = no"
    quotas = quotas_from_text(text, ["seen"])
    assert quotas[0] == {"name": "women", "most": 105, "where": [{"question": "gender", "values": ["woman"]}]}
    assert quotas[1]["where"][1] == {"question": "age", "band": [20, 34]}
    assert quotas[2]["where"][0]["values"] == [False]
    assert quotas_as_text(quotas) == text


@pytest.mark.parametrize("line", ["women", "many: gender = woman", "5: gender", "5: = woman", "5: gender =", "5:"])
def test_quotas_that_cannot_be_read_are_refused_by_line(line: str) -> None:
    with pytest.raises(ParameterError, match="Line 1"):
        quotas_from_text(line)


def test_targets_name_conditions_that_there_are() -> None:
    assert targets_from_text("TopPop: 40\nPureSVD 50 (a: b): 7", ["TopPop", "PureSVD 50 (a: b)"]) == {
        "TopPop": 40,
        "PureSVD 50 (a: b)": 7,
    }
    for line, said in (("TopPop 40", "not a condition"), ("Top: 4", "no condition")):
        with pytest.raises(ParameterError, match=said):
            targets_from_text(line, ["TopPop"])
