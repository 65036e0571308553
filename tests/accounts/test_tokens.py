"""Access tokens: made, shown once, used, throttled, ended."""

from __future__ import annotations

import hashlib
import re
from datetime import timedelta
from importlib import import_module
from typing import Any

import pytest
from django.apps import apps
from django.core.cache import cache
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.enums import Scope
from accounts.models import Token, User
from accounts.services import create_token, note_use
from core.errors import ParallaxError
from core.models import LogEntry
from tests.factories.accounts import UserFactory

pytestmark = [pytest.mark.integration, pytest.mark.django_db]
ME = "/api/v1/me/"


def bearer(text: str) -> dict[str, Any]:
    return {"headers": {"Authorization": f"Bearer {text}"}}


@pytest.fixture
def researcher() -> User:
    return UserFactory(email="ada@example.org")


@pytest.fixture
def signed_in(client: Client, researcher: User) -> Client:
    client.force_login(researcher, backend="django.contrib.auth.backends.ModelBackend")
    return client


def test_a_token_is_kept_as_its_digest_alone_and_recorded(researcher: User) -> None:
    token, text = create_token(owner=researcher, name=" notebook ", days=30)
    row = Token.objects.values().get()
    assert text not in str(row)
    assert row["digest"] == hashlib.sha256(text.encode()).hexdigest()
    assert (row["name"], row["start"], row["scope"]) == ("notebook", text[:8], "read data")
    assert len(text) > 40
    assert timedelta(days=29) < token.expires_at - timezone.now() < timedelta(days=30, seconds=1)
    entry = LogEntry.objects.get(kind="accounts.token")
    assert (entry.actor, entry.object_id, entry.to_status) == (researcher, token.pk, "valid")
    assert text not in str(entry.facts)


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"name": " "}, "token.no_name"),
        ({"name": "x" * 81}, "token.no_name"),
        ({"name": "x", "scope": "everything"}, "token.unknown_scope"),
        ({"name": "x", "scope": ""}, "token.unknown_scope"),
        ({"name": "x", "scope": "read everything"}, "token.unknown_scope"),
        ({"name": "x", "only": "study:1"}, "token.unknown_limit"),
        ({"name": "x", "only": "project:x"}, "token.unknown_limit"),
        ({"name": "x", "only": "run:1"}, "token.unknown_limit"),
        ({"name": "x", "days": 0}, "token.bad_days"),
        ({"name": "x", "days": 10**6}, "token.bad_days"),
    ],
)
def test_a_token_that_cannot_be_made_is_refused(researcher: User, given: dict[str, Any], code: str) -> None:
    with pytest.raises(ParallaxError) as caught:
        create_token(owner=researcher, **given)
    assert caught.value.code == code
    assert not Token.objects.exists()


def test_a_token_says_whose_it_is_and_when_it_was_last_used(client: Client, researcher: User) -> None:
    token, text = create_token(owner=researcher, name="notebook")
    told = client.get(ME, **bearer(text)).json()
    assert (told["email"], told["token"]["name"]) == ("ada@example.org", "notebook")
    assert told["token"]["expires_at"] == token.expires_at.isoformat().replace("+00:00", "Z")
    token.refresh_from_db()
    first = token.last_used_at
    assert first is not None
    client.get(ME, **bearer(text))
    token.refresh_from_db()
    assert token.last_used_at == first  # exact to a minute: a program that reads does not write each time
    Token.objects.update(last_used_at=first - timedelta(minutes=2))
    token.refresh_from_db()
    note_use(token=token)
    token.refresh_from_db()
    assert token.last_used_at >= first


@pytest.mark.parametrize(
    "header",
    ["Bearer", "Bearer ", "Bearer plx_none", "Bearer plx a b", "Bearer ä", "bearer \x00", "Token x", "Basic YTpi"],
)
def test_what_is_no_token_opens_nothing(client: Client, header: str) -> None:
    response = client.get(ME, headers={"Authorization": header})
    assert response.status_code == 401
    assert response["WWW-Authenticate"] == "Bearer"
    assert response["Content-Type"] == "application/problem+json"
    assert "Authorization: Bearer" in response.json()["remedy"]


@pytest.mark.parametrize("how", ["revoked", "expired", "closed"])
def test_a_token_ends(client: Client, researcher: User, how: str) -> None:
    token, text = create_token(owner=researcher, name="notebook", days=1)
    assert client.get(ME, **bearer(text)).status_code == 200
    if how == "revoked":
        token.revoke(actor=researcher)
        token.revoke(actor=researcher)
        assert LogEntry.objects.filter(kind="accounts.token", to_status="revoked").count() == 1
    elif how == "expired":
        Token.objects.update(expires_at=timezone.now())
    else:
        User.objects.update(is_active=False)
    response = client.get(ME, **bearer(text))
    assert (response.status_code, response.json()["code"]) == (401, "authentication_failed")


def test_a_wrong_token_is_refused_even_to_somebody_signed_in(signed_in: Client) -> None:
    assert signed_in.get(ME).json()["token"] is None
    assert signed_in.get(ME, **bearer("plx_wrong")).status_code == 401


def test_a_token_that_may_only_read_builds_nothing(client: Client, researcher: User) -> None:
    _token, text = create_token(owner=researcher, name="reader")
    refused = client.post("/api/v1/reports/", {"study": "x"}, "application/json", **bearer(text))
    assert (refused.status_code, refused.json()["code"]) == (403, "permission_denied")
    _token, text = create_token(owner=researcher, name="builder", scope=Scope.REPORT)
    asked = client.post("/api/v1/reports/", {"study": "x"}, "application/json", **bearer(text))
    assert (asked.status_code, asked.json()["code"]) == (404, "not_found")


def test_a_page_of_another_site_posts_nothing_by_a_session(researcher: User) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(researcher, backend="django.contrib.auth.backends.ModelBackend")
    response = client.post("/api/v1/reports/", {"study": "x"}, "application/json")
    assert (response.status_code, response.json()["code"]) == (403, "permission_denied")
    assert "CSRF" in response.json()["detail"]


def test_requests_are_counted_by_token_and_not_by_address(client: Client, researcher: User, settings: Any) -> None:
    cache.clear()
    settings.API_RATE = "2/min"
    texts = [create_token(owner=researcher, name=name)[1] for name in ("a", "b")]
    assert [client.get(ME, **bearer(texts[0])).status_code for _ in range(3)] == [200, 200, 429]
    refused = client.get(ME, **bearer(texts[0]))
    assert refused.json()["code"] == "throttled"
    assert 1 <= int(refused["Retry-After"]) == refused.json()["extra"]["seconds"] <= 61
    assert client.get(ME, **bearer(texts[1])).status_code == 200
    cache.clear()


def test_the_page_makes_a_token_and_shows_it_once(signed_in: Client, researcher: User) -> None:
    page = signed_in.post(reverse("accounts:tokens"), {"name": "R script", "scope": ["read", "write"], "days": "30"})
    shown = re.search(r"<code>(plx_[\w-]{40,})</code>", page.text)
    assert shown is not None
    assert "no-store" in page["Cache-Control"]
    token = Token.objects.get()
    assert (token.owner, token.name, token.scope) == (researcher, "R script", "read write")
    again = signed_in.get(reverse("accounts:tokens")).text
    assert shown[1] not in again
    assert f"{token.start}…" in again
    assert "never" in again
    assert signed_in.get(ME, **bearer(shown[1])).json()["token"]["name"] == "R script"
    assert "never</td>" not in signed_in.get(reverse("accounts:tokens")).text
    endless = signed_in.post(reverse("accounts:tokens"), {"name": "server", "scope": "read", "days": ""})
    assert "errorlist" in endless.text
    assert "Until revoked" not in endless.text
    for wrong in ({"name": "", "scope": "read", "days": "30"}, {"name": "x", "scope": "all", "days": "30"},
                  {"name": "x", "scope": "read", "days": "31"}):  # fmt: skip
        assert "errorlist" in signed_in.post(reverse("accounts:tokens"), wrong).text
    assert Token.objects.count() == 1


def test_the_page_revokes_ones_own_tokens_alone(signed_in: Client, researcher: User) -> None:
    mine, _text = create_token(owner=researcher, name="mine")
    theirs, text = create_token(owner=UserFactory(), name="theirs")
    assert "theirs" not in signed_in.get(reverse("accounts:tokens")).text
    assert signed_in.post(reverse("accounts:token_revoke", args=[theirs.pk])).status_code == 404
    assert signed_in.get(ME, **bearer(text)).status_code == 200
    signed_in.post(reverse("accounts:token_revoke", args=[mine.pk]), follow=True)
    mine.refresh_from_db()
    assert mine.revoked_at is not None
    assert signed_in.get(reverse("accounts:token_revoke", args=[mine.pk])).status_code == 405


def test_the_command_prints_a_token_once(client: Client, researcher: User, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("create_token", "Ada@example.org", "--name", "nightly", "--days", "7")
    said = capsys.readouterr().out
    text = re.search(r"shown once\): (\S+)", said)
    assert text is not None
    assert "valid until 2" in said
    assert client.get(ME, **bearer(text[1])).json()["token"]["scope"] == "read data"
    call_command("create_token", "ada@example.org", "--name", "builds", "--scope", "report")
    builds = Token.objects.get(name="builds")
    assert builds.scope == "read data report"
    call_command("create_token", "ada@example.org", "--name", "few", "--scope", "read", "write")
    assert Token.objects.get(name="few").scope == "read write"
    assert timedelta(days=89) < builds.expires_at - timezone.now() <= timedelta(days=90)
    with pytest.raises(CommandError, match="No active account"):
        call_command("create_token", "nobody@example.org", "--name", "x")
    with pytest.raises(CommandError, match="1 to 365 days"):
        call_command("create_token", "ada@example.org", "--name", "x", "--days", "0")


def test_a_new_password_ends_every_token_and_every_other_session(signed_in: Client, researcher: User) -> None:
    token, text = create_token(owner=researcher, name="notebook")
    other, elsewhere = create_token(owner=UserFactory(), name="theirs")
    stolen = Client()
    researcher.set_password("an old long password")
    researcher.save()
    _, fresh = create_token(owner=researcher, name="later")
    for client in (signed_in, stolen):
        client.force_login(researcher, backend="django.contrib.auth.backends.ModelBackend")
    changed = signed_in.post(
        reverse("accounts:password_change"),
        {
            "old_password": "an old long password",
            "new_password1": "a new and longer one",
            "new_password2": "a new and longer one",
        },
    )
    assert changed.status_code == 302
    for ended in (text, fresh):
        assert Client().get(ME, **bearer(ended)).status_code == 401
    assert Client().get(ME, **bearer(elsewhere)).status_code == 200
    assert signed_in.get(reverse("accounts:account")).status_code == 200
    assert stolen.get(reverse("accounts:account")).status_code == 302
    token.refresh_from_db()
    assert token.revoked_at is not None
    entry = LogEntry.objects.get(kind="accounts.token", object_id=token.pk, to_status="revoked")
    assert entry.actor == researcher
    assert not LogEntry.objects.filter(object_id=other.pk, to_status="revoked").exists()


def test_signing_in_and_saving_an_account_end_no_token(researcher: User) -> None:
    researcher.set_password("an old long password")
    researcher.save()
    token, text = create_token(owner=researcher, name="notebook")
    found = User.objects.get(pk=researcher.pk)
    assert found.check_password("an old long password")
    found.name = "Ada"
    found.save()
    assert Client().get(ME, **bearer(text)).status_code == 200
    assert token.is_valid


def test_a_token_without_a_date_is_not_valid(researcher: User) -> None:
    token, text = create_token(owner=researcher, name="notebook")
    Token.objects.filter(pk=token.pk).update(expires_at=None)
    assert Client().get(ME, **bearer(text)).status_code == 401


def test_endless_tokens_of_earlier_versions_expire_after_another_year(researcher: User) -> None:
    token, text = create_token(owner=researcher, name="notebook")
    dated, _text = create_token(owner=researcher, name="dated", days=7)
    Token.objects.filter(pk=token.pk).update(expires_at=None)
    migration = import_module("accounts.migrations.0005_session_ends")
    migration.let_endless_tokens_expire(apps, None)
    token.refresh_from_db()
    assert timedelta(days=364) < token.expires_at - timezone.now() <= timedelta(days=365)
    assert Token.objects.get(pk=dated.pk).expires_at == dated.expires_at
    assert Client().get(ME, **bearer(text)).status_code == 200
