"""Items without anything to see in their details: no page sends participants there."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from lxml import html

from studies.design.selectors.placeholders import TO_DETAILS
from studies.models import Study
from tests.factories.catalog import make_items, make_version
from tests.factories.evaluation import make_run_at
from tests.factories.studies import make_study
from tests.factories.walking import HTMX, Person

pytestmark = [pytest.mark.integration, pytest.mark.django_db]

SENTENCE = "Look at its details"


def study_of(**facts: Any) -> Study:
    """A live study of items that have a title and a year, and nothing else unless stated."""
    bare = {"plot": "", "trailer_url": "", "features": (), **facts}
    version = make_version(name="bare", items=tuple(replace(item, **bare) for item in make_items(40)))
    return make_study(slug="bare", run=make_run_at("succeeded", version=version))


def links_to_details(person: Person, page: str) -> list[str]:
    return html.document_fromstring(person.get(page).text).xpath("//main//a[contains(@href, '/details/')]/@href")


def test_bare_items_lead_nowhere_and_their_questions_do_not_ask_to_look() -> None:
    person = Person(study_of()).to("rate")
    assert links_to_details(person, "rate/") == []
    person.rate_five()
    tray = html.document_fromstring(person.get("rate/").text).xpath("//*[@id='tray']//a/@href")
    assert len(tray) == 5  # leads back to what was rated
    assert person.client.get(tray[0], headers=HTMX).status_code == 200
    person.to("recommendations")
    assert links_to_details(person, "recommendations/") == []
    person.to("item")
    assert links_to_details(person, "items/1/1/") == []
    page = person.get("items/1/1/").text
    assert SENTENCE not in page
    assert person.post("items/1/1/", {"watched": "yes", "rating": "4", "continue": "1"}).status_code == 302


@pytest.mark.parametrize(
    "facts",
    [
        {"plot": "A plot."},
        {"image": "0.png"},
        {"trailer_url": "https://trailers.example/1"},
        {"features": (("tag", "slow"),)},
        {"texts": {"en": {"plot": "A plot."}}},
    ],
)
def test_any_fact_is_something_to_see(facts: dict[str, Any]) -> None:
    person = Person(study_of(**facts)).to("rate")
    assert links_to_details(person, "rate/")
    person.to("recommendations")
    assert len(links_to_details(person, "recommendations/")) == 5
    person.to("item")
    assert links_to_details(person, "items/1/1/")
    assert SENTENCE in person.get("items/1/1/").text


def test_facts_that_pages_of_the_item_type_do_not_show_are_nothing_to_see() -> None:
    person = Person(study_of(features=(("album", "Motown"),))).to("rate")
    assert links_to_details(person, "rate/") == []


@pytest.mark.parametrize(
    ("text", "shorter"),
    [
        ("{look_at_details} How much?", "How much?"),
        ("How much? {Look_at_details}", "How much?"),
        ("One. {look_at_details} Two.", "One. Two."),
        ("{look_at_details}", "{look_at_details}"),
    ],
)
def test_the_request_is_cut_out_of_a_text(text: str, shorter: str) -> None:
    assert TO_DETAILS.sub("", text) == shorter
