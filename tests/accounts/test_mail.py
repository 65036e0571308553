"""Letters through a real mail server with TLS and sign-in, a reset without one, and letters that a worker sends."""

from __future__ import annotations

import re
import socket
import ssl
import subprocess
from collections.abc import Iterator
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult
from celery import current_app
from django.core import mail
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import Letter, User
from accounts.services import create_account
from accounts.services.letters import send_waiting
from core.models import LogEntry

pytestmark = [pytest.mark.integration, pytest.mark.django_db]
ACCOUNT, PASSWORD = "parallax", "a/b#c?d"


class Inbox:
    """Letters that the server accepted."""

    def __init__(self) -> None:
        self.letters: list[str] = []

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        self.letters.append(envelope.content.decode())
        return "250 OK"


class MailServer(Controller):
    """A server whose own first connection does not speak TLS, which its context is not made for."""

    def _trigger_server(self) -> None:
        socket.create_connection((self.hostname, self.port), timeout=5).close()


def sign_in(server: Any, session: Any, envelope: Any, mechanism: str, data: Any) -> AuthResult:
    return AuthResult(success=(data.login, data.password) == (ACCOUNT.encode(), PASSWORD.encode()), handled=False)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("certificate")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=DNS:localhost", "-keyout", "key", "-out", "certificate"],
        check=True, capture_output=True, cwd=folder,
    )  # fmt: skip
    return folder


@pytest.fixture(params=["starttls", "ssl"])
def inbox(
    request: pytest.FixtureRequest, certificate: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Inbox]:
    """The letters of a server that wants TLS and a password, and whose certificate is verified."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate / "certificate", certificate / "key")
    tls: dict[str, Any] = {"tls_context": context, "require_starttls": True}
    if request.param == "ssl":
        tls = {"ssl_context": context, "auth_require_tls": False}
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    handler = Inbox()
    server = MailServer(
        handler, hostname="localhost", port=port, authenticator=sign_in, auth_required=True, **tls
    )  # fmt: skip
    server.start()
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "localhost", port
    settings.EMAIL_USE_TLS, settings.EMAIL_USE_SSL = request.param == "starttls", request.param == "ssl"
    settings.EMAIL_HOST_USER, settings.EMAIL_HOST_PASSWORD = ACCOUNT, PASSWORD
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate / "certificate"))
    yield handler
    server.stop()


@pytest.mark.filterwarnings("ignore:Requiring AUTH")  # of a server whose connections are encrypted from the start
def test_a_reset_letter_goes_through_a_server_with_tls_and_sign_in(
    inbox: Inbox, client: Client, settings: Any, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level("DEBUG")
    settings.SITE_URL = "https://study.example.org"
    create_account(email="a@example.org", password="correct horse battery")
    assert client.post("/account/password/reset/", {"email": "a@example.org"}).status_code == 302
    send_waiting()
    (letter,) = inbox.letters
    assert "To: a@example.org" in letter
    link = re.search(r"https://study\.example\.org/account/password/reset/\S+", letter.replace("=\n", ""))
    assert link is not None
    ours = [entry.getMessage() for entry in caplog.records if entry.name != "mail.log"]  # which is the server's
    output = "\n".join(ours) + "".join(capfd.readouterr())
    assert link[0].rsplit("/", 2)[1] not in output
    assert PASSWORD not in output


@pytest.fixture
def silent_server(settings: Any) -> Iterator[socket.socket]:
    """A mail server that takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = server.getsockname()
        settings.EMAIL_TIMEOUT = 0.2
        yield server


def test_a_request_for_a_letter_does_the_same_with_and_without_an_account_and_connects_to_no_mail_server(
    client: Client, silent_server: socket.socket, django_capture_on_commit_callbacks: Any
) -> None:
    create_account(email="a@example.org", password="correct horse battery")
    done = []
    for email in ("a@example.org", "stranger@example.org"):
        with CaptureQueriesContext(connection) as queries, django_capture_on_commit_callbacks() as messages:
            answer = client.post("/account/password/reset/", {"email": email})
        (message,) = messages
        statements = [query["sql"].split("VALUES")[0].split("WHERE")[0] for query in queries]
        done.append((answer.status_code, answer["Location"], statements, dict(message.args[0])))
    assert done[0] == done[1]
    assert (done[0][3]["args"], done[0][3]["kwargs"]) == ((), {}), "neither an address nor a token"
    with pytest.raises(BlockingIOError):
        silent_server.accept()
    send_waiting()
    silent_server.accept()[0].close()
    with pytest.raises(BlockingIOError):
        silent_server.accept()


def test_a_letter_waits_for_a_worker_and_for_the_mail_server_and_is_sent_once(
    client: Client, silent_server: socket.socket, settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    create_account(email="a@example.org", password="correct horse battery")
    client.post("/account/password/reset/", {"email": "a@example.org"})
    send_waiting()
    assert "not sent" in caplog.text
    assert "example.org" not in caplog.text
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    send_waiting()
    assert not mail.outbox, "it is tried again after a pause"
    Letter.objects.update(due_at=timezone.now())
    current_app.tasks["accounts.sweep"].run()
    assert [letter.to for letter in mail.outbox] == [["a@example.org"]]
    assert not Letter.objects.exists()


def test_a_letter_that_cannot_be_sent_for_a_day_is_given_up(client: Client, silent_server: socket.socket) -> None:
    create_account(email="a@example.org", password="correct horse battery")
    client.post("/account/password/reset/", {"email": "a@example.org"})
    Letter.objects.update(created_at=timezone.now() - timedelta(hours=25))
    send_waiting()
    silent_server.accept()[0].close()  # after a last try
    assert not Letter.objects.exists()


def test_the_command_prints_a_link_that_works_once(client: Client, settings: Any) -> None:
    create_account(email="a@example.org", password="correct horse battery")
    out = StringIO()
    call_command("reset_password", "A@example.org", stdout=out)
    link, *advice = out.getvalue().splitlines()
    assert "PARALLAX_URL" in advice[0]
    path = link.removeprefix("http://localhost:8000")
    form = client.get(path, follow=True)
    new = "another long phrase"
    client.post(form.redirect_chain[-1][0], {"new_password1": new, "new_password2": new})
    assert User.objects.get().check_password(new)
    assert "new_password1" not in client.get(path, follow=True).text
    entry = LogEntry.objects.get(kind="accounts.user")
    assert path.rsplit("/", 2)[1] not in entry.reason
    settings.SITE_URL = "https://study.example.org"
    out = StringIO()
    call_command("reset_password", "a@example.org", stdout=out)
    assert out.getvalue().startswith("https://study.example.org/account/password/reset/")


@pytest.mark.parametrize("is_there", [True, False])
def test_the_command_refuses_an_account_that_cannot_sign_in(is_there: bool) -> None:
    if is_there:
        create_account(email="a@example.org", password="correct horse battery")
        User.objects.update(is_active=False)
    with pytest.raises(CommandError, match=r"no active account for 'a@example\.org'"):
        call_command("reset_password", "a@example.org")
