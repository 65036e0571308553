"""Second factors: codes of an app, recovery codes, requirement and reset."""

from __future__ import annotations

import re
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.core import mail
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from accounts.models import User
from accounts.services import create_account, create_token
from accounts.services.accounts import deactivate
from accounts.services.second_factor import reset_second_factor
from core.errors import ParallaxError
from core.models import LogEntry
from tests.factories.codes import totp
from tests.factories.console import signed_in

pytestmark = [pytest.mark.integration, pytest.mark.django_db(transaction=True)]
PASSWORD = "correct horse battery"
SIGN_IN, CODE = "/account/sign-in/", "/account/sign-in/second-factor/"


@pytest.fixture
def ada(settings: Any) -> User:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    return create_account(email="ada@example.org", password=PASSWORD)[0]


def give_password(client: Client, password: str = PASSWORD, follow: bool = False) -> Any:
    return client.post(
        SIGN_IN, {"username": "ada@example.org", "password": password, "next": "/account/"}, follow=follow
    )


def is_signed_in(client: Client) -> bool:
    return client.get("/account/").status_code == 200


def set_up(client: Client) -> tuple[str, list[str]]:
    """Add an app as its owner does; return its key and the recovery codes."""
    page = client.get(reverse("mfa_activate_totp"), follow=True)
    assert "Confirm that it is you" in page.text
    page = client.post(page.redirect_chain[-1][0], {"password": PASSWORD}, follow=True)
    found = re.search(r"Key: <code[^>]*>([A-Z2-7]+)</code>", page.text)
    assert found is not None, page.text
    page = client.post(reverse("mfa_activate_totp"), {"code": totp(found[1])}, follow=True)
    codes = re.findall(r"<li><code>(\d+)</code></li>", page.text)
    assert len(codes) == 10
    return found[1], codes


@pytest.fixture
def secured(ada: User) -> tuple[str, list[str]]:
    client = Client()
    give_password(client)
    return set_up(client)


def test_the_password_alone_signs_in_until_a_factor_is_set_up_and_then_a_code_is_needed(ada: User) -> None:
    client = Client()
    give_password(client)
    assert is_signed_in(client)
    secret, _codes = set_up(client)
    assert mail.outbox[-1].to == ["ada@example.org"]
    other = Client()
    assert give_password(other).url == CODE
    assert not is_signed_in(other)
    assert other.get("/studies/").status_code == 302
    assert Client().get("/account/second-factor/").status_code == 302
    refused = other.post(CODE, {"code": "000000"})
    assert "not valid" in refused.text
    assert not is_signed_in(other)
    assert other.post(CODE, {"code": totp(secret, steps=1)}).url == "/account/"
    assert is_signed_in(other)


def test_a_code_works_once(secured: tuple[str, list[str]]) -> None:
    code = totp(secured[0], steps=1)
    first, second = Client(), Client()
    give_password(first)
    give_password(second)
    assert first.post(CODE, {"code": code}).status_code == 302
    assert "used before" in second.post(CODE, {"code": code}).text
    assert not is_signed_in(second)


def test_a_recovery_code_works_once_and_new_ones_replace_the_old(secured: tuple[str, list[str]]) -> None:
    _secret, codes = secured
    client, second = Client(), Client()
    give_password(client)
    client.post(CODE, {"code": codes[0]})
    assert is_signed_in(client)
    give_password(second)
    second.post(CODE, {"code": codes[0]})
    assert not is_signed_in(second)
    assert codes[1] not in client.get(reverse("mfa_view_recovery_codes"), follow=True).text
    assert client.post("/account/confirm/", {"password": PASSWORD}).url == "/account/confirm/code/", "no weaker way"
    page = client.get(reverse("mfa_generate_recovery_codes"), follow=True)
    client.post(page.redirect_chain[-1][0], {"code": codes[2]})
    page = client.post(reverse("mfa_generate_recovery_codes"), follow=True)
    fresh = re.findall(r"<li><code>(\d+)</code></li>", page.text)
    assert len(fresh) == 10
    assert not set(fresh) & set(codes)
    assert fresh[0] not in client.get(reverse("mfa_view_recovery_codes")).text, "they are shown once"
    second.post(CODE, {"code": codes[1]})
    assert not is_signed_in(second)
    second.post(CODE, {"code": fresh[0]})
    assert is_signed_in(second)


def test_secrets_are_stored_encrypted(secured: tuple[str, list[str]], settings: Any) -> None:
    secret, codes = secured
    stored = str(list(Authenticator.objects.values_list("data", flat=True)))
    assert secret not in stored
    assert not any(code in stored for code in codes)
    settings.SECRET_KEY = "another key of an installation whose first one was lost"
    client = Client()
    give_password(client)
    assert client.post(CODE, {"code": totp(secret, steps=1)}).status_code == 200, "no code, and no fault"


def test_wrong_codes_lock_the_account_and_network_as_wrong_passwords_do(secured: tuple[str, list[str]]) -> None:
    guesser = Client(REMOTE_ADDR="198.51.100.7")
    give_password(guesser)
    answers = [guesser.post(CODE, {"code": f"00000{n}"}) for n in range(5)]
    assert [answer.status_code for answer in answers] == [200] * 4 + [429]
    assert "locked for another 15\xa0minutes" in answers[-1].text
    assert guesser.post(CODE, {"code": totp(secured[0], steps=1)}).status_code == 429
    assert give_password(guesser).status_code == 429
    elsewhere = Client(REMOTE_ADDR="198.51.100.8")
    assert give_password(elsewhere).status_code == 429
    usual = Client()  # where the account was signed in before
    give_password(usual)
    assert usual.post(CODE, {"code": totp(secured[0], steps=1)}).status_code == 302


def test_many_networks_together_have_few_attempts_at_one_account(secured: tuple[str, list[str]]) -> None:
    statuses = []
    for network in range(6):
        client = Client(REMOTE_ADDR=f"198.51.100.{network}")
        give_password(client)
        statuses += [client.post(CODE, {"code": "000000"}).status_code for _attempt in range(4)]
    assert statuses == [200] * 4 + [429] * 4 + [302] * 16, statuses  # the others do not pass the password


def test_a_wrong_password_at_the_confirmation_counts_towards_the_lock(ada: User) -> None:
    client = Client()
    give_password(client)
    page = client.get(reverse("mfa_activate_totp"), follow=True)
    statuses = [client.post(page.redirect_chain[-1][0], {"password": "wrong"}).status_code for _n in range(5)]
    assert statuses == [200] * 4 + [429]


def test_the_administration_asks_for_the_second_factor_too(secured: tuple[str, list[str]], ada: User) -> None:
    User.objects.update(is_staff=True, is_superuser=True)
    client = Client()
    sent = client.post("/admin/login/", {"username": ada.email, "password": PASSWORD})
    assert sent.url.startswith(SIGN_IN)
    assert client.get("/admin/").status_code == 302
    assert give_password(client).url == CODE
    assert client.get("/admin/").status_code == 302
    client.post(CODE, {"code": totp(secured[0], steps=1)})
    assert client.get("/admin/").status_code == 200
    assert client.get("/admin/mfa/authenticator/").status_code == 404


def test_an_account_that_is_deactivated_between_the_steps_does_not_sign_in(secured: tuple[str, list[str]]) -> None:
    client = Client()
    give_password(client)
    boss = create_account(email="boss@example.org", is_administrator=True)[0]
    deactivate(user=User.objects.get(email="ada@example.org"), actor=boss)
    client.post(CODE, {"code": totp(secured[0], steps=1)})
    assert not is_signed_in(client)


def test_the_app_is_removed_after_a_confirmation_and_takes_the_recovery_codes_along(
    secured: tuple[str, list[str]], ada: User
) -> None:
    client = Client()
    give_password(client)
    client.post(CODE, {"code": totp(secured[0], steps=1)})
    url = reverse("mfa_deactivate_totp")
    refused = client.post(url)
    assert Authenticator.objects.count() == 2, "a session that somebody else uses does not remove it"
    n_letters = len(mail.outbox)
    client.post(refused.url, {"code": secured[1][0]})
    client.post(url)
    assert not Authenticator.objects.exists()
    assert len(mail.outbox) == n_letters + 1
    assert give_password(Client()).url == "/account/"


@pytest.mark.parametrize(
    ("requirement", "is_asked"), [("optional", False), ("administrators", False), ("everyone", True)]
)
def test_a_required_factor_is_set_up_before_anything_else(
    ada: User, settings: Any, requirement: str, is_asked: bool
) -> None:
    settings.SECOND_FACTOR = requirement
    client = Client()
    give_password(client)
    for path in ("/account/", "/studies/", "/", "/account/tokens/"):
        answer = client.get(path)
        assert (answer.status_code == 302 and answer.url == "/account/second-factor/") == is_asked, path
    assert client.get("/api/v1/studies/").status_code == (403 if is_asked else 200)
    part = client.get("/studies/notices/count/", headers={"HX-Request": "true"})
    assert part.headers.get("HX-Redirect") == ("/account/second-factor/" if is_asked else None)
    assert ("This installation requires" in client.get("/account/second-factor/").text) == is_asked
    User.objects.update(is_superuser=True)
    assert client.get("/studies/").status_code == (200 if requirement == "optional" else 302)
    set_up(client)
    assert client.get("/studies/").status_code == 200
    assert client.post("/account/sign-out/").status_code == 302


def test_whoever_may_open_the_administration_sets_up_a_required_factor_first(ada: User, settings: Any) -> None:
    settings.SECOND_FACTOR = "administrators"
    User.objects.update(is_staff=True)
    client = Client()
    give_password(client)
    for path in ("/admin/", "/admin/accounts/user/", "/studies/"):
        assert client.get(path).url == "/account/second-factor/", path
        assert client.post(path).url == "/account/second-factor/", path
    set_up(client)
    assert client.get("/admin/").status_code == 200


def test_an_administrator_resets_the_factor_of_another_account(secured: tuple[str, list[str]], ada: User) -> None:
    boss = create_account(email="boss@example.org", is_administrator=True)[0]
    client, theirs = signed_in(boss), Client()
    give_password(theirs)
    theirs.post(CODE, {"code": totp(secured[0], steps=1)})
    assert is_signed_in(theirs)
    url = reverse("accounts:researcher_second_factor", args=[ada.pk])
    assert url in client.get(reverse("accounts:researcher", args=[ada.pk])).text
    assert signed_in(create_account(email="eve@example.org")[0]).post(url).status_code == 403
    assert "is reset" in client.post(url, follow=True).text
    assert not is_signed_in(theirs), "sessions of whoever had the lost device end"
    assert not Authenticator.objects.exists()
    entry = LogEntry.objects.filter(kind="accounts.user", object_id=ada.pk).latest("pk")
    assert (entry.actor, entry.reason) == (boss, "Second factor reset.")
    assert mail.outbox[-1].to == ["ada@example.org"]
    assert give_password(Client()).url == "/account/"
    n_letters = len(mail.outbox)
    client.post(url, follow=True)
    assert len(mail.outbox) == n_letters, "there is nothing to reset"
    with pytest.raises(ParallaxError) as refusal:
        reset_second_factor(user=boss, actor=boss)
    assert refusal.value.code == "account.own"


def test_the_command_resets_a_lost_factor(secured: tuple[str, list[str]], capsys: pytest.CaptureFixture[str]) -> None:
    call_command("reset_second_factor", "Ada@example.org")
    assert "is reset" in capsys.readouterr().out
    assert give_password(Client()).url == "/account/"
    for wrong in ("ada@example.org", "nobody@example.org"):
        with pytest.raises(CommandError, match=r"no second factor|No active account"):
            call_command("reset_second_factor", wrong)


def test_a_token_works_without_a_code(secured: tuple[str, list[str]], ada: User) -> None:
    _token, text = create_token(owner=ada, name="notebook")
    assert Client(headers={"Authorization": f"Bearer {text}"}).get("/api/v1/me/").status_code == 200
