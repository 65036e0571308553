"""The manipulation check of re-ranked conditions: what the dose did to the lists shown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from analysis.compute.lists_shown import doses
from analysis.files.document import document_of
from analysis.files.formats import report_json
from analysis.models import Report
from analysis.present import lists_shown as narrative
from analysis.results.lists_shown import ListsShown
from analysis.results.report import ConditionFacts
from analysis.results.schema import report_schema
from analysis.services import build_report
from studies.models import Study
from tests.factories.analysis import planted_person
from tests.factories.evaluation import make_run_at
from tests.factories.packages import recomputed, unpack
from tests.factories.results import partial
from tests.factories.studies import make_study

pytestmark = pytest.mark.slow

BASE, SAME, OTHER = "PureSVD4", "PureSVD4 + MMR 0.1", "PureSVD4 + Popularity 0.9"
ALGORITHMS = "puresvd:factors=4, puresvd:factors=4|mmr:strength=0.1, puresvd:factors=4|popularity:strength=0.9"
N = 12
FIRST_ITEMS = {BASE: 0, SAME: 0, OTHER: 20}  # early items are popular


def shown(**means: tuple[float, float]) -> ListsShown:
    """Lists of two conditions whose metrics have these means and an SD of 2 and 4."""
    metrics = [
        {
            "metric": metric,
            "conditions": [
                {"condition": "base", "n": 11, "mean": before, "sd": 2.0},
                {"condition": "re-ranked", "n": 21, "mean": after, "sd": 4.0},
            ],
        }
        for metric, (before, after) in means.items()
    ]
    found: ListsShown = partial(ListsShown, {"metrics": metrics})
    return found


def facts(label: str, algorithm: str, **params: Any) -> ConditionFacts:
    return ConditionFacts(label=label, algorithm=algorithm, params=params, n=20)


CONDITIONS = [
    facts("base", "puresvd", factors=4),
    facts("re-ranked", "puresvd|mmr", factors=4, mmr_strength=0.5, mmr_kinds="all"),
]


@pytest.mark.unit
def test_differences_are_in_pooled_standard_deviations() -> None:
    lists = shown(diversity=(0.5, 1.5), popularity=(10.0, 8.0), novelty=(1.0, 1.0))
    (dose,) = doses(lists, CONDITIONS, {})
    assert (dose.condition, dose.base, dose.strength) == ("re-ranked", "base", 0.5)
    sd = ((10 * 4 + 20 * 16) / 30) ** 0.5
    assert [change.in_sd for change in dose.changes] == pytest.approx([1 / sd, -2 / sd, 0.0])
    assert not dose.is_unchanged
    (sentence,) = narrative.dose_sentences([dose])
    assert sentence == (
        "re-ranked (λ = 0.5) changed list diversity by +0.29 SD, list popularity by −0.58 SD and list novelty by "
        "+0.00 SD, compared with base."
    )


@pytest.mark.unit
def test_lists_that_hardly_differ_are_said_to_be_unchanged() -> None:
    sd = 12**0.5
    (dose,) = doses(shown(diversity=(0.0, 0.19 * sd), popularity=(0.0, -0.19 * sd), novelty=(1.0, 1.0)), CONDITIONS, {})
    assert dose.is_unchanged
    (sentence,) = narrative.dose_sentences([dose])
    assert "the dose did not change the lists" in sentence
    assert "by less than .2 SD" in sentence
    (dose,) = doses(shown(diversity=(0.0, 0.21 * sd), popularity=(0.0, 0.0), novelty=(1.0, 1.0)), CONDITIONS, {})
    assert not dose.is_unchanged


@pytest.mark.unit
def test_lists_without_variance_differ_or_not() -> None:
    metrics = [
        {
            "metric": metric,
            "conditions": [
                {"condition": "base", "n": 9, "mean": 1.0, "sd": 0.0},
                {"condition": "re-ranked", "n": 9, "mean": mean, "sd": 0.0},
            ],
        }
        for metric, mean in {"diversity": 1.0, "popularity": 1.0, "novelty": 2.0}.items()
    ]
    (dose,) = doses(partial(ListsShown, {"metrics": metrics}), CONDITIONS, {})
    assert [change.in_sd for change in dose.changes] == [0.0, 0.0, None]
    assert not dose.is_unchanged


@pytest.mark.unit
def test_base_is_the_same_model_without_re_ranking() -> None:
    lists = shown(diversity=(0.0, 1.0), popularity=(0.0, 1.0), novelty=(0.0, 1.0))
    (dose,) = doses(lists, [facts("base", "puresvd", factors=5), CONDITIONS[1]], {})
    assert (dose.base, dose.changes, dose.is_unchanged) == ("", (), False)
    assert "is not compared here" in narrative.dose_sentences([dose])[0]
    assert doses(lists, CONDITIONS[:1], {}) == ()


@pytest.mark.unit
def test_base_is_shown_in_the_same_presentation() -> None:
    lists = shown(diversity=(0.0, 1.0), popularity=(0.0, 1.0), novelty=(0.0, 1.0))
    in_grid = {"layout": "grid"}
    (dose,) = doses(lists, CONDITIONS, {"re-ranked": in_grid})
    assert dose.base == ""
    (dose,) = doses(lists, CONDITIONS, {"base": in_grid, "re-ranked": in_grid})
    assert dose.base == "base"


@pytest.fixture(scope="module")
def report(module_database: None) -> Report:
    study: Study = make_study(slug="doses", run=make_run_at("succeeded", algorithms=ALGORITHMS))
    rng = np.random.default_rng(4)
    for label, first in FIRST_ITEMS.items():
        for number in range(N):
            ratings = [int(rating) for rating in rng.integers(1, 6, 5)]
            planted_person(study, label, ratings, int(rng.integers(1, 6)), first_item=first + number % 4)
    return build_report(study=study)


@pytest.mark.integration
@pytest.mark.django_db
def test_report_tells_what_each_dose_did_before_what_participants_answered(report: Report) -> None:
    results = report.read_results()
    same, other = results.doses
    assert (same.condition, same.base, other.condition, other.base) == (SAME, BASE, OTHER, BASE)
    assert [change.in_sd for change in same.changes] == [0.0, 0.0, 0.0]
    changes = {change.metric: change.in_sd for change in other.changes}
    assert changes["popularity"] is not None
    assert changes["popularity"] < -1
    assert changes["novelty"] is not None
    assert changes["novelty"] > 1
    (chapter,) = (chapter for chapter in document_of(report).chapters if chapter.key == "perceived")
    assert [section.key for section in chapter.sections][:2] == ["dose", "measures"]
    (table,) = (table for table in document_of(report).tables() if table.key == "list-doses")
    assert len(table.rows) == 6
    said = " ".join(narrative.dose_sentences(results.doses))
    assert f"{SAME} (λ = 0.1): the dose did not change the lists." in said
    stored = json.loads(report_json(report))
    assert not list(Draft202012Validator(json.loads(report_schema())).iter_errors(stored))


@pytest.mark.integration
@pytest.mark.django_db
@pytest.mark.usefixtures("pictures_once")
def test_scripts_of_a_package_recompute_the_doses(report: Report, tmp_path: Path, rscript: str) -> None:
    unpack(report, tmp_path)
    numbers = (tmp_path / "report" / "numbers.csv").read_text().splitlines()
    assert sum(",dose," in line for line in numbers) == 6
    recomputed(tmp_path, rscript)


@pytest.mark.integration
@pytest.mark.django_db
def test_report_without_re_ranked_conditions_stores_nothing_of_doses() -> None:
    study = make_study(slug="plain", run=make_run_at("succeeded"))
    planted_person(study, "TopPop", [3, 4, 5, 2, 1], 3)
    planted = build_report(study=study)
    assert "doses" not in planted.results
    assert "dose" not in {section.key for section in document_of(planted).all_sections}
