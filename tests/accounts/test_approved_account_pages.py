"""The words of the account pages, in the states that a person can meet them in."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.models import Invitation, User
from accounts.services import create_account
from accounts.services.accounts import reset_path
from accounts.services.invitations import invite
from studies.enums import Role
from studies.team.services.members import invite_to_study
from tests.approval import assert_page_approved
from tests.factories.accounts import UserFactory
from tests.factories.console import signed_in
from tests.factories.studies import make_study

pytestmark = [pytest.mark.integration, pytest.mark.django_db]
PASSWORD = "correct horse battery"
SIGN_IN = "/account/sign-in/"


@pytest.fixture(autouse=True)
def ada() -> User:
    return create_account(email="ada@example.org", password=PASSWORD, name="Ada")[0]


def account(email: str) -> User:
    return User.objects.filter(email=email).first() or UserFactory(email=email, name=email.partition("@")[0].title())


def boss() -> Client:
    User.objects.filter(pk=account("boss@example.org").pk).update(is_superuser=True, is_staff=True)
    return signed_in(account("boss@example.org"))


def ada_at(view: str, **posted: Any) -> Any:
    client, url = signed_in(account("ada@example.org")), reverse(view)
    return client.post(url, posted, follow=True) if posted else client.get(url, follow=True)


def sign_in(times: int) -> Any:
    client = Client()
    return [client.post(SIGN_IN, {"username": "ada@example.org", "password": "wrong"}) for _time in range(times)][-1]


def link(key: str) -> str:
    return reverse("accounts:invitation", args=[key])


def invited_to_a_study(email: str = "") -> str:
    study = make_study(owner=account("owner@example.org"))
    return link(invite_to_study(study=study, role=Role.ANALYST, email=email, actor=account("owner@example.org"))[1])


def invited_to_the_installation() -> str:
    boss()
    return link(invite(actor=account("boss@example.org"))[1])


def expired_invitation() -> Any:
    url = invited_to_a_study()
    Invitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    return Client().get(url)


def accepted(**posted: str) -> Any:
    return Client().post(invited_to_the_installation(), {"name": "Ana", "email": "ana@example.org", **posted})


def used_reset_link() -> Any:
    user = account("ada@example.org")
    path = reset_path(user)
    user.set_password("another long phrase")
    user.save()
    return Client().get(path, follow=True)


def only_owner_to_close() -> Any:
    study = make_study(owner=account("owner@example.org"))
    return boss().post(reverse("accounts:researcher_deactivate", args=[study.memberships.get().researcher_id]), {})


PAGES: dict[str, Callable[[], Any]] = {
    "sign-in": lambda: Client().get(SIGN_IN),
    "sign-in-with-a-wrong-password": lambda: sign_in(1),
    "sign-in-locked": lambda: sign_in(5),
    "password-reset": lambda: Client().get(reverse("accounts:password_reset")),
    "password-reset-sent": lambda: Client().get(reverse("accounts:password_reset_sent")),
    "password-reset-link": lambda: Client().get(reset_path(account("ada@example.org")), follow=True),
    "password-reset-link-used": used_reset_link,
    "password-change": lambda: ada_at("accounts:password_change"),
    "account": lambda: ada_at("accounts:account"),
    "tokens": lambda: ada_at("accounts:tokens"),
    "tokens-created": lambda: ada_at("accounts:tokens", name="nightly", scope="read", days="30"),
    "tokens-refused": lambda: ada_at("accounts:tokens", name="", scope="all", days="31"),
    "second-factor": lambda: signed_in(account("ada@example.org")).get("/account/second-factor/"),
    "second-factor-to-confirm": lambda: ada_at("mfa_activate_totp"),
    "invitation": lambda: Client().get(invited_to_the_installation()),
    "invitation-with-two-passwords": lambda: accepted(password=PASSWORD, again="another one"),
    "invitation-with-a-short-password": lambda: accepted(password="1234", again="1234"),
    "invitation-of-a-known-address": lambda: accepted(email="ada@example.org", password=PASSWORD, again=PASSWORD),
    "invitation-of-an-account": lambda: Client().get(invited_to_a_study("ada@example.org")),
    "invitation-to-accept": lambda: signed_in(account("ada@example.org")).get(invited_to_a_study("ada@example.org")),
    "invitation-of-another": lambda: signed_in(account("eve@example.org")).get(invited_to_a_study("ada@example.org")),
    "invitation-of-the-only-owner": lambda: signed_in(account("owner@example.org")).post(invited_to_a_study()),
    "invitation-over": expired_invitation,
    "accounts": lambda: boss().get(reverse("accounts:researchers")),
    "accounts-with-a-known-address": lambda: boss().post(reverse("accounts:researchers"), {"email": "ada@example.org"}),
    "account-of-another": lambda: boss().get(reverse("accounts:researcher", args=[account("ada@example.org").pk])),
    "account-of-the-only-owner": only_owner_to_close,
    "projects": lambda: ada_at("projects:list"),
    "projects-without-a-name": lambda: ada_at("projects:list", name=" "),
}
VARIABLE = {r"plx_[\w-]+": "TOKEN", r"\d+ (?:seconds?|minutes?) ago": "SOME TIME ago"}


@pytest.mark.parametrize("name", PAGES)
def test_every_account_page_is_approved(name: str) -> None:
    assert_page_approved(f"accounts/{name}", PAGES[name]().text, VARIABLE)
