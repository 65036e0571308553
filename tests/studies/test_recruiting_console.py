"""The console's recruiting page: what it shows and what its forms do."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from accounts.models import User
from core.models import LogEntry
from studies.models import PersonalLink, Study
from studies.recruitment.panels.exits import Exit
from studies.recruitment.panels.submissions import LARGEST
from studies.recruitment.selectors.recruitment import recruiting_of
from studies.recruitment.services.recruitment import set_exits
from tests.factories.accounts import UserFactory
from tests.factories.studies import make_study, recruit_on_prolific
from tests.factories.walking import Person, tree

pytestmark = [pytest.mark.integration, pytest.mark.django_db]


@pytest.fixture
def owner() -> User:
    return UserFactory()


@pytest.fixture
def study(owner: User) -> Study:
    return make_study(owner=owner, per_condition=4)


@pytest.fixture
def client(owner: User) -> Client:
    client = Client()
    client.force_login(owner, backend="django.contrib.auth.backends.ModelBackend")
    return client


def _url(name: str, study: Study, *more: str) -> str:
    return reverse(f"studies:{name}", args=[study.slug, *more])


PASTE = {
    "none": "",
    "prolific": "?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}",
    "mturk": "",
    "sona": "?id=%SURVEY_CODE%",
    "generic": "?pid=…",
}


@pytest.mark.parametrize("panel", list(PASTE))
def test_the_page_has_the_very_link_to_paste(study: Study, client: Client, panel: str) -> None:
    set_exits(study=study, exits={"complete": Exit("static", "C1")})
    said = {"panel": panel, "entrance": "open", "person": "pid", "longest_gap_minutes": "90", "progress_minutes": "10"}
    page = tree(client.post(_url("set-entry", study), said, follow=True))
    assert page.xpath("string(//code[@id='paste'])") == f"http://testserver/s/{study.slug}/{PASTE[panel]}"
    form = client.get(_url("recruiting", study)).context["entry_form"]
    assert (form.initial["panel"], form.initial["longest_gap_minutes"]) == (panel, 90)
    assert form.initial["person"] == ("pid" if panel == "generic" else "")


def test_a_panel_that_cannot_be_used_is_refused_beside_its_form(study: Study, client: Client) -> None:
    said = {"panel": "generic", "entrance": "open", "person": "lang", "progress_minutes": "10"}
    page = client.post(_url("set-entry", study), said).text
    assert "used by this site" in page
    page = client.post(
        _url("set-entry", study), {"panel": "none", "entrance": "panel_id", "progress_minutes": "10"}
    ).text
    assert "Links carry no panel id without a panel." in page
    assert recruiting_of(study).panel.key == "none"
    assert "Select a valid choice" in client.post(_url("set-entry", study), {**said, "panel": "x"}).text


def test_an_exit_is_set_and_a_bad_one_refused_beside_its_form(study: Study, client: Client) -> None:
    recruit_on_prolific(study)
    url = _url("set-exit", study, "complete")
    said = {"complete-code": "static", "complete-static_code": "C1A2", "complete-url": "",
            "complete-text_en": "One\r\ntwo", "complete-text_it": ""}  # fmt: skip
    page = tree(client.post(url, said, follow=True))
    assert "https://app.prolific.com/submissions/complete?cc={code}" in page.xpath("string(//section[@id='id_exits'])")
    assert recruiting_of(study).exits["complete"].text == {"en": "One\ntwo"}
    page = tree(client.post(url, {**said, "complete-url": "javascript:alert(1)"}))
    (opened,) = page.xpath("//details[@open][.//*[@role='alert']]")
    assert "begins with https://" in opened.text_content()
    assert recruiting_of(study).exits["complete"].url == ""
    assert client.post(_url("set-exit", study, "died"), said).status_code == 404


def _links(response: Any) -> list[dict[str, str]]:
    assert "no-store" in response.headers["Cache-Control"]
    assert response.headers["Content-Type"].startswith("text/csv")
    return list(csv.DictReader(io.StringIO(response.content.decode())))


def test_personal_links_are_printed_once_and_work(study: Study, client: Client) -> None:
    url = _url("make-links", study)
    rows = _links(client.post(url, {"n": "3"}))
    assert [row["label"] for row in rows] == ["", "", ""]
    person = Person(study)
    person.consent(rows[0]["link"])
    assert person.me.entrance == "personal"
    page = client.get(_url("recruiting", study)).text
    assert not any(row["link"].split("/link/")[1] in page for row in rows)
    assert "Close 2 unused" in page
    labelled = _links(client.post(url, {"n": "9", "text": "anna\n=bea"}))
    assert [row["label"] for row in labelled] == ["anna", "'=bea"]
    from_file = SimpleUploadedFile("who.csv", b"carla,room\ndora,room\n")
    assert [row["label"] for row in _links(client.post(url, {"file": from_file}))] == ["carla", "dora"]
    assert "Create 1 to 20,000 links" in client.post(url, {}).text
    assert "is not UTF-8 text" in client.post(url, {"file": SimpleUploadedFile("x", b"\xff\xfe\xfa")}).text
    assert PersonalLink.objects.count() == 7
    assert "6 unused links are closed." in client.post(_url("close-links", study), follow=True).text


def test_the_guest_list_is_replaced_by_the_one_sent(study: Study, client: Client) -> None:
    url = _url("set-guests", study)
    assert "The guest list has 2 ids." in client.post(url, {"text": "a\nb\n"}, follow=True).text
    assert "at most 500 characters" in client.post(url, {"text": "ok\n" + "x" * 501}).text
    large = SimpleUploadedFile("x.csv", b"x" * (LARGEST + 1))
    assert "at most 10,000,000 are read" in client.post(url, {"file": large}).text
    n = LogEntry.objects.count()
    assert "The guest list has 2 ids." in client.post(url, {"text": "b\na\n"}, follow=True).text
    assert LogEntry.objects.count() == n  # nothing was changed
    assert list(study.guests.values_list("value", flat=True)) == ["a", "b"]
    assert "2 ids" in tree(client.get(_url("recruiting", study))).xpath(
        "string(//section[@aria-labelledby='closed-groups'])"
    )
