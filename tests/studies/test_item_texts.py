"""Participant pages show items' own texts in their language; the launch page counts the items that lack them."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.test import Client
from lxml import html

from catalog.services import add_metadata, change_item_language
from studies.design.selectors.launch_overview import launch_overview
from studies.models import Study
from tests.factories.catalog import make_version
from tests.factories.studies import make_study
from tests.factories.walking import HTMX, Person

pytestmark = [pytest.mark.integration, pytest.mark.django_db]


@pytest.fixture
def study(tmp_path: Path) -> Study:
    path = tmp_path / "texts.csv"
    rows = [f"{number},Pellicola {number},Racconto {number}." for number in range(1, 41) if number != 2]
    path.write_text("\n".join(["item,title_it,description_it", *rows]) + "\n")
    version = add_metadata(version=make_version(), path=path)
    change_item_language(dataset=version.dataset, language="en")
    version.dataset.refresh_from_db()
    return make_study(version=version, per_condition=3, settings={"languages": ["en", "it"]})


def person_in(study: Study, language: str, step: str) -> Person:
    person = Person(study, Client(headers={"accept-language": language}))
    person.to(step)
    assert person.me.language == language
    return person


def headings(person: Person, page: str) -> dict[str, str | None]:
    titles = "//li[@data-item]//span[starts-with(@class, 'poster-title')] | //li[@class='film']/h2"
    links = html.document_fromstring(person.get(page).text).xpath(titles)
    return {
        link.text_content(): next((own.get("lang") for own in link.iter() if own.get("lang")), None) for link in links
    }


def test_the_rate_page_shows_and_finds_titles_in_its_language(study: Study) -> None:
    italian, english = person_in(study, "it", "rate"), person_in(study, "en", "rate")
    assert headings(italian, "rate/?q=Pellicola 1")["Pellicola 1"] is None
    assert headings(english, "rate/?q=Pellicola 1")["Film 01"] is None
    assert headings(italian, "rate/?q=Film 02")["Film 02"] == "en"
    assert headings(english, "rate/?q=Film 02")["Film 02"] is None
    page = italian.get("rate/?q=Film 02").text
    assert 'di <span lang="en">Film 02</span>' in page
    assert '<span class="vh" lang="en"> Film 02</span>' in " ".join(page.split())


def test_cards_are_cached_with_what_they_show(study: Study) -> None:
    italian = person_in(study, "it", "rate")
    assert headings(italian, "rate/?q=Film 02")["Film 02"] == "en"
    change_item_language(dataset=study.dataset_version.dataset, language="de")
    assert headings(italian, "rate/?q=Film 02")["Film 02"] == "de"
    change_item_language(dataset=study.dataset_version.dataset, language="")
    assert headings(italian, "rate/?q=Film 02")["Film 02"] is None
    italian.get("rate/?lang=en")
    assert "Film 01" in headings(italian, "rate/?q=Pellicola 1")


def test_details_and_recommendations_are_in_the_language_of_the_page(study: Study) -> None:
    first, second = study.dataset_version.items.order_by("index")[:2]
    italian = person_in(study, "it", "item")
    sheet = html.fromstring(italian.get(f"details/{first.pk}/", headers=HTMX).text)
    assert sheet.xpath("string(//h2)").split() == ["Pellicola", "1", "1980"]
    assert sheet.xpath("//p[text()='Racconto 1.'][not(@lang)]")
    poster = sheet.xpath("string(//img/@src)")
    assert "of Pellicola 1" in italian.client.get(poster).text
    assert "of Film 01" in italian.client.get(first.poster_url).text
    sheet = html.fromstring(italian.get(f"details/{second.pk}/", headers=HTMX).text)
    assert sheet.xpath("string(//h2/span[@lang='en'])") == "Film 02"
    assert sheet.xpath("string(//img/@src)") == second.poster_url
    assert sheet.xpath("//p[@lang='en']")[0].text == second.plot
    (heading,) = html.document_fromstring(italian.get("items/1/1/").text).xpath("//h1")
    shown = {item.texts["it"]["title"] if item.texts else item.title for item in study.dataset_version.items.all()}
    assert heading.text_content() in shown
    assert set(headings(italian, "recommendations/")) <= shown
    english = person_in(study, "en", "item")
    sheet = html.fromstring(english.get(f"details/{first.pk}/", headers=HTMX).text)
    assert sheet.xpath("string(//h2)").split() == ["Film", "01", "1980"]
    assert not sheet.xpath("//*[@lang]")


def test_the_launch_page_counts_items_without_texts(study: Study) -> None:
    def without(language: str) -> list[str]:
        """How many items have no title, and no description, in a language."""
        return [
            point.text.partition(" of ")[0]
            for point in launch_overview(study).advice
            if f" in {language};" in point.text
        ]

    assert without("Italian") == ["1", "1"]
    study.dataset_version.dataset.item_language = ""
    assert len(without("Italian")) == 2  # some items have Italian texts
    study.dataset_version.dataset.item_language = "it"
    assert without("English") == ["40", "40"]


def test_without_localised_texts_and_a_language_nothing_is_said() -> None:
    study = make_study(settings={"languages": ["en", "it"]})
    assert not [point for point in launch_overview(study).advice if " of 40 items " in point.text]
    page = person_in(study, "it", "rate").get("rate/").text
    assert 'lang="en"' not in page.replace("hreflang", "").split("<main")[-1]
