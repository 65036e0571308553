"""Degenerate studies: each gives a readable page, file, JSON and tables, with reasons and without NaN."""

from __future__ import annotations

import csv
import json
import math
import re
from html import unescape
from typing import Any

import numpy as np
import pytest
from django.test import Client

from analysis.compute.objective import study_measured
from analysis.compute.plans import Overrides
from analysis.files.document import Document
from analysis.files.listing import files_of
from analysis.models import Report
from analysis.read.inputs import Measured
from analysis.results.codec import encode
from analysis.results.objective import ProfileLength
from analysis.services import build_report
from analysis.services.report_cache import cached_document
from charting import render
from core.errors import ParallaxError
from inference.results import Undefined
from studies.models import Condition, Participant, Study, StudyMembership
from studies.monitoring.services.exclusions import exclude
from tests.approval import assert_approved
from tests.factories.analysis import every_page, plant
from tests.factories.evaluation import make_run_at
from tests.factories.studies import make_study
from tests.report_text import text_of_report

pytestmark = [pytest.mark.integration, pytest.mark.django_db, pytest.mark.slow]

UNREADABLE = re.compile(r"(?<![\w-])(nan|NaN|NAN|inf|-inf|Infinity|None|undefined|null)(?![\w-])")
ABSENCE = re.compile(
    r"did not differ|do(es)? not differ|(is|are) unrelated|no two algorithms differ|algorithms are equal|one-sided|"
    r"(there is|has|have) no (effect|relation|difference) (of|on|between|in)|makes? no difference|"
    r"would have been (significant|told apart)",
    re.IGNORECASE,
)
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


def whole_report(report: Report, client: Client) -> str:
    """Check that page, charts, numbers and tables of a report can be read and claim no absence of a difference; give
    the words of its page.
    """
    client.force_login(StudyMembership.objects.filter(study=report.study)[0].researcher)
    pages = every_page(client, report)
    page = words_of(pages)
    document = cached_document(report)
    files = files_of(report, lambda: document)
    numbers = json.loads(files["report.json"].make(), parse_constant=lambda name: math.nan)
    assert finite(numbers)
    assert numbers["results"] == report.results
    specs = re.findall(r'<script id="chart-[^"]+" type="application/json">(.*?)</script>', pages, re.S)
    assert all(finite(json.loads(spec, parse_constant=lambda name: math.nan)) for spec in specs)
    assert not UNREADABLE.search(page), UNREADABLE.search(page)
    assert ABSENCE.findall(page) == []
    assert "Plan and deviations" in page
    check_figures(report, document)
    tables = [file for file in files.values() if file.suffix == "csv"]
    assert tables
    for table in tables:
        for row in csv.reader(table.make().decode().splitlines()):
            assert not any(UNREADABLE.fullmatch(cell) for cell in row), (table.name, row)
    return page


def check_figures(report: Report, document: Document) -> None:
    """Every figure can be drawn and has its numbers, and those that need more data are left out."""
    keys = {figure.key for figure in document.figures()}
    for figure in document.figures():
        picture = render.svg(figure.spec)
        assert "NaN" not in picture, figure.key
        assert "Infinity" not in picture, figure.key
        assert figure.table.rows, figure.key
    variables = {one["key"]: one for one in report.results["variables"]}
    if "accuracy" in variables:
        assert ("box-accuracy" in keys) == bool(report.results["flow"]["analysed"])
        assert ("forest-accuracy" in keys) == variables["accuracy"]["tests"]["games_howell"]["is_defined"]
    has_design = sum(one["n"] >= 2 for one in report.results["conditions"]) >= 2
    assert ("power" in keys) == report.results["power"]["is_defined"] == has_design


def test_nobody_has_finished(study: Study) -> None:
    with pytest.raises(ParallaxError, match="No participant") as refused:
        build_report(study=study)
    assert refused.value.code == "report.no_participants"
    assert not Report.objects.exists()


@pytest.mark.slow
def test_one_condition(study: Study, client: Client) -> None:
    """The launch refuses such a study; one whose other conditions are gone still reads."""
    plant(study, {"TopPop": [3, 4, 5]})
    Condition.objects.filter(study=study).exclude(label="TopPop").delete()
    report = build_report(study=study)
    page = whole_report(report, client)
    assert_approved("reports/one-condition", text_of_report(report))
    assert "has one condition" in page
    assert "has no result." in page
    assert report.results["advantage"]["overall"]["is_defined"] is False


@pytest.mark.slow
@pytest.mark.parametrize(
    "answers",
    [
        pytest.param({"TopPop": [3]}, id="one participant"),
        pytest.param({"TopPop": [3, 4, 5]}, id="one condition has participants"),
        pytest.param({"TopPop": [5, 5, 5], "CorNgr": [1, 1, 1], "PureSVD4": [3, 2, 1]}, id="two without variance"),
        pytest.param({"TopPop": [5], "CorNgr": [1], "PureSVD4": [3]}, id="one participant in each"),
    ],
)
def test_little_to_analyse(study: Study, client: Client, answers: dict[str, list[int]]) -> None:
    plant(study, answers)
    report = build_report(study=study)
    assert report.results["flow"]["analysed"] == sum(map(len, answers.values()))
    whole_report(report, client)


def test_one_participant_in_a_condition(study: Study, client: Client) -> None:
    plant(study, {"TopPop": [3, 4, 5], "CorNgr": [2], "PureSVD4": [1, 2, 1]})
    page = whole_report(build_report(study=study), client)
    assert "TopPop (3), CorNgr (1) and PureSVD4 (3)." in page


def test_no_variance_anywhere(study: Study, client: Client) -> None:
    plant(study, ALIKE)
    report = build_report(study=study)
    page = whole_report(report, client)
    assert_approved("reports/no-variance", text_of_report(report))
    assert all(not one["anova"]["is_defined"] for one in report.results["variables"])
    assert page.count("Welch's analysis") == 4
    assert page.count("No order") >= 4
    assert not report.results["advantage"]["overall"]["is_defined"]


@pytest.mark.slow
def test_no_variance_within_and_means_apart(study: Study, client: Client) -> None:
    plant(study, {"TopPop": [5, 5, 5], "CorNgr": [1, 1, 1], "PureSVD4": [3, 3, 3]})
    report = build_report(study=study)
    page = whole_report(report, client)
    accuracy = report.results["variables"][0]
    assert not accuracy["anova"]["is_defined"]
    assert accuracy["anova"]["reason"] in page
    assert accuracy["described"]["TopPop"]["mean"] == 5


def test_a_condition_all_alike(study: Study, client: Client) -> None:
    plant(study, {**SPREAD, "TopPop": [5, 5, 5, 5]})
    page = whole_report(build_report(study=study), client)
    assert "TopPop (no variance)" in page


@pytest.mark.slow
def test_all_excluded(study: Study) -> None:
    plant(study, SPREAD)
    for participant in Participant.objects.order_by("pk"):
        exclude(participant=participant, reason="The server mixed up the lists")
    with pytest.raises(ParallaxError, match="none is analysed"):
        build_report(study=study)


@pytest.mark.slow
def test_a_run_without_disliked_cases(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody has hidden what they disliked, so that fallout, precision and F have no value."""
    protocol = {"name": "one-plus-random", "negatives": 20, "relevant": 3.0, "irrelevant": 1.0}
    split = {"name": "probe", "share": 0.01}
    run = make_run_at("succeeded", algorithms=ALGORITHMS, protocol=protocol, split=split)
    assert run.n_relevant
    assert not run.n_irrelevant
    # Launched by a version that did not check whether the primary metric has a case.
    monkeypatch.setattr("studies.design.services.launch.launch_problems", lambda study: [])
    study = make_study(run=run, settings={"primary": {"perceived": "accuracy", "objective": "fallout"}})
    plant(study, SPREAD)
    report = build_report(study=study)
    page = whole_report(report, client)
    assert_approved("reports/no-irrelevant-cases", text_of_report(report))
    lengths = report.results["objective"]["lengths"]
    assert all(line["fallout"] is None for one in lengths for line in one["table"])
    assert not report.results["comparisons"][0]["tau"]["is_defined"]
    assert not report.results["comparisons"][0]["decided"]["is_defined"]
    assert not report.results["advantage"]["overall"]["is_defined"]
    assert "perceived accuracy: TopPop" in page


def test_a_run_without_users_is_refused_before_it_could_be_reported_and_has_reasons_if_it_were() -> None:
    split = {"name": "probe", "share": 0.001}
    protocol = {"name": "one-plus-random", "negatives": 20, "relevant": 5.0, "irrelevant": 1.0}
    run = make_run_at("succeeded", algorithms=ALGORITHMS, protocol=protocol, split=split)
    assert "nothing to measure" in run.error
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
    assert finite(json.loads(json.dumps(encode(ProfileLength, result))))
    assert isinstance(result.recall.sign_tests, Undefined)
    assert isinstance(result.recall.pairs, Undefined)
    assert all(ranking.values == {} for ranking in rankings.values())


@pytest.mark.slow
def test_the_primary_metric_is_missing_from_the_run(client: Client) -> None:
    """Another run of the same models, measured on whole profiles alone."""
    run = make_run_at("succeeded", algorithms=ALGORITHMS, profile_lengths=(5,))
    study = make_study(run=run, settings={"primary": {"perceived": "accuracy", "objective": "recall@profile5"}})
    other = make_run_at("succeeded", version=run.version, algorithms=ALGORITHMS, profile_lengths=())
    plant(study, SPREAD)
    report = build_report(study=study, run=other)
    page = whole_report(report, client)
    assert_approved("reports/no-primary-metric", text_of_report(report))
    assert not any(one["is_primary"] for one in report.results["comparisons"])
    assert "advantage" not in report.results
    assert "recall at 5," in page
    assert "none instead" in page


@pytest.mark.slow
def test_the_primary_variable_is_left_out(study: Study, client: Client) -> None:
    plant(study, SPREAD)
    report = build_report(study=study, overrides=Overrides(leave_out=("accuracy", "fon", "son")))
    page = whole_report(report, client)
    assert_approved("reports/no-primary-variable", text_of_report(report))
    assert [one["key"] for one in report.results["variables"]] == ["satisfaction"]
    assert "was not tested" in page
    assert "Planned but not" in page
