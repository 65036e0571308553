"""Reports on recommenders crossed with presentations: the comparison averages presentations with equal weights."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from analysis.compute.comparison import by_recommender, compare
from analysis.enums import VARIABLE_OF, Metric
from analysis.models import Report
from analysis.present.words import presentations_note
from analysis.read.inputs import recommenders_of
from analysis.results.rankings import Ranking
from analysis.services.report_builder import build_report
from inference.average_advantage import AverageAdvantage
from inference.partial_order import partial_order
from inference.results import Undefined
from studies.design.services.design import create_study
from studies.design.services.launch import launch_study
from studies.models import Study
from tests.analysis.conftest import FEW_RESAMPLES
from tests.factories.accounts import UserFactory
from tests.factories.analysis import page_without_pictures, planted_person
from tests.factories.evaluation import make_run_at
from tests.factories.packages import recomputed, unpack
from tests.factories.studies import make_study
from tests.studies.test_factors import TEXTS

RATINGS = {
    "TopPop · plain": (5, 4, 5, 3, 4), "TopPop · explained": (5, 5, 5, 4, 4),
    "PureSVD4 · plain": (2, 3, 1, 2, 4), "PureSVD4 · explained": (3, 3, 2, 4, 1),
}  # fmt: skip
SHARED = {label: label.partition(" · ")[0] for label in RATINGS}


def ranking(**values: float) -> Ranking:
    named = {name.replace("_", " · "): value for name, value in values.items()}
    return Ranking(named, Undefined("Nobody differs."), partial_order(named, ()))


def test_rank_correlations_are_over_recommenders_whose_presentations_weigh_the_same() -> None:
    perceived = ranking(A_plain=3.0, A_explained=4.0, B_plain=3.2, B_explained=3.4, C_plain=2.0, C_explained=2.2)
    recall = ranking(A_plain=0.3, A_explained=0.3, B_plain=0.2, B_explained=0.2, C_plain=0.1, C_explained=0.1)
    shared = {name: name[0] for name in perceived.values}
    averaged = by_recommender(perceived.values, shared)
    assert averaged == pytest.approx({"A": 3.5, "B": 3.3, "C": 2.1})
    compared = compare(VARIABLE_OF["accuracy"], Metric("recall", 0, 5), perceived, recall, recommenders=shared)
    assert not isinstance(compared.tau, Undefined)
    assert (compared.tau.n, compared.tau.coefficient) == (3, 1.0)
    assert by_recommender(perceived.values, {}) == perceived.values
    assert presentations_note({}) == ""


def _report(*recommenders: str) -> Report:
    ratings = {
        label: given for label, given in RATINGS.items() if SHARED[label] in (recommenders or ("TopPop", "PureSVD4"))
    }
    run = make_run_at("succeeded", algorithms="toppop,corngr,puresvd:factors=4")
    levels = [{"recommender": name} for name in dict.fromkeys(SHARED[label] for label in ratings)]
    factors = [{"key": "recommender", "levels": levels}, TEXTS]
    study = create_study(
        slug="crossed", version=run.version, run=run, per_condition=6, seed=1, owner=UserFactory(),
        settings={"factors": factors, **FEW_RESAMPLES},
    )  # fmt: skip
    launch_study(study=study)
    study.refresh_from_db()
    for place, (label, given) in enumerate(ratings.items()):
        for number in range(6 + place):  # unequal numbers, which must not weigh
            turned = [1 + (rating - 1 + (number * (rank + 1)) // 4) % 5 for rank, rating in enumerate(given)]
            planted_person(study, label, turned, 1 + (number + place) % 5, n_watched=1 + (number + place) % 3,
                           n_heard=number % 2, first_item=(number * 3 + place) % 9)  # fmt: skip
    return build_report(study=study)


@pytest.mark.integration
@pytest.mark.django_db
def test_a_report_tells_conditions_of_a_model_apart_and_averages_them() -> None:
    report = _report()
    results = report.read_results()
    assert [facts.label for facts in results.conditions] == list(RATINGS)
    assert results.recommenders == SHARED == recommenders_of(report.study)
    whole = results.objective.lengths[0]
    recalls = {row.condition: row.recall for row in whole.table}
    assert recalls["TopPop · plain"] == recalls["TopPop · explained"] != recalls["PureSVD4 · plain"]
    accuracy = results.variable("accuracy")
    assert accuracy is not None
    means = {name: described.mean for name, described in accuracy.described.items()}
    assert len(set(means.values())) == 4
    primary, advantage = results.primary, results.advantage
    assert primary is not None
    assert advantage is not None
    assert not isinstance(primary.tau, Undefined)
    assert primary.tau.n == 2
    overall = advantage.overall
    if isinstance(overall, AverageAdvantage):  # the metric separates them: four pairs, each presentation with each
        assert overall.n_pairs == 4
        of_both = by_recommender(means, SHARED)
        assert math.isclose(abs(overall.value), abs(of_both["TopPop"] - of_both["PureSVD4"]))
    assert set(advantage.without) == {"TopPop", "PureSVD4"}
    page = page_without_pictures(report)
    assert "several presentations (TopPop · plain and TopPop · explained; PureSVD4 · plain and PureSVD4" in page


@pytest.mark.integration
@pytest.mark.django_db
def test_a_report_on_presentations_of_one_recommender_tests_participants_alone() -> None:
    report = _report("PureSVD4")
    results = report.read_results()
    assert len(results.conditions) == 2
    assert results.primary is not None
    assert isinstance(results.primary.tau, Undefined)
    assert results.advantage is not None
    assert isinstance(results.advantage.overall, Undefined)
    accuracy = results.variable("accuracy")
    assert accuracy is not None
    assert not isinstance(accuracy.welch, Undefined)
    assert "PureSVD4 · explained" in page_without_pictures(report)


@pytest.mark.integration
@pytest.mark.django_db
@pytest.mark.slow
@pytest.mark.usefixtures("pictures_once")
def test_the_scripts_of_a_package_average_presentations_as_the_report_does(tmp_path: Path, rscript: str) -> None:
    report = _report()
    unpack(report, tmp_path)
    conditions = (tmp_path / "data" / "conditions.csv").read_text().splitlines()
    assert [line.rpartition(",")[2] for line in conditions] == ["recommender", *SHARED.values()]
    assert any(line[1] == "tau_b" for line in recomputed(tmp_path, rscript))


@pytest.mark.integration
@pytest.mark.django_db
def test_a_study_without_factors_says_nothing_of_it() -> None:
    study: Study = make_study()
    assert recommenders_of(study) == {}
