"""Every metric against every measure: recomputed by other means, planted, incomplete, and read from old reports."""

from __future__ import annotations

import csv
import io
import itertools
import json
import statistics
from typing import Any

import numpy as np
import pytest
from scipy.stats import kendalltau

from analysis.compute.comparison import metric_label
from analysis.files.formats import report_json
from analysis.files.listing import files_of
from analysis.models import Report
from analysis.read.metrics import StoredMetric, is_metric
from analysis.results.codec import decode
from analysis.results.comparison import Matrix
from analysis.results.report import Results
from analysis.services import build_report
from evaluation.metrics.registry import METRICS
from evaluation.models import MetricResult
from inference.results import Undefined
from studies.models import Response, Study
from tests.factories.analysis import page_without_pictures, planted_person
from tests.factories.catalog import make_version
from tests.factories.evaluation import make_run_at
from tests.factories.studies import make_study

pytestmark = pytest.mark.slow

SEVEN = "toppop,corngr,nncosngr,puresvd:factors=2,puresvd:factors=4,puresvd:factors=8,lsa"
RANKING = {"name": "full-ranking", "relevant": 4.0, "irrelevant": 2.0}
PREDICTION = {"name": "rating-prediction", "relevant": 4.0, "irrelevant": 2.0}
PER_CONDITION = 5
BELOW = {"fallout", "rmse"}  # lower is better


def of_runs(study: Study, metric: str, length: int = 0) -> dict[str, float | None]:
    """A metric as runs stored it, by condition."""
    return {
        condition.label: MetricResult.objects.get(
            algorithm__model__digest=condition.model_digest, metric=metric, profile_length=length
        ).value
        for condition in study.conditions.order_by("position")
    }


@pytest.fixture(scope="module")
def diverse(module_database: None) -> Report:
    """Seven algorithms; people are the more satisfied the more diverse the lists of their algorithm are offline."""
    version = make_version()
    run = make_run_at("succeeded", version=version, algorithms=SEVEN, profile_lengths=[5])
    names = ["ndcg@5", "diversity@5", "gini@5", "catalogue-coverage@5"]
    make_run_at("succeeded", version=version, algorithms=SEVEN, protocol=RANKING, metrics=names)
    make_run_at("succeeded", version=version, algorithms=SEVEN, protocol=PREDICTION, metrics=["rmse"])
    study = make_study(slug="diverse-films", run=run)
    diversity = of_runs(study, "diversity@5")
    for place, label in enumerate(sorted(diversity, key=lambda name: diversity[name] or 0.0)):
        for number in range(PER_CONDITION):
            ratings = [1 + (number + rank + 3 * place) % 5 for rank in range(study.settings["list_length"])]
            ratings[0] = 1 + (place * 3) % 5
            answer = 1 + (number < place) + (number < place - 2) + (number < 2 and place > 4)
            planted_person(study, label, ratings, answer, n_watched=1 + place % 3, n_heard=(place * 2 + number) % 2)
    return build_report(study=study)


@pytest.fixture
def matrix(diverse: Report) -> Matrix:
    found = diverse.read_results().matrix
    assert found is not None
    return found


def perceived_means(study: Study) -> dict[str, dict[str, float]]:
    """The four measures by condition, from the raw answers."""
    means: dict[str, dict[str, float]] = {key: {} for key in ("accuracy", "fon", "son", "satisfaction")}
    for condition in study.conditions.all():
        of_people: dict[str, list[float]] = {key: [] for key in means}
        for participant in condition.participants.all():
            answers = Response.objects.filter(participant=participant)
            by_question: dict[str, list[Any]] = {}
            for question, value in answers.values_list("question", "value"):
                by_question.setdefault(question, []).append(value)
            n = len(by_question["rating"])
            of_people["accuracy"].append(sum(by_question["rating"]) / n)
            of_people["fon"].append(sum(not value for value in by_question["watched"]) / n)
            of_people["son"].append(sum(not value for value in by_question.get("heard", [])) / n)
            of_people["satisfaction"].append(by_question["satisfaction"][0])
        for key, values in of_people.items():
            means[key][condition.label] = round(statistics.fmean(values), 12)
    return means


def brute_force(x: list[float], y: list[float]) -> float:
    """The share of all orders of `y` with a τ_b as far from 0 as that observed; τ_b by pairs, as ties stay the same."""
    pairs = list(itertools.combinations(range(len(x)), 2))
    of_x = np.array([np.sign(x[j] - x[i]) for i, j in pairs])
    orders = np.array(list(itertools.permutations(y)))
    of_y = np.sign(np.stack([orders[:, j] - orders[:, i] for i, j in pairs], axis=1))
    scores = np.abs(of_y @ of_x)
    return float((scores >= scores[0]).mean())


@pytest.mark.integration
@pytest.mark.django_db
def test_every_number_again_from_the_means(diverse: Report, matrix: Matrix) -> None:
    means = perceived_means(diverse.study)
    n_defined = 0
    for cell in matrix.cells:
        metric = matrix.metric(cell)
        values = of_runs(diverse.study, metric.name, metric.profile_length)
        assert metric.values == values
        x = list(means[cell.variable_key].values())
        names = list(means[cell.variable_key])
        y = [values[name] for name in names]
        if None in y or len(set(y)) == 1:
            assert isinstance(cell.tau, Undefined)
            continue
        sign = -1 if metric.name.partition("(")[0] in BELOW else 1
        signed = [sign * value for value in y if value is not None]
        assert not isinstance(cell.tau, Undefined), cell
        assert cell.tau.coefficient == pytest.approx(kendalltau(x, signed).statistic), cell
        n_defined += 1
    assert n_defined > 60


@pytest.mark.integration
@pytest.mark.django_db
def test_p_of_the_primary_pair_is_that_of_all_orders(diverse: Report) -> None:
    primary = diverse.read_results().primary
    assert primary is not None
    assert not isinstance(primary.tau, Undefined)
    means, recall = perceived_means(diverse.study)["accuracy"], of_runs(diverse.study, "recall")
    y = [value for name in means if (value := recall[name]) is not None]
    assert primary.tau.p == pytest.approx(brute_force(list(means.values()), y))


@pytest.mark.integration
@pytest.mark.django_db
def test_planted_diversity_ranks_the_algorithms_as_satisfaction_does(matrix: Matrix) -> None:
    (cell,) = [
        cell for cell in matrix.cells
        if (cell.metric, cell.variable_key) == ("full-ranking/diversity@5", "satisfaction")
    ]  # fmt: skip
    assert not isinstance(cell.tau, Undefined)
    assert cell.tau.coefficient == pytest.approx(1)


@pytest.mark.integration
@pytest.mark.django_db
def test_primary_pair_is_marked_and_pairs_in_both_have_the_same_numbers(diverse: Report, matrix: Matrix) -> None:
    results = diverse.read_results()
    (primary,) = [cell for cell in matrix.cells if cell.is_primary]
    assert results.primary is not None
    assert (primary.variable_key, primary.metric) == ("accuracy", "recall")
    cells = {(cell.variable_key, cell.metric): cell for cell in matrix.cells}
    for comparison in results.comparisons:
        assert cells[comparison.variable_key, comparison.metric_key].tau == comparison.tau


@pytest.mark.integration
@pytest.mark.django_db
def test_metric_missing_for_some_algorithms_is_a_reason(matrix: Matrix) -> None:
    cells = [cell for cell in matrix.cells if cell.metric == "rating-prediction/rmse(over=ratings)"]
    assert len(cells) == len(matrix.variables)
    for cell in cells:
        assert isinstance(cell.tau, Undefined)
        assert cell.tau.reason.startswith("No value of")


@pytest.mark.integration
@pytest.mark.django_db
def test_other_runs_are_inputs_and_their_order_is_that_of_the_protocols(diverse: Report, matrix: Matrix) -> None:
    protocols = list(dict.fromkeys(metric.protocol for metric in matrix.metrics))
    assert protocols == ["", "full ranking", "rating prediction"]
    provenance = diverse.read_provenance()
    assert len(provenance.metric_runs) == 2


@pytest.mark.integration
@pytest.mark.django_db
def test_metrics_on_strangers_join_those_on_known_users_and_the_reverse(db: None) -> None:
    version, algorithms = make_version(), "toppop,corngr,puresvd:factors=2"
    split = {"name": "strangers", "share": 0.3, "given": 3}
    known = make_run_at("succeeded", version=version, algorithms=algorithms, profile_lengths=[])
    turned = "puresvd:factors=2,toppop,corngr"
    other = make_run_at("succeeded", version=version, algorithms=turned, split=split, profile_lengths=[])
    for run, source, measured in ((known, "strangers", other), (other, "known users", known)):
        study = make_study(slug=f"films-{run.pk}", run=run)
        planted_person(study, "TopPop", [3, 3, 3, 3, 3], 3)
        planted_person(study, "CorNgr", [4, 3, 3, 3, 3], 3)
        planted_person(study, "PureSVD2", [5, 4, 3, 3, 3], 3)
        report = build_report(study=study)
        matrix = report.read_results().matrix
        assert matrix is not None
        (row,) = [metric for metric in matrix.metrics if metric.key == f"{source}/recall"]
        assert row.title == f"Recall at 5, {source}"
        assert row.values == {
            entry.label: MetricResult.objects.get(algorithm=entry, metric="recall", profile_length=0).value
            for entry in measured.algorithms.all()
        }
        page = page_without_pictures(report)
        assert f"“{source}”: measured on users" in page
        assert ("as new to" in page) == (run == other)


def test_reports_stored_before_the_matrix_are_read(diverse: Report) -> None:
    before = {key: value for key, value in diverse.results.items() if key != "matrix"}
    results = decode(Results, before)
    assert results.matrix is None
    assert results.comparisons == diverse.read_results().comparisons


@pytest.mark.integration
@pytest.mark.django_db
def test_matrix_is_figure_table_and_numbers_in_every_format(diverse: Report, matrix: Matrix) -> None:
    files = files_of(diverse)
    drawings = {f"figures/matrix.{kind}" for kind in ("svg", "png", "pdf")}
    assert {*drawings, *(f"tables/matrix.{kind}" for kind in ("csv", "md", "tex"))} <= set(files)
    lines = list(csv.DictReader(io.StringIO(files["tables/matrix.csv"].make().decode())))
    assert len(lines) == len(matrix.cells)
    assert (lines[0]["Metric"], lines[0]["Measure"]) == ("Recall at 5", "Perceived accuracy")
    assert not [column for column in lines[0] if column.startswith("p")]
    found = {(line["Metric"], line["Measure"]): line for line in lines}
    planted = found["Diversity at 5, full ranking", "Global satisfaction"]
    assert float(planted["τ_b"]) == pytest.approx(1)
    assert found["RMSE, rating prediction", "Global satisfaction"]["Without a value"].startswith("No value of")
    page = page_without_pictures(diverse)
    assert "with all measures" in page
    assert len(json.loads(report_json(diverse))["results"]["matrix"]["cells"]) == len(matrix.cells)


@pytest.mark.unit
def test_directions_are_those_of_the_registry() -> None:
    assert {key for key in BELOW if METRICS[key].direction == "lower"} == BELOW
    assert METRICS["gini"].direction == "neither"


@pytest.mark.unit
@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("recall", "recall at 5"),
        ("precision-raghavan(ties=served)", "precision at 5 as served"),
        ("ndcg@10(gain=linear)", "nDCG at 10"),
        ("ndcg@10(gain=exponential)", "nDCG at 10 (gain=exponential)"),
        ("arp@5", "average recommendation popularity at 5"),
        ("catalogue-coverage@5", "catalogue coverage at 5"),
        ("mae(over=ratings)", "MAE"),
    ],
)
def test_labels(name: str, label: str) -> None:
    assert metric_label(name, 5) == label


@pytest.mark.unit
def test_other_computations_and_development_users_are_no_metrics() -> None:
    assert not any(map(is_metric, ("f(mode=exact)", "recall(mode=sampled)", "filled-slots", "development:recall")))
    stored = StoredMetric("recall", 5, "", 5, {}, {}, None)
    assert stored.key == "recall@profile5"
