"""Answers in one's own words, alone and among several choices: stored, shown again, compared, exported, simulated."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest

from core.errors import ParameterError
from studies.data.exports.export_files import write_export
from studies.data.exports.tables import Options
from studies.enums import ParticipantStatus
from studies.instrument.questionnaires.document import DocumentProblems, read_document, write_document
from studies.instrument.questionnaires.questions import IN_OWN_WORDS
from studies.instrument.questionnaires.schema import Question, questionnaire_from
from studies.models import Response, Study
from tests.factories.questionnaires import every_kind, make_study_asking, words
from tests.factories.walking import HTMX, Person, leads, tree
from tests.studies.test_editor import Owner
from tests.studies.test_every_kind import GIVEN, at_after
from tests.studies.test_walker import walk

CHOICES = [
    {"value": "phone", "label": words("On a phone")},
    {"value": "tv", "label": words("On a television")},
    {"value": "nowhere", "label": words("Nowhere"), "exclusive": True},
]


def devices(**more: Any) -> dict[str, Any]:
    return {
        "key": "devices", "kind": "multiple", "text": words("Where?"), "choices": CHOICES, "other": words("Elsewhere"),
        **more,
    }  # fmt: skip


def read(*asked: dict[str, Any]) -> tuple[Question, ...]:
    return questionnaire_from({"after": list(asked)}).block("after")


@pytest.mark.unit
def test_own_words_among_several_are_kept_last_and_come_back_from_a_document() -> None:
    (asked,) = read(devices())
    assert asked.check(["tv", {"other": "  at work "}, "phone"]) == ["phone", "tv", {"other": "at work"}]
    assert asked.check([{"other": "at work"}]) == [{"other": "at work"}]
    whole = {"after": [devices(minimum=1, maximum=4)]}
    assert read_document(write_document(whole)) == whole


@pytest.mark.unit
@pytest.mark.parametrize(
    ("more", "given", "said"),
    [
        ({}, ["nowhere", {"other": "x"}], "goes with no other"),
        ({}, [{"other": "x"}, {"other": "y"}], "is chosen once"),
        ({}, ["tv", "tv"], "is chosen once"),
        ({"maximum": 2}, ["tv", "phone", {"other": "x"}], "At most 2 answers to 'devices' can be chosen; got 3"),
        ({"other": {}}, [{"other": "x"}], "is one of those it offers"),
        ({}, [{"else": "x"}], "is one of those it offers"),
        ({}, [{"other": 3}], "is one of those it offers"),
        ({}, [{"other": "x" * 201}], "may have 200 characters; it has 201"),
        ({}, ["other"], "is one of phone, tv, nowhere; got 'other'"),
        ({}, "phone", "is a list of what it offers"),
    ],
)
def test_what_is_no_answer_is_refused(more: dict[str, Any], given: Any, said: str) -> None:
    (asked,) = read(devices(**more))
    with pytest.raises(ParameterError, match=said):
        asked.check(given)


@pytest.mark.unit
def test_words_that_are_missing_are_wanted_and_own_words_count_towards_the_fewest() -> None:
    (asked,) = read(devices(minimum=2))
    assert asked.is_incomplete(["phone", {"other": ""}])
    assert asked.is_incomplete([{"other": "at work"}])
    assert not asked.is_incomplete(["phone", {"other": "at work"}])
    assert not asked.is_incomplete(["nowhere"])
    (optional,) = read(devices(required=False))
    assert optional.is_incomplete([{"other": ""}])


@pytest.mark.unit
def test_the_most_that_can_be_chosen_counts_own_words_and_a_choice_cannot_be_called_other() -> None:
    assert read(devices(maximum=4))[0].maximum == 4
    with pytest.raises(ParameterError, match="4 choices"):
        read(devices(maximum=5))
    called = {"after": [devices(choices=[*CHOICES, {"value": "other", "label": words("Other")}])]}
    with pytest.raises(DocumentProblems, match=r"after\[0\].choices\[3\].*'other' is reserved"):
        read_document(write_document(called))


@pytest.mark.unit
def test_a_condition_can_ask_whether_own_words_were_among_the_answers() -> None:
    _devices, then = read(
        devices(),
        {
            "key": "then",
            "kind": "yes_no",
            "text": words("Then?"),
            "shown_if": {"question": "devices", "includes": "other"},
        },
    )
    assert then.is_shown({"devices": ["phone", {"other": "at work"}]})
    assert not then.is_shown({"devices": ["phone"]})
    with pytest.raises(ParameterError, match="expects 'other'"):
        read(devices(other={}), {"key": "then", "kind": "yes_no", "text": words("Then?"),
                                 "shown_if": {"question": "devices", "includes": "other"}})  # fmt: skip


@pytest.fixture
def study() -> Study:
    return make_study_asking(every_kind(), per_condition=3)


def answer_to(study: Study, key: str) -> Any:
    return Response.objects.get(participant__study=study, question=key).value


@pytest.mark.integration
@pytest.mark.django_db
def test_the_field_is_on_the_page_without_a_script_and_words_alone_choose_it(study: Study) -> None:
    person = at_after(study)
    page = tree(person.get("after/"))
    (field,) = page.xpath("//fieldset[@id='question-devices']//input[@name='devices.other']")
    assert field.xpath("ancestor::*[@hidden]") == []
    assert field.getparent().tag == "label"
    assert field.getparent().text_content().strip()
    assert json.loads(field.getparent().get("data-condition")) == {"q": "devices", "is": "includes", "v": "other"}
    boxes = page.xpath("//input[@name='devices'][@type='checkbox']/@value")
    assert boxes[-1] == "other"
    person.post("after/", {"devices": ["tv"], "devices.other": "On a train"})
    assert answer_to(study, "devices") == ["tv", {"other": "On a train"}]
    shown = tree(person.get("after/"))
    assert shown.xpath("string(//input[@name='devices.other']/@value)") == "On a train"
    assert shown.xpath("//input[@name='devices'][@checked]/@value") == ["tv", "other"]
    # A single choice is chosen by its words where no button is pressed; a pressed one stays what it is.
    person.post("after/", {**GIVEN, "streams": "yes", "service": "north", "service.other": "A friend"})
    assert answer_to(study, "service") == "north"
    Response.objects.filter(question="service").delete()
    person.post("after/", {"streams": "yes", "service.other": "A friend"})
    assert answer_to(study, "service") == {"other": "A friend"}


@pytest.mark.integration
@pytest.mark.django_db
@pytest.mark.parametrize(("language", "said", "label"), [
    ("en", "Please use your own words.", "In your own words"), ("it", "Usa le tue parole.", "Con parole tue"),
])  # fmt: skip
def test_missing_words_are_asked_for_at_the_field(study: Study, language: str, said: str, label: str) -> None:
    person = at_after(study)
    person.me.__class__.objects.filter(pk=person.me.pk).update(language=language)
    page = tree(person.post("after/", {**GIVEN, "devices": ["tv", "other"], "devices.other": " ", "continue": "1"}))
    assert page.xpath("string(//*[@id='problem-devices'])") == said
    (field,) = page.xpath("//input[@name='devices.other']")
    assert (field.get("aria-invalid"), field.get("aria-describedby")) == ("true", "problem-devices")
    assert label in field.getparent().text_content()
    assert person.me.step == "after"
    given = {**GIVEN, "devices": ["tv", "other"], "devices.other": "x" * 201, "continue": "1"}
    assert "200" in tree(person.post("after/", given)).xpath("string(//*[@id='problem-devices'])")
    assert leads(person.post("after/", {**given, "devices.other": "On a train"})) == "thanks"


@pytest.mark.integration
@pytest.mark.django_db
def test_own_words_can_be_taken_back_and_changed_with_the_script(study: Study) -> None:
    person = at_after(study)
    for data, kept in (
        ({"devices": ["", "other"]}, [{"other": ""}]),
        ({"devices": ["", "other"], "devices.other": "On a train"}, [{"other": "On a train"}]),
        ({"devices": ["", "other", "tv"], "devices.other": "On a bus"}, ["tv", {"other": "On a bus"}]),
        ({"devices": ["", "tv"]}, ["tv"]),  # the script sends no words of an answer taken back
    ):
        assert person.post("after/", data, headers=HTMX).status_code == 200
        assert answer_to(study, "devices") == kept
    assert person.post("after/", {"nickname.other": "no such field"}, headers=HTMX).status_code == 200
    assert not Response.objects.filter(question="nickname").exists()


@pytest.mark.integration
@pytest.mark.django_db
def test_own_words_about_the_person_and_about_items_are_exported_as_possibly_identifying(tmp_path: Path) -> None:
    asked = every_kind()
    asked["about"].append({**devices(), "key": "seen_at"})
    asked["items"].append({**devices(), "key": "seen_on"})
    study = make_study_asking(asked, per_condition=3)
    places = {
        "seen_at": ["phone", "other"], "seen_at.other": "=At my aunt's", "seen_on": ["tv", "other"],
        "devices": "other", "devices.other": "On a train",
    }  # fmt: skip
    person = Person(study, answers={**GIVEN, **places})
    for page in person.pages():
        if rank := re.search(r"/items/1/(\d)/$", page.url):
            person.answers["seen_on.other"] = f"Place {rank[1]}"
    assert page.step == "thanks"
    write_export(study, "wide", tmp_path, Options())
    stem = f"study-{study.slug}_wide"
    with (tmp_path / f"{stem}_data.csv").open(encoding="utf-8") as data:
        (row,) = csv.DictReader(data)
    with (tmp_path / f"{stem}_codebook.csv").open(encoding="utf-8") as lines:
        book = {line["name"]: line for line in csv.DictReader(lines)}
    assert (row["about.seen_at.phone"], row["about.seen_at.tv"]) == ("1", "0")
    assert row["about.seen_at.other"] == "'=At my aunt's"
    assert [row[f"item.{rank}.seen_on.other"] for rank in range(1, 6)] == [f"Place {rank}" for rank in range(1, 6)]
    assert (row["after.devices.other"], row["after.devices.tv"]) == ("On a train", "0")
    for name in ("about.seen_at.other", "after.devices.other", "item.1.seen_on.other"):
        assert (book[name]["type"], book[name]["identifies"]) == ("text", "indirectly")
        assert "own words" in book[name]["meaning"]


@pytest.mark.integration
@pytest.mark.django_db
def test_the_editor_offers_own_words_for_several_choices(study: Study) -> None:
    draft = make_study_asking({**every_kind(), "after": [devices(other={})]}, status="draft", slug="draft")
    owner = Owner(draft)
    page = owner.edit("devices", other_en="Elsewhere", other_it="Altrove")
    assert "Saved." in page.text
    assert owner.question("devices")["other"] == {"en": "Elsewhere", "it": "Altrove"}
    preview = owner.client.get(owner.url("questionnaire-preview", block="after") + "?lang=it")
    found = tree(preview)
    assert "Altrove" in found.xpath("string(//*[@id='question-devices'])")
    assert found.xpath("//input[@name='devices.other']")


@pytest.mark.slow
@pytest.mark.integration
@pytest.mark.django_db
def test_simulated_participants_answer_in_own_words_too() -> None:
    asked = every_kind()
    asked["after"] = [
        devices(minimum=4),  # nothing but all of them will do
        {"key": "service", "kind": "choice", "text": words("Which?"), "other": words("Another"),
         "choices": [{"value": "north", "label": words("North")}]},
    ]  # fmt: skip
    asked["after"][0]["choices"] = [*CHOICES[:2], {"value": "cinema", "label": words("In a cinema")}]
    asked["scales"] = [scale for scale in asked["scales"] if scale["key"] == "fit"]
    study = make_study_asking(asked, per_condition=20)
    services = []
    for seed in range(6):
        person, _n = walk(study, f"{seed:043d}", seed=seed)
        assert person.status == ParticipantStatus.COMPLETED
        given = dict(person.responses.filter(rank=0).values_list("question", "value"))
        assert given["devices"] == ["phone", "tv", "cinema", {"other": IN_OWN_WORDS}]
        services.append(given["service"])
    assert {"other": IN_OWN_WORDS} in services
    assert "north" in services
