"""A page that is older than what is stored, in another tab or on another device: it takes nothing back."""

from __future__ import annotations

from typing import Any

import pytest
from django.http import HttpResponse

from studies.models import Response, Study
from tests.factories.questionnaires import every_kind, make_study_asking
from tests.factories.studies import make_study
from tests.factories.walking import ABOUT, HTMX, Person, leads, tree
from tests.studies.test_every_kind import GIVEN, at_after

pytestmark = [pytest.mark.integration, pytest.mark.django_db]

OWN = {**GIVEN, "streams": "yes", "service": "other", "service.other": "A friend's", "why": " Two\r\nlines ",
       "hours--declined": "1", "nickname": "Bo"}  # fmt: skip


def sent(response: HttpResponse, **touched: Any) -> dict[str, Any]:
    """Return what a browser sends of the page's form, with what somebody touched on it."""
    (form,) = tree(response).xpath("//form[contains(@class, 'questions') or contains(@class, 'about')]")
    data: dict[str, Any] = {}
    for name, value in form.form_values():
        data.setdefault(name, []).append(value)
    return {**data, **touched}


def stored(person: Person, rank: int = 0) -> dict[str, Any]:
    return dict(Response.objects.filter(participant=person.me, rank=rank).values_list("question", "value"))


@pytest.mark.parametrize("given", [GIVEN, OWN, {}])
def test_a_page_left_as_it_came_says_nothing_of_any_kind_of_question(given: dict[str, Any]) -> None:
    person = at_after(make_study_asking(every_kind(), per_condition=3))
    person.post("after/", given, headers=HTMX)
    before = stored(person)
    untouched = sent(person.get("after/"))
    person.post("after/", {"nickname": "Al", "why": "Because.", "mood": "90", "trust_a": "2"}, headers=HTMX)
    since = stored(person)
    assert since != before
    person.post("after/", untouched, headers=HTMX)
    assert stored(person) == since
    shown = {name for name in untouched if name.startswith("was.")}
    assert shown == {f"was.{question.get('key')}" for question in every_kind()["after"]}


def test_the_older_of_two_tabs_changes_what_is_touched_there_alone(study: Study) -> None:
    person = Person(study).to("overall")
    older = person.get("overall/")
    person.post("overall/", {"satisfaction": "2", "comment": "Written on the phone"}, headers=HTMX)
    person.post("overall/", sent(older, satisfaction="5"), headers=HTMX)
    assert stored(person)["comment"] == "Written on the phone"
    assert stored(person)["satisfaction"] == 5
    # Pressing on from the older tab takes what is stored, not what that tab has never seen.
    assert leads(person.post("overall/", sent(older, **{"continue": "1"}))) == "thanks"
    assert stored(person)["comment"] == "Written on the phone"


def test_what_is_emptied_on_a_page_that_showed_it_is_taken_back(study: Study) -> None:
    person = Person(study).to("overall")
    person.post("overall/", {"satisfaction": "2", "comment": "Too much"}, headers=HTMX)
    person.post("overall/", sent(person.get("overall/"), comment=""), headers=HTMX)
    assert "comment" not in stored(person)


def test_an_older_page_about_a_film_keeps_the_newer_answers(study: Study) -> None:
    person = Person(study).to("item")
    person.post("items/1/1/", {"watched": "yes", "rating": "2"}, headers=HTMX)
    older = person.get("items/1/1/")
    person.post("items/1/1/", {"rating": "5"}, headers=HTMX)
    assert leads(person.post("items/1/1/", sent(older, **{"continue": "1"}))) == "items/1/2"
    assert stored(person, rank=1)["rating"] == 5


def test_an_older_page_about_oneself_keeps_the_newer_answers(study: Study) -> None:
    person = Person(study)
    person.consent()
    older = person.get("about/")
    person.post("about/", {"nationality": "Sammarinese", "age": "40"}, headers=HTMX)
    person.post("about/", sent(older, gender="woman"), headers=HTMX)
    assert stored(person) == {"nationality": "Sammarinese", "age": 40, "gender": "woman"}
    rest = {key: value for key, value in ABOUT.items() if key not in ("nationality", "age")}
    assert leads(person.post("about/", sent(older, **rest))) == "rate"
    assert stored(person)["nationality"] == "Sammarinese"
    assert stored(person)["age"] == 40


def test_a_number_that_cannot_be_stored_is_said_again_each_time_it_is_sent(study: Study) -> None:
    person = Person(study)
    person.consent()
    refused = person.post("about/", sent(person.get("about/"), **{**ABOUT, "age": "3x"}))
    assert tree(refused).xpath("string(//input[@name='age']/@value)") == "3x"
    again = person.post("about/", sent(refused))
    assert tree(again).xpath("//*[@id='problem-age']")


@pytest.fixture
def study() -> Study:
    return make_study(per_condition=3)
