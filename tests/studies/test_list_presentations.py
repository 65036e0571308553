"""Lists of other lengths and orders by condition: on the pages, in exports, in checks and in texts."""

from __future__ import annotations

import json
from typing import Any

import pytest

from parallax.integrity.all_checks import findings
from studies.design.narrative.preregistration import preregistration
from studies.design.selectors.planning import preregistration_plan
from studies.design.services.launch import launch_problems, launch_study
from studies.models import RecommendedItem, Study
from studies.simulation.services.condition_lists import side_by_side
from tests.factories.walking import Person, tree
from tests.studies.test_explanations import crossed_study
from tests.studies.test_exports import Exported

pytestmark = [pytest.mark.integration, pytest.mark.django_db]


def shown_as(*levels: tuple[str, dict[str, Any]], key: str = "shown") -> dict[str, Any]:
    return {"key": key, "levels": [{"name": name, "presentation": shown} for name, shown in levels]}


def live(factor: dict[str, Any]) -> Study:
    study = crossed_study("PureSVD4", "TopPop", texts=factor)
    # The template's words state how many recommendations there are.
    study.texts = json.loads(json.dumps(study.texts).replace("{recommendations}", "some recommendations"))
    study.questionnaire = json.loads(json.dumps(study.questionnaire).replace("{recommendations}", "recommendations"))
    study.save()
    return study


def titles(response: Any) -> list[str]:
    return [place.text_content().strip() for place in tree(response).xpath("//ol[@class='shelf']/li/h2")]


def test_each_condition_shows_and_asks_of_as_many_items_as_it_states() -> None:
    study = live(shown_as(("short", {"length": 3}), ("usual", {})))
    assert launch_problems(study) == []
    assert study.design.list_lengths == (3, 5)
    assert study.design.listed == "3 or 5"
    launch_study(study=study)
    study.refresh_from_db()
    for _number in range(4):
        person = Person(study).to("recommendations")
        expected = 3 if person.me.condition.label.endswith("short") else 5
        assert len(titles(person.get("recommendations/"))) == expected
        person.to("thanks")
        assert person.me.responses.filter(question="rating").count() == expected
    assert not list(findings())
    wide = Exported(study, "wide").rows()
    assert {row["factor.shown"]: row["item.4.id"] != "" for row in wide} == {"short": False, "usual": True}
    assert {row["participant.is_complete"] for row in wide} == {"1"}
    lists = side_by_side(study=study, ratings=dict.fromkeys(range(5), 5))
    assert sorted(len(each.slots) for each in lists.lists) == [3, 3, 5, 5]
    text = preregistration(preregistration_plan(study))
    assert "3 or 5 recommendations, on pages that differ between conditions in the factors below alone" in text
    assert "- shown: short (3 recommendations); usual (as by default)" in text


def test_a_text_that_states_one_number_is_refused_where_lists_differ_in_length() -> None:
    study = crossed_study("PureSVD4", "TopPop", texts=shown_as(("short", {"length": 3}), ("usual", {})))
    (problem,) = [text for text in launch_problems(study) if "number of recommendations" in text]
    assert "lists have 3 or 5 items by condition" in problem


def test_a_shuffled_list_keeps_the_models_ranks_and_its_order_for_the_participant() -> None:
    study = live(shown_as(("ranked", {}), ("shuffled", {"order": "shuffled"})))
    launch_study(study=study)
    study.refresh_from_db()
    for _number in range(4):
        person = Person(study).to("recommendations")
        slots = list(RecommendedItem.objects.filter(recommendation_list__participant=person.me).order_by("rank"))
        shown = titles(person.get("recommendations/"))
        assert shown == [slot.item.title for slot in slots] == titles(person.get("recommendations/"))
        scores = [slot.score for slot in sorted(slots, key=lambda slot: slot.model_rank or slot.rank)]
        assert scores == sorted(scores, reverse=True)
        if person.me.condition.label.endswith("ranked"):
            assert {slot.model_rank for slot in slots} == {None}
        else:
            assert sorted(slot.model_rank for slot in slots) == [1, 2, 3, 4, 5]
        person.to("thanks")
    rows = Exported(study, "long").rows()
    assert {row["item.model_rank"] for row in rows if row["factor.shown"] == "ranked"} == {""}
    assert {row["item.model_rank"] for row in rows if row["factor.shown"] == "shuffled"} == set("12345")
    assert any(row["item.model_rank"] not in ("", row["item.rank"]) for row in rows)
    assert not list(findings())


def test_layouts_show_the_same_items_with_their_details() -> None:
    factor = shown_as(
        ("list", {}), ("grid", {"layout": "grid"}), ("rows", {"layout": "carousel", "carousel_by": "genre"})
    )
    study = live(factor)
    launch_study(study=study)
    study.refresh_from_db()
    seen = set()
    for _number in range(6):
        person = Person(study).to("recommendations")
        layout = person.me.condition.levels["shown"]
        page = tree(person.get("recommendations/"))
        slots = RecommendedItem.objects.filter(recommendation_list__participant=person.me).order_by("rank")
        lists = {"list": "shelf", "grid": "plate", "rows": "reel"}
        found = [
            " ".join(place.text_content().split())
            for place in page.xpath("//li[@class='film']/*[self::h2 or self::h3]")
        ]
        assert sorted(found) == sorted(slot.item.title for slot in slots)
        assert all(
            place.getparent().getparent().get("class") == lists[layout] for place in page.xpath("//li/h2 | //li/h3")
        )
        if layout == "rows":
            names = [name.text_content() for name in page.xpath("//section[@class='strip']/h2")]
            assert len(names) == len(set(names)) >= 1
            for section in page.xpath("//section[@class='strip']"):
                own = section.xpath(".//h3/text()")
                values = {
                    value
                    for slot in slots
                    if slot.item.title in own
                    for value in slot.item.features.filter(kind="genre").values_list("value", flat=True)
                }
                assert section.xpath("./h2/text()")[0] in values
        seen.add(layout)
    assert seen == {"list", "grid", "rows"}


def test_a_carousel_needs_features_that_the_items_have() -> None:
    factor = shown_as(("list", {}), ("rows", {"layout": "carousel", "carousel_by": "colour"}))
    problems = launch_problems(live(factor))
    assert any("no features of the kind 'colour' for a carousel" in problem for problem in problems)
