"""Explained recommendations: from the algorithm's decomposition to the page, the export and the launch check."""

from __future__ import annotations

import re
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command

from core.errors import ParallaxError
from parallax.integrity.all_checks import findings
from studies.design.selectors.sample_profiles import reserved_profiles
from studies.design.services.condition_serving import explain_in
from studies.design.services.design import change_design, create_study
from studies.design.services.explaining import _sentence, explanations_in
from studies.design.services.launch import launch_problems, launch_study
from studies.models import Condition, RecommendedItem, Study
from studies.participation.services.withdrawal import withdraw
from tests.factories.accounts import UserFactory
from tests.factories.evaluation import make_run_at
from tests.factories.studies import items_of, make_study, make_usage_run
from tests.factories.walking import Person, tree
from tests.studies.test_exports import Exported
from tests.studies.test_factors import TEXTS

pytestmark = [pytest.mark.integration, pytest.mark.django_db]


def crossed_study(*recommenders: str, texts: dict[str, Any] = TEXTS, run: Any = None, **settings: Any) -> Study:
    run = run or make_run_at("succeeded", algorithms="toppop,corngr,puresvd:factors=4")
    factors = [{"key": "recommender", "levels": [{"recommender": name} for name in recommenders]}, texts]
    return create_study(
        slug="crossed", version=run.version, run=run, per_condition=2, seed=1, owner=UserFactory(),
        settings={"factors": factors, "block_multiples": [1], **settings},
    )  # fmt: skip


def without_fallback(**shown: Any) -> dict[str, Any]:
    level = {"name": "explained", "presentation": {"explanation": "model", **shown}}
    return {"key": "text", "levels": [{"name": "plain", "presentation": {}}, level]}


@pytest.fixture
def live() -> Study:
    study = crossed_study("PureSVD4", "CorNgr")
    launch_study(study=study)
    study.refresh_from_db()
    return study


def explanations(response: Any) -> list[str]:
    return [place.text_content().strip() for place in tree(response).xpath("//*[@class='explanation']")]


def test_all_conditions_reserve_the_space_and_explained_ones_fill_it(live: Study) -> None:
    seen: dict[str, list[str]] = {}
    for _number in range(4):
        person = Person(live).to("recommendations")
        label = person.me.condition.label
        seen[label] = explanations(person.get("recommendations/"))
        stored = list(RecommendedItem.objects.filter(recommendation_list__participant=person.me).order_by("rank"))
        assert seen[label] == [slot.explanation.get("en", "") for slot in stored]
        assert {slot.explanation_kind for slot in stored} <= (
            {""} if label.endswith("plain") else {"model", "fallback"}
        )
        person.post("recommendations/")
        assert explanations(person.get("items/1/1/")) == seen[label][:1]
    assert set(seen) == set(live.conditions.values_list("label", flat=True))
    assert all(len(texts) == 5 for texts in seen.values())
    for label, texts in seen.items():
        assert all(bool(text) == ("explained" in label) for text in texts), label
    assert all(
        re.fullmatch(r"Because you rated “.+” \d( and “.+” \d)?\.", text) for text in seen["PureSVD4 · explained"]
    )
    assert not list(findings())


def test_a_study_that_explains_nothing_reserves_no_space() -> None:
    person = Person(make_study()).to("recommendations")
    assert explanations(person.get("recommendations/")) == []


def test_at_most_two_items_that_contributed_most_are_named(live: Study) -> None:
    condition = live.conditions.get(label="PureSVD4 · explained")
    profile = next(reserved_profiles(live, 1)).ratings
    items = [item.index for item in items_of(live, 12) if item.index not in profile][:5]
    shown = explanations_in(study=live, condition=condition, ratings=profile, items=items)
    parts = explain_in(study=live, condition=condition, ratings=profile, of=items)
    titles = dict(live.dataset_version.items.values_list("index", "title"))
    for text, found in zip(shown, parts, strict=True):
        assert found is not None
        by_size = sorted(zip(found.contributions, found.items, strict=True), key=lambda pair: -pair[0])
        expected = [titles[int(item)] for contribution, item in by_size[:2] if contribution > 0]
        if not expected:
            assert text.kind == "fallback"
            continue
        assert (text.kind, set(text.texts)) == ("model", {"en", "it"})
        assert re.findall(r"“(.+?)”", text.texts["en"]) == expected
        assert re.findall(r"«(.+?)»", text.texts["it"]) == expected


@pytest.mark.parametrize(
    ("language", "one", "two"),
    [
        ("en", "Because you rated “{a}” 5.", "Because you rated “{a}” 5 and “{b}” 3."),
        ("de", "Weil Sie „{a}“ mit 5 bewertet haben.", "Weil Sie „{a}“ mit 5 und „{b}“ mit 3 bewertet haben."),
        ("it", "Perché hai dato 5 a «{a}».", "Perché hai dato 5 a «{a}» e 3 a «{b}»."),
    ],
)
def test_the_sentence_is_one_that_a_person_would_say(language: str, one: str, two: str) -> None:
    study = make_study(status="draft")
    items = items_of(study, 2)
    ratings = {items[0].index: 5, items[1].index: 3}
    titles = {"a": items[0].title, "b": items[1].title}
    assert _sentence(study, language, "", items[:1], ratings) == one.format(**titles)
    assert _sentence(study, language, "", items, ratings) == two.format(**titles)
    study.settings = {**study.settings, "elicitation_scale": "half-stars"}
    half = {"en": "4.5", "de": "4,5", "it": "4,5"}[language]
    assert half in _sentence(study, language, "", items[:1], {items[0].index: 9})


def test_a_wording_of_the_study_goes_before_the_platforms(live: Study) -> None:
    items = items_of(live, 2)
    ratings = {items[0].index: 5, items[1].index: 3}
    text = _sentence(live, "en", "Like {items}, which you enjoyed", items, ratings)
    assert text == f"Like “{items[0].title}” (5) and “{items[1].title}” (3), which you enjoyed"
    items[0].title = "An endless title of a film " * 4
    assert "“An endless title of a film An endless t…”" in _sentence(live, "en", "", items[:1], ratings)


def test_likes_and_choices_have_sentences_of_their_own() -> None:
    study = make_study(status="draft", settings={"elicitation_scale": "likes"})
    items = items_of(study, 2)
    ratings = {item.index: 2 for item in items}
    a, b = (item.title for item in items)
    assert _sentence(study, "en", "", items, ratings) == f"Because you like “{a}” and “{b}”."
    assert _sentence(study, "de", "", items[:1], ratings) == f"Weil Ihnen „{a}“ gefällt."
    assert _sentence(study, "it", "", items, ratings) == f"Perché ti piacciono «{a}» e «{b}»."
    usage = make_study(slug="usage", status="draft", run=make_usage_run())
    items = items_of(usage, 1)
    assert _sentence(usage, "it", "", items, {items[0].index: 1}) == f"Perché hai scelto «{items[0].title}»."


def test_a_launch_names_the_share_of_explained_recommendations() -> None:
    study = crossed_study("TopPop", "PureSVD4", texts=without_fallback())
    problems = [text for text in launch_problems(study) if "explain" in text]
    assert len(problems) >= 1
    assert problems[0].startswith("TopPop · explained: 0 of ")
    assert "recommendations (0%) to" in problems[0]
    assert problems[0].endswith("or choose a recommender that explains its scores.")
    assert not any(problem.startswith(("TopPop · plain", "PureSVD4 · plain")) for problem in problems)
    with pytest.raises(ParallaxError, match="TopPop · explained: 0 of"):
        launch_study(study=study)


def test_a_fallback_is_worded_in_every_language() -> None:
    study = crossed_study("TopPop", "PureSVD4", texts=without_fallback(fallback={"en": "Many people like it."}))
    problems = [text for text in launch_problems(study) if "fallback" in text]
    assert problems == [
        f"{name} · explained: its fallback text is missing in it. Add it." for name in ("TopPop", "PureSVD4")
    ]
    change_design(study=study, settings={"languages": ["en"]})
    study.refresh_from_db()
    assert launch_problems(study) == []
    condition: Condition = study.conditions.get(label="TopPop · explained")
    profile = next(reserved_profiles(study, 1)).ratings
    (shown,) = explanations_in(study=study, condition=condition, ratings=profile, items=[0])
    assert (shown.kind, shown.texts) == ("fallback", {"en": "Many people like it."})


def test_exports_have_the_text_its_kind_and_the_levels(live: Study) -> None:
    for _number in range(4):
        person = Person(live).to("thanks")
    rows = Exported(live, "long").rows()
    assert {row["factor.recommender"] for row in rows} == {"PureSVD4", "CorNgr"}
    for row in rows:
        assert row["participant.condition"] == f"{row['factor.recommender']} · {row['factor.text']}"
        assert (
            bool(row["item.explanation"]) == bool(row["item.explanation_kind"]) == (row["factor.text"] == "explained")
        )
    (wide,) = [row for row in Exported(live, "wide").rows() if row["participant.id"] == rows[-1]["participant.id"]]
    last = [row for row in rows if row["participant.id"] == wide["participant.id"]]
    assert [wide[f"item.{rank}.explanation"] for rank in range(1, 6)] == [row["item.explanation"] for row in last]
    withdraw(participant=person.me)
    assert not RecommendedItem.objects.filter(recommendation_list__participant=person.me).exists()


def test_exports_of_other_studies_have_no_such_columns() -> None:
    study = make_study()
    Person(study).to("thanks")
    (row, *_rest) = Exported(study, "long").rows()
    assert not [name for name in row if name.startswith(("factor.", "item.explanation"))]


def test_the_text_follows_the_language_of_the_page(live: Study) -> None:
    people = (Person(live).to("recommendations") for _number in range(4))
    person = next(each for each in people if each.me.condition.label == "PureSVD4 · explained")
    person.get("recommendations/?lang=it")
    shown = explanations(person.get("recommendations/"))
    assert all(text.startswith(("Perché hai dato ", "Piace a molti.")) for text in shown), shown


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_simulated_participants_walk_every_condition(live_server: Any) -> None:
    run = make_run_at("succeeded", algorithms="toppop,corngr,puresvd:factors=4", reserve=0.3)
    study = crossed_study("PureSVD4", "TopPop", run=run)
    launch_study(study=study)
    given = ("--per-condition", "1", "--seed", "5", "--base-url", live_server.url)
    call_command("simulate_participants", study.slug, *given, stdout=StringIO())
    walked = study.participants.filter(mode="simulated", status="completed")
    assert sorted(walked.values_list("condition__label", flat=True)) == sorted(
        study.conditions.values_list("label", flat=True)
    )
    kinds = {
        (slot.recommendation_list.participant.condition.label, slot.explanation_kind)
        for slot in RecommendedItem.objects.filter(recommendation_list__participant__in=walked)
    }
    assert {kind for label, kind in kinds if label == "TopPop · explained"} == {"fallback"}
    assert "model" in {kind for label, kind in kinds if label == "PureSVD4 · explained"}
    assert {kind for label, kind in kinds if label.endswith("plain")} == {""}


def test_remote_texts_are_shown_in_all_languages_or_not_at_all(live: Study) -> None:
    condition = live.conditions.get(label="PureSVD4 · explained")
    condition.presentation = {"explanation": "remote", "fallback": {"en": "Many like it.", "it": "Piace a molti."}}
    condition.model.origin = "remote"
    texts = [{"en": "Like Alien.", "it": "Come Alien.", "fr": "Comme Alien."}, {"en": "Like Alien."}, {}]
    shown = explanations_in(study=live, condition=condition, ratings={}, items=[0, 1, 2], listed_texts=texts)
    assert [each.kind for each in shown] == ["remote", "fallback", "fallback"]
    assert shown[0].texts == {"en": "Like Alien.", "it": "Come Alien."}
    # Another recommender has none.
    without = explanations_in(study=live, condition=condition, ratings={}, items=[0, 1])
    assert [each.kind for each in without] == ["fallback", "fallback"]
    condition.model.origin = "lists"  # whose texts are stored ones
    without = explanations_in(study=live, condition=condition, ratings={}, items=[0, 1, 2], listed_texts=texts)
    assert {each.kind for each in without} == {"fallback"}
