from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from django.core import mail
from django.core.management import CommandError, call_command
from django.test import Client

from accounts.models import User
from accounts.services import create_account
from core.errors import ParallaxError

pytestmark = [pytest.mark.integration, pytest.mark.django_db]


def test_an_account_gets_a_drawn_password_and_a_lower_case_address() -> None:
    user, password = create_account(email="Ada@Example.org", name="Ada")
    assert (user.email, str(user), user.is_superuser) == ("ada@example.org", "Ada", False)
    assert len(password) >= 16
    assert user.check_password(password)
    assert user.password.startswith("argon2")


@pytest.mark.parametrize(
    ("email", "password", "code"),
    [
        ("nobody", None, "account.bad_email"),
        ("a@example.org", "short", "account.weak_password"),
        ("Taken@example.org", None, "account.exists"),
    ],
)
def test_an_account_that_cannot_be_made_is_refused(email: str, password: str | None, code: str) -> None:
    create_account(email="taken@example.org")
    with pytest.raises(ParallaxError) as caught:
        create_account(email=email, password=password)
    assert caught.value.code == code
    assert User.objects.count() == 1


def test_the_command_makes_an_administrator_and_prints_the_password_once(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("create_account", "boss@example.org", "--administrator")
    shown = re.search(r"shown once\): (\S+)", capsys.readouterr().out)
    assert shown is not None
    user = User.objects.get()
    assert user.is_superuser
    assert user.check_password(shown[1])


def test_the_command_takes_a_password_from_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "p").write_text("correct horse battery\n")
    call_command("create_account", "x@example.org", "--password-file", str(tmp_path / "p"))
    assert "correct" not in capsys.readouterr().out
    assert User.objects.get().check_password("correct horse battery")
    with pytest.raises(CommandError, match="cannot be read"):
        call_command("create_account", "y@example.org", "--password-file", str(tmp_path / "none"))
    with pytest.raises(CommandError, match=r"An account for x@example\.org already"):
        call_command("create_account", "x@example.org")


def test_a_researcher_signs_in_changes_their_name_and_signs_out(client: Client) -> None:
    create_account(email="a@example.org", password="correct horse battery")
    page = client.post(
        "/account/sign-in/", {"username": "A@example.org", "password": "correct horse battery", "next": "/account/"}
    )
    assert page.headers["Location"] == "/account/"
    client.post("/account/", {"name": "Ada L."})
    assert "Ada L." in client.get("/account/").text
    client.post("/account/sign-out/")
    assert client.get("/account/").headers["Location"].startswith("/account/sign-in/")


def test_sign_in_is_closed_after_five_wrong_passwords(client: Client) -> None:
    create_account(email="a@example.org", password="correct horse battery")
    for _ in range(5):
        page = client.post("/account/sign-in/", {"username": "a@example.org", "password": "wrong"})
    assert page.status_code == 429
    assert "locked for fifteen minutes" in page.text
    right = client.post("/account/sign-in/", {"username": "a@example.org", "password": "correct horse battery"})
    assert "locked for fifteen minutes" in right.text


def test_a_forgotten_password_is_set_anew_by_a_letter(client: Client) -> None:
    create_account(email="a@example.org", password="correct horse battery")
    client.post("/account/password/reset/", {"email": "a@example.org"})
    client.post("/account/password/reset/", {"email": "stranger@example.org"})
    assert len(mail.outbox) == 1
    link = re.search(r"http://[^/]+(/\S+)", str(mail.outbox[0].body))
    assert link is not None
    form = client.get(link[1], follow=True)
    client.post(
        form.redirect_chain[-1][0], {"new_password1": "another long phrase", "new_password2": "another long phrase"}
    )
    assert User.objects.get().check_password("another long phrase")
    assert "used or has expired" in client.get(link[1], follow=True).text


def test_a_password_letter_links_to_the_address_that_the_installation_says(client: Client, settings: Any) -> None:
    create_account(email="a@example.org", password="correct horse battery")
    settings.SITE_URL = "https://study.example.org"
    client.post("/account/password/reset/", {"email": "a@example.org"})
    link = re.search(r"https://study\.example\.org(/\S+)", str(mail.outbox[0].body))
    assert link is not None
    assert "testserver" not in mail.outbox[0].body
    assert "new_password1" in client.get(link[1], follow=True).text


def test_pages_are_closed_unless_they_say_otherwise(client: Client) -> None:
    assert client.get("/studies/").headers["Location"] == "/account/sign-in/?next=/studies/"
    assert client.get("/health/").json() == {"status": "ok"}


def test_one_network_can_neither_try_many_accounts_nor_send_many_letters(settings: Any) -> None:
    # How many are let through is counted, not how a password is kept: argon2 takes its time on purpose.
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    create_account(email="ann@example.org")
    spray, other = Client(REMOTE_ADDR="198.51.100.7"), Client(REMOTE_ADDR="198.51.100.8")
    statuses = [
        spray.post("/account/sign-in/", {"username": f"u{n}@example.org", "password": "x"}).status_code
        for n in range(62)
    ]
    assert statuses == [200] * 60 + [429] * 2
    assert other.post("/account/sign-in/", {"username": "ann@example.org", "password": "x"}).status_code == 200
    letters = [spray.post("/account/password/reset/", {"email": "ann@example.org"}) for _ in range(15)]
    assert [letter.status_code for letter in letters] == [302] * 12 + [429] * 3
    assert len(mail.outbox) == 12
    assert "Try again in" in letters[-1].text
    assert int(letters[-1].headers["Retry-After"]) > 0
