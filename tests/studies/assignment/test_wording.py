"""Quotas and targets as text: written, read back, and refused by line."""

from __future__ import annotations

import pytest

from core.errors import ParameterError
from studies.allocation.assignment.wording import quotas_as_text, targets_from_text

pytestmark = pytest.mark.unit


def test_quotas_are_written_with_their_names_and_tests() -> None:
    quotas = [
        {"name": "women", "most": 105, "where": [{"question": "gender", "values": ["woman"]}]},
        {"name": "seen = no; age = 20-34", "most": 9, "where": [
            {"question": "seen", "values": [False]}, {"question": "age", "band": [20, 34]},
        ]},
    ]  # fmt: skip
    assert quotas_as_text(quotas) == "105 women: gender = woman\n9: seen = no; age = 20-34"


def test_targets_name_conditions_that_there_are() -> None:
    assert targets_from_text("TopPop: 40\n\nPureSVD 50 (a: b): 7", ["TopPop", "PureSVD 50 (a: b)"]) == {
        "TopPop": 40,
        "PureSVD 50 (a: b)": 7,
    }
    for line, said in (("TopPop 40", "not a condition"), ("Top: 4", "no condition")):
        with pytest.raises(ParameterError, match=said):
            targets_from_text(line, ["TopPop"])
