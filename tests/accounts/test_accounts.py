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
from accounts.services.letters import send_waiting
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
    assert "locked for another 15\xa0minutes" in page.text
    right = client.post("/account/sign-in/", {"username": "a@example.org", "password": "correct horse battery"})
    assert "locked for another 15\xa0minutes" in right.text


def test_a_forgotten_password_is_set_anew_by_a_letter(client: Client) -> None:
    create_account(email="a@example.org", password="correct horse battery")
    client.post("/account/password/reset/", {"email": "a@example.org"})
    client.post("/account/password/reset/", {"email": "stranger@example.org"})
    send_waiting()
    assert len(mail.outbox) == 1
    link = re.search(r"http://[^/]+(/\S+)", str(mail.outbox[0].body))
    assert link is not None
    form = client.get(link[1], follow=True)
    client.post(
        form.redirect_chain[-1][0], {"new_password1": "another long phrase", "new_password2": "another long phrase"}
    )
    assert User.objects.get().check_password("another long phrase")
    assert "new_password1" not in client.get(link[1], follow=True).text


def test_a_password_letter_links_to_the_address_that_the_installation_says(client: Client, settings: Any) -> None:
    create_account(email="a@example.org", password="correct horse battery")
    settings.SITE_URL = "https://study.example.org"
    client.post("/account/password/reset/", {"email": "a@example.org"})
    send_waiting()
    link = re.search(r"https://study\.example\.org(/\S+)", str(mail.outbox[0].body))
    assert link is not None
    assert "testserver" not in mail.outbox[0].body
    assert "new_password1" in client.get(link[1], follow=True).text


def test_pages_are_closed_unless_they_say_otherwise(client: Client) -> None:
    assert client.get("/studies/").headers["Location"] == "/account/sign-in/?next=/studies/"
    assert client.get("/health/").json() == {"status": "ok"}


def test_one_network_can_neither_try_many_passwords_nor_send_many_letters(settings: Any) -> None:
    # How many are let through is counted, not how a password is kept: argon2 takes its time on purpose.
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    flood, other = Client(REMOTE_ADDR="198.51.100.7"), Client(REMOTE_ADDR="198.51.100.8")
    statuses = [flood.post("/account/sign-in/", {"username": "no address", "password": "x"}).status_code
                for _n in range(62)]  # fmt: skip
    assert statuses == [200] * 60 + [429] * 2
    assert other.post("/account/sign-in/", {"username": "no address", "password": "x"}).status_code == 200
    letters = [flood.post("/account/password/reset/", {"email": f"u{n}@example.org"}) for n in range(15)]
    assert [letter.status_code for letter in letters] == [302] * 12 + [429] * 3
    assert "Try again in" in letters[-1].text
    assert int(letters[-1].headers["Retry-After"]) > 0


def test_many_networks_together_send_three_letters_an_hour_to_one_account() -> None:
    create_account(email="ann@example.org")
    create_account(email="ben@example.org")
    answers = [
        Client(REMOTE_ADDR=f"198.51.100.{n}").post("/account/password/reset/", {"email": "Ann@example.org"})
        for n in range(5)
    ]
    assert {(answer.status_code, answer.url) for answer in answers} == {(302, "/account/password/reset/sent/")}
    send_waiting()
    assert len(mail.outbox) == 3
    Client().post("/account/password/reset/", {"email": "ben@example.org"})
    send_waiting()
    assert mail.outbox[-1].to == ["ben@example.org"]


def test_a_network_that_fails_with_many_accounts_is_locked_and_administrators_are_notified(settings: Any) -> None:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    create_account(email="ann@example.org", password="correct horse battery")
    create_account(email="boss@example.org", is_administrator=True)
    spray, other = Client(REMOTE_ADDR="2001:db8::7"), Client(REMOTE_ADDR="198.51.100.8")

    def sign_in(client: Client, email: str, right: str = "") -> int:
        given = {"username": email, "password": right or "wrong"}
        status: int = client.post("/account/sign-in/", given).status_code
        return status

    assert [sign_in(spray, f"u{n % 9}@example.org") for n in range(20)] == [200] * 20, "nine accounts, some twice"
    assert not mail.outbox
    assert sign_in(spray, "u10@example.org") == 200
    neighbour = Client(REMOTE_ADDR="2001:db8::ffff")
    locked = neighbour.post("/account/sign-in/", {"username": "ann@example.org", "password": "correct horse battery"})
    assert locked.status_code == 429, "the right password too, from each address of the network"
    assert "many accounts" in locked.text
    assert neighbour.get("/account/").status_code == 302
    (letter,) = mail.outbox
    assert letter.bcc == ["boss@example.org"]
    assert "10 different accounts" in letter.body
    assert "2001" not in letter.body
    assert sign_in(spray, "u11@example.org") == 429
    assert len(mail.outbox) == 1
    assert sign_in(other, "ann@example.org", "correct horse battery") == 302


def test_the_lock_of_an_account_holds_for_its_ipv6_network(settings: Any) -> None:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    create_account(email="ann@example.org", password="correct horse battery")
    given = {"username": "ann@example.org", "password": "wrong"}
    statuses = [
        Client(REMOTE_ADDR=f"2001:db8::{n}", HTTP_X_FORWARDED_FOR=f"203.0.113.{n}")
        .post("/account/sign-in/", given)
        .status_code
        for n in range(6)
    ]
    assert statuses == [200] * 4 + [429] * 2
