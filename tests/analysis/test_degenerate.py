"""Degenerate studies: each gives a readable page, file, JSON and tables, with reasons and without NaN."""

from __future__ import annotations

import csv
import json
import math
import re
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.test import Client

from analysis.models import Report
from analysis.package import write_report
from analysis.selectors.inputs import Measured
from analysis.services import build_report
from analysis.services.objective import study_measured
from analysis.services.plans import Overrides
from core.errors import ParallaxError
from studies.models import Condition, Participant, Study, StudyMembership
from studies.services.design import change_design
from studies.services.launch import launch_study
from studies.services.quality import exclude
from tests.factories.analysis import plant
from tests.factories.evaluation import make_run_at
from tests.factories.studies import make_study

pytestmark = [pytest.mark.integration, pytest.mark.django_db]

UNREADABLE = re.compile(r"(?<![\w-])(nan|NaN|NAN|inf|-inf|Infinity|None|undefined|null)(?![\w-])")
ALGORITHMS = "toppop,corngr,puresvd:factors=4"
ALIKE = {"TopPop": [3, 3, 3], "CorNgr": [3, 3, 3], "PureSVD4": [3, 3, 3]}
SPREAD = {"TopPop": [4, 5, 4, 5], "CorNgr": [2, 1, 2, 1], "PureSVD4": [2, 1, 1, 2]}


def words_of(html: str) -> str:
    """What a reader sees, without scripts, styles and drawings' inner paths."""
    html = re.sub(r"<(style|script)\b.*?</\1>", " ", html, flags=re.S)
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", "", html)))


def finite(value: Any) -> bool:
    if isinstance(value, dict):
        return all(map(finite, value.values()))
    if isinstance(value, list):
        return all(map(finite, value))
    return not isinstance(value, float) or math.isfinite(value)


def whole_report(report: Report, folder: Path, client: Client) -> str:
    """Build everything of a report, check that it can be read, and give the words of its page."""
    client.force_login(StudyMembership.objects.filter(study=report.study)[0].researcher)
    response = client.get(report.get_absolute_url())
    assert response.status_code == 200
    page = words_of(response.content.decode())
    written = write_report(report=report, folder=folder, progress=lambda words: None)
    assert finite(json.loads((folder / "report.json").read_text(), parse_constant=lambda name: math.nan))
    specs = re.findall(
        r'<script id="chart-[^"]+" type="application/json">(.*?)</script>', response.content.decode(), re.S
    )
    assert all(finite(json.loads(spec, parse_constant=lambda name: math.nan)) for spec in specs)
    for text in (page, words_of((folder / "report.html").read_text())):
        assert not UNREADABLE.search(text), UNREADABLE.search(text)
        assert "Plan and deviations" in text
    tables = [path for path in written if path.suffix == ".csv"]
    assert tables
    for path in tables:
        for row in csv.reader(path.read_text().splitlines()):
            assert not any(UNREADABLE.fullmatch(cell) for cell in row), (path, row)
    for path in written:
        if path.suffix == ".svg":
            assert not UNREADABLE.search(words_of(path.read_text())), path
    return page


def test_nobody_has_finished(study: Study, tmp_path: Path, client: Client) -> None:
    page = whole_report(build_report(study=study), tmp_path, client)
    assert "Nobody has finished yet, so there is nothing to compare" in page
    assert "0 participants are analysed; the plan has 6" in page


def test_one_condition(study: Study, tmp_path: Path, client: Client) -> None:
    """The launch refuses such a study; one whose other conditions are gone still reads."""
    plant(study, {"TopPop": [3, 4, 5]})
    Condition.objects.filter(study=study).exclude(label="TopPop").delete()
    page = whole_report(build_report(study=study), tmp_path, client)
    assert "The study has one condition: there is nothing to compare it with." in page
    assert "There is no analysis of variance of perceived accuracy." in page
    assert "There is no rank correlation of perceived accuracy with recall at 5." in page


def test_one_participant_in_a_condition(study: Study, tmp_path: Path, client: Client) -> None:
    plant(study, {"TopPop": [3, 4, 5], "CorNgr": [2], "PureSVD4": [1, 2, 1]})
    page = whole_report(build_report(study=study), tmp_path, client)
    assert "One participant alone has finished with CorNgr: no test takes it in." in page
    assert "CorNgr took no part, with fewer than two participants." in page


def test_no_variance_anywhere(study: Study, tmp_path: Path, client: Client) -> None:
    plant(study, ALIKE)
    report = build_report(study=study)
    page = whole_report(report, tmp_path, client)
    assert all(not one["anova"]["is_defined"] for one in report.results["variables"])
    assert page.count("There is no analysis of variance of") == 4
    assert page.count("No order can be claimed.") >= 4
    assert "There is no rank correlation of perceived accuracy with recall at 5." in page


def test_no_variance_within_and_means_apart(study: Study, tmp_path: Path, client: Client) -> None:
    plant(study, {"TopPop": [5, 5, 5], "CorNgr": [1, 1, 1], "PureSVD4": [3, 3, 3]})
    report = build_report(study=study)
    page = whole_report(report, tmp_path, client)
    accuracy = report.results["variables"][0]
    assert not accuracy["anova"]["is_defined"]
    assert accuracy["anova"]["reason"] in page
    assert accuracy["described"]["TopPop"]["mean"] == 5


def test_a_condition_all_alike(study: Study, tmp_path: Path, client: Client) -> None:
    plant(study, {**SPREAD, "TopPop": [5, 5, 5, 5]})
    page = whole_report(build_report(study=study), tmp_path, client)
    assert "TopPop has no variance." in page
    assert "Welch's ANOVA without TopPop (no variance)" in page


def test_all_excluded(study: Study, tmp_path: Path, client: Client) -> None:
    plant(study, SPREAD)
    for participant in Participant.objects.order_by("pk"):
        exclude(participant=participant, reason="The server mixed up the lists")
    report = build_report(study=study)
    assert (report.results["flow"]["analysed"], report.results["flow"]["excluded"]) == (0, 12)
    page = whole_report(report, tmp_path, client)
    assert "Nobody has finished yet" not in page
    assert "Everybody who finished is left out, so there is nothing to compare" in page
    assert "0 of the 12 who answered everything are analysed." in page
    assert "The server mixed up the lists" in page
    assert report.results["exclusions"]["variables"][0]["everybody"]["anova"]["is_defined"]


def test_all_left_out_by_the_rule(tmp_path: Path, client: Client) -> None:
    run = make_run_at("succeeded", algorithms=ALGORITHMS)
    study = make_study(run=run, status="draft")
    change_design(study=study, settings={"plan": {"exclude": ["too_fast"]}})
    launch_study(study=study)
    plant(study, SPREAD)  # planted people take no time at all
    report = build_report(study=study)
    assert report.results["flow"]["excluded_for"] == [{"how": "rule", "reason": "Too fast", "n": 12}]
    page = whole_report(report, tmp_path, client)
    assert "The plan's rule left out 12: 12 too fast." in page


def test_a_run_without_disliked_cases(tmp_path: Path, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody has hidden what they disliked, so that fallout, precision and F have no value."""
    protocol = {"name": "one-plus-random", "negatives": 20, "relevant": 3.0, "irrelevant": 1.0}
    split = {"name": "probe", "share": 0.01}
    run = make_run_at("succeeded", algorithms=ALGORITHMS, protocol=protocol, split=split)
    assert run.n_relevant
    assert not run.n_irrelevant
    # Launched by a version that did not check whether the primary metric has a case.
    monkeypatch.setattr("studies.services.launch.launch_problems", lambda study: [])
    study = make_study(run=run, settings={"primary": {"perceived": "accuracy", "objective": "fallout"}})
    plant(study, SPREAD)
    report = build_report(study=study)
    page = whole_report(report, tmp_path, client)
    lengths = report.results["objective"]["lengths"]
    assert all(line["fallout"] is None for one in lengths for line in one["table"])
    assert not report.results["comparisons"][0]["tau"]["is_defined"]
    assert "There is no rank correlation of perceived accuracy with fallout at 5." in page
    assert "Maximal in perceived accuracy: TopPop" in page


def test_a_run_without_users_is_refused_before_it_could_be_reported_and_has_reasons_if_it_were() -> None:
    split = {"name": "probe", "share": 0.001}
    protocol = {"name": "one-plus-random", "negatives": 20, "relevant": 5.0, "irrelevant": 1.0}
    run = make_run_at("succeeded", algorithms=ALGORITHMS, protocol=protocol, split=split)
    assert "there is nothing to measure" in run.error
    with pytest.raises(ParallaxError, match="is failed"):
        make_study(run=run)
    nothing = dict.fromkeys(("A", "B"))
    empty = Measured(
        length=0,
        conditions=("A", "B"),
        values=dict.fromkeys(("recall", "fallout", "precision", "f"), nothing),
        by_n={kind: {"A": (None,), "B": (None,)} for kind in ("recall", "fallout")},
        users={kind: np.empty((0, 2)) for kind in ("recall", "fallout")},
        cases={kind: np.empty(0, dtype=np.int64) for kind in ("recall", "fallout")},
        digests={"A": "", "B": ""},
    )
    result, rankings = study_measured(empty, 5, None, np.random.default_rng(1))
    assert finite(json.loads(json.dumps(result)))
    assert not result["recall"]["sign_tests"]["is_defined"]
    assert result["recall"]["bootstrap"]["reason"] == "There is nothing to resample."
    assert all(ranking.values == {} for ranking in rankings.values())


def test_the_primary_metric_is_missing_from_the_run(tmp_path: Path, client: Client) -> None:
    """Another run of the same models, measured on whole profiles alone."""
    run = make_run_at("succeeded", algorithms=ALGORITHMS, profile_lengths=(5,))
    study = make_study(run=run, settings={"primary": {"perceived": "accuracy", "objective": "recall@profile5"}})
    other = make_run_at("succeeded", version=run.version, algorithms=ALGORITHMS, profile_lengths=())
    plant(study, SPREAD)
    report = build_report(study=study, run=other)
    page = whole_report(report, tmp_path, client)
    assert not any(one["is_primary"] for one in report.results["comparisons"])
    assert all(one["p_holm"] is not None for one in report.results["comparisons"] if one["tau"]["is_defined"])
    assert "The primary pair is missing: the run did not measure recall at 5, with profiles of 5 ratings" in page
    assert "It has short profiles of no length where the plan has 5." in page
    assert "The plan names a pair of measures that this report does not have" in page


def test_the_primary_variable_is_left_out(study: Study, tmp_path: Path, client: Client) -> None:
    plant(study, SPREAD)
    report = build_report(study=study, overrides=Overrides(leave_out=("accuracy", "fon", "son")))
    page = whole_report(report, tmp_path, client)
    assert [one["key"] for one in report.results["variables"]] == ["satisfaction"]
    assert "The primary pair is missing: perceived accuracy was left out" in page
    assert "Planned and left out here: perceived accuracy, first-order novelty and second-order novelty." in page
