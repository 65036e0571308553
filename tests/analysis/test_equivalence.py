"""The smallest effect of interest: planned, preregistered, tested, said, and recomputed from the package."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from jsonschema import Draft202012Validator
from scipy import stats

from analysis.files.formats import report_json
from analysis.files.numbers import lines_of
from analysis.models import Report
from analysis.results.schema import report_schema
from analysis.services import build_report
from core.errors import ParallaxError
from studies import plans
from studies.design.narrative.preregistration import preregistration
from studies.design.presets.loader import load_preset
from studies.design.selectors.planning import preregistration_plan
from studies.design.services.design import change_design
from studies.design.services.launch import launch_study
from studies.models import Study, StudyMembership
from studies.settings import StudySettings, settings_problems
from tests.analysis.conftest import FEW_RESAMPLES
from tests.approval import assert_approved
from tests.factories.analysis import page_without_pictures, plant
from tests.factories.evaluation import make_run_at
from tests.factories.packages import recomputed, write_numbers
from tests.factories.studies import make_study
from tests.report_text import text_of_report

pytestmark = [pytest.mark.integration, pytest.mark.django_db, pytest.mark.slow]
PLANTED = {
    "TopPop": [4, 5, 4, 5, 4, 5, 4, 5],
    "CorNgr": [2, 3, 2, 3, 2, 3, 2, 3],
    "PureSVD4": [3, 2, 3, 2, 3, 2, 2, 3],
}
CONTRAST = {"higher": ["TopPop"], "lower": ["CorNgr", "PureSVD4"], "sides": 2}


def primary(**changes: Any) -> dict[str, Any]:
    return {"perceived": "accuracy", "objective": "recall", "smallest_effect": 0.8, **changes}


@pytest.fixture
def draft(db: None) -> Study:
    run = make_run_at("succeeded", algorithms="toppop,corngr,puresvd:factors=4")
    return make_study(run=run, status="draft", per_condition=8)


def reported(draft: Study, plan: dict[str, Any] | None = None, **changes: Any) -> Report:
    change_design(
        study=draft, settings={"primary": primary(**changes), "plan": {**FEW_RESAMPLES["plan"], **(plan or {})}}
    )
    launch_study(study=draft)
    draft.refresh_from_db()
    plant(draft, PLANTED)
    return build_report(study=draft)


def plain(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", html))


def test_pairs_are_the_same_or_beyond_the_bound_as_two_t_tests_say(draft: Study) -> None:
    report = reported(draft)
    found = report.read_results().equivalence
    assert found is not None
    pairs = {(pair.a, pair.b): pair for pair in found.result.pairs}
    same = pairs["CorNgr", "PureSVD4"]
    groups = [PLANTED[name] for name in ("CorNgr", "PureSVD4")]
    low = stats.ttest_ind(
        [value + 0.8 for value in groups[0]], groups[1], equal_var=False, alternative="greater"
    ).pvalue
    high = stats.ttest_ind([value - 0.8 for value in groups[0]], groups[1], equal_var=False, alternative="less").pvalue
    assert same.test.p_equivalence == pytest.approx(max(low, high))
    assert same.is_equivalent
    assert pairs["TopPop", "CorNgr"].is_beyond
    assert found.result.letters["CorNgr"] == found.result.letters["PureSVD4"] != found.result.letters["TopPop"]
    assert_approved("reports/equivalence", text_of_report(report))
    assert report.results["planned"]["plan"]["tests"]["equivalence"].startswith("two one-sided tests")
    assert not list(Draft202012Validator(json.loads(report_schema())).iter_errors(json.loads(report_json(report))))


def test_the_planned_contrast_is_tested_against_the_bound_too(draft: Study) -> None:
    page = plain(page_without_pictures(reported(draft, contrast=CONTRAST, smallest_effect=3)))
    assert "± 3.00: 90% CI [" in page


def test_a_condition_without_answers_leaves_the_other_pairs(draft: Study) -> None:
    change_design(study=draft, settings={"primary": primary()})
    launch_study(study=draft)
    draft.refresh_from_db()
    plant(draft, {"TopPop": [4], "CorNgr": [2]})
    page = plain(page_without_pictures(build_report(study=draft)))
    assert "not be tested" in page


@pytest.mark.slow
def test_both_scripts_recompute_the_tests(draft: Study, rscript: str, tmp_path: Path) -> None:
    # The other variables' numbers are recomputed in test_package.py.
    report = reported(draft, {"variables": ["accuracy"]}, contrast=CONTRAST)
    write_numbers(report, tmp_path)
    lines = {line[:5] for line in lines_of(report.read_results())}
    assert {line[4] for line in lines if line[1] == "equivalence"} == {
        "p_equivalence",
        "p_minimum",
        "ci_low",
        "ci_high",
    }
    assert {tuple(line[:5]) for line in recomputed(tmp_path, rscript)} == lines


def test_the_form_asks_for_it_and_the_preregistration_names_it(draft: Study, client: Client) -> None:
    client.force_login(StudyMembership.objects.get(study=draft).researcher)
    url = reverse("studies:plan", kwargs={"slug": draft.slug})
    form = client.get(url).context["form"]
    given = {key: value for key, value in form.initial.items() if value is not None}
    assert client.post(url, {**given, "smallest_effect": "-1"}).status_code == 200
    answer = client.post(url, {**given, "smallest_effect": "0.4"})
    assert answer.status_code == 302, answer.context["form"].errors
    draft.refresh_from_db()
    assert draft.settings["primary"]["smallest_effect"] == 0.4
    assert client.get(url).context["form"].initial["smallest_effect"] == 0.4
    text = preregistration(preregistration_plan(draft))
    assert "0.4 points" in text
    launch = plain(client.get(reverse("studies:launch", kwargs={"slug": draft.slug})).content.decode())
    assert "0.4 points" in launch
    answer = client.post(url, {**given, "smallest_effect": ""})
    assert answer.status_code == 302, answer.context["form"].errors
    draft.refresh_from_db()
    assert "smallest_effect" not in draft.settings["primary"]


def test_a_design_without_it_is_frozen_as_before() -> None:
    assert "equivalence" not in plans.tests_of(StudySettings())


@pytest.mark.unit
@pytest.mark.parametrize("wrong", [0, -0.1, "0.3", True, float("inf"), float("nan")])
def test_only_a_positive_number_is_an_effect(wrong: Any) -> None:
    stored = {**load_preset("cremonesi-2011").settings, "primary": primary(smallest_effect=wrong)}
    (problem,) = settings_problems(stored)
    assert problem.location == "primary.smallest_effect"


def test_a_wrong_bound_is_not_saved(draft: Study) -> None:
    with pytest.raises(ParallaxError, match="above 0"):
        change_design(study=draft, settings={"primary": primary(smallest_effect=0)})
