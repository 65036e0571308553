"""Participants' pages outside the sequence: languages, message pages and contacts, coming back, withdrawing late."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.humanize.templatetags.humanize import intcomma
from django.test import Client
from django.utils import timezone, translation

from studies.design.services.launch import close_study, pause_study
from studies.enums import ParticipantStatus
from studies.models import Participant, ProfileRating, Response, Study
from studies.participation.services.slot_queue import release_idle
from studies.participation.services.withdrawal import withdraw
from tests.factories.studies import make_study
from tests.factories.walking import ABOUT, HTMX, Person, leads, tree

pytestmark = [pytest.mark.integration, pytest.mark.django_db]


@pytest.fixture
def study() -> Study:
    return make_study(per_condition=3)


def _study_in(language: str, study: Study) -> None:
    texts = {language: study.texts[language]}
    Study.objects.filter(pk=study.pk).update(texts=texts)


def test_the_browser_the_link_and_the_switch_choose_the_language_which_is_kept(study: Study) -> None:
    address = f"/s/{study.slug}/"
    browser = {"Accept-Language": "fr, it;q=0.8, en;q=0.5"}
    chosen = Client().get(address, headers=browser)
    assert ("Partecipo" in chosen.text, chosen.headers["Content-Language"]) == (True, "it")
    assert "Take part" in Client().get(address, query_params={"lang": "en"}, headers=browser).text
    assert "Take part" in Client().get(address, query_params={"lang": "xx"}).text
    person = Person(study)
    person.consent(address + "?lang=it&PROLIFIC_PID=abc")
    assert person.me.language == "it"
    assert dict(person.me.external_ids.values_list("name", "value")) == {"PROLIFIC_PID": "abc"}
    page = person.get("about/", headers={"Accept-Language": "en"})
    assert tree(page).xpath("string(/html/@lang)") == "it"
    assert "Su di te" in page.text
    back = tree(page).xpath("string(//nav[@class='languages']/a[@lang='en']/@href)")
    switched = person.client.get(back)
    assert switched.headers["Location"] == f"{person.base}about/"
    assert person.me.language == "en"
    assert "About you" in person.get("about/").text
    assert leads(person.get("about/?lang=de")) == "about"
    assert person.me.language == "en"


def test_the_study_link_in_another_language_changes_that_of_who_consented_here(study: Study) -> None:
    person = Person(study).to("about")
    person.client.get(f"/s/{study.slug}/?lang=it", follow=True)
    assert person.me.language == "it"


def test_the_switch_keeps_what_was_searched_for(study: Study) -> None:
    person = Person(study).to("rate")
    page = tree(person.get("rate/", query_params={"q": "film 1", "genre": "Western"}))
    moved = person.client.get(page.xpath("string(//nav[@class='languages']/a[@lang='it']/@href)"))
    assert moved.headers["Location"].endswith("/rate/?q=film+1&genre=Western")
    shown = tree(person.client.get(moved.headers["Location"]))
    filters = shown.xpath("//label[@class='chip']/span/text() | //option/text()")
    assert {"Tutti", "Commedia", "Anni 1980"} <= set(filters)
    assert shown.xpath("//input[@name='genre'][@checked]/@value") == ["Western"]


def test_a_study_in_one_language_offers_no_switch_and_speaks_it_to_everybody(study: Study) -> None:
    _study_in("it", study)
    page = Client().get(f"/s/{study.slug}/", headers={"Accept-Language": "en"})
    assert "Partecipo" in page.text
    assert not tree(page).xpath("//nav[@class='languages']")
    assert "Partecipo" in Client().get(f"/s/{study.slug}/?lang=en").text


def test_counts_are_written_as_the_language_does(study: Study) -> None:
    with translation.override("it"):
        assert intcomma(1234) == "1.234"
    person = Person(study).to("rate", f"/s/{study.slug}/?lang=it")
    assert "40 film nel catalogo" in person.get("rate/").text


def test_what_is_told_about_oneself_is_kept_before_the_form_is_sent(study: Study) -> None:
    person = Person(study).to("about")
    assert person.post("about/", {"age": "33", "gender": "self_described"}, headers=HTMX).status_code == 204
    person.post(
        "about/", {"age": "33", "gender": "self_described", "gender_text": "so", "education": "no such"}, headers=HTMX
    )
    kept = {row.question: row.value for row in person.me.responses.all()}
    assert kept == {"age": 33, "gender": "self_described", "gender_text": "so"}
    page = tree(person.get("about/"))
    assert page.xpath("string(//input[@name='age']/@value)") == "33"
    person.post("about/", {"age": "abc", "first_visit": "yes"})
    assert person.me.responses.get(question="age").value == 33
    assert person.me.responses.get(question="first_visit").value is True
    person.post("about/", ABOUT)
    assert not person.me.responses.filter(question="gender_text").exists(), "no longer asked"
    assert person.me.status == ParticipantStatus.ACTIVE
    late = person.post("about/", {"age": "44"}, headers=HTMX)
    assert late.headers["HX-Redirect"].endswith("/rate/")
    assert person.me.responses.get(question="age").value == 33


@pytest.mark.parametrize("path", ["/s/no-such-study/", "/s/p/nonsense/", "/s/p/nonsense/items/1/2/"])
def test_a_wrong_link_is_calm_in_both_languages_and_names_whom_to_ask(path: str, settings: Any) -> None:
    settings.CONTACT = "studies@example.org"
    client = Client()
    for language, words in (("en", "complete"), ("it", "completo")):
        page = client.get(path, headers={"Accept-Language": language})
        assert page.status_code == 404
        assert tree(page).find("body").get("data-step") == "message"
        assert tree(page).get("lang") == language
        assert words in page.text
        assert tree(page).xpath("//main//a/@href") == ["mailto:studies@example.org"]


def test_a_page_that_is_not_there_leads_on(study: Study) -> None:
    person = Person(study).to("item")
    page = person.get("details/999999/")
    assert page.status_code == 404
    assert tree(page).xpath("string(//main//a[@class='go']/@href)") == f"{person.base}items/1/1/"
    assert leads(person.get(f"rate/{study.dataset_version.items.latest('pk').pk}/")) == "items/1/1"


def test_message_pages_name_the_studys_contact(study: Study) -> None:
    person = Person(study).to("item")
    owner = study.memberships.get().researcher
    pause_study(study=study)
    for page in (person.get("items/1/1/"), Client().get(f"/s/{study.slug}/")):
        assert tree(page).xpath("//main//a[starts-with(@href, 'mailto:')]/@href") == [f"mailto:{owner.email}"]
    texts = {language: {**own, "contact": f"Ask **us** ({language})."} for language, own in study.texts.items()}
    Study.objects.filter(pk=study.pk).update(texts=texts)
    assert "Ask <strong>us</strong> (en)." in person.get("items/1/1/").text
    assert owner.email not in person.get("items/1/1/").text


def test_closed_says_that_it_ended_and_paused_that_it_rests(study: Study) -> None:
    person = Person(study).to("item")
    pause_study(study=study)
    paused = tree(person.get("items/1/1/")).findtext(".//h1")
    close_study(study=study)
    ended = [tree(page).findtext(".//h1") for page in (person.get("items/1/1/"), Client().get(f"/s/{study.slug}/"))]
    assert ended[0] == ended[1] != paused


@pytest.mark.parametrize("stop", [pause_study, close_study])
def test_an_answer_to_a_study_that_stopped_shows_the_message_page(study: Study, stop: Any) -> None:
    person = Person(study).to("item")
    stop(study=study)
    answer = person.post("items/1/1/", {"watched": "yes"}, headers=HTMX)
    assert answer.headers["HX-Redirect"] == f"{person.base}?late"
    assert answer.status_code == (200 if stop is close_study else 423)  # which the browser keeps, to send it later
    page = person.get("?late").text
    assert ("This study is over" in page) == (stop is close_study) != ("is kept in this browser" in page)
    unscripted = person.post("items/1/1/", {"watched": "yes"}).text
    assert ("so that answer was not saved" in unscripted) == (stop is close_study)
    assert ("except what you sent just now" in unscripted) == (stop is pause_study)
    assert not Response.objects.filter(rank=1).exists()


def test_an_answer_during_a_pause_is_kept_of_who_was_idle_and_not_of_who_withdrew(study: Study) -> None:
    idle, gone = Person(study).to("item"), Person(study).to("item")
    Participant.objects.update(last_seen_at=timezone.now() - timedelta(hours=2))
    assert release_idle() == 2
    withdraw(participant=gone.me)
    pause_study(study=study)
    answers = [each.post("items/1/1/", {"watched": "yes"}, headers=HTMX).status_code for each in (idle, gone)]
    assert answers == [423, 200]


def test_a_refusal_while_answering_is_said_in_words_to_the_page(study: Study) -> None:
    person = Person(study).to("item")
    page = person.post("items/1/1/", {"watched": "perhaps"}, headers=HTMX)
    assert (page.status_code, page.headers["Content-Type"]) == (409, "text/plain; charset=utf-8")
    assert "<" not in page.text


def test_no_cookie_is_needed_once_the_link_is_there(study: Study) -> None:
    person = Person(study).to("item")
    bare = Client(enforce_csrf_checks=True)
    assert bare.post(f"{person.base}items/1/1/", {"watched": "yes"}, headers=HTMX).status_code == 204
    assert Response.objects.get(rank=1).value is True
    refused = bare.post(f"/s/{study.slug}/", {"entry_key": "k" * 40, "box": ["1", "2"], "choice": "yes"})
    assert refused.status_code == 403
    assert tree(refused).find("body").get("data-step") == "message"
    assert tree(refused).xpath("string(//main//a[@class='go']/@href)") == f"/s/{study.slug}/"
    assert Participant.objects.count() == 1


def test_the_end_shows_the_personal_link_and_how_to_withdraw(study: Study) -> None:
    person = Person(study).to("overall")
    person.post("overall/", {"satisfaction": "5", "continue": "1"})
    page = tree(person.get("thanks/"))
    assert page.xpath("string(//*[@id='own-link'])") == f"http://testserver{person.base}"
    assert f"{person.base}withdraw/" in page.xpath("//main//a/@href")


def test_a_comment_is_asked_in_the_researchers_words_and_as_long_as_it_may_be(study: Study) -> None:
    person = Person(study).to("overall")
    page = tree(person.get("overall/"))
    (comment,) = (each for each in study.questionnaire["overall"] if each["key"] == "comment")
    assert page.xpath("string(//label[@for='comment'])").strip().startswith(comment["text"]["en"])
    assert page.xpath("string(//textarea/@maxlength)") == "2000"


def test_a_second_press_by_who_entered_as_the_last_leads_on(study: Study) -> None:
    """A form sent twice by the last one who fits is let through though the study is full by then."""
    page = tree(Client().get(f"/s/{study.slug}/"))
    fields = {f.get("name"): f.get("value") for f in page.xpath("//form//input[@type='hidden']")}
    sent = {**fields, "box": ["1", "2"], "choice": "yes"}
    first = Client().post(f"/s/{study.slug}/", sent)
    for _ in range(6):
        Person(study).to("rate")
    assert Client().post(f"/s/{study.slug}/", sent).headers["Location"] == first.headers["Location"]
    fresh = {**sent, "entry_key": "k" * 43}
    for refused in (fresh, {"choice": "no"}):
        page = tree(Client().post(f"/s/{study.slug}/", refused, follow=True))
        assert page.find("body").get("data-step") == "message"
    assert Participant.objects.count() == 7


@pytest.mark.parametrize("stop", [pause_study, close_study])
def test_one_can_withdraw_from_a_study_that_stopped(study: Study, stop: Any) -> None:
    person = Person(study).to("item")
    stop(study=study)
    calm = person.get("items/1/1/")
    assert f"{person.base}withdraw/" in tree(calm).xpath("//main//a/@href")
    assert "cannot be restored" in person.get("withdraw/").text
    done = person.post("withdraw/")
    assert "have been erased" in done.text
    assert f"{person.base}withdraw/" not in tree(done).xpath("//a/@href")
    assert not ProfileRating.objects.exists()
    assert "have been erased" in person.get("withdraw/").text


def test_who_was_idle_too_long_goes_on_where_they_were(study: Study) -> None:
    person = Person(study).to("item")
    Participant.objects.update(last_seen_at=timezone.now() - timedelta(hours=2))
    assert release_idle() == 1
    assert person.me.status == ParticipantStatus.ABANDONED
    assert person.post("items/1/1/", {"watched": "yes"}, headers=HTMX).status_code == 204
    assert person.me.status == ParticipantStatus.ACTIVE
    assert Response.objects.get(rank=1).value is True
