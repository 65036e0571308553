"""Help with a design: the form, the imbalance, power, the preregistration text."""

from __future__ import annotations

import doctest
import json
import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from core.errors import ParallaxError
from documents.html import sentence
from inference.power import (
    SimulatedPower,
    advantage_power,
    anova_power,
    contrast_power,
    needed_bound,
    participants_for_advantage,
)
from inference.results import Interval
from studies.design.narrative import plan as sentences
from studies.design.narrative.preregistration import FORMS, ConditionPlan, Plan, preregistration
from studies.design.selectors import planning
from studies.design.services.design import change_design
from studies.design.services.launch import launch_problems
from studies.enums import Mode, Role
from studies.models import Study
from studies.settings import Primary, StudySettings
from tests.factories.studies import add_conditions, assigned, make_study

database = [pytest.mark.integration, pytest.mark.django_db]


def _owner(study: Study) -> Client:
    client = Client()
    client.force_login(
        study.memberships.get(role=Role.OWNER).researcher, backend="django.contrib.auth.backends.ModelBackend"
    )
    return client


def _url(name: str, study: Study, **kwargs: Any) -> str:
    return reverse(f"studies:{name}", kwargs={"slug": study.slug, **kwargs})


@pytest.fixture
def draft(db: None) -> Study:
    study = make_study(status="draft", per_condition=30)
    add_conditions(study, 7)
    return study


@pytest.mark.unit
def test_examples_in_docstrings_run() -> None:
    result = doctest.testmod(sentences)
    assert result.attempted > 0
    assert result.failed == 0


def rows(name: str, *entries: dict[str, Any]) -> dict[str, Any]:
    """The rows of a list as the form posts them."""
    return {f"{name}{number}-{key}": value for number, row in enumerate(entries) for key, value in row.items()}


class TestForm:
    pytestmark = database

    def test_every_part_of_the_assignment_is_set_by_the_form(self, draft: Study) -> None:
        client = _owner(draft)
        form = client.get(_url("sample", draft)).context["form"]
        said = {
            **form.initial,
            "targets": "Condition 3: 12\n",
            "method": "minimisation",
            "block_multiples": "1, 2",
            "minimisation_probability": "0.75",
            "merge_below": "2.5",
            **rows(
                "strata",
                {"question": "gender", "name": "women", "answers": "woman", "share": "60"},
                {"question": "gender", "name": "the rest", "share": "40"},
            ),
            **rows(
                "quotas",
                {"most": "105", "name": "women", "question": "gender", "answers": "woman"},
                {"most": "50", "question": "age", "low": "20", "high": "29"},
            ),
        }
        answer = client.post(_url("sample", draft), said)
        assert answer.status_code == 302, answer.context["form"].errors
        draft.refresh_from_db()
        kept = draft.settings
        assert (kept["method"], kept["block_multiples"], kept["minimisation_probability"]) == (
            "minimisation",
            [1, 2],
            0.75,
        )
        assert kept["strata"][0]["rest"] == "the rest"
        assert kept["expected_shares"] == {"gender": {"women": 60.0, "the rest": 40.0}}
        assert kept["merge_below"] == 0.025
        assert [(q["name"], q["most"]) for q in kept["quotas"]] == [("women", 105), ("age = 20-29", 50)]
        assert list(draft.conditions.values_list("target", flat=True)) == [30, 30, 30, 12, 30, 30, 30]
        again = client.get(_url("sample", draft)).context["form"]
        assert again.initial["targets"] == "Condition 3: 12"
        assert again.initial["merge_below"] == 2.5
        assert [row.initial["most"] for row in again.quotas.rows] == [105, 50]

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            (rows("strata", {"question": "", "name": "women"}), "Choose the question"),
            (
                rows("strata", {"question": "gender", "name": "x", "answers": "women"}),
                "is not an answer to &#x27;gender",
            ),
            (rows("strata", {"question": "gender", "low": "20", "high": "30"}), "its answers are no numbers"),
            (rows("strata", {"question": "gender", "name": "all"}), "at least one group with answers"),
            (rows("quotas", {"question": "gender", "answers": "woman"}), "Give the limit"),
            (rows("quotas", {"most": "5", "question": "gender", "low": "20", "high": "30"}), "is not a number"),
            (rows("quotas", {"most": "5", "question": "first_visit", "answers": "maybe"}), "is not an answer"),
            ({"targets": "Nobody: 4"}, "there is no condition"),
            ({"targets": "TopPop: 0"}, "1 to 10000 participants"),
            ({"block_multiples": "0"}, "whole numbers from 1 to 10"),
            (rows("strata", {"question": "gender", "name": "w" * 121, "answers": "woman"}), "at most 120 characters"),
        ],
    )
    def test_what_cannot_be_used_is_refused_and_nothing_is_changed(
        self, draft: Study, change: dict[str, str], said: str
    ) -> None:
        client = _owner(draft)
        form = client.get(_url("sample", draft)).context["form"]
        others = [row for each in form.row_lists if f"{each.prefix}0-question" not in change for row in each.rows]
        said_before = form.initial | {bound.html_name: bound.value() or "" for row in others for bound in row}
        page = client.post(_url("sample", draft), said_before | change).content.decode()
        assert said in page
        before = draft.settings
        draft.refresh_from_db()
        assert draft.settings == before
        assert set(draft.conditions.values_list("target", flat=True)) == {30}

    def test_the_primary_pair_is_frozen_with_the_design(self, draft: Study) -> None:
        primary = {"perceived": "fon", "objective": "recall@profile7"}
        change_design(study=draft, settings={"primary": primary})
        draft.refresh_from_db()
        assert any("profiles of 7 ratings" in problem for problem in launch_problems(draft))
        for settings in ({"primary": {"perceived": "fon", "objective": "beauty"}}, {"primary": "fon"}, {"effect": 0}):
            with pytest.raises(ParallaxError):
                change_design(study=draft, settings=settings)
        with pytest.raises(ParallaxError):
            change_design(study=draft, settings={"hypothesis": "x" * 4001})

    @pytest.mark.parametrize(
        ("quotas", "is_told"),
        [
            ([(100, "age", {"band": [20, 34]}), (100, "age", {"band": [35, 50]})], True),
            ([(100, "age", {"band": [20, 34]}), (110, "age", {"band": [35, 50]})], False),
            ([(100, "age", {"band": [20, 34]}), (100, "age", {"band": [36, 50]})], False),
            ([(100, "gender", {"values": ["woman"]}), (100, "gender", {"values": ["man"]})], False),
            ([(200, "gender", {"values": ["woman", "man", "non_binary", "self_described", "not_said"]})], True),
            ([(5, "first_visit", {"values": [True]})], False),
        ],
    )
    def test_quotas_that_can_never_be_filled_keep_the_study_from_being_launched(
        self, draft: Study, quotas: list[tuple[int, str, dict[str, Any]]], is_told: bool
    ) -> None:
        stored = [
            {"name": str(number), "most": most, "where": [{"question": question, **test}]}
            for number, (most, question, test) in enumerate(quotas)
        ]
        draft = change_design(study=draft, settings={"quotas": stored})
        told = [problem for problem in launch_problems(draft) if "never be full" in problem]
        assert bool(told) == is_told
        assert not told or "let in 200 participants, and the conditions are to have 210" in told[0]


class TestImbalance:
    pytestmark = database

    def test_the_saved_design_and_the_form_s_are_simulated(self, draft: Study) -> None:
        client = _owner(draft)
        whole = client.get(_url("imbalance", draft))
        expected = whole.context["expected"]
        assert "console/studies/imbalance.html" in [t.name for t in whole.templates]
        assert [name for name, chosen, _one in expected.methods if chosen] == ["permuted_blocks"]
        assert (expected.n_participants, len(expected.strata)) == (210, 6)
        assert f"({expected.methods[0][2].halfway.high})" in whole.content.decode()
        form = client.get(_url("sample", draft)).context["form"]
        said = {name: form.initial[name] for name in ("per_condition", "method", "block_multiples")} | {
            "minimisation_probability": "1",
            "merge_below": "5",
            "targets": "TopPop: 10",
            **rows(
                "strata",
                {"question": "gender", "name": "women", "answers": "woman", "share": "95"},
                {"question": "gender", "name": "others", "share": "5"},
                {"question": "age", "low": "20", "high": "34"},
                {"question": "age", "low": "35", "high": "50"},
            ),
        }
        part = client.get(_url("imbalance", draft), said, headers={"HX-Request": "true"})
        assert "<html" not in part.content.decode()
        assert part.context["expected"].n_participants == 190
        assert part.context["expected"].merged == (("others, 20-34 and 1 more", ("others, 20-34", "others, 35-50")),)
        assert "others, 20-34; others, 35-50" in part.content.decode()
        by_traits = client.get(_url("imbalance", draft), {**said, "method": "minimisation"})
        assert (by_traits.context["expected"].merged, len(by_traits.context["expected"].strata)) == ((), 4)

    def test_what_cannot_be_simulated_is_said(self, draft: Study) -> None:
        client = _owner(draft)
        wrong = {"method": "simple", **rows("strata", {"name": "x"})}
        assert "Choose the question" in client.get(_url("imbalance", draft), wrong).content.decode()
        change_design(study=draft, per_condition=9000)
        assert "63,000 are planned" in client.get(_url("imbalance", draft)).content.decode()


class TestPower:
    pytestmark = database

    def test_the_plan_of_the_paper_by_g_power_s_names(self, draft: Study) -> None:
        response = _owner(draft).get(_url("power", draft))
        page = response.content.decode()
        for number in ("0.2587", "14.4375", "2.1392", "0.7673", "0.8138", "13.1250", "14.0512", ">224<", ">203<"):
            assert number in page
        assert "33 participants per condition, so 231 in all" in page
        plan = response.context["plan"]
        place = plan.n_values.index(30)
        assert plan.curves["f = 0.25"][place] == anova_power(7, 30, 0.25).power
        assert list(plan.curves) == ["f = 0.10", "f = 0.25", "f = 0.40"]
        drawn = json.dumps(response.context["chart"]["light"])
        assert "Participants per condition" in drawn
        assert "At the planned 30: f = 0.10 .15, f = 0.25 .77, f = 0.40 1.00." in drawn

    def test_a_stated_effect_has_its_own_curve_and_the_simulation_its_means(self, draft: Study) -> None:
        client = _owner(draft)
        said = {"f": "1.5", "planned": "12", "means": "3, 3, 3, 3, 3, 3, 4.5", "items": "1"}
        response = client.get(_url("power", draft), said)
        plan = response.context["plan"]
        assert plan.stated in plan.curves
        assert plan.stated == "f = 1.50"
        found = response.context["simulated_sentence"]
        assert "simulated studies with 12 participants per condition, stated means of " in found
        assert "a standard deviation of 1 for a single answer" in found
        power = re.search(r"significant in \.(\d\d) of them|significant in 1\.00 of them", found)
        assert power is not None
        assert power[1] is None or int(power[1]) > 50
        assert sentence(found) in response.content.decode()
        assert client.get(_url("power", draft), said).context["simulated_sentence"] == found

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            ({"means": "3, 4"}, "There are 7 conditions; 2 means are given."),
            ({"means": "three"}, "Give numbers with commas between them"),
            ({"means": "3,3,3,3,3,3,9"}, "from 1 to 5"),
            ({"power": "0.01"}, "must lie between the level alpha"),
            ({"f": "-1"}, "greater than or equal to 0.01"),
        ],
    )
    def test_what_cannot_be_computed_is_said(self, draft: Study, change: dict[str, str], said: str) -> None:
        response = _owner(draft).get(_url("power", draft), change)
        assert said in response.content.decode()
        assert "plan" not in response.context

    def test_the_average_advantage_has_the_power_of_its_t_test(self, draft: Study) -> None:
        response = _owner(draft).get(_url("power", draft), {"f": "0.2"})
        told = response.context["primary_power"]
        power, needed = advantage_power(7, 30, 0.2), participants_for_advantage(7, 0.2, power=0.8)
        assert "If perceived accuracy rises or falls evenly with recall at 5 (f = 0.20 over 7 conditions)" in told
        assert f"with a power of {sentences.share(power)} with 30 participants per condition" in told
        assert f"A power of .80 takes {needed} per condition." in told
        assert sentence(told) in response.content.decode()
        assert told == planning.primary_power_sentence(draft, n=30, f=0.2, alpha=0.05)
        stated = planning.primary_power_sentence(draft, n=30, f=0.25, alpha=0.05)
        assert stated in planning.preregistration_plan(draft).power

    def test_the_primary_contrast_has_the_power_of_its_t_test(self, draft: Study) -> None:
        first, second = draft.conditions.order_by("position").values_list("label", flat=True)[:2]
        contrast = {"higher": [first], "lower": [second], "sides": 1}
        change_design(study=draft, settings={"primary": {**draft.settings["primary"], "contrast": contrast}})
        draft.refresh_from_db()
        power = contrast_power(1, 1, 7, 30, 0.2, sides=1).power
        told = planning.primary_power_sentence(draft, n=30, f=0.2, alpha=0.05)
        assert f"{first} against {second} (one-sided, α = .05), has a power of {sentences.share(power)}" in told

    def test_a_smallest_effect_has_the_power_of_its_equivalence_test(self, draft: Study) -> None:
        change_design(study=draft, settings={"primary": {**draft.settings["primary"], "smallest_effect": 0.4}})
        draft.refresh_from_db()
        told = planning.primary_power_sentence(draft, n=30, f=0.2, alpha=0.05)
        alone, first_step = (0.4 / needed_bound(30, pairs=pairs) for pairs in (1, 21))
        assert "Equivalence within 0.4 points of perceived accuracy: with 30 participants per condition" in told
        assert f"is at most {alone:.2f} points for one pair alone, and {first_step:.2f} at the first step" in told
        assert planning.primary_power_sentence(draft, n=30, f=0.25, alpha=0.05) in (
            planning.preregistration_plan(draft).power
        )

    def test_one_condition_has_no_power(self) -> None:
        study = make_study(status="draft", per_condition=1)
        study.conditions.filter(position=1).delete()
        assert "fewer than two" in _owner(study).get(_url("power", study)).content.decode()
        assert planning.preregistration_plan(study).power == ()


class TestPreregistration:
    pytestmark = database

    @pytest.mark.parametrize("form", FORMS)
    def test_the_text_names_the_primary_pair_and_everything_that_is_frozen(self, draft: Study, form: str) -> None:
        quotas = [{"name": "women", "most": 105, "where": [{"question": "gender", "values": ["woman"]}]}]
        primary = {"perceived": "satisfaction", "objective": "fallout"}
        change_design(study=draft, settings={"primary": primary, "hypothesis": "It differs.", "quotas": quotas})
        response = _owner(draft).get(_url("preregistration", draft, form=form))
        text = response.content.decode()
        assert response["Content-Type"] == "text/markdown; charset=utf-8"
        assert f"preregistration_{form}.md" in response["Content-Disposition"]
        for part in (
            "a draft: its design is not frozen yet",
            "Primary pair: **Global satisfaction**",
            "**Fallout at 5**",
            "It differs.",
            "7 conditions between participants",
            "210 participants who complete, 30 in each condition",
            "at most 105 of gender = woman",
            "age from 20 to 50",
            "first_visit is yes",
            "Kept even: women, 20-34; women, 35-50;",
            "permuted blocks within strata; a block holds each condition once",
            "No. No participant has taken part yet.",
            "f = 0.25 at α = .05 with a power of .81",
        ):
            assert part in text

    def test_a_launched_study_tells_its_hash_and_who_has_come(self) -> None:
        study = make_study(per_condition=1, settings={"method": "minimisation", "strata": [], "expected_shares": {}})
        assigned(study)
        assigned(study, Mode.SIMULATED)
        text = preregistration(planning.preregistration_plan(study))
        assert study.design_hash in text
        assert "Yes: 1 person has given consent" in text
        assert "Kept even:" not in text
        assert "probability 0.8" in text
        assert "[State the hypothesis" in text
        assigned(study)
        assert "Yes: 2 people have" in preregistration(planning.preregistration_plan(study))

    def test_there_is_no_other_form(self, draft: Study) -> None:
        assert _owner(draft).get(_url("preregistration", draft, form="poem")).status_code == 404

    @pytest.mark.parametrize(
        ("settings", "said"),
        [
            ({"method": "least_filled"}, "furthest from its target"),
            ({"method": "simple"}, "simple randomisation"),
            ({"block_multiples": [1, 3]}, "once or 3 times"),
        ],
    )
    def test_each_method_has_its_sentence(self, draft: Study, settings: dict[str, object], said: str) -> None:
        changed = change_design(study=draft, settings=settings)
        assert said in planning.preregistration_plan(changed).assignment

    def test_minimisation_tells_the_margins_and_simple_randomisation_nothing(self, draft: Study) -> None:
        changed = change_design(study=draft, settings={"method": "minimisation"})
        told = planning.preregistration_plan(changed).strata
        assert told == ("gender (women, men, all others)", "age (20-34, 35-50)")
        changed = change_design(study=draft, settings={"method": "simple"})
        assert planning.preregistration_plan(changed).strata == ()

    @pytest.mark.parametrize(
        ("admits", "said"),
        [({"minimum": 18}, "age at least 18"), ({"maximum": 30}, "age at most 30"), ({"values": [20, 30]}, "20 or 30")],
    )
    def test_whom_the_questions_admit_is_told(self, draft: Study, admits: dict[str, object], said: str) -> None:
        for question in draft.questionnaire["about"]:
            if question["key"] == "age":
                question["admits"] = admits
        assert any(said in told for told in planning.preregistration_plan(draft).admitted)


@pytest.mark.unit
def test_sentences_about_unequal_targets_and_undefined_studies() -> None:
    conditions = [ConditionPlan("A", "toppop", "a" * 64, 10), ConditionPlan("B", "lsa", "b" * 64, 20)]
    design = StudySettings(primary=Primary(perceived="fon", objective="recall"))
    nothing: dict[str, Any] = dict.fromkeys(("strata", "quotas", "admitted", "power", "covariates", "tests"), ())
    plan = Plan(
        title="T", slug="t", design=design, design_hash="", n_consented=0, perceived_name="First-order novelty",
        objective_name="Recall at 10", conditions=conditions, dataset="Films", known_items="rates 5 known items",
        profile="", assignment="By lot.", seed="1", scales={}, consumed="watched", lists="", n_sequences=0,
        n_slots=30, **nothing,
    )  # fmt: skip
    assert "30 participants who complete, 10 to 20 in each condition" in preregistration(plan)
    found = SimulatedPower(0.0, Interval(0.0, 0.01), 1000, 7)
    assert "In 7 of them all participants gave equal values" in sentences.simulated_sentence(
        found, (1.0, 1.0), sd=0.1, f=0.0, n=5, items=1
    )
    assert "nobody" not in sentences.simulated_sentence(
        SimulatedPower(0.9999, Interval(0.9, 1.0), 1000, 0), (1.0, 2.0), sd=0.1, f=0.0, n=5, items=5
    )


class TestPlanOfTheAnalysis:
    pytestmark = database

    def test_the_form_sets_it_and_the_preregistration_tells_it(self, draft: Study) -> None:
        client = _owner(draft)
        form = client.get(_url("plan", draft)).context["form"]
        said = {
            **form.initial,
            "alpha": "0.005",
            "variables": ["accuracy", "satisfaction"],
            "exclude": ["too_fast", "attention_failed"],
            "exclude_words": "Whoever says\r\nthat somebody else answered.",
            "resamples": "500",
            "perceived": "satisfaction",
            "objective": "fallout@profile5",
            "effect": "0.3",
            "hypothesis": "People\r\ndiffer.",
        }
        answer = client.post(_url("plan", draft), said)
        assert answer.status_code == 302, answer.context["form"].errors
        draft.refresh_from_db()
        assert draft.settings["plan"] == {
            "alpha": 0.005,
            "variables": ["accuracy", "satisfaction"],
            "scales": [],
            "exclude": ["too_fast", "attention_failed"],
            "exclude_words": "Whoever says\nthat somebody else answered.",
            "resamples": 500,
        }
        assert draft.settings["primary"] == {"perceived": "satisfaction", "objective": "fallout@profile5"}
        assert (draft.settings["effect"], draft.settings["hypothesis"]) == (0.3, "People\ndiffer.")
        for form_name in FORMS:
            text = preregistration(planning.preregistration_plan(draft), form_name)
            for words in (
                "at α = .005, then Games and Howell's",
                "99.5% simultaneous intervals",
                "excluded from the analysis: too fast, attention check failed.",
                "that somebody else answered.",
            ):
                assert words in text
            assert "First-order novelty**" not in text
        detail = client.get(_url("plan", draft)).content.decode()
        assert "Tested at α = .005: perceived accuracy and global satisfaction." in detail
        assert client.get(_url("power", draft)).context["form"]["alpha"].value() == 0.005

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            ({"variables": ["fon"]}, "leaves out accuracy, the variable of its primary pair"),
            ({"variables": []}, "The plan tests nothing"),
            ({"alpha": "0.5"}, "less than or equal to 0.2"),
            ({"resamples": "10"}, "greater than or equal to 200"),
        ],
    )
    def test_what_cannot_be_is_refused(self, draft: Study, change: dict[str, Any], said: str) -> None:
        client = _owner(draft)
        form = client.get(_url("plan", draft)).context["form"]
        assert said in client.post(_url("plan", draft), {**form.initial, **change}).content.decode()
        before = draft.design.plan.in_full()
        draft.refresh_from_db()
        assert draft.design.plan.in_full() == before
