"""Single sign-on with a real OpenID provider on this machine."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from allauth.socialaccount.models import SocialAccount
from axes.models import AccessAttempt
from django.core import mail
from django.core.exceptions import ImproperlyConfigured
from django.test import Client

from accounts.models import User
from accounts.services import create_account
from core.models import LogEntry
from parallax.env import single_sign_on, single_sign_on_by
from tests.approval import assert_page_approved
from tests.factories.accounts import UserFactory
from tests.factories.codes import totp
from tests.factories.identity import CLIENT_ID, SECRET, Provider, openid_provider

pytestmark = [pytest.mark.integration, pytest.mark.django_db]


@pytest.fixture
def provider(settings: Any) -> Iterator[Provider]:
    with openid_provider() as running:
        configure(settings, running)
        yield running


def configure(settings: Any, provider: Provider, *, domains: tuple[str, ...] = (), may_create: bool = False) -> None:
    settings.SOCIALACCOUNT_PROVIDERS = single_sign_on_by(
        provider.issuer, CLIENT_ID, SECRET, domains=list(domains), may_create=may_create, name="Example University"
    )


def start(client: Client, **fields: str) -> str:
    """Press the button of the sign-in page; return the address of the institution's page."""
    page = client.get("/account/sign-in/?next=/account/").text
    assert "Sign in with Example University" in page
    action = re.search(r'action="(/account/single-sign-on/[\w-]+/)"', page)
    assert action is not None
    shown = client.post(action[1], {"next": "/account/", **fields})
    assert shown.status_code == 200
    address = re.search(r'http-equiv="refresh" content="0; url=([^"]+)"', shown.text)
    assert address is not None
    return html.unescape(address[1])


def back(address: str) -> str:
    """What the institution answers: the address here, with a code."""
    sent = httpx.get(address)
    assert sent.status_code == 302
    return sent.headers["Location"].removeprefix("http://testserver")


def sign_in(client: Client, **fields: str) -> Any:
    return client.get(back(start(client, **fields)))


def test_there_is_no_single_sign_on_unless_it_is_configured(client: Client, settings: Any) -> None:
    assert settings.SOCIALACCOUNT_PROVIDERS == {}
    assert "single-sign-on" not in client.get("/account/sign-in/").text
    for path in ("/account/single-sign-on/x/", "/account/single-sign-on/x/callback/?code=1&state=2"):
        assert client.post(path).status_code in (404, 405)
        assert client.get(path).status_code in (404, 405)


def test_an_account_is_linked_by_its_verified_address_and_then_by_the_person(
    client: Client, provider: Provider
) -> None:
    ada = UserFactory(email="ada@example.org")
    provider.person["email"] = "Ada@Example.org"
    assert sign_in(client).url == "/account/"
    assert "ada@example.org" in client.get("/account/").text
    assert LogEntry.objects.filter(object_id=ada.pk, kind="accounts.user").count() == 1
    assert mail.outbox[-1].to == ["ada@example.org"]
    account = SocialAccount.objects.get()
    assert (account.user, account.uid, account.extra_data) == (ada, "1", {}), "no other claim is stored"
    provider.person["email"] = "ada.new@example.org"
    again = Client()
    assert sign_in(again).url == "/account/"
    assert "ada@example.org" in again.get("/account/").text
    assert SocialAccount.objects.get().extra_data == {}
    assert User.objects.count() == 1


@pytest.mark.parametrize("verified", [False, None, "false", "yes", 0])
def test_an_address_that_is_not_verified_links_nothing(client: Client, provider: Provider, verified: Any) -> None:
    UserFactory(email="ada@example.org")
    provider.person["email_verified"] = verified
    refused = sign_in(client)
    assert refused.status_code == 403
    assert_page_approved("accounts/single-sign-on-unconfirmed", refused.text)
    assert not SocialAccount.objects.exists()
    assert client.get("/account/").status_code == 302


def test_a_person_without_an_account_is_refused_unless_accounts_are_created_for_the_domain(
    client: Client, provider: Provider, settings: Any
) -> None:
    assert_page_approved("accounts/single-sign-on-without-an-account", sign_in(client).text)
    configure(settings, provider, domains=("example.com",), may_create=True)
    assert sign_in(client).status_code == 403
    provider.person["email"] = "ada@sub.example.com"
    assert sign_in(client).status_code == 403
    assert not User.objects.exists()
    provider.person["email"] = "ada@example.com"
    assert sign_in(client).url == "/account/"
    user = User.objects.get()
    assert (user.email, user.name, user.is_superuser, user.is_staff) == ("ada@example.com", "Ada", False, False)
    assert not user.has_usable_password()
    assert LogEntry.objects.filter(object_id=user.pk, kind="accounts.user").count() == 1
    assert sign_in(Client()).url == "/account/"
    assert User.objects.count() == 1


def test_domains_limit_links_too(client: Client, provider: Provider, settings: Any) -> None:
    UserFactory(email="ada@example.org")
    configure(settings, provider, domains=("example.com",))
    assert sign_in(client).status_code == 403


def test_a_deactivated_account_is_refused(client: Client, provider: Provider) -> None:
    ada = UserFactory(email="ada@example.org", is_active=False)
    assert sign_in(client).status_code == 403
    User.objects.filter(pk=ada.pk).update(is_active=True)
    sign_in(client)
    User.objects.filter(pk=ada.pk).update(is_active=False)
    other = Client()
    sign_in(other)
    assert other.get("/account/").status_code == 302


def test_an_answer_belongs_to_the_browser_that_asked_and_is_used_once(client: Client, provider: Provider) -> None:
    UserFactory(email="ada@example.org")
    answer = back(start(client))
    stolen = Client().get(answer)
    assert stolen.status_code == 401
    assert_page_approved("accounts/single-sign-on-failed", stolen.text)
    assert client.get(answer).url == "/account/"
    assert Client().get(answer).status_code == 401
    client.post("/account/sign-out/")
    assert client.get(answer).status_code == 401


@pytest.mark.parametrize(
    "told", [{"aud": "another client"}, {"iss": "http://127.0.0.1:1"}, {"exp": 1}, {"sub": "somebody else"}]
)
def test_an_identity_that_is_meant_for_others_signs_nobody_in(
    client: Client, provider: Provider, told: dict[str, Any]
) -> None:
    UserFactory(email="ada@example.org")
    provider.told = told
    assert sign_in(client).status_code == 401
    assert client.get("/account/").status_code == 302


def test_an_institution_that_is_away_or_refuses_is_a_page(client: Client, provider: Provider, settings: Any) -> None:
    address = start(client)
    callback = re.search(r"/account/single-sign-on/[\w-]+/callback/", back(address))
    assert callback is not None
    state = re.search(r"state=([\w-]+)", address)
    assert state is not None
    denied = client.get(f"{callback[0]}?error=access_denied&state={state[1]}")
    assert (denied.status_code, "did not complete" in denied.text) == (401, True)
    settings.SOCIALACCOUNT_PROVIDERS = single_sign_on_by(
        "http://127.0.0.1:9", CLIENT_ID, SECRET, domains=[], may_create=False
    )
    assert client.post("/account/single-sign-on/127-0-0-1-9/").status_code == 502


def test_single_sign_on_links_nothing_to_whoever_is_signed_in(client: Client, provider: Provider) -> None:
    eve = UserFactory(email="eve@example.org")
    page = client.get("/account/sign-in/").text
    action = re.search(r'action="(/account/single-sign-on/[\w-]+/)"', page)
    assert action is not None
    client.force_login(eve, backend="django.contrib.auth.backends.ModelBackend")
    shown = client.post(action[1], {"process": "connect"})
    address = re.search(r'content="0; url=([^"]+)"', shown.text)
    assert address is not None
    assert client.get(back(html.unescape(address[1]))).status_code == 403
    assert not SocialAccount.objects.exists()


def test_the_next_page_is_one_of_this_site(client: Client, provider: Provider) -> None:
    UserFactory(email="ada@example.org")
    assert sign_in(client, next="https://evil.example.org/").url == "/"


@pytest.mark.django_db(transaction=True)
def test_locks_and_second_factors_hold_for_single_sign_on(client: Client, provider: Provider, settings: Any) -> None:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    create_account(email="ada@example.org", password="correct horse battery")
    for _attempt in range(5):
        client.post("/account/sign-in/", {"username": "ada@example.org", "password": "wrong"})
    locked = sign_in(client)
    assert locked.status_code == 429
    assert client.get("/account/").status_code == 302
    AccessAttempt.objects.all().delete()
    other = Client(REMOTE_ADDR="198.51.100.8")
    assert sign_in(other).url == "/account/"
    page = other.get("/account/second-factor/app/", follow=True)
    page = other.post(page.redirect_chain[-1][0], {"password": "correct horse battery"}, follow=True)
    key = re.search(r"Key: <code[^>]*>([A-Z2-7]+)</code>", page.text)
    assert key is not None
    other.post("/account/second-factor/app/", {"code": totp(key[1])})
    third = Client(REMOTE_ADDR="198.51.100.9")
    assert sign_in(third).url == "/account/sign-in/second-factor/"
    assert third.get("/account/").status_code == 302
    assert third.post("/account/sign-in/second-factor/", {"code": totp(key[1], steps=1)}).url == "/account/"


@pytest.mark.parametrize(
    ("environment", "problem"),
    [
        ({"ISSUER": "login.example.org"}, "https address of the issuer"),
        ({"ISSUER": "http://login.example.org"}, "https address of the issuer"),
        ({"ISSUER": "https://login.example.org"}, "needs PARALLAX_OIDC_CLIENT_ID"),
        ({"ISSUER": "https://login.example.org", "CLIENT_ID": "x"}, "needs PARALLAX_OIDC_CLIENT_ID"),
        (
            {"ISSUER": "https://x.org", "CLIENT_ID": "x", "CLIENT_SECRET": "s", "CREATE_ACCOUNTS": "1"},
            "needs PARALLAX_OIDC_DOMAINS",
        ),
    ],
)
def test_a_configuration_that_is_incomplete_stops_the_start(
    environment: dict[str, str], problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(f"PARALLAX_OIDC_{name}", value)
    with pytest.raises(ImproperlyConfigured, match=problem):
        single_sign_on()


def test_the_environment_names_the_institution(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    assert single_sign_on() == {}
    (tmp_path / "secret").write_text("s\n")
    given = {"ISSUER": "https://login.example.org/realms/x/", "CLIENT_ID": "c", "NAME": "Example University",
             "CLIENT_SECRET_FILE": str(tmp_path / "secret"), "DOMAINS": "example.org, @Example.com",
             "CREATE_ACCOUNTS": "1"}  # fmt: skip
    for name, value in given.items():
        monkeypatch.setenv(f"PARALLAX_OIDC_{name}", value)
    (app,) = single_sign_on()["openid_connect"]["APPS"]
    assert (app["provider_id"], app["secret"], app["name"]) == ("login-example-org-realms-x", "s", "Example University")
    assert app["settings"]["domains"] == ["example.org", "example.com"]
