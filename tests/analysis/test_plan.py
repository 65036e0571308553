"""A report follows the frozen plan, says what deviates from it, and stands beside itself without exclusions."""

from __future__ import annotations

import doctest
import io
import json
import re
from datetime import UTC, datetime
from html import unescape
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from analysis.compute.plans import Overrides
from analysis.models import Report
from analysis.present import plan as of_plan
from analysis.present import words as wording
from analysis.read.plans import frozen_plan
from analysis.services import build_report
from core.errors import ParallaxError
from core.models import LogEntry
from core.provenance import digest_of
from jobs.models import Job
from jobs.services import do_job
from studies import plans
from studies.design.presets.loader import load_preset
from studies.design.services.amending import extend_targets, reword_questionnaire
from studies.design.services.design import change_design
from studies.design.services.launch import design_snapshot, launch_study
from studies.instrument.questionnaires.document import write_document
from studies.models import Participant, Study, StudyMembership, StudyVersion
from studies.monitoring.services.exclusions import exclude
from studies.settings import AnalysisPlan, settings_problems
from tests.analysis.conftest import FEW_RESAMPLES
from tests.factories.analysis import every_page, page_without_pictures, plant, planted_person
from tests.factories.evaluation import make_run_at
from tests.factories.studies import make_study
from tests.sentences import assert_sentences_approved

pytestmark = [pytest.mark.integration, pytest.mark.django_db, pytest.mark.slow]

ALGORITHMS = "toppop,corngr,puresvd:factors=4"


def sentences(report: Report) -> list[str]:
    results = report.read_results()
    assert results.planned is not None
    return of_plan.deviations(results, results.planned)


def read(html: str) -> str:
    """The words of a page, with plain spaces."""
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", "", html)))


def kinds(report: Report) -> list[str]:
    return [one["of"] for one in report.results["planned"]["deviations"]]


@pytest.fixture
def full(db: None) -> Study:
    """Two in each of three conditions, as the design has it, so that nothing deviates."""
    study = make_study(run=make_run_at("succeeded", algorithms=ALGORITHMS), per_condition=2, settings=FEW_RESAMPLES)
    plant(study, {"TopPop": [4, 5], "CorNgr": [2, 1], "PureSVD4": [1, 2]})
    return study


def test_nothing_deviates_where_the_plan_is_carried_out(full: Study) -> None:
    report = build_report(study=full)
    assert report.results["planned"]["deviations"] == []
    assert_sentences_approved("sentences/no-deviations", {"frozen plan": sentences(report)})
    assert report.results["exclusions"] is None
    html = page_without_pictures(report)
    assert "was frozen" in html


def test_the_frozen_plan_is_in_the_hashed_design_and_its_level_is_used(db: None) -> None:
    study = make_study(run=make_run_at("succeeded", algorithms=ALGORITHMS), status="draft")
    before = digest_of(design_snapshot(study))
    change_design(study=study, settings={"plan": {"alpha": 0.01, "variables": ["accuracy", "satisfaction"]}})
    study.refresh_from_db()
    assert digest_of(design_snapshot(study)) != before
    version = launch_study(study=study)
    frozen = version.snapshot["plan"]
    assert (frozen["alpha"], frozen["variables"], frozen["exclude"]) == (0.01, ["accuracy", "satisfaction"], [])
    assert (frozen["n"], frozen["profile_lengths"], frozen["list_length"]) == (5, [5], 5)
    assert "Games-Howell" in frozen["tests"]["pairs"]
    plant(study, {"TopPop": [4, 5, 4, 5, 4], "CorNgr": [3, 2, 4, 3, 3], "PureSVD4": [1, 2, 3, 2, 2]})
    report = build_report(study=study)
    assert [one["key"] for one in report.results["variables"]] == ["accuracy", "satisfaction"]
    assert "alpha" not in kinds(report)
    html = read(page_without_pictures(report))
    assert "Games-Howell at α = .01" in html
    assert "Simultaneous 99% CI" in html
    assert "below .05" not in html


def test_a_study_launched_before_plans_is_reported_under_the_default_and_says_so(full: Study) -> None:
    version = StudyVersion.objects.get(study=full)
    del version.snapshot["plan"]
    version.snapshot["settings"].pop("plan")
    version.save()
    full.settings.pop("plan")
    full.save()
    LogEntry.objects.filter(kind="studies.study", object_id=full.pk, to_status="live").delete()
    assert "plan" not in design_snapshot(full)  # what was frozen stays what it was
    found = frozen_plan(full)
    assert not found.is_frozen
    assert found.plan["alpha"] == 0.05
    report = build_report(study=full)
    assert report.results["planned"]["deviations"] == []
    results = report.read_results()
    assert results.planned is not None
    assert "before plans" in of_plan.frozen(results, results.planned)[0]
    assert len(sentences(report)) == 1


def test_another_level_changes_tests_and_orders_and_is_recorded(study: Study) -> None:
    plant(study, {"TopPop": [4, 5, 3, 4], "CorNgr": [3, 2, 3, 4], "PureSVD4": [2, 3, 2, 1]})
    planned = build_report(study=study)
    strict = build_report(study=study, overrides=Overrides(alpha=0.001))
    assert strict.inputs_hash != planned.inputs_hash
    by_level = {one.plan["alpha"]: one.results["variables"][0] for one in (planned, strict)}
    assert by_level[0.05]["anova"] == by_level[0.001]["anova"]
    for test in ("tukey", "games_howell", "dunn_holm"):
        for level, found in by_level.items():
            pairs = found["tests"][test]["pairs"]
            assert all(pair["is_significant"] == (pair["p"] < level) for pair in pairs)
    wide, narrow = (by_level[level]["tests"]["games_howell"]["pairs"][0] for level in (0.001, 0.05))
    assert wide["ci_high"] - wide["ci_low"] > narrow["ci_high"] - narrow["ci_low"]
    assert sum(map(len, by_level[0.05]["orders"]["games_howell"]["dominates"].values())) > 0
    assert sum(map(len, by_level[0.001]["orders"]["games_howell"]["dominates"].values())) == 0
    assert_sentences_approved("sentences/deviation-of-the-level", {"α = .001": sentences(strict)})
    assert all(one["alpha"] == 0.001 for one in strict.results["comparisons"])
    assert all(one["alpha"] == 0.001 for one in strict.results["objective"]["lengths"])
    with pytest.raises(ParallaxError) as refused:
        build_report(study=study, overrides=Overrides(alpha=0.7))
    assert refused.value.code == "report.bad_plan"
    with pytest.raises(ParallaxError, match="The plan tests nothing"):
        build_report(study=study, overrides=Overrides(leave_out=tuple(AnalysisPlan().variables)))


def test_exclusions_stand_beside_everybody_with_reasons_and_never_who(study: Study) -> None:
    plant(study, {"TopPop": [4, 5, 4, 5], "CorNgr": [2, 1, 2, 1], "PureSVD4": [1, 2, 1, 2]})
    out = [planted_person(study, "TopPop", [1] * 5, 1) for _ in range(3)]
    for participant in out:
        exclude(participant=participant, reason="Said that a child had answered")
    report = build_report(study=study)
    found = report.results["exclusions"]
    assert found["n"] == {"kept": 12, "everybody": 15}
    assert found["reasons"] == [{"how": "hand", "reason": "Said that a child had answered", "n": 3}]
    accuracy = found["variables"][0]
    assert (accuracy["kept"]["n"]["TopPop"], accuracy["everybody"]["n"]["TopPop"]) == (4, 7)
    assert (accuracy["kept"]["means"]["TopPop"], accuracy["everybody"]["means"]["TopPop"]) == (4.5, 3.0)
    assert accuracy["kept"]["welch"]["f"] == report.results["variables"][0]["welch"]["f"]
    assert accuracy["only_kept"] == [["TopPop", "CorNgr"], ["TopPop", "PureSVD4"]]
    assert not accuracy["survives"]
    tau = next(one for one in report.results["comparisons"] if one["is_primary"])["tau"]
    assert found["primary"]["kept"] == tau
    everybody = build_report(study=study, overrides=Overrides(by_hand=False))
    assert everybody.results["exclusions"] is None
    assert everybody.results["variables"][0]["welch"]["f"] == accuracy["everybody"]["welch"]["f"]
    deviations = {"excluded by hand": sentences(report), "included all the same": sentences(everybody)}
    assert_sentences_approved("sentences/deviations-by-hand", deviations)
    html = page_without_pictures(report)
    assert "TopPop above PureSVD4" in html
    whole = json.dumps([report.results, report.provenance, report.plan]) + html
    assert not any(participant.code in whole for participant in out)


def test_a_rule_of_the_plan_leaves_out_whoever_has_the_flag(db: None) -> None:
    study = make_study(run=make_run_at("succeeded", algorithms=ALGORITHMS), status="draft")
    plan = {"exclude": ["all_ratings_alike"], "exclude_words": "Whoever says they are under age."}
    quality = {"fastest_seconds": 0, "fastest_share": 0, "alike_items": 20, "alike_ratings": 5}
    change_design(study=study, settings={"plan": plan, "quality": quality})
    launch_study(study=study)
    for label in ("TopPop", "CorNgr", "PureSVD4"):
        planted_person(study, label, [3, 4, 3, 4, 3], 3)
        planted_person(study, label, [4, 3, 4, 3, 4], 4)
    planted_person(study, "TopPop", [1, 1, 1, 1, 1], 1)
    by_hand = planted_person(study, "CorNgr", [2, 2, 2, 2, 2], 2)
    exclude(participant=by_hand, reason="Under age")
    report = build_report(study=study)
    assert report.results["flow"]["excluded_for"] == [
        {"how": "hand", "reason": "Under age", "n": 1},
        {"how": "rule", "reason": "All ratings alike", "n": 1},
    ]
    assert report.results["flow"]["analysed"] == 6
    assert kinds(report) == ["by_hand"]
    assert "for the reader" in sentences(report)[0]
    other = build_report(study=study, overrides=Overrides(exclude=()))
    assert other.results["flow"]["analysed"] == 7
    said = "The rule applied excludes no participants; the plan excludes participants with the flag all ratings alike."
    assert said in sentences(other)


def test_too_few_participants_another_run_and_other_software_are_deviations(full: Study) -> None:
    Participant.objects.filter(study=full, condition__label="CorNgr").first().delete()  # type: ignore[union-attr]
    entry = LogEntry.objects.get(kind="studies.study", object_id=full.pk, to_status="live")
    then = {**entry.facts["versions"], "numpy": "1.0.0"}
    LogEntry.objects.filter(pk=entry.pk).update(facts={**entry.facts, "versions": then})
    other = make_run_at("succeeded", version=full.dataset_version, algorithms=ALGORITHMS, n=3)
    report = build_report(study=full, run=other)
    assert kinds(report) == ["participants", "run", "versions"]
    participants, run, software = sentences(report)
    assert participants.startswith("5 participants")
    assert "same models" in run
    assert "3 instead of 5." in run
    assert "(then 1.0.0)" in software


@pytest.mark.slow
def test_the_command_and_the_form_record_what_was_chosen(full: Study, client: Client, tmp_path: Path) -> None:
    out = io.StringIO()
    call_command("report", full.slug, "--alpha", "0.01", "--leave-out", "fon", "son", stdout=out)
    assert "α = .01;" in out.getvalue()
    assert Report.objects.get().plan["variables"] == ["accuracy", "satisfaction"]
    with pytest.raises(CommandError, match=r"alpha: .* 2\.0"):
        call_command("report", full.slug, "--alpha", "2", stdout=out)
    client.force_login(StudyMembership.objects.get(study=full).researcher)
    page = client.get(reverse("analysis:new"), {"study": full.slug}).content.decode()
    assert "<details open" not in page
    given: dict[str, Any] = {"study": full.slug, "mode": "", "exclusions": "flags", "alpha": "0.1"}
    refused = client.post(reverse("analysis:new"), given)
    assert refused.status_code == 400
    assert "Select flags" in refused.content.decode()
    assert "<details open" in refused.content.decode()
    asked = client.post(reverse("analysis:new"), {**given, "exclude": ["straight_lined"]})["Location"]
    assert do_job(job_id=Job.objects.get(kind="report").pk)
    report = Report.objects.latest("number")
    assert client.get(asked)["Location"] == report.get_absolute_url()
    page = read(every_page(client, report))
    assert "α = .10;" in page
    assert report.plan["exclude"] == ["straight_lined"]


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        ({"alpha": "high"}, "plan.alpha: Expected a number; got 'high'"),
        ({"alpha": 0.9}, "plan.alpha: Expected a number of at most 0.2; got 0.9"),
        ({"variables": []}, "plan: The plan tests nothing"),
        ({"variables": ["taste"]}, "plan.variables: There is no perceived variable 'taste'"),
        ({"variables": ["fon", "fon"]}, "plan.variables: Each is named once"),
        ({"variables": "fon"}, "plan.variables: Expected a list"),
        ({"exclude": ["tired"]}, "plan.exclude: There is no quality flag 'tired'"),
        ({"exclude_words": 3}, "plan.exclude_words: Expected text"),
        ({"exclude_words": "x" * 2001}, "plan.exclude_words: Expected text of at most 2000 characters"),
        ({"resamples": 10}, "plan.resamples: Expected a number of at least 200"),
        ({"resamples": 1000.5}, "plan.resamples: Expected a whole number"),
        ({"beta": 1}, "plan.beta: There is no such field"),
    ],
)
def test_a_plan_that_cannot_be_is_refused_in_words(plan: dict[str, Any], words: str) -> None:
    (problem,) = settings_problems({**load_preset("cremonesi-2011").settings, "plan": plan})
    assert words in str(problem)


def test_a_design_cannot_leave_out_its_primary_variable_or_name_a_scale_it_lacks(db: None) -> None:
    study = make_study(status="draft")
    for plan, words in (({"variables": ["fon"]}, "leaves out accuracy"), ({"scales": ["trust"]}, "names the scale")):
        with pytest.raises(ParallaxError, match=words):
            change_design(study=study, settings={"plan": plan})


def test_a_report_that_is_older_than_plans_can_still_be_read(full: Study) -> None:
    plant(full, {"TopPop": [4, 5, 4], "CorNgr": [2, 1, 2], "PureSVD4": [1, 2, 1]})
    report = build_report(study=full)
    for key in ("planned", "exclusions"):
        del report.results[key]
    for one in (*report.results["variables"], *report.results["comparisons"], *report.results["objective"]["lengths"]):
        del one["alpha"]
    page = read(page_without_pictures(report))
    assert "Games-Howell at α = .05" in page
    assert "Plan and deviations" not in page


@pytest.mark.unit
@pytest.mark.parametrize("module", [wording, of_plan, plans])
def test_examples_in_docstrings(module: Any) -> None:
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0


def test_targets_that_grew_are_told_from_those_of_the_launch(full: Study) -> None:
    ada = StudyMembership.objects.get(study=full).researcher
    type(ada).objects.filter(pk=ada.pk).update(name="Ada Bell")
    extend_targets(study=full, targets={"TopPop": 4, "CorNgr": 3}, why="Fewer spread out than expected.", actor=ada)
    extend_targets(study=full, targets={"TopPop": 5}, why="One more")
    StudyVersion.objects.filter(study=full).update(made_at=datetime(2026, 3, 4, 23, 30, tzinfo=UTC))
    planted_person(full, "TopPop", [3, 4, 3, 4, 3], 3)
    report = build_report(study=full)
    assert frozen_plan(full).targets == {"TopPop": 2, "CorNgr": 2, "PureSVD4": 2}
    (found,) = report.results["planned"]["deviations"]
    assert (found["target"], found["extended"], found["analysed"]) == (6, 10, 7)
    assert found["conditions"] == [
        {"condition": "TopPop", "target": 2, "extended": 5, "analysed": 3},
        {"condition": "CorNgr", "target": 2, "extended": 3, "analysed": 2},
    ]
    assert [(one["version"], one["by"], one["why"]) for one in found["extensions"]] == [
        (2, "Ada Bell", "Fewer spread out than expected."), (3, "", "One more"),
    ]  # fmt: skip
    assert_sentences_approved("sentences/deviation-of-extended-targets", {"two extensions": sentences(report)})
    assert "Ada Bell" in read(page_without_pictures(report))


def test_reaching_an_extended_target_is_told_though_the_number_of_the_launch_is_met(full: Study) -> None:
    extend_targets(study=full, targets={"TopPop": 3}, why="Room for one more.")
    planted_person(full, "TopPop", [3, 4, 3, 4, 3], 3)
    report = build_report(study=full)
    (found,) = report.results["planned"]["deviations"]
    assert found["conditions"] == [{"condition": "TopPop", "target": 2, "extended": 3, "analysed": 3}]
    assert build_report(study=full) == report  # the same inputs, amended or not


def test_other_versions_of_a_design_are_no_extension(full: Study) -> None:
    before = build_report(study=full)
    data = yaml.safe_load(write_document(full.questionnaire))
    question = data["overall"][0]
    question["text"]["en"] += " (in other words)"
    reword_questionnaire(study=full, text=yaml.safe_dump(data, allow_unicode=True, sort_keys=False), why="A typo.")
    assert frozen_plan(full).extensions == ()
    assert build_report(study=full).results["planned"]["deviations"] == before.results["planned"]["deviations"] == []
