"""A study and its report on a run that predicted ratings: errors are means over users, and lower is better."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from jsonschema import Draft202012Validator
from numpy.typing import NDArray

from analysis.compute.bayesian import compute_bayesian
from analysis.files.document import document_of
from analysis.files.formats import report_json
from analysis.management.commands.report import summary_lines
from analysis.models import Report
from analysis.results.schema import report_schema
from analysis.services import build_report
from core import artefacts
from evaluation.metrics.registry import metric
from evaluation.models import EvaluationRun
from evaluation.selectors.results import model_rows
from evaluation.selectors.runs import metric_names
from inference.paired import sign_tests_between
from inference.results import AgreementResult, Undefined
from studies.console.forms.plan import metric_keys
from studies.design.narrative.preregistration import preregistration
from studies.design.selectors.available_models import report_problems
from studies.design.selectors.planning import preregistration_plan
from studies.design.services.design import create_study
from studies.team.selectors.studies import runs_to_study
from tests.approval import assert_approved
from tests.factories.accounts import UserFactory
from tests.factories.analysis import page_without_pictures, plant
from tests.factories.evaluation import make_run_at
from tests.factories.packages import recomputed, unpack
from tests.factories.studies import make_study
from tests.report_text import text_of_report

pytestmark = [pytest.mark.integration, pytest.mark.django_db]
PREDICTING = ("UserPearson", "CorNgr", "AsySVD (factors=4)")
PLANTED = {
    "TopPop": [4, 5, 4, 5, 4],
    "UserPearson": [3, 3, 3, 2, 3],
    "CorNgr": [2, 1, 2, 1, 1],
    "AsySVD (factors=4)": [2, 1, 1, 2, 2],
}
ALGORITHMS = "toppop,userknn-pearson,corngr,asysvd:factors=4"
PROTOCOL = {"name": "rating-prediction", "relevant": 4.0, "irrelevant": 2.0}


@pytest.fixture(scope="module")
def report(module_database: None) -> Report:
    measured = make_run_at("succeeded", algorithms=ALGORITHMS, protocol=PROTOCOL, profile_lengths=[3])
    study = make_study(slug="predicted-ratings", run=measured, settings={"plan": {"resamples": 1000}})
    plant(study, PLANTED)
    return build_report(study=study)


def errors_by_user(measured: EvaluationRun, name: str, length: int = 0) -> dict[str, NDArray[np.float64]]:
    """The errors by user as the run stored them, of the algorithms that predict ratings."""
    column = metric_names(measured).index(str(metric(name)))
    by_user = {
        row.label: artefacts.load("results", row.users_digest).arrays["user_values"][:, column]
        for row in model_rows(measured, length)
        if row.label in PREDICTING
    }
    is_complete = ~np.isnan(np.column_stack(list(by_user.values()))).any(axis=1)
    return {label: values[is_complete] for label, values in by_user.items()}


def words_of(report: Report) -> str:
    return " ".join(block.text for section in document_of(report).sections for block in section.blocks if block.text)


@pytest.mark.parametrize("length", [0, 3])
@pytest.mark.parametrize("kind", ["rmse", "mae"])
def test_values_are_means_over_the_users_whom_all_predict(report: Report, kind: str, length: int) -> None:
    measured = report.read_results().objective.at(length)
    by_user = errors_by_user(report.run, kind, length)
    assert len(by_user) == 3
    for row in measured.table:
        if row.condition == "TopPop":
            assert row.value(kind) is None
            assert row.intervals[kind] is None
            continue
        assert row.value(kind) == pytest.approx(by_user[row.condition].mean(), abs=1e-12)
        interval = row.intervals[kind]
        assert interval is not None
        assert interval[0] <= by_user[row.condition].mean() <= interval[1]
        assert interval[1] - interval[0] == pytest.approx(
            2 * 1.96 * by_user[row.condition].std() / np.sqrt(len(by_user[row.condition])), rel=0.25
        )


def test_sign_tests_are_those_of_the_errors_by_user(report: Report) -> None:
    tests = report.read_results().objective.at(0).tests("rmse")
    assert tests.sign_tests == sign_tests_between(errors_by_user(report.run, "rmse"), alpha=0.05)


def test_the_smallest_error_is_best(report: Report) -> None:
    primary = report.read_results().primary
    assert primary is not None
    assert (primary.kind, primary.higher_is_better) == ("rmse", False)
    assert set(primary.conditions) == set(PREDICTING)
    by_user = errors_by_user(report.run, "rmse")
    assert min(primary.ranks.objective, key=primary.ranks.objective.__getitem__) == min(
        by_user, key=lambda label: by_user[label].mean()
    )


def test_recall_and_fallout_have_no_value(report: Report) -> None:
    whole = report.read_results().objective.at(0)
    assert whole.defined_values("recall") == whole.defined_values("fallout") == {}
    assert isinstance(whole.recall.sign_tests, Undefined)


def test_report_describes_the_protocol_and_its_limits(report: Report) -> None:
    words, page = words_of(report), page_without_pictures(report)
    n = report.run.n_relevant + report.run.n_irrelevant
    assert f"predicted {n:,} hidden" in words
    assert_approved("reports/rating-prediction", text_of_report(report))
    assert ">RMSE, mean<" in page
    for untrue in ("ranked each hidden rating among", "pooled over cases", "Recall at", "recall at", "rmse"):
        assert untrue not in words, untrue


def test_matrix_compares_the_values_of_the_report(report: Report) -> None:
    results = report.read_results()
    assert results.matrix is not None
    rows = {row.key: row for row in results.matrix.metrics}
    assert {"rmse", "mae", str(metric("nmae")), str(metric("prediction-coverage"))} <= set(rows)
    assert rows["rmse"].values == results.objective.at(0).values("rmse")
    (cell,) = [cell for cell in results.matrix.cells if cell.is_primary]
    assert cell.metric == "rmse"
    assert results.primary is not None
    assert isinstance(results.primary.tau, AgreementResult)
    assert cell.tau == results.primary.tau


def test_numbers_keep_to_the_schema(report: Report) -> None:
    document = json.loads(report_json(report))
    assert [error.message for error in Draft202012Validator(json.loads(report_schema())).iter_errors(document)] == []


def test_the_command_prints_the_errors(report: Report) -> None:
    lines = summary_lines(report)
    (heading,) = [line for line in lines if line.startswith("algorithm")]
    assert heading.split()[-2:] == ["RMSE", "MAE"]


@pytest.mark.slow
@pytest.mark.usefixtures("pictures_once")
def test_both_scripts_of_the_package_recompute_the_report(report: Report, rscript: str, tmp_path: Path) -> None:
    unpack(report, tmp_path)
    lines = recomputed(tmp_path, rscript)
    assert {("rmse", "value"), ("mae@profile3", "sign_test")} <= {(line[0], line[1]) for line in lines}


def test_bayesian_model_of_hits_is_left_out_with_the_reason(report: Report) -> None:
    models = compute_bayesian(report=report, progress=lambda words: None)["models"]
    assert models["is_defined"] is False


def test_design_offers_errors_and_the_preregistration_names_them(report: Report) -> None:
    study = report.study
    assert metric_keys(report.run) == ["rmse", "mae", "rmse@profile3", "mae@profile3"]
    assert study.settings["primary"]["objective"] == "rmse"
    assert report.run in runs_to_study(UserFactory())
    assert "RMSE, mean over" in preregistration(preregistration_plan(study))


def test_launch_refuses_errors_of_conditions_that_predict_no_ratings(report: Report) -> None:
    study = create_study(slug="unpredicted", version=report.run.version, run=report.run, labels=["TopPop", "CorNgr"])
    (problem,) = report_problems(study, "rmse")
    assert "RMSE, and 1" in problem
    assert report_problems(make_study(slug="predicted", run=report.run), "rmse") == []
    (other,) = report_problems(study, "recall")
    assert "Choose RMSE" in other
