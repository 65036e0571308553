"""The published schema: every report keeps to it, degenerate ones too, and it notices what does not."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from analysis.files.formats import report_json
from analysis.results.report import SCHEMA_NAME
from analysis.results.schema import report_schema
from analysis.services import build_report
from studies.models import Study
from tests.factories.analysis import plant

pytestmark = [pytest.mark.integration, pytest.mark.django_db, pytest.mark.slow]
DEGENERATE = [
    pytest.param({"TopPop": [3]}, id="one participant"),
    pytest.param({"TopPop": [3, 4, 5]}, id="one condition"),
    pytest.param({"TopPop": [3, 4, 5], "CorNgr": [2], "PureSVD4": [1, 2]}, id="one participant in a condition"),
    pytest.param({"TopPop": [3, 3], "CorNgr": [3, 3], "PureSVD4": [3, 3]}, id="all alike"),
    pytest.param({"TopPop": [5, 5], "CorNgr": [1, 1], "PureSVD4": [3, 3]}, id="no variance within"),
]


def faults(document: Any) -> list[str]:
    return [error.message for error in Draft202012Validator(json.loads(report_schema())).iter_errors(document)]


@pytest.fixture
def numbers(planted: Study) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(report_json(build_report(study=planted)))
    return found


def test_schema_is_one_and_lies_where_it_is_published() -> None:
    Draft202012Validator.check_schema(json.loads(report_schema()))
    assert json.loads(report_schema())["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    published = Path(__file__).parents[2] / "docs" / "reference" / SCHEMA_NAME
    assert published.read_bytes() == report_schema(), f"Write it again: manage.py report_schema > {published}"


def test_report_names_its_schema_and_keeps_to_it(numbers: dict[str, Any]) -> None:
    assert numbers["$schema"] == SCHEMA_NAME
    assert faults(numbers) == []


@pytest.mark.parametrize("answers", DEGENERATE)
def test_reports_with_little_in_them_keep_to_it(study: Study, answers: dict[str, list[int]]) -> None:
    plant(study, answers)
    assert faults(json.loads(report_json(build_report(study=study)))) == []


def test_schema_notices_what_is_wrong(numbers: dict[str, Any]) -> None:
    def broken(change: Any) -> list[str]:
        document = copy.deepcopy(numbers)
        change(document)
        return faults(document)

    def tukey(document: dict[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = document["results"]["variables"][0]["tests"]["tukey"]
        return found

    assert broken(lambda d: d.pop("inputs_hash"))
    assert broken(lambda d: d.update(inputs_hash="abc"))
    assert broken(lambda d: d.update(mode="preview"))
    assert broken(lambda d: tukey(d)["pairs"][0].update(p=1.2))
    assert broken(lambda d: tukey(d)["pairs"][0].update(p="nan"))
    assert broken(lambda d: tukey(d).update(is_defined=False))  # without a reason
    assert broken(lambda d: d["results"]["comparisons"][0]["tau"].pop("p"))
    assert broken(lambda d: d["results"]["variables"][0]["orders"]["tukey"]["tiers"].update(TopPop="best"))
    assert not broken(lambda d: d["results"].update(something_new={}))
