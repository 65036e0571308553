"""Placeholders in texts and questions, filled where they are read; a warning for numbers that disagree."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from studies.data.codebook.participants import participant_variables
from studies.design.selectors.placeholders import filled
from studies.design.selectors.text_warnings import literal_number_warnings
from studies.design.services.launch import launch_study
from studies.models import Study
from studies.settings import StudySettings
from tests.factories.studies import make_study
from tests.factories.walking import Person, tree

pytestmark = [pytest.mark.integration, pytest.mark.django_db]

BOOKS = {"en": {"one": "book", "many": "books"}, "it": {"one": "libro", "many": "libri"}}


def shorter(status: str = "live") -> Study:
    study = make_study(status="draft", settings={"ratings_asked": 4, "list_length": 3, "item_noun": BOOKS})
    if status == "live":
        launch_study(study=study)
    study.refresh_from_db()
    return study


def test_placeholders_are_filled_by_language_and_unknown_ones_stay() -> None:
    design = StudySettings(ratings_asked=1, list_length=12, item_noun=BOOKS)
    texts = {
        "en": {"title": "{Items}", "a": "{rated_items}, {recommendations}, {item}, {nothing}, {ratings_asked}"},
        "it": {"a": ["{recommended_items} e {recommendations}"]},
    }
    assert filled(texts, design) == {
        "en": {"title": "Books", "a": "one book, 12 recommendations, book, {nothing}, one"},
        "it": {"a": ["12 libri e 12 consigli"]},
    }


@pytest.mark.parametrize(
    ("language", "consent", "question"),
    [
        (
            "en",
            "rate four books that you know. Then you receive three recommendations",
            "this list of three recommendations",
        ),
        ("it", "valuti quattro libri che conosci. Poi ricevi tre consigli", "questa lista di tre consigli"),
    ],
)
def test_participants_read_the_numbers_and_the_noun_of_the_study(
    client: Client, language: str, consent: str, question: str
) -> None:
    study = shorter()
    page = client.get(f"/s/{study.slug}/?lang={language}").content.decode()
    assert consent in " ".join(page.split())
    variable = next(one for one in participant_variables(study) if one.name == "overall.satisfaction")
    assert "three recommendations" in variable.meaning
    owner = study.memberships.get().researcher
    client.force_login(owner)
    preview = client.get(reverse("studies:questionnaire-preview", args=[study.slug, "overall"]), {"lang": language})
    assert question in preview.content.decode()


@pytest.mark.parametrize(("language", "heading"), [("en", "Rate four books"), ("it", "Valuta quattro libri")])
def test_the_page_of_ratings_speaks_of_no_films_where_items_are_books(language: str, heading: str) -> None:
    study = shorter()
    person = Person(study).to("rate", f"/s/{study.slug}/?lang={language}")
    top = tree(person.get("rate/")).xpath("string(//h1)") + tree(person.get("rate/")).xpath(
        "string(//*[@class='lead'])"
    )
    assert heading in " ".join(top.split())
    for word in ("film", "watch", "visti"):
        assert word not in top


def test_a_frozen_text_without_placeholders_stays_as_it_is(client: Client) -> None:
    study = make_study(status="draft")
    study.texts["en"]["consent"] = "You rate five films {verbatim}."
    study.save(update_fields=["texts"])
    launch_study(study=study)
    assert "You rate five films {verbatim}." in client.get(f"/s/{study.slug}/?lang=en").content.decode()


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("Then you rate five that you know.", "five"),
        ("You get 5 suggestions.", "5"),
        ("Valuti cinque film.", "cinque"),
        ("Look at the seven films.", "seven"),
        ("Then you rate four, and get three recommendations.", ""),
        ("It takes ten minutes; you are at least 18 years old.", ""),
        ("Rate each film from 1 to 5.", ""),
        ("You rate {rated_items}.", ""),
    ],
)
def test_a_number_that_disagrees_is_warned_about(text: str, number: str) -> None:
    study = make_study(status="draft", settings={"ratings_asked": 4, "list_length": 3})
    language = "it" if "Valuti" in text else "en"
    study.texts[language]["debriefing"] = text
    warnings = literal_number_warnings(study)
    assert len(warnings) == bool(number)
    if number:
        assert all(part in warnings[0][1] for part in ("'debriefing'", f"'{language}'", f"“{number}”"))


def test_the_shipped_template_agrees_with_every_setting() -> None:
    assert literal_number_warnings(shorter("draft")) == []


def test_a_number_in_a_question_is_found() -> None:
    study = shorter("draft")
    study.questionnaire["overall"][0]["text"]["en"] = "How satisfied are you with these five recommendations?"
    ((place, warning),) = literal_number_warnings(study)
    assert place == "row_satisfaction"
    assert all(part in warning for part in ("'satisfaction'", "'en'", "“five”"))


def test_the_stage_saves_and_lists_the_warning_at_its_field(client: Client) -> None:
    study = shorter("draft")
    client.force_login(study.memberships.get().researcher)
    url = reverse("studies:texts", args=[study.slug])
    said: dict[str, Any] = {**client.get(url).context["form"].initial, "debriefing_en": "You rated nine books."}
    page = client.post(url, {**said, "item_many_en": "tomes"}, follow=True).content.decode()
    assert "Saved." in page
    assert "says “nine”" in page
    assert 'href="#id_debriefing_en"' in page
    study.refresh_from_db()
    assert study.texts["en"]["debriefing"] == "You rated nine books."
    noun = study.settings["item_noun"]["en"]
    assert (noun["one"], noun["many"], noun["consumed"]) == ("book", "tomes", "read")
