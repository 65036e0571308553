"""Locks of an account over all networks: delays, the letter to its owner, and the networks that are exempt."""

from __future__ import annotations

import re
from datetime import timedelta
from importlib import import_module
from typing import Any

import pytest
from axes.models import AccessAttempt, AccessLog
from django.apps import apps
from django.core import mail
from django.db import connection
from django.db.models import F
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import KnownNetwork, User
from accounts.services import create_account
from accounts.services.letters import send_waiting
from accounts.services.sign_in import KNOWN_DAYS, MOST_KNOWN

pytestmark = [pytest.mark.integration, pytest.mark.django_db]
SIGN_IN = "/account/sign-in/"
PASSWORD = "correct horse battery"
OFFICE = "192.0.2.10"
MINUTES = {"minute": 1, "hour": 60, "day": 24 * 60}


@pytest.fixture
def ada(settings: Any) -> User:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    return create_account(email="ada@example.org", password=PASSWORD)[0]


def sign_in(address: str, password: str = "wrong") -> Any:  # noqa: S107
    return Client(REMOTE_ADDR=address).post(SIGN_IN, {"username": "Ada@example.org", "password": password})


def guess(n: int, *, start: int = 1) -> list[int]:
    """Wrong passwords, each from another network, and the statuses of their answers."""
    return [sign_in(f"198.51.100.{start + k}").status_code for k in range(n)]


def wait(minutes: float) -> None:
    """Let time pass: what was recorded is older afterwards."""
    AccessAttempt.objects.update(attempt_time=F("attempt_time") - timedelta(minutes=minutes))


def test_wrong_passwords_from_twelve_networks_lock_the_account_and_its_owner_gets_one_letter(ada: User) -> None:
    assert guess(12) == [200] * 4 + [429] * 8
    page = sign_in("203.0.113.1", PASSWORD)
    assert page.status_code == 429, "the right password too, from any other network"
    assert "locked for another 15\xa0minutes" in page.text
    assert not mail.outbox, "a worker sends it"
    send_waiting()
    (letter,) = mail.outbox
    assert letter.to == ["ada@example.org"]
    assert not re.search(r"\d+\.\d+\.\d+", letter.body), "no address"
    assert guess(1, start=100) == [429]
    send_waiting()
    assert len(mail.outbox) == 1
    wait(15)
    assert sign_in("203.0.113.1", PASSWORD).status_code == 302


def test_delays_grow_to_hours_and_a_refused_attempt_prolongs_none(ada: User) -> None:
    delays = []
    for n in range(25):
        status = sign_in(f"198.51.100.{n}").status_code
        assert status == (200 if n < 4 else 429)
        if n >= 4:
            (said,) = re.findall(r"another ([^.<]+)\.", sign_in("203.0.113.1", PASSWORD).text)
            delays.append(sum(int(k) * MINUTES[unit] for k, unit in re.findall(r"(\d+)\s(minute|hour|day)", said)))
            wait(delays[-1])
    assert delays == [15] * 5 + [30] * 5 + [60] * 5 + [120] * 5 + [240], "24 guesses in 18 hours"
    assert sign_in("203.0.113.1", PASSWORD).status_code == 302


def test_an_owner_at_a_usual_network_is_not_locked_out_from_elsewhere(ada: User) -> None:
    assert sign_in(OFFICE, PASSWORD).status_code == 302
    guess(12)
    assert sign_in(OFFICE).status_code == 200, "a mistake of their own"
    assert sign_in(OFFICE, PASSWORD).status_code == 302
    assert sign_in("203.0.113.1", PASSWORD).status_code == 429, "their own sign-in opens nothing to others"
    assert [sign_in(OFFICE).status_code for _n in range(5)] == [200] * 4 + [429], "five mistakes of their own"
    assert sign_in(OFFICE, PASSWORD).status_code == 429


def test_a_known_network_is_a_keyed_digest_for_some_time_and_there_are_few(ada: User) -> None:
    for n in range(MOST_KNOWN + 3):
        sign_in(f"192.0.2.{n}", PASSWORD)
    assert KnownNetwork.objects.filter(user=ada).count() == MOST_KNOWN
    assert "192.0.2" not in str(list(KnownNetwork.objects.values()))
    bob = create_account(email="bob@example.org", password=PASSWORD)[0]
    last = f"192.0.2.{MOST_KNOWN + 2}"
    Client(REMOTE_ADDR=last).post(SIGN_IN, {"username": "bob@example.org", "password": PASSWORD})
    theirs = KnownNetwork.objects.get(user=bob).digest
    assert not KnownNetwork.objects.filter(user=ada, digest=theirs).exists(), "two accounts cannot be compared"
    guess(5)
    assert sign_in("192.0.2.0", PASSWORD).status_code == 429, "the oldest were forgotten"
    KnownNetwork.objects.filter(user=ada).update(used_at=timezone.now() - timedelta(days=KNOWN_DAYS, minutes=1))
    assert sign_in(last, PASSWORD).status_code == 429, "they count for some time only"
    Client(REMOTE_ADDR=last).post(SIGN_IN, {"username": "bob@example.org", "password": PASSWORD})
    assert not KnownNetwork.objects.filter(user=ada).exists()


def test_a_new_password_by_letter_ends_the_lock_where_it_was_set(ada: User) -> None:
    new, there = "another long phrase", "203.0.113.1"
    for _n in range(5):
        sign_in(there)
    client = Client(REMOTE_ADDR=there)
    client.post("/account/password/reset/", {"email": ada.email})
    send_waiting()
    link = re.search(r"http://[^/]+(/\S+)", str(mail.outbox[-1].body))
    assert link is not None
    form = client.get(link[1], follow=True)
    client.post(form.redirect_chain[-1][0], {"new_password1": new, "new_password2": new})
    assert sign_in(there, new).status_code == 302
    guess(5)
    assert sign_in("203.0.113.2", new).status_code == 429
    assert sign_in(there, new).status_code == 302


def test_an_address_without_an_account_is_locked_alike_and_nobody_gets_a_letter(ada: User) -> None:
    answers = [
        Client(REMOTE_ADDR=f"198.51.100.{n}").post(SIGN_IN, {"username": "eve@example.org", "password": "x"})
        for n in range(6)
    ]
    assert [answer.status_code for answer in answers] == [200] * 4 + [429] * 2
    send_waiting()
    assert not mail.outbox


def test_a_lock_stores_the_same_with_and_without_an_account(ada: User) -> None:
    written = []
    for email in ("ada@example.org", "eve@example.org"):
        with CaptureQueriesContext(connection) as queries:
            for n in range(6):
                client = Client(REMOTE_ADDR=f"198.51.100.{n}")
                client.post(SIGN_IN, {"username": email, "password": "wrong"})
        words = [query["sql"].split()[:3] for query in queries]
        written.append([three for three in words if three[0] in {"INSERT", "UPDATE", "DELETE"}])
    assert written[0] == written[1]
    assert written[0].count(["INSERT", "INTO", '"accounts_letter"']) == 1


def test_the_upgrade_knows_the_networks_of_earlier_sign_ins(ada: User) -> None:
    AccessLog.objects.create(username=ada.email, ip_address=OFFICE)
    AccessLog.objects.create(username=ada.email, ip_address="192.0.2.11")
    AccessLog.objects.filter(ip_address="192.0.2.11").update(attempt_time=timezone.now() - timedelta(days=91))
    import_module("accounts.migrations.0007_known_networks").know_networks_of_earlier_sign_ins(apps, None)
    import_module("accounts.migrations.0009_forget_access_log").forget_sign_ins(apps, None)
    assert not AccessLog.objects.exists()
    guess(5)
    assert sign_in(OFFICE, PASSWORD).status_code == 302
    assert sign_in("192.0.2.11", PASSWORD).status_code == 429
    assert not AccessLog.objects.exists(), "new ones leave no address there"
