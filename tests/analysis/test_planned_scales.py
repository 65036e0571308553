"""A scale that the plan names is tested like the four variables, everywhere; the preregistration promises the same."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse
from jsonschema import Draft202012Validator
from scipy import stats

from accounts.services import create_token
from analysis.files.document import document_of
from analysis.files.formats import report_json
from analysis.files.numbers import lines_of
from analysis.models import Report
from analysis.present.apa import apa_sentences
from analysis.results.schema import report_schema
from analysis.services import build_report
from core.errors import ParallaxError
from evaluation.models import EvaluationRun
from studies.design.narrative.preregistration import preregistration
from studies.design.selectors.planning import preregistration_plan
from studies.design.services.design import change_design
from studies.design.services.launch import launch_study
from studies.design.services.questionnaires import import_questionnaire
from studies.instrument.questionnaires.document import write_document
from studies.models import Response, Study, StudyMembership
from studies.monitoring.services.exclusions import exclude
from studies.settings import PERCEIVED
from tests.approval import assert_approved
from tests.factories.analysis import page_without_pictures, planted_person
from tests.factories.evaluation import make_run_at
from tests.factories.packages import recomputed, write_numbers
from tests.factories.questionnaires import every_kind, make_study_asking, words
from tests.report_text import text_of_report

pytestmark = [pytest.mark.integration, pytest.mark.django_db]
ALGORITHMS = "toppop,corngr,puresvd:factors=4"
LABELS = ("TopPop", "CorNgr", "PureSVD4")
TRUST = {"TopPop": (5, 4, 5, 4), "CorNgr": (1, 2, 1, 2), "PureSVD4": (3, 2, 3, 4)}
BATTERY = {
    "analysis of variance": "One-way ANOVA",
    "Tukey's HSD": "p, Tukey",
    "Welch's": "Welch's ANOVA",
    "Games and Howell's": "p, Games-Howell",
    "Kruskal and Wallis's": "Kruskal-Wallis",
    "Dunn's": "p, Dunn-Holm",
}


def questionnaire() -> dict[str, Any]:
    """Every kind of question, with one more scale of a single answer."""
    found = every_kind()
    single = {"key": "calm", "kind": "likert", "text": words("I felt calm."), "minimum": 1, "maximum": 7,
              "required": False, "scale": "calm"}  # fmt: skip
    found["after"].append(single)
    found["scales"].append({"key": "calm", "name": words("Calm")})
    return found


def draft_asking(run: EvaluationRun, **given: Any) -> Study:
    return make_study_asking(questionnaire(), status="draft", run=run, per_condition=4, **given)


def answer_trust(study: Study) -> None:
    """Four participants of each condition, whose trust is planted; the last of TopPop has no calm."""
    for place, (label, given) in enumerate(TRUST.items()):
        for number, trust in enumerate(given):
            ratings = [*(1 + (number + place + rank) % 5 for rank in range(4)), 1 + number**2 % 5]
            person = planted_person(
                study, label, ratings, 1 + (number + place) % 5,
                n_watched=1 + (number + place) % 3, n_heard=number % 2,
            )  # fmt: skip
            said = [("trust_a", trust), ("trust_b", 6 - trust), ("views", {"again": trust, "never": 6 - trust})]
            if (label, number) != ("TopPop", 3):
                said.append(("calm", 1 + (2 * number + place) % 7))
            given_answers = [(question, 0, value) for question, value in said]
            given_answers += [("mood_fit", rank, 1 + (number * rank + place) % 5) for rank in range(1, 6)]
            Response.objects.bulk_create(
                Response(participant=person, question=question, rank=rank, value=value, provenance="person")
                for question, rank, value in given_answers
            )


def launched(run: EvaluationRun, plan: dict[str, Any], primary: dict[str, str], **given: Any) -> Study:
    study = draft_asking(run, **given)
    change_design(study=study, settings={"plan": {"resamples": 200, **plan}, "primary": primary})
    launch_study(study=study)
    study.refresh_from_db()
    answer_trust(study)
    return study


@pytest.fixture
def trusted(db: None) -> Study:
    """Trust is planned and primary, calm is planned, fit is not."""
    run = make_run_at("succeeded", algorithms=ALGORITHMS)
    primary = {"perceived": "scale.trust", "objective": "recall"}
    return launched(run, {"scales": ["trust", "calm"]}, primary)


def variable(report: Report, key: str) -> dict[str, Any]:
    found: dict[str, Any] = next(one for one in report.results["variables"] if one["key"] == key)
    return found


def plain(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", html))


def test_a_planned_scale_has_every_test_of_a_variable(trusted: Study) -> None:
    report = build_report(study=trusted)
    trust, accuracy = variable(report, "scale.trust"), variable(report, "accuracy")
    assert set(accuracy) <= set(trust)
    groups = [np.array(TRUST[label], dtype=float) for label in LABELS]
    assert trust["anova"]["f"] == pytest.approx(stats.f_oneway(*groups).statistic)
    assert trust["welch"]["p"] == pytest.approx(stats.f_oneway(*groups, equal_var=False).pvalue)
    assert trust["kruskal"]["h"] == pytest.approx(stats.kruskal(*groups).statistic)
    tukey = stats.tukey_hsd(*groups)
    assert trust["tests"]["tukey"]["pairs"][0]["p"] == pytest.approx(tukey.pvalue[0, 1], abs=1e-9)
    assert trust["orders"]["tukey"]["tiers"]["TopPop"] == "maximal"
    assert [one["key"] for one in report.results["variables"]] == [*PERCEIVED, "scale.trust", "scale.calm"]
    calm = variable(report, "scale.calm")
    assert [calm["described"][label]["n"] for label in LABELS] == [3, 4, 4]
    assert {one["key"] for one in report.results["effects"]} >= {"scale.trust", "scale.calm"}
    assert [one["key"] for one in report.results["scale_effects"]] == ["fit"]
    pair = next(one for one in report.results["correlations"] if (one["a"], one["b"]) == ("satisfaction", "scale.calm"))
    assert pair["overall"]["n"] == 11


@pytest.mark.slow
def test_a_planned_scale_can_be_primary_and_meets_every_metric(trusted: Study) -> None:
    report = build_report(study=trusted)
    first = report.results["comparisons"][0]
    assert (first["variable"], first["metric"], first["is_primary"]) == ("scale.trust", "recall", True)
    assert len([one for one in report.results["comparisons"] if one["variable"] == "scale.calm"]) == 4
    assert_approved("reports/planned-scales", text_of_report(report))
    assert report.results["planned"]["deviations"] == []


@pytest.mark.slow
def test_a_planned_scale_stands_in_page_sentences_tables_and_json(trusted: Study) -> None:
    report = build_report(study=trusted)
    document = document_of(report)
    sections = {section.title for section in document.sections}
    assert {"Trust", "Calm"} <= sections
    assert "Fit" not in sections
    tables = {table.key: table for table in document.tables()}
    assert {"scale.trust-pairs", "scale.trust-order", "scale.trust-box"} <= set(tables)
    assert {"Trust", "Calm"} <= {row.group for row in tables["tests"].rows} & {
        row.group for row in tables["measures"].rows
    }
    assert "Trust" in [column.name for column in tables["table-1"].columns]
    assert {row.group.split(" (")[0] for row in tables["scale-means"].rows} == {"Fit"}
    keys = {figure.key for figure in document.figures()}
    assert {"box-scale.trust", "forest-scale.trust", "box-scale.calm"} <= keys
    parts = dict(apa_sentences(report.read_results()))
    assert any("F(2, " in said for said in parts["Trust"]), parts["Trust"]
    assert any("Kruskal-Wallis" in said for said in parts["Calm"])
    assert any("Trust and" in said for said in parts["Perceived and objective quality"])
    assert not list(Draft202012Validator(json.loads(report_schema())).iter_errors(json.loads(report_json(report))))
    assert not re.search(r"\b(nan|None|undefined)\b", plain(page_without_pictures(report)))


def test_the_api_gives_a_planned_scale(trusted: Study, client: Client) -> None:
    report = build_report(study=trusted)
    owner = StudyMembership.objects.get(study=trusted).researcher
    token = create_token(owner=owner, name="p", scope="read data")[1]
    found = client.get(f"/api/v1/reports/{report.pk}/numbers/", headers={"Authorization": f"Bearer {token}"})
    assert found.status_code == 200
    assert "scale.trust" in [one["key"] for one in found.json()["results"]["variables"]]


@pytest.mark.slow
def test_both_scripts_recompute_a_planned_scale(trusted: Study, rscript: str, tmp_path: Path) -> None:
    report = build_report(study=trusted)
    write_numbers(report, tmp_path)
    rows = list(csv.DictReader((tmp_path / "data" / "analysed.csv").read_text().splitlines()))
    assert [row["scale.calm"] for row in rows].count("") == 1
    assert sorted(float(row["scale.trust"]) for row in rows if row["condition"] == "TopPop") == [4, 4, 5, 5]
    expected = {line[:5] for line in lines_of(report.read_results())}
    assert {("scale.trust", "tukey"), ("scale.calm", "kruskal"), ("scale.trust", "games_howell")} <= {
        line[:2] for line in expected
    }
    assert len(recomputed(tmp_path, rscript)) == len(expected)


@pytest.mark.slow
def test_a_scale_is_reported_on_its_own_range_and_recomputed(db: None, rscript: str, tmp_path: Path) -> None:
    run = make_run_at("succeeded", algorithms=ALGORITHMS)
    study = draft_asking(run)
    asked = study.questionnaire
    asked["scales"][0]["score_range"] = [0, 100]
    import_questionnaire(study=study, text=write_document(asked))
    primary = {"perceived": "scale.trust", "objective": "recall"}
    change_design(study=study, settings={"plan": {"resamples": 200, "scales": ["trust"]}, "primary": primary})
    launch_study(study=study)
    study.refresh_from_db()
    answer_trust(study)
    report = build_report(study=study)
    trust = report.read_results().scales[0]
    assert (trust.key, trust.low, trust.high) == ("trust", 0, 100)
    assert trust.described["TopPop"].mean == pytest.approx(25 * (4.5 - 1))
    write_numbers(report, tmp_path)
    rows = list(csv.DictReader((tmp_path / "data" / "analysed.csv").read_text().splitlines()))
    assert sorted(float(row["scale.trust"]) for row in rows if row["condition"] == "TopPop") == [75, 75, 100, 100]
    assert len(recomputed(tmp_path, rscript)) == len({line[:5] for line in lines_of(report.read_results())})


@pytest.mark.slow
def test_a_planned_scale_that_nobody_answered_is_said(db: None) -> None:
    run = make_run_at("succeeded", algorithms=ALGORITHMS)
    study = launched(run, {"scales": ["calm"]}, {"perceived": "accuracy", "objective": "recall"})
    Response.objects.filter(question="calm").delete()
    page = plain(page_without_pictures(build_report(study=study)))
    assert "of calm has" in page


@pytest.mark.slow
def test_exclusions_compare_a_planned_scale_too(trusted: Study) -> None:
    exclude(participant=trusted.participants.order_by("pk")[0], reason="Under age")
    report = build_report(study=trusted)
    found = {one["key"]: one for one in report.results["exclusions"]["variables"]}
    assert found["scale.calm"]["kept"]["n"]["TopPop"] == 2
    assert found["scale.calm"]["everybody"]["n"]["TopPop"] == 3
    assert "Trust: the conclusion" in plain(page_without_pictures(report))


def test_the_plan_offers_scales_as_primary(trusted: Study, client: Client) -> None:
    study = draft_asking(trusted.run, slug="other")
    client.force_login(StudyMembership.objects.get(study=study).researcher)
    url = reverse("studies:plan", kwargs={"slug": study.slug})
    form = client.get(url).context["form"]
    assert ("scale.trust", "Trust") in form.fields["perceived"].choices
    given = {**form.initial, "perceived": "scale.trust"}
    refused = client.post(url, given)
    assert "leaves out scale.trust" in plain(refused.content.decode())
    saved = client.post(url, {**given, "scales": ["trust"]})
    assert saved.status_code == 302, saved.context["form"].errors
    study.refresh_from_db()
    assert study.settings["primary"]["perceived"] == "scale.trust"
    page = plain(client.get(reverse("studies:launch", kwargs={"slug": study.slug})).content.decode())
    assert "Trust and Recall at 5" in page


def test_a_plan_cannot_name_a_scale_that_no_question_belongs_to(db: None) -> None:
    asked = every_kind()
    asked["scales"].append({"key": "empty", "name": words("Empty")})
    study = make_study_asking(asked, status="draft")
    with pytest.raises(ParallaxError, match="no question"):
        change_design(study=study, settings={"plan": {"scales": ["empty"]}})
    with pytest.raises(ParallaxError, match=r"leaves out scale\.trust"):
        change_design(study=study, settings={"primary": {"perceived": "scale.trust", "objective": "recall"}})


def promised(text: str) -> tuple[set[str], set[str], str]:
    """Of a preregistration: its dependent variables, the tests of each, and the primary variable."""
    sections = dict(re.findall(r"^## (.+?)\n\n(.+?)(?=\n## |\Z)", text, flags=re.M | re.S))
    of_variables = next(body for title, body in sections.items() if "dependent variables" in title)
    analyses = next(body for title, body in sections.items() if title.startswith("5."))
    names = set(re.findall(r"^- \*\*(.+?)\*\*", of_variables, flags=re.M))
    (primary,) = re.findall(r"^- \*\*(.+?)\*\*.* \(primary\)$", of_variables, flags=re.M)
    assert "For each dependent variable" in analyses
    return names, {test for words, test in BATTERY.items() if words in analyses}, primary


def carried_out(report: Report) -> tuple[dict[str, set[str]], str]:
    """Of a report: the tests of each variable that its tables show, and the variable of the primary pair."""
    results, tables = report.read_results(), {table.key: table for table in document_of(report).tables()}
    done = {}
    for variable in results.variables:
        shown = {row.cells[0].text for row in tables["tests"].rows if row.group == variable.name}
        for key in (f"{variable.key}-pairs", f"{variable.key}-tukey"):
            shown |= {column.name for column in tables[key].columns}
        done[variable.name] = {test for test in BATTERY.values() if any(name.startswith(test) for name in shown)}
    (primary,) = [comparison.variable.name for comparison in results.comparisons if comparison.is_primary]
    return done, primary


@pytest.mark.slow
def test_the_report_keeps_what_the_preregistration_promises_for_random_plans(db: None) -> None:
    run = make_run_at("succeeded", algorithms=ALGORITHMS)
    rng = np.random.default_rng(14)
    with_scales = 0
    for number in range(4):
        variables = [key for key in PERCEIVED if rng.random() < 0.5] or ["son"]
        scales = [key for key in ("trust", "calm", "fit") if rng.random() < 0.6]
        tested = [*variables, *(f"scale.{key}" for key in scales)]
        primary = {"perceived": str(rng.choice(tested)), "objective": "recall"}
        study = launched(run, {"variables": variables, "scales": scales}, primary, slug=f"plan-{number}")
        names, tests, first = promised(preregistration(preregistration_plan(study)))
        assert (len(names), tests) == (len(tested), set(BATTERY.values()))
        done, primary_done = carried_out(build_report(study=study))
        assert set(done) == names, (names, done)
        assert all(of_variable == tests for of_variable in done.values()), done
        assert primary_done == first
        with_scales += bool(scales)
    assert with_scales >= 2
