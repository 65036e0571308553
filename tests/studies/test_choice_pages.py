"""A page on which participants pick one item of their list, or none: from the design to the exports."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

from core.errors import ParallaxError
from parallax.integrity.all_checks import findings
from studies.data.exports.export_files import write_export
from studies.data.exports.tables import Options
from studies.design.services.design import change_design, create_study
from studies.design.services.launch import launch_study
from studies.design.services.questionnaires import parsed_document
from studies.enums import ParticipantStatus
from studies.instrument.flow import questionnaire_of
from studies.instrument.questionnaires.document import write_document
from studies.models import Participant, Study
from studies.participation.services.previewing import preview_link
from studies.participation.services.withdrawal import withdraw
from tests.factories.accounts import UserFactory
from tests.factories.walking import HTMX, Person, leads, tree
from tests.studies.test_list_presentations import live, shown_as
from tests.studies.test_own_flows import ABOUT, FAREWELL, HELLO, LISTS, QUESTIONS, RATE, TASTE, THANKS, make, words

pytestmark = [pytest.mark.integration, pytest.mark.django_db]

CHOICE = {"key": "pick", "kind": "choice"}
LIST, ITEMS, OVERALL = LISTS["lists"]["pages"]


def flow_with(*pages: dict[str, Any]) -> list[Any]:
    return [HELLO, ABOUT, TASTE, RATE, {"lists": {"pages": list(pages)}}, FAREWELL, THANKS]


FLOW = flow_with(LIST, ITEMS, CHOICE, OVERALL)


@pytest.fixture
def study() -> Study:
    return make(FLOW)


def test_the_choice_is_walked_in_its_order_and_stored_as_an_answer(study: Study) -> None:
    person = Person(study)
    pages = [page.step for page in person.pages()]
    assert pages[-5:] == ["item", "pick", "overall", "farewell", "thanks"]
    assert person.me.status == ParticipantStatus.COMPLETED
    answer = person.me.responses.get(question="chosen")
    assert (answer.rank, answer.value) == (0, "2")


def test_the_page_shows_the_cards_of_the_list_with_one_group_of_buttons(study: Study) -> None:
    person = Person(study).to("pick")
    page = tree(person.get("pick/"))
    assert page.xpath("string(//legend/h1)") == "Which one would you watch now?"
    assert page.xpath("//fieldset//input[@type='radio']/@name") == ["chosen"] * 6
    assert page.xpath("//fieldset//input[@type='radio']/@value") == ["1", "2", "3", "4", "5", "none"]
    titles = [title.text_content() for title in page.xpath("//li[@class='film']/h2")]
    assert [label.text_content().split(": ")[1] for label in page.xpath("//li//label")] == titles
    assert page.xpath("//li/a[contains(@href, '/details/')]")


def test_a_choice_is_a_draft_until_it_is_left_and_can_be_changed_until_the_end(study: Study) -> None:
    person = Person(study).to("pick")
    assert tree(person.post("pick/", {"continue": "1"})).xpath("//*[@id='problem-chosen']")
    assert 'id="saved"' in person.post("pick/", {"chosen": "3"}, headers=HTMX).text
    assert tree(person.get("pick/")).xpath("//input[@checked]/@value") == ["3"]
    assert leads(person.post("pick/", {"chosen": "none", "continue": "1"})) == "overall"
    assert tree(person.get("pick/")).xpath("//input[@checked]/@value") == ["none"]
    person.post("pick/", {"chosen": "1"}, headers=HTMX)
    answer = person.me.responses.get(question="chosen")
    assert (answer.value, answer.n_changes) == ("1", 2)
    assert list(person.pages())[-1].step == "thanks"
    assert leads(person.get("pick/")) == "thanks"


@pytest.mark.parametrize("value", ["6", "0", "-1", "all"])
def test_what_the_list_does_not_have_is_not_taken(study: Study, value: str) -> None:
    person = Person(study).to("pick")
    person.post("pick/", {"chosen": value, "continue": "1"})
    assert not person.me.responses.filter(question="chosen").exists()
    assert person.me.step == "pick"


def test_a_shorter_list_offers_fewer_ranks() -> None:
    study = live(shown_as(("short", {"length": 3}), ("usual", {})))
    pages = {"pages": [LIST, CHOICE, ITEMS, OVERALL]}
    study.settings = {**study.settings, "flow": [ABOUT, RATE, {"lists": pages}, THANKS]}
    study.save()
    launch_study(study=study)
    study.refresh_from_db()
    person = Person(study).to("pick")
    while not person.me.condition.label.endswith("short"):
        person = Person(study).to("pick")
    assert tree(person.get("pick/")).xpath("//input[@type='radio']/@value") == ["1", "2", "3", "none"]
    assert leads(person.post("pick/", {"chosen": "4", "continue": "1"})) == "pick"
    assert not person.me.responses.filter(question="chosen").exists()


def test_the_end_leads_back_to_a_choice_that_is_missing(study: Study) -> None:
    person = Person(study).to("farewell")
    person.me.responses.filter(question="chosen").delete()
    assert leads(person.post("farewell/")).startswith("pick/?incomplete=")


def test_the_wording_is_the_researcher_s_own_or_that_of_the_language(study: Study) -> None:
    person = Person(study).to("pick")
    page = tree(person.get("pick/?lang=it", follow=True))
    assert page.xpath("string(//legend/h1)") == "Quale vorresti guardare adesso?"
    assert "Nessuna di queste proposte" in page.text_content()
    title = {"en": "Which {item} for tonight?", "it": "Quale {item} per stasera?"}
    change_design(study=draft_with(study, {**CHOICE, "title": title}), settings={"hypothesis": "Another."})
    draft = Study.objects.get(slug="draft")
    person = Person(draft).to("pick", preview_link(study=draft))
    assert tree(person.get("pick/")).xpath("string(//legend/h1)") == "Which film for tonight?"


def draft_with(study: Study, *pages: dict[str, Any], **more: Any) -> Study:
    """A draft beside the study, with these pages at the end of its lists."""
    return create_study(
        slug="draft", version=study.run.version, run=study.run, owner=UserFactory(),
        settings={"flow": flow_with(LIST, ITEMS, *pages, OVERALL)}, questionnaire={**QUESTIONS, **more},
    )  # fmt: skip


def test_later_questions_may_depend_on_the_choice(study: Study) -> None:
    why = {
        "key": "why_none",
        "kind": "text",
        "text": words("Why none?"),
        "shown_if": {"question": "chosen", "equals": "none"},
    }
    overall = [*QUESTIONS["overall"], why]
    draft = draft_with(study, CHOICE, overall=overall)
    asked = questionnaire_of(draft)
    assert {q.key for q in asked.shown("overall", {"chosen": "none"})} - {
        q.key for q in asked.shown("overall", {"chosen": "2"})
    } == {"why_none"}
    document = write_document(draft.questionnaire)
    assert parsed_document(draft, document)["overall"][-1]["key"] == "why_none"
    draft.delete()
    with pytest.raises(ParallaxError, match="expects '9'"):
        draft_with(study, CHOICE, overall=[{**why, "shown_if": {"question": "chosen", "equals": "9"}}])


def rows_of(folder: Path, kind: str) -> list[dict[str, str]]:
    with (folder / f"study-own_{kind}_data.csv").open(encoding="utf-8") as table:
        return list(csv.DictReader(table))


def test_exports_have_the_choice_and_a_table_of_choices(study: Study, tmp_path: Path) -> None:
    list(Person(study).pages())
    picked = Participant.objects.get()
    person = Person(study).to("pick")
    person.post("pick/", {"chosen": "none", "continue": "1"})
    Person(study).to("pick")
    for kind in ("wide", "pages", "json", "psych-ds"):
        write_export(study, kind, tmp_path / kind, Options())
    item = picked.recommendation_list.slots.get(rank=2).item
    wide = rows_of(tmp_path / "wide", "wide")
    assert [(row["pick.chosen"], row["pick.chosen_rank"]) for row in wide] == [
        (item.external_id, "2"),
        ("none", ""),
        ("", ""),
    ]
    choices = rows_of(tmp_path / "wide", "choices")
    assert [(row["choice.item"], row["choice.rank"], row["choice.popularity"]) for row in choices] == [
        (item.external_id, "2", str(item.n_ratings)), ("none", "", ""),
    ]  # fmt: skip
    names = [row["page_name"] for row in rows_of(tmp_path / "pages", "pages")]
    assert names.count("pick") == 2
    assert (tmp_path / "psych-ds" / "data" / "study-own_description-choices_data.csv").exists()
    assert "choices_data.csv" in (tmp_path / "psych-ds" / "README.md").read_text(encoding="utf-8")
    assert not list(findings())


def test_a_withdrawal_erases_the_choice(study: Study, tmp_path: Path) -> None:
    list(Person(study).pages())
    me = Participant.objects.get()
    withdraw(participant=me)
    write_export(study, "wide", tmp_path, Options())
    assert [row["pick.chosen"] for row in rows_of(tmp_path, "wide")] == [""]
    assert rows_of(tmp_path, "choices") == []


def test_a_title_is_needed_in_every_language(study: Study) -> None:
    with pytest.raises(ParallaxError, match="'pick' has no title in 'it'"):
        draft_with(study, {**CHOICE, "title": {"en": "Which?"}})
