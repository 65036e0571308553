"""Trailers, clips and excerpts of items: what pages offer, and of which items the question about them is asked."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from django.utils import timezone

from catalog.models import Item
from studies.data.codebook.items import item_variables
from studies.design.selectors.placeholders import filled
from studies.design.services.launch import launch_study
from studies.enums import Mode
from studies.instrument.flow import Place
from studies.instrument.questionnaires.schema import questionnaire_from
from studies.instrument.samples import for_items_without
from studies.models import Event, Participant, RecommendedItem, Study
from studies.monitoring.selectors.exclusions import missing_of
from studies.participation.selectors.participant_rows import questionnaire_at
from studies.participation.selectors.responses import completed_answers, records
from tests.factories.evaluation import make_run_at
from tests.factories.studies import make_study
from tests.factories.walking import HTMX, Person, tree
from tests.studies.test_item_words import run_of

pytestmark = [pytest.mark.integration, pytest.mark.django_db]

CLIP = {"clip": "clips/ab/abcd.webm", "trailer_url": ""}


def study_where(**samples: Any) -> Study:
    """A live study of which every second item has only these samples, and the others have none."""
    run = make_run_at("succeeded")
    items = run.version.items
    items.update(trailer_url="")
    items.filter(index__in=range(0, 40, 2)).update(**samples)
    return make_study(run=run)


def ranks(participant: Participant) -> dict[bool, list[int]]:
    """The ranks of items with and without a sample."""
    slots = RecommendedItem.objects.filter(recommendation_list__participant=participant).order_by("rank")
    has = dict(slots.values_list("rank", "has_trailer"))
    return {value: [rank for rank in has if has[rank] is value] for value in (True, False)}


def questions_on(person: Person, rank: int) -> list[str]:
    return tree(person.get(f"items/1/{rank}/")).xpath("//*[starts-with(@id, 'question-')]/@id")


def test_the_question_is_asked_only_of_items_with_a_sample() -> None:
    study = study_where(**CLIP)
    assert study.settings["samples"] is True
    person = Person(study).to("item")
    of = ranks(person.me)
    assert of[True]
    assert of[False]
    for rank in range(1, 6):
        answers = {"watched": "no", "heard": "yes", "rating": "4", "trailer_seen": "yes", "continue": "1"}
        asked = questions_on(person, rank)
        assert ("question-trailer_seen" in asked) == (rank in of[True])
        if rank in of[True]:
            assert person.post(f"items/1/{rank}/", {**answers, "trailer_seen": ""}).status_code == 200
        else:
            wordings = tree(person.get(f"items/1/{rank}/")).xpath("//*[@id='question-rating']")[0].text_content()
            assert "remember" not in wordings
        assert person.post(f"items/1/{rank}/", answers).status_code == 302
    person.post("overall/", {"satisfaction": "4", "continue": "1"})
    stored = dict(person.me.responses.filter(question="trailer_seen").values_list("rank", "value"))
    assert stored == dict.fromkeys(of[True], True)
    (record,) = records(study, [Mode.LIVE])
    assert missing_of(study, record) == []
    assert {item.slot.rank: item.measures and item.measures.branch for item in record.items} == {
        **dict.fromkeys(of[True], "trailer_seen"),
        **dict.fromkeys(of[False], "neither"),
    }
    assert {rank for rank in of[False] if "trailer_seen" in record.items[rank - 1].not_asked} == set(of[False])
    assert not any("trailer_seen" in record.items[rank - 1].not_asked for rank in of[True])
    (lean,) = completed_answers(study, Mode.LIVE)
    assert lean.measures == record.measures
    (variable,) = (one for one in item_variables(study) if one.name == "item.trailer_seen")
    assert {rank: variable.read(record.items[rank - 1]) for rank in range(1, 6)} == {
        **dict.fromkeys(of[True], True),
        **dict.fromkeys(of[False], None),
    }


def test_a_study_from_before_asks_it_of_every_item() -> None:
    study = study_where(**CLIP)
    Study.objects.filter(pk=study.pk).update(
        settings={key: value for key, value in study.settings.items() if key != "samples"}, updated_at=timezone.now()
    )
    study.refresh_from_db()
    person = Person(study).to("item")
    of = ranks(person.me)
    whole = questionnaire_from(study.questionnaire)
    assert for_items_without(whole, study.design) is whole
    for rank in range(1, 6):
        assert "question-trailer_seen" in questions_on(person, rank)
        assert ("No trailer" in person.get(f"items/1/{rank}/").text) == (rank in of[False])
        answers = {"watched": "no", "heard": "yes", "rating": "4", "continue": "1"}
        assert person.post(f"items/1/{rank}/", answers).status_code == 200
        assert person.post(f"items/1/{rank}/", {**answers, "trailer_seen": "no"}).status_code == 302
    of_item = questionnaire_at(person.me, Place("items", of[False][0]))
    assert [q.key for q in of_item.items] == [q.key for q in whole.items]


def test_where_no_item_has_a_sample_it_is_left_out() -> None:
    run = make_run_at("succeeded")
    run.version.items.update(trailer_url="")
    study = make_study(run=run)
    assert study.settings["samples"] is False
    assert not study.design.offers_samples
    assert [question["key"] for question in study.questionnaire["items"]] == ["watched", "heard", "rating"]
    person = Person(study).to("item")
    assert "trailer" not in tree(person.get("items/1/1/")).xpath("//main")[0].text_content().lower()


@pytest.mark.parametrize(
    ("key", "question", "look"),
    [
        ("book", "Had you read an excerpt of it before today?", "read the excerpt if there is one"),
        ("song", "Had you listened to a clip of it before today?", "listen to the clip if there is one"),
        ("product", "Had you seen a sample of it before today?", "at the sample if there is one"),
    ],
)
def test_other_items_are_asked_about_in_their_words(key: str, question: str, look: str) -> None:
    run = run_of(key)
    run.version.items.filter(index=3).update(excerpt="Call me Ishmael.")
    study = make_study(run=run)
    asked = {q["key"]: q for q in filled(copy.deepcopy(study.questionnaire), study.design)["items"]}
    assert asked["trailer_seen"]["text"]["en"] == question
    assert asked["trailer_seen"]["text"]["it"].startswith("Ne avevi già")
    assert "trailer" not in asked["rating"]["wordings"]["trailer_seen"]["en"]
    assert look in asked["rating"]["wordings"]["neither"]["en"]


def sheet_of(study: Study, item: Item) -> tuple[Person, Any]:
    person = Person(study).to("rate")
    return person, tree(person.get(f"details/{item.pk}/", headers=HTMX))


def test_a_clip_plays_on_the_details_and_is_recorded_once() -> None:
    study = study_where(**CLIP)
    item = study.dataset_version.items.get(index=0)
    person, sheet = sheet_of(study, item)
    (video,) = sheet.xpath("//video")
    assert {name: video.get(name) for name in ("controls", "preload", "playsinline", "autoplay")} == {
        "controls": "", "preload": "none", "playsinline": "", "autoplay": None,
    }  # fmt: skip
    assert video.get("aria-label") == f"Trailer: {item.title}"
    assert "Without captions." in sheet.text_content()
    for _part in range(3):
        answer = person.client.get(video.get("src"), headers={"Range": "bytes=0-"})
        assert (answer.status_code, answer.headers["Location"]) == (302, item.clip_url)
    assert Event.objects.filter(kind="trailer_opened").count() == 1
    other = study.dataset_version.items.get(index=1)
    assert person.get(f"trailer/{other.pk}/").status_code == 404
    assert "No trailer available." in person.get(f"details/{other.pk}/", headers=HTMX).text


def test_audio_and_excerpts_and_links_have_their_own_forms() -> None:
    run = run_of("song")
    run.version.items.filter(index=0).update(clip="clips/ab/abcd.mp3")
    run.version.items.filter(index=1).update(excerpt="La la la.\n\n<b>La</b>")
    run.version.items.filter(index=2).update(trailer_url="https://example.org/song")
    study = make_study(run=run)
    first, second, third = study.dataset_version.items.order_by("index")[:3]
    person, sheet = sheet_of(study, first)
    assert sheet.xpath("//audio/@aria-label") == [f"Clip: {first.title}"]
    excerpt = tree(person.get(f"details/{second.pk}/", headers=HTMX))
    assert excerpt.xpath("//blockquote/p/text()") == ["La la la.", "<b>La</b>"]
    assert not excerpt.xpath("//audio | //video")
    link = person.get(f"details/{third.pk}/", headers=HTMX)
    assert tree(link).xpath("//a[@target='_blank']/@href") == [f"{person.base}trailer/{third.pk}/"]
    assert person.get(f"trailer/{third.pk}/").headers["Location"] == "https://example.org/song"
    assert person.get(f"trailer/{second.pk}/").status_code == 404


def test_a_study_of_books_from_before_offers_no_samples() -> None:
    run = run_of("book")
    study = make_study(run=run, status="draft")
    study.settings = {key: value for key, value in study.settings.items() if key != "samples"}
    study.save()
    launch_study(study=study)
    run.version.items.update(trailer_url="https://example.org/book")
    item = study.dataset_version.items.get(index=0)
    person, sheet = sheet_of(study, item)
    assert not sheet.xpath("//a[@target='_blank']")
    assert person.get(f"trailer/{item.pk}/").status_code == 404
