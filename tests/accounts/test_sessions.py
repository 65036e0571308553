"""Sessions: they end when idle, all at once, and with the password."""

from __future__ import annotations

import time
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import User
from accounts.services.sign_in import ACTIVE_AT
from core.models import LogEntry
from tests.factories.accounts import UserFactory
from tests.factories.console import signed_in
from tests.factories.studies import make_study

pytestmark = [pytest.mark.integration, pytest.mark.django_db]


@pytest.fixture
def researcher() -> User:
    return UserFactory(email="ada@example.org")


def idle(client: Client, minutes: float) -> None:
    """Let so many minutes pass for the session."""
    session = client.session
    session[ACTIVE_AT] = int(time.time() - minutes * 60)
    session.save()


def test_an_idle_researcher_is_signed_out_and_comes_back_to_the_page(researcher: User, settings: Any) -> None:
    settings.IDLE_MINUTES = 30
    client = signed_in(researcher)
    idle(client, 29)
    assert client.get("/account/").status_code == 200
    assert time.time() - client.session[ACTIVE_AT] < 5, "a page is activity"
    idle(client, 31)
    assert client.get("/account/?a=1").url == "/account/sign-in/?idle=1&next=%2Faccount%2F%3Fa%3D1"
    assert "you were inactive" in client.get("/account/sign-in/?idle=1").text
    assert client.get("/account/").status_code == 302
    settings.IDLE_MINUTES = 0
    client = signed_in(researcher)
    idle(client, 10_000)
    assert client.get("/account/").status_code == 200


def test_parts_that_a_page_refreshes_are_no_activity_and_close_an_idle_page(researcher: User, settings: Any) -> None:
    settings.IDLE_MINUTES = 30
    client, part = signed_in(researcher), reverse("studies:notice-count")
    idle(client, 29)
    assert client.get(part, headers={"HX-Request": "true"}).status_code == 200
    idle(client, 29.9)
    before = client.session[ACTIVE_AT]
    client.get(part, headers={"HX-Request": "true"})
    assert client.session[ACTIVE_AT] == before
    idle(client, 30)
    closed = client.get(part, headers={"HX-Request": "true"})
    assert (closed.status_code, closed.headers["HX-Redirect"]) == (200, "/account/sign-in/?idle=1")
    assert client.get("/account/").status_code == 302


def test_a_participants_page_opens_for_an_idle_researcher_who_is_signed_out(researcher: User) -> None:
    client = signed_in(researcher)
    idle(client, 1000)
    assert client.get(reverse("home")).status_code == 200
    assert "Your account" not in client.get(reverse("home")).text
    assert client.get("/account/").status_code == 302


def test_a_session_writes_its_activity_once_a_minute(researcher: User, django_assert_num_queries: Any) -> None:
    client = signed_in(researcher)
    client.get(reverse("studies:notice-count"))
    with django_assert_num_queries(3):  # session, account, count
        client.get(reverse("studies:notice-count"))


def test_all_other_sessions_are_ended_at_once(researcher: User) -> None:
    here, there = signed_in(researcher), signed_in(researcher)
    assert reverse("accounts:sessions_end") in here.get("/account/").text
    here.post(reverse("accounts:sessions_end"))
    assert here.get("/account/").status_code == 200
    assert there.get("/account/").status_code == 302
    entry = LogEntry.objects.get(kind="accounts.user", object_id=researcher.pk)
    assert (entry.actor, entry.reason) == (researcher, "All sessions ended.")
    assert signed_in(User.objects.get(pk=researcher.pk)).get("/account/").status_code == 200
    other = signed_in(UserFactory())
    here.post(reverse("accounts:sessions_end"))
    assert other.get("/account/").status_code == 200


def test_the_lock_of_a_device_ends_with_all_sessions(researcher: User) -> None:
    study = make_study()
    owner = study.memberships.get().researcher
    device = signed_in(owner)
    session = device.session
    session["device_lock"] = {
        "user": owner.pk, "hash": owner.get_session_auth_hash(), "pin": "", "return_to": "/", "wrong": 0
    }  # fmt: skip
    session.save()
    assert device.get("/account/unlock/").status_code == 200
    signed_in(owner).post(reverse("accounts:sessions_end"))
    assert device.get("/account/unlock/").url == "/account/sign-in/"
