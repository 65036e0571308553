"""A planned contrast as the primary test: planned, preregistered, computed, said, and recomputed from the package."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse
from jsonschema import Draft202012Validator
from scipy import stats

from accounts.services import create_token
from analysis.files.formats import report_json
from analysis.files.numbers import lines_of
from analysis.present import contrast as said
from analysis.present import verdict
from analysis.present.apa import apa_sentences
from analysis.results.report import Results
from analysis.results.schema import report_schema
from analysis.services import build_report
from core.errors import ParallaxError
from inference.results import Undefined
from studies.design.narrative.preregistration import preregistration
from studies.design.presets.loader import load_preset
from studies.design.selectors.planning import preregistration_plan
from studies.design.services.design import change_design
from studies.design.services.launch import launch_problems, launch_study
from studies.models import Study, StudyMembership
from studies.monitoring.services.exclusions import exclude
from studies.settings import settings_problems
from tests.analysis.conftest import FEW_RESAMPLES
from tests.approval import assert_approved
from tests.factories.analysis import page_without_pictures, plant, planted_person
from tests.factories.evaluation import make_run_at
from tests.factories.packages import recomputed, write_numbers
from tests.factories.results import partial
from tests.factories.studies import make_study
from tests.report_text import text_of_report
from tests.sentences import assert_sentences_approved

pytestmark = [pytest.mark.integration, pytest.mark.django_db]
ALGORITHMS = "toppop,corngr,puresvd:factors=4"
PLANTED = {"TopPop": [4, 5, 4, 5, 4, 5], "CorNgr": [2, 1, 2, 3, 2, 2], "PureSVD4": [3, 3, 2, 4, 3, 3]}


def plain(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", html))


def primary(sides: int = 2, **changes: Any) -> dict[str, Any]:
    contrast = {"higher": ["TopPop"], "lower": ["CorNgr", "PureSVD4"], "sides": sides}
    return {"perceived": "accuracy", "objective": "recall", "contrast": {**contrast, **changes}}


@pytest.fixture
def draft(db: None) -> Study:
    return make_study(run=make_run_at("succeeded", algorithms=ALGORITHMS), status="draft", per_condition=4)


@pytest.fixture
def contrasted(draft: Study) -> Callable[..., Study]:
    """Launch the draft with a contrast, and let people answer."""

    def launch(sides: int = 2, **plan: Any) -> Study:
        change_design(study=draft, settings={"primary": primary(sides), "plan": {**FEW_RESAMPLES["plan"], **plan}})
        launch_study(study=draft)
        draft.refresh_from_db()
        plant(draft, PLANTED)
        return draft

    return launch


def expected() -> tuple[float, float]:
    """t and p of the contrast by textbook."""
    groups = [np.array(one, dtype=float) for one in PLANTED.values()]
    pooled = sum(((one - one.mean()) ** 2).sum() for one in groups) / 15
    difference = groups[0].mean() - (groups[1].mean() + groups[2].mean()) / 2
    t = difference / np.sqrt(pooled * (1 + 1 / 4 + 1 / 4) / 6)
    return float(t), float(2 * stats.t.sf(t, 15))


@pytest.mark.slow
def test_a_report_tests_the_contrast_and_calls_the_advantage_unplanned(
    contrasted: Callable[..., Study],
) -> None:
    report = build_report(study=contrasted())
    found = report.results["contrast"]
    t, p = expected()
    assert (found["variable"], found["higher"], found["alpha"]) == ("accuracy", ["TopPop"], 0.05)
    assert (found["pooled"]["t"], found["pooled"]["p"]) == (pytest.approx(t), pytest.approx(p))
    assert report.plan["primary"] == primary()
    named = report.results["comparisons"][0]
    assert (named["is_primary"], named["is_tested"]) == (True, False)
    page = plain(page_without_pictures(report))
    assert "M = 4.50 and 2.50, difference 2.00" in page
    assert_approved("reports/contrast", text_of_report(report))
    assert report.results["planned"]["plan"]["tests"]["contrast"].startswith("planned contrast")
    assert "Planned contrast" in dict(apa_sentences(report.read_results()))
    assert not list(Draft202012Validator(json.loads(report_schema())).iter_errors(json.loads(report_json(report))))


def test_one_side_counts_the_expected_direction_alone(contrasted: Callable[..., Study]) -> None:
    found = build_report(study=contrasted(sides=1)).read_results().contrast
    assert found is not None
    assert not isinstance(found.test.result, Undefined)
    assert found.test.result.pooled.p == pytest.approx(expected()[1] / 2)
    assert found.test.result.pooled.ci_high is None
    assert "one-sided" in said.sentence(found)
    assert "lower 95% confidence bound" in said.sentence(found)


@pytest.mark.slow
def test_exclusions_show_the_contrast_both_ways(contrasted: Callable[..., Study]) -> None:
    study = contrasted()
    for _ in range(4):
        exclude(participant=planted_person(study, "TopPop", [1] * 5, 1), reason="Under age")
    report = build_report(study=study)
    assert report.results["exclusions"]["contrast"]["kept"]["pooled"] == report.results["contrast"]["pooled"]
    assert "changes (t(15)" in plain(page_without_pictures(report))


def test_too_few_answers_are_said(contrasted: Callable[..., Study]) -> None:
    study = contrasted()
    study.participants.filter(condition__label="CorNgr").delete()
    report = build_report(study=study)
    assert "participants in CorNgr" in plain(page_without_pictures(report))
    assert verdict.headline(report.read_results())[0].text.startswith("Interim")


@pytest.mark.slow
@pytest.mark.parametrize("sides", [1, 2])
def test_both_scripts_recompute_the_contrast(
    contrasted: Callable[..., Study], rscript: str, tmp_path: Path, sides: int
) -> None:
    # The other variables' numbers are recomputed in test_package.py.
    report = build_report(study=contrasted(sides, variables=["accuracy"]))
    write_numbers(report, tmp_path)
    lines = {line[:5] for line in lines_of(report.read_results())}
    assert {line[4] for line in lines if line[1] == "contrast"} >= {"difference", "t", "df", "p", "ci_low"}
    assert [line for line in lines if line[1] == "contrast_welch"]
    assert {tuple(line[:5]) for line in recomputed(tmp_path, rscript)} == lines


def test_pages_and_text_name_the_primary_test_before_the_data(draft: Study, client: Client) -> None:
    client.force_login(StudyMembership.objects.get(study=draft).researcher)
    for name in ("power", "plan", "launch"):
        page = plain(client.get(reverse(f"studies:{name}", kwargs={"slug": draft.slug})).content.decode())
        assert "verage advantage of the conditions with the better offline metric" in page, name
    text = preregistration(preregistration_plan(draft))
    assert "average advantage" in text
    change_design(study=draft, settings={"primary": primary(sides=1)})
    draft.refresh_from_db()
    page = plain(client.get(reverse("studies:power", kwargs={"slug": draft.slug})).content.decode())
    assert "one-sided" in page
    text = preregistration(preregistration_plan(draft))
    assert "planned contrast TopPop" in text
    assert "α = .05" in text


def test_the_form_sets_and_unsets_a_contrast(draft: Study, client: Client) -> None:
    client.force_login(StudyMembership.objects.get(study=draft).researcher)
    url = reverse("studies:plan", kwargs={"slug": draft.slug})
    form = client.get(url).context["form"]
    given = {**form.initial, "smallest_effect": "", "primary_test": "contrast",
             "contrast_higher": ["TopPop"], "contrast_sides": "1"}  # fmt: skip
    refused = client.post(url, given)
    assert "at least one" in plain(refused.content.decode())
    saved = client.post(url, {**given, "contrast_lower": ["CorNgr"]})
    assert saved.status_code == 302, saved.context["form"].errors
    draft.refresh_from_db()
    assert draft.settings["primary"]["contrast"] == {"higher": ["TopPop"], "lower": ["CorNgr"], "sides": 1}
    again = client.get(url).context["form"].initial
    assert (again["primary_test"], again["contrast_lower"]) == ("contrast", ["CorNgr"])
    client.post(url, {**given, "primary_test": "advantage"})
    draft.refresh_from_db()
    assert draft.settings["primary"] == {"perceived": "accuracy", "objective": "recall"}


def test_the_api_gives_the_contrast(draft: Study, client: Client) -> None:
    change_design(study=draft, settings={"primary": primary()})
    owner = StudyMembership.objects.get(study=draft).researcher
    token = create_token(owner=owner, name="p", scope="read")[1]
    found = client.get(f"/api/v1/studies/{draft.slug}/", headers={"Authorization": f"Bearer {token}"}).json()
    assert found["design"]["primary"]["contrast"] == primary()["contrast"]


def test_a_contrast_of_other_conditions_is_neither_saved_nor_launched(draft: Study) -> None:
    with pytest.raises(ParallaxError, match="'LSA'"):
        change_design(study=draft, settings={"primary": primary(higher=["LSA"])})
    draft.settings["primary"] = primary(higher=["LSA"])
    draft.save()
    assert [problem for problem in launch_problems(draft) if "'LSA'" in problem]


@pytest.mark.unit
@pytest.mark.parametrize(
    ("given", "words"),
    [
        (
            {"higher": [], "lower": ["B"]},
            "primary.contrast: A planned contrast names at least one condition expected to be higher and one "
            "expected to be lower.",
        ),
        (
            {"higher": ["A"], "lower": ["A"]},
            "primary.contrast: A planned contrast names each condition once; got 'A' twice.",
        ),
        ({"higher": ["A"], "lower": ["B"], "sides": 3}, "primary.contrast.sides: Expected one of 1 or 2; got 3."),
        ({"higher": "A", "lower": ["B"]}, "primary.contrast.higher: Expected a list; got 'A'."),
        (
            {"higher": ["A"], "lower": ["B"], "weights": [1]},
            "primary.contrast.weights: There is no such field. Correct its name, or remove it.",
        ),
        ("A over B", "primary.contrast: Expected names with values; got 'A over B'."),
    ],
)
def test_a_contrast_that_cannot_be_is_refused_in_words(given: Any, words: str) -> None:
    stored = {**load_preset("cremonesi-2011").settings, "primary": primary(), "block_multiples": [1]}
    stored["primary"]["contrast"] = given
    assert [str(problem) for problem in settings_problems(stored)] == [words]


@pytest.mark.unit
def test_headlines_say_direction_and_lack_of_evidence() -> None:
    def headline(difference: float, p: float, sides: int = 2) -> str:
        found = {"higher": ["A"], "lower": ["B", "C"], "sides": sides, "is_defined": True, "alpha": 0.05,
                 "difference": difference, "pooled": {"p": p}, "variable": "son"}  # fmt: skip
        results = {
            "mode": "live", "flow": {"analysed": 9}, "contrast": found, "comparisons": [{"is_primary": True}],
            "conditions": [{"label": label, "n": 9} for label in "ABC"],
        }  # fmt: skip
        return "".join(run.text for run in verdict.headline(partial(Results, results)))

    headlines = [headline(0.4, 0.01), headline(-0.4, 0.01), headline(0.1, 0.3), headline(-0.4, 0.99, 1)]
    assert_sentences_approved("sentences/contrast", {"higher, lower, open, open from one side": headlines})
