"""Factors and doses in a report: planned, preregistered, tested, said, and recomputed from the package."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse
from jsonschema import Draft202012Validator

from analysis.files.formats import report_json
from analysis.files.numbers import lines_of
from analysis.models import Report
from analysis.present import factorial as said
from analysis.present import verdict
from analysis.present.apa import apa_sentences
from analysis.results.factorial import TREND, Factorial, FactorialVariable, PlannedEffect
from analysis.results.schema import report_schema
from analysis.services.report_builder import build_report
from core.errors import ParallaxError, ParameterError
from inference.factorial import MeanContrast, Term
from inference.results import Interval, Undefined
from studies import plans
from studies.design.narrative.preregistration import preregistration
from studies.design.presets.loader import load_preset
from studies.design.selectors.planning import preregistration_plan
from studies.design.services.conditions import choose_conditions
from studies.design.services.design import change_design, create_study
from studies.design.services.launch import launch_problems, launch_study
from studies.effects import design_of, effect_weights
from studies.models import Study, StudyMembership
from studies.settings import Effect, Primary, StudySettings, settings_problems
from tests.analysis.conftest import FEW_RESAMPLES
from tests.factories.accounts import UserFactory
from tests.factories.analysis import page_without_pictures, plant
from tests.factories.evaluation import make_run_at
from tests.factories.packages import recomputed, write_numbers
from tests.studies.test_factors import CROSSED, TEXTS

PAIR = {"perceived": "accuracy", "objective": "recall"}
RATED = {
    "PureSVD4 · plain": [2, 3, 2, 3, 2, 4], "PureSVD4 · explained": [4, 5, 4, 4, 5, 3],
    "CorNgr · plain": [3, 2, 3, 3, 4, 2], "CorNgr · explained": [4, 4, 3, 5, 4, 4],
}  # fmt: skip
DOSED = {"TopPop": [2, 3, 2, 1, 2], "Some": [3, 3, 2, 3, 4], "More": [4, 3, 4, 5, 4]}
RECIPES = "toppop,toppop|popularity:strength=0.3,toppop|popularity:strength=0.6"


def _draft(effect: dict[str, Any] | None, **settings: Any) -> Study:
    run = make_run_at("succeeded", algorithms="toppop,corngr,puresvd:factors=4")
    primary = {**PAIR, **({"effect": effect} if effect else {})}
    return create_study(
        slug="crossed", version=run.version, run=run, per_condition=4, seed=1, owner=UserFactory(),
        settings={"factors": CROSSED, **FEW_RESAMPLES, "primary": primary, **settings},
    )  # fmt: skip


def _reported(effect: dict[str, Any] | None, variables: tuple[str, ...] = ("accuracy", "satisfaction")) -> Report:
    study = _draft(effect, plan={**FEW_RESAMPLES["plan"], "variables": list(variables)})
    launch_study(study=study)
    study.refresh_from_db()
    plant(study, RATED)
    return build_report(study=study)


def contrast(value: float, p: float) -> MeanContrast:
    ends = Interval(value - 1, value + 1)
    return MeanContrast(value, 0.5, 20.0, value / 0.5, p, ends, p, ends, {})


def planned(effect: Effect, result: MeanContrast | Undefined) -> PlannedEffect:
    return PlannedEffect(variable_key="accuracy", effect=effect.stored(), result=result)


TEXT = Effect(factor="text", levels=("explained", "plain"))
BOTH, STRENGTH = Effect(interaction=("text", "recommender")), Effect(trend="strength")


@pytest.mark.integration
@pytest.mark.django_db
def test_a_planned_effect_decides_the_headline() -> None:
    report = _reported({"factor": "text"})
    results = report.read_results()
    means = {label: np.mean(given) for label, given in RATED.items()}
    of_text = (means["PureSVD4 · explained"] + means["CorNgr · explained"]) / 2
    of_text -= (means["PureSVD4 · plain"] + means["CorNgr · plain"]) / 2
    assert results.plan.primary_test == "effect"
    assert results.factorial is not None
    effect = results.factorial.planned
    assert effect is not None
    assert isinstance(effect.result, MeanContrast)
    assert effect.result.value == pytest.approx(of_text)
    assert effect.planned.levels == ("explained", "plain")
    page = page_without_pictures(report)
    assert "Planned effect (primary test) on perceived accuracy, the effect of text, explained against plain: " in page
    assert "We found no evidence that the effect of recommender depends on text (" in page
    first, second = results.factorial.variables
    assert (first.variable_key, second.variable_key) == ("accuracy", "satisfaction")
    assert set(first.terms) == {"recommender", "text", "recommender × text"}
    assert set(first.anova) == set(first.terms)
    assert first.terms["text"].means == pytest.approx({"plain": 2.6667, "explained": 4.0}, abs=0.5)
    limits = r"\[[\d.]+,\s[\d.]+\]"
    assert re.search(rf"Marginal means: \w+\s[\d.]+\s{limits}, \w+\s[\d.]+\s{limits}\.", page)
    text = "".join(run.text for run in verdict.headline(results))
    if not results.flow.is_collecting:
        assert text == "Higher perceived accuracy with explained than with plain."
    assert dict(apa_sentences(results))["Factors"][0].startswith("Planned effect")
    assert report.results["planned"]["plan"]["tests"]["effect"].startswith("the effect of text on the primary variable")
    assert not list(Draft202012Validator(json.loads(report_schema())).iter_errors(json.loads(report_json(report))))


@pytest.mark.integration
@pytest.mark.django_db
@pytest.mark.slow
def test_both_scripts_recompute_the_effects(rscript: str, tmp_path: Path) -> None:
    report = _reported({"interaction": ["text", "recommender"]}, ("accuracy",))
    lines = {line[:5] for line in lines_of(report.read_results())}
    assert (
        len({line[2] for line in lines if line[1] == "effect"}) == 3 + 2 * 2 + 1
    )  # contrasts, marginal means, the planned one
    assert len({line[2] for line in lines if line[1] == "joint"}) == 3
    write_numbers(report, tmp_path)
    recomputed(tmp_path, rscript)


def _dosed() -> Report:
    run = make_run_at("succeeded", algorithms=RECIPES)
    study = create_study(
        slug="doses", version=run.version, run=run, per_condition=4, seed=1, owner=UserFactory(),
        settings={**FEW_RESAMPLES, "primary": {**PAIR, "effect": {"trend": "strength"}}},
    )  # fmt: skip
    launch_study(study=study)
    study.refresh_from_db()
    labels = [condition.label for condition in study.conditions.order_by("position")]
    plant(study, dict(zip(labels, DOSED.values(), strict=True)))
    return build_report(study=study)


@pytest.mark.integration
@pytest.mark.django_db
@pytest.mark.slow
def test_both_scripts_recompute_the_departure_from_a_straight_line(rscript: str, tmp_path: Path) -> None:
    report = _dosed()
    assert ("accuracy", "joint", TREND, "", "f") in {line[:5] for line in lines_of(report.read_results())}
    write_numbers(report, tmp_path)
    recomputed(tmp_path, rscript)


@pytest.mark.integration
@pytest.mark.django_db
def test_doses_are_read_from_the_recipes_and_tested_as_a_trend() -> None:
    report = _dosed()
    effects = report.read_results().factorial
    assert effects is not None
    assert list(effects.doses.values()) == [0.0, 0.3, 0.6]
    assert list(effects.variables[0].terms) == [TREND]
    assert effects.planned is not None
    slope = effects.planned.result
    assert isinstance(slope, MeanContrast)
    assert slope.value == pytest.approx((np.mean(DOSED["More"]) - np.mean(DOSED["TopPop"])) / 0.6)
    page = page_without_pictures(report)
    assert "Departure from a straight line: " in page
    assert "Manipulation check: lists" in page


@pytest.mark.integration
@pytest.mark.django_db
def test_without_a_planned_effect_all_effects_are_exploratory() -> None:
    results = _reported(None, ("accuracy",)).read_results()
    assert results.factorial is not None
    assert results.factorial.planned is None
    assert results.plan.primary_test == "advantage"


@pytest.mark.integration
@pytest.mark.django_db
def test_pages_and_text_name_the_effect_before_the_data(client: Client) -> None:
    draft = _draft({"interaction": ["text", "recommender"]})
    client.force_login(StudyMembership.objects.get(study=draft).researcher)
    for name in ("power", "plan", "launch"):
        page = client.get(reverse(f"studies:{name}", kwargs={"slug": draft.slug})).content.decode()
        assert "he interaction of text and recommender" in page, name
    for form in ("aspredicted", "osf"):
        text = preregistration(preregistration_plan(draft), form)
        assert "Primary test: the interaction of text and recommender on perceived accuracy" in text
        assert "has a power of" in text


@pytest.mark.integration
@pytest.mark.django_db
def test_the_form_offers_the_effects_of_the_design(client: Client) -> None:
    draft = _draft(None)
    client.force_login(StudyMembership.objects.get(study=draft).researcher)
    url = reverse("studies:plan", kwargs={"slug": draft.slug})
    form = client.get(url).context["form"]
    offered = [value for value, _label in form.fields["primary_test"].choices]
    assert offered == [
        "advantage", "contrast", "the effect of recommender", "the effect of text",
        "the interaction of recommender and text",
    ]  # fmt: skip
    given = {**form.initial, "smallest_effect": "", "primary_test": "the interaction of recommender and text"}
    saved = client.post(url, given)
    assert saved.status_code == 302, saved.context["form"].errors
    draft.refresh_from_db()
    assert draft.settings["primary"] == {**PAIR, "effect": {"interaction": ["recommender", "text"]}}
    assert client.get(url).context["form"].initial["primary_test"] == "the interaction of recommender and text"


@pytest.mark.integration
@pytest.mark.django_db
def test_an_effect_that_the_design_lacks_is_neither_saved_nor_launched() -> None:
    draft = _draft({"factor": "text"})
    with pytest.raises(ParallaxError, match="'colour', which is no factor of the design; it has recommender, text"):
        change_design(study=draft, settings={"primary": {**PAIR, "effect": {"factor": "colour"}}})
    digests = list(dict.fromkeys(draft.conditions.order_by("position").values_list("model_digest", flat=True)))
    with pytest.raises(ParallaxError, match="'text', which is no factor of the design; it has none"):
        choose_conditions(study=draft, digests=digests, presentations=[])
    draft.refresh_from_db()
    draft.settings["primary"]["effect"] = {"trend": "strength"}
    draft.save()
    assert [problem for problem in launch_problems(draft) if "A trend over the strength of re-ranking" in problem]


CELLS = {f"{x}{y}": {"x": x, "y": y, "z": "only"} for x in "ABC" for y in "12"}


@pytest.mark.unit
@pytest.mark.parametrize(
    ("effect", "words"),
    [
        (Effect(factor="z"), r"'z' needs two levels: .* They are only\."),
        (Effect(factor="x"), r"the one expected to be higher first\. They are A, B, C\."),
        (Effect(factor="x", levels=("A", "D")), "They are A, B, C"),
        (Effect(interaction=("x", "y")), "'x' needs two levels: a factor of an interaction has just two"),
        (Effect(interaction=("y", "colour")), "'colour', which is no factor of the design; it has x, y, z"),
        (Effect(trend="strength"), "conditions that re-rank one model by one method"),
    ],
)
def test_an_effect_that_cannot_be_is_refused_in_words(effect: Effect, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        effect_weights(effect, CELLS, {})


@pytest.mark.unit
def test_the_weights_of_effects() -> None:
    of_y = effect_weights(Effect(factor="y"), CELLS, {})
    assert of_y == pytest.approx({name: (1 if name.endswith("2") else -1) / 3 for name in CELLS})
    named = effect_weights(Effect(factor="x", levels=("A", "C")), CELLS, {})
    assert named == pytest.approx({"A1": 0.5, "A2": 0.5, "C1": -0.5, "C2": -0.5})
    two = {name: own for name, own in CELLS.items() if own["x"] != "C"}
    assert effect_weights(Effect(interaction=("x", "y")), two, {}) == {"B2": 1, "A2": -1, "B1": -1, "A1": 1}


def doses_of(models: dict[str, tuple[str, dict[str, Any]]]) -> dict[str, float]:
    stored = [
        SimpleNamespace(label=label, levels={}, model=SimpleNamespace(algorithm=algorithm, params=params))
        for label, (algorithm, params) in models.items()
    ]
    return design_of(stored)[1]


@pytest.mark.unit
def test_only_strengths_of_one_method_on_one_base_are_doses() -> None:
    mmr = {name: ("puresvd|mmr", {"factors": 4, "mmr_strength": float(name), "mmr_kinds": "genre"}) for name in "13"}
    assert doses_of({"0": ("puresvd", {"factors": 4}), **mmr}) == {"0": 0.0, "1": 1.0, "3": 3.0}
    assert doses_of({"0": ("puresvd", {"factors": 9}), **mmr}) == {}
    other = ("puresvd|popularity", {"factors": 4, "popularity_strength": 0.5})
    assert doses_of({**mmr, "other": other}) == {}
    assert doses_of({"a": ("puresvd", {}), "b": ("puresvd", {})}) == {}


@pytest.mark.unit
@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "A planned effect has one of factor, interaction and trend."),
        ({"factor": "x", "trend": "strength"}, "A planned effect has one of factor, interaction and trend."),
        ({"interaction": ["x", "x"]}, "A planned interaction names two different factors."),
        (
            {"trend": "strength", "levels": ["a", "b"]},
            "of a factor, and no other, states two different levels, or none",
        ),
        ({"trend": "dose"}, "Expected one of 'strength'"),
    ],
)
def test_settings_refuse_an_effect_that_says_too_much_or_nothing(given: Any, words: str) -> None:
    stored = {**load_preset("cremonesi-2011").settings, "primary": {**PAIR, "effect": given}}
    (problem,) = settings_problems(stored)
    assert words in str(problem)


@pytest.mark.unit
def test_a_plan_has_one_primary_test_and_old_plans_their_words() -> None:
    both = {**PAIR, "effect": {"factor": "x"}, "contrast": {"higher": ["A"], "lower": ["B"]}}
    (problem,) = settings_problems({**load_preset("cremonesi-2011").settings, "primary": both})
    assert "leave out the contrast or the effect" in str(problem)
    plain = Primary(perceived="accuracy", objective="recall")
    assert "effect" not in plans.tests_of(StudySettings(primary=plain))
    assert plain.stored() == PAIR
    trend = Primary(perceived="accuracy", objective="recall", effect=STRENGTH)
    assert plans.tests_of(StudySettings(primary=trend))["effect"].startswith(
        "the linear trend over the strength of the re-ranking on the primary"
    )
    assert TEXTS["key"] == TEXT.factor


@pytest.mark.unit
@pytest.mark.parametrize(
    ("effect", "value", "p", "headline"),
    [
        (TEXT, 0.4, 0.01, "Higher perceived accuracy with explained than with plain"),
        (TEXT, -0.4, 0.01, "Lower perceived accuracy with explained than with plain"),
        (TEXT, 0.4, 0.2, "No evidence of a difference in perceived accuracy: explained against plain"),
        (BOTH, 0.4, 0.01, "The effect of text on perceived accuracy depends on recommender"),
        (BOTH, 0.4, 0.2, "No evidence that the effect of text on perceived accuracy depends on recommender"),
        (STRENGTH, 0.4, 0.01, "Stronger re-ranking went with higher perceived accuracy"),
        (STRENGTH, -0.4, 0.01, "Stronger re-ranking went with lower perceived accuracy"),
        (STRENGTH, 0.4, 0.2, "No evidence of a trend in perceived accuracy over the strength of the re-ranking"),
    ],
)
def test_headlines_say_direction_and_lack_of_evidence(effect: Effect, value: float, p: float, headline: str) -> None:
    before, after = said.finding(planned(effect, contrast(value, p)), 0.05)
    assert f"{before}perceived accuracy{after}" == headline


@pytest.mark.unit
def test_what_has_no_result_says_why() -> None:
    undefined = planned(TEXT, Undefined("Too few participants in A: the design needs every condition."))
    assert said.finding(undefined, 0.05)[0] == "The planned effect could not be tested in "
    assert said.planned_sentence(undefined, 0.05).endswith("no result. Too few participants in A: the design needs "
                                                           "every condition.")  # fmt: skip
    effects = Factorial(
        alpha=0.05,
        planned=undefined,
        variables=(
            FactorialVariable(variable_key="accuracy", terms={}, reason="Too few participants in A."),
            FactorialVariable(
                variable_key="son",
                terms={
                    "text": Term({"b against a": contrast(0.1, 0.3), "c against a": contrast(0.1, 0.3)},
                                 Undefined("Too many conditions have no variance for a joint test."), {"a": 0.2}),
                    "text × look": Term({"b against a, d against c": contrast(0.4, 0.001)}, Undefined("No.")),
                },
            ),
        ),
    )  # fmt: skip
    _planned, accuracy, son = said.sentences(effects)
    assert accuracy == "Perceived accuracy. Too few participants in A."
    assert "Effect of text: Too many conditions have no variance for a joint test. Marginal means: a .20." in son
    assert "The effect of text depended on look (.40, 95% CI [−.60, 1.40]" in son
