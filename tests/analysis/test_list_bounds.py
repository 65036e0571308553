"""Conditions that serve lists made elsewhere: the report states what they cover and the bounds of their metrics."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from analysis.files.document import document_of
from analysis.files.formats import report_json
from analysis.files.numbers import numbers_csv
from analysis.models import Report
from analysis.results.schema import report_schema
from analysis.services import build_report
from core.provenance import canonical_json
from evaluation.selectors.results import model_rows
from inference.pair_decisions import MAX_T, OfflinePair, OfflinePairs, within_bounds
from studies.enums import Mode
from tests.factories.analysis import plant
from tests.factories.evaluation import make_run_at
from tests.factories.packages import recomputed, unpack
from tests.factories.studies import make_study
from tests.studies.test_served_lists import EVERYONE, run_with

pytestmark = pytest.mark.slow


def pairs(difference: float, half: float) -> OfflinePairs:
    limits = {"ci_low": difference - half, "ci_high": difference + half}
    pair = OfflinePair("A", "B", difference, 0.01, True, statistic=3.0, **limits)
    return OfflinePairs(MAX_T, 0.05, (pair,), {"A": 0.3 + difference, "B": 0.3}, {})


@pytest.mark.unit
@pytest.mark.parametrize(
    ("bounds", "low", "high", "is_decided"),
    [
        ({}, 0.05, 0.15, True),
        ({"B": (0.3, 0.3)}, 0.05, 0.15, True),
        ({"B": (0.29, 0.34)}, 0.01, 0.16, True),
        ({"B": (0.29, 0.36)}, -0.01, 0.16, False),
        ({"A": (0.39, 0.41), "B": (0.29, 0.34)}, 0.0, 0.17, False),
        ({"A": (0.2, 0.4)}, -0.15, 0.15, False),
    ],
)
@pytest.mark.parametrize("sign", [1, -1])
def test_a_pair_whose_sign_the_bounds_leave_open_is_undecided(
    bounds: dict[str, tuple[float, float]], low: float, high: float, is_decided: bool, sign: int
) -> None:
    known = pairs(0.1, 0.05)
    if sign < 0:  # the same algorithms, the other one first
        turned = OfflinePair("B", "A", -0.1, 0.01, True, ci_low=-0.15, ci_high=-0.05)
        known = OfflinePairs(MAX_T, 0.05, (turned,), known.locations, {})
    (pair,) = within_bounds(known, bounds).pairs
    assert sorted((sign * (pair.ci_low or 0.0), sign * (pair.ci_high or 0.0))) == pytest.approx([low, high])
    assert pair.is_significant == is_decided == (pair.p is not None)
    assert bool(pair.reason) != is_decided
    assert pair.difference == sign * 0.1


@pytest.fixture
def report(tmp_path: Path) -> Report:
    """Two conditions, one of which serves the same twelve items to everyone."""
    study = make_study(run=run_with(tmp_path, {"*": EVERYONE[:12]}), per_condition=3)
    plant(study, {"PureSVD4": [3, 4, 5, 4], "Batch": [2, 1, 2, 3]})
    return build_report(study=study)


@pytest.mark.integration
@pytest.mark.django_db
def test_report_states_coverage_and_bounds(report: Report) -> None:
    length, *_ = report.read_results().objective.lengths
    _, row = model_rows(report.run)
    low, high = (row.cells[f"recall(unlisted={end})"].value for end in ("worst", "best"))
    assert low is not None
    assert high is not None
    assert low < high
    assert length.bounds["recall"] == {"Batch": (low, high)}
    assert (length.coverage["Batch"].profiles, length.coverage["Batch"].items) == (1.0, 12 / 40)
    (said,) = [
        text
        for section in document_of(report).all_sections
        for text in (block.text for block in section.blocks)
        if text.startswith("With whole profiles: Batch")
    ]
    assert f"Recall at 5 between {low:.3f} and {high:.3f}".replace(" 0.", " .") in said
    assert "Batch has lists for 100.0% of the test profiles, 100.0% of the cases and 30.0% of the items" in said
    lines = numbers_csv(report.read_results()).splitlines()
    assert f"recall,bounds,Batch,,low,{low}" in lines
    assert f"recall,bounds,Batch,,high,{high}" in lines
    assert "lists,coverage,Batch,,items,0.3" in lines
    stored: dict[str, Any] = json.loads(report_json(report))
    assert not list(Draft202012Validator(json.loads(report_schema())).iter_errors(stored))


@pytest.mark.integration
@pytest.mark.django_db
@pytest.mark.usefixtures("pictures_once")
def test_scripts_of_a_package_leave_bounds_and_coverage_aside(report: Report, tmp_path: Path, rscript: str) -> None:
    unpack(report, tmp_path / "package")
    recomputed(tmp_path / "package", rscript)


@pytest.mark.integration
@pytest.mark.django_db
@pytest.mark.parametrize("learned", [True, False])
def test_report_says_as_the_run_does_that_a_model_may_have_seen_the_test_ratings(tmp_path: Path, learned: bool) -> None:
    measured = run_with(tmp_path, {"*": EVERYONE}, learned=learned)
    study = make_study(run=measured, status="draft")
    plant(study, {"PureSVD4": [3, 4, 5, 4], "Batch": [2, 1, 2, 3]}, mode=Mode.SIMULATED)
    report = build_report(study=study, mode=Mode.SIMULATED)
    said = "Batch may have seen the test ratings: its upload does not name the training rows of this run."
    texts = [block.text for section in document_of(report).all_sections for block in section.blocks]
    assert texts.count(said) == measured.comments.count(said) == (not learned)


@pytest.mark.integration
@pytest.mark.django_db
def test_report_without_lists_stores_nothing_of_them_and_stays_as_it_was() -> None:
    study = make_study(slug="plain", run=make_run_at("succeeded"))
    plant(study, {"TopPop": [3, 4, 5], "PureSVD4": [2, 1, 2]})
    plain = build_report(study=study)
    assert '"bounds"' not in canonical_json(plain.results)
    assert '"coverage"' not in canonical_json(plain.results)
    assert ",bounds," not in numbers_csv(plain.read_results())
