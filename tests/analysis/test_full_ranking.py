"""A study and its report on a run of whole lists: recall is a mean over users, and fallout has no value."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from jsonschema import Draft202012Validator
from numpy.typing import NDArray

from analysis.compute.bayesian import compute_bayesian
from analysis.files.document import document_of
from analysis.files.formats import report_json
from analysis.files.numbers import lines_of
from analysis.models import Report
from analysis.present.method import method_section
from analysis.results.schema import report_schema
from analysis.services import build_report
from core import artefacts
from evaluation.models import EvaluationRun
from evaluation.selectors.results import model_rows
from evaluation.selectors.runs import metric_names
from inference.paired import sign_tests_between
from inference.results import Undefined
from studies.console.forms.new_study import NewStudyForm
from studies.design.narrative.preregistration import preregistration
from studies.design.selectors.available_models import run_with
from studies.design.selectors.planning import preregistration_plan
from studies.models import Study
from studies.team.selectors.studies import runs_to_study
from tests.approval import assert_approved
from tests.factories.accounts import UserFactory
from tests.factories.analysis import page_without_pictures, plant
from tests.factories.evaluation import make_run_at
from tests.factories.packages import recomputed, unpack
from tests.factories.studies import make_study
from tests.report_text import text_of_report

pytestmark = [pytest.mark.integration, pytest.mark.django_db]
PLANTED = {"TopPop": [4, 5, 4, 5, 4], "CorNgr": [2, 1, 2, 1, 1], "PureSVD4": [2, 1, 1, 2, 2]}
ALGORITHMS = "toppop,corngr,puresvd:factors=4"
PROTOCOL = {"name": "full-ranking", "relevant": 4.0, "irrelevant": 2.0}
NAMES = {"recall": "recall@5", "precision": "precision@5", "f": "f-beta@5(beta=1,of=users)"}


@pytest.fixture(scope="module")
def report(module_database: None) -> Report:
    run = make_run_at(
        "succeeded",
        algorithms=ALGORITHMS,
        protocol=PROTOCOL,
        metrics=["recall@5", "precision@5", "f1@5", "ndcg@5", "fpr@5"],
        profile_lengths=[3],
    )
    study = make_study(slug="whole-lists", run=run, settings={"plan": {"resamples": 1000}})
    plant(study, PLANTED)
    return build_report(study=study)


def stored_users(run: EvaluationRun, name: str, length: int = 0) -> dict[str, NDArray[np.float64]]:
    """The values by user as the run stored them, by algorithm."""
    column = metric_names(run).index(name)
    return {
        row.label: artefacts.load("results", row.users_digest).arrays["user_values"][:, column]
        for row in model_rows(run, length)
    }


def words_of(report: Report) -> str:
    return " ".join(block.text for section in document_of(report).sections for block in section.blocks if block.text)


@pytest.mark.parametrize("length", [0, 3])
@pytest.mark.parametrize("kind", list(NAMES))
def test_values_are_the_means_of_the_stored_values_by_user(report: Report, kind: str, length: int) -> None:
    measured = report.read_results().objective.at(length)
    by_user = stored_users(report.run, NAMES[kind], length)
    assert measured.is_by_user
    assert len(by_user) == 3
    for row in measured.table:
        assert row.value(kind) == pytest.approx(np.nanmean(by_user[row.condition]), abs=1e-12)
        interval = row.intervals[kind]
        assert interval is not None
        assert interval[0] <= np.nanmean(by_user[row.condition]) <= interval[1]
    assert len({row.value("recall") for row in measured.table}) > 1


def test_sign_tests_are_those_of_the_stored_values_by_user(report: Report) -> None:
    by_user = stored_users(report.run, "recall@5")
    tests = report.read_results().objective.at(0).recall
    assert tests.sign_tests == sign_tests_between(by_user, alpha=0.05)
    assert tests.n_users == tests.n_cases == int((~np.isnan(by_user["TopPop"])).sum())


def test_intervals_are_of_means_over_resampled_users(report: Report) -> None:
    """The width is that of the standard error of a mean over users."""
    by_user = stored_users(report.run, "recall@5")
    for row in report.read_results().objective.at(0).table:
        values = by_user[row.condition][~np.isnan(by_user[row.condition])]
        interval = row.intervals["recall"]
        assert interval is not None
        assert interval[1] - interval[0] == pytest.approx(2 * 1.96 * values.std() / np.sqrt(len(values)), rel=0.2)


def test_fallout_has_no_value_and_the_report_says_why(report: Report) -> None:
    whole = report.read_results().objective.at(0)
    assert whole.defined_values("fallout") == {}
    assert isinstance(whole.fallout.sign_tests, Undefined)
    assert "Fallout has no" in words_of(report)


def test_report_describes_the_protocol_and_the_means(report: Report) -> None:
    words, page = words_of(report), page_without_pictures(report)
    items = "every item of the catalogue that the user had not rated in training"
    assert f"ranked {items}," in words
    assert_approved("reports/full-ranking", text_of_report(report))
    assert ">Recall, mean<" in page
    assert "pooled<" not in page
    for untrue in ("ranked each hidden rating among", "pooled over cases", "Raghavan", "count as one metric"):
        assert untrue not in page


def test_method_names_the_models_that_learned_from_titles_alone(report: Report) -> None:
    results = report.read_results()
    assert not any(condition.is_of_titles for condition in results.conditions)
    assert "is_of_titles" not in json.dumps(report.results)
    titled = tuple(replace(condition, is_of_titles=condition.label == "CorNgr") for condition in results.conditions)
    blocks = method_section(replace(results, conditions=titled), "").blocks
    said = "CorNgr was trained on the words of the items' titles: the dataset has no other item features."
    assert [block.text for block in blocks].count(said) == 1


def test_method_says_of_what_the_order_of_a_profile_is(report: Report) -> None:
    results = report.read_results()
    assert "reads_order" not in json.dumps(report.results)
    ordered = tuple(replace(condition, reads_order=condition.label == "CorNgr") for condition in results.conditions)
    texts = [block.text for block in method_section(replace(results, conditions=ordered), "").blocks]
    assert [text for text in texts if text.startswith("CorNgr uses the order of a profile. That of participants is")]
    assert not [block for block in method_section(results, "").blocks if "order of a profile" in block.text]


def test_recall_is_the_primary_metric_and_one_row_of_the_matrix(report: Report) -> None:
    results = report.read_results()
    matrix = results.matrix
    assert results.primary is not None
    assert matrix is not None
    assert results.primary.metric_key == "recall"
    assert not isinstance(results.primary.tau, Undefined)
    keys = [metric.key for metric in matrix.metrics]
    assert keys.count("recall") == 1
    assert "recall@5" not in keys
    assert {"precision@5", "fpr@5", "ndcg@5(gain=linear)"} <= set(keys)
    assert [cell.metric for cell in matrix.cells if cell.is_primary] == ["recall"]


def test_numbers_keep_to_the_schema_and_are_those_of_the_package(report: Report) -> None:
    document = json.loads(report_json(report))
    assert [error.message for error in Draft202012Validator(json.loads(report_schema())).iter_errors(document)] == []
    values = {(of, a): value for of, test, a, _b, _name, value in lines_of(report.read_results()) if test == "value"}
    assert values["recall", "TopPop"] == pytest.approx(np.nanmean(stored_users(report.run, "recall@5")["TopPop"]))


@pytest.mark.slow
@pytest.mark.usefixtures("pictures_once")
def test_both_scripts_of_the_package_recompute_the_report(report: Report, rscript: str, tmp_path: Path) -> None:
    unpack(report, tmp_path)
    assert "with 1 for a user with a value" in (tmp_path / "README.md").read_text()
    lines = recomputed(tmp_path, rscript)
    assert {("recall", "value"), ("recall@profile3", "value")} <= {(line[0], line[1]) for line in lines}


def test_bayesian_model_of_hits_is_left_out_with_the_reason(report: Report) -> None:
    models = compute_bayesian(report=report, progress=lambda words: None)["models"]
    assert models["is_defined"] is False
    assert "mean over users" in models["reason"]


def test_runs_of_single_items_are_offered_before_newer_ones_of_whole_lists(report: Report) -> None:
    researcher = UserFactory()
    older = make_run_at("succeeded", version=report.run.version, algorithms=ALGORITHMS)
    newer = make_run_at("succeeded", version=report.run.version, algorithms=ALGORITHMS, protocol=PROTOCOL)
    assert list(runs_to_study(researcher)) == [older, newer, report.run]
    labels = [str(label) for _value, label in NewStudyForm(researcher=researcher).fields["run"].choices]  # type: ignore[attr-defined]
    assert [label.rpartition(" · ")[2] for label in labels] == ["3 algorithms", "full-ranking", "full-ranking"]
    digests = [algorithm.model.digest for algorithm in older.algorithms.all() if algorithm.model is not None]
    assert run_with(report.study, digests, researcher) == report.run  # its own
    study = Study.objects.get(pk=report.study_id)
    study.run = make_run_at("succeeded", version=report.run.version, algorithms="toppop")
    assert run_with(study, digests, researcher) == older


def test_preregistration_says_what_recall_is(report: Report) -> None:
    text = preregistration(preregistration_plan(report.study))
    assert "mean over users" in text
