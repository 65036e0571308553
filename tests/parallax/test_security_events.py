"""What the security log holds: refusals, sign-ins, roles, data that left, pauses and withdrawals; and no traceback."""

from __future__ import annotations

import io
import json
import logging
import logging.config
import os
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.signals import authenticator_added
from django.conf import settings as django_settings
from django.core.exceptions import SuspiciousOperation
from django.db import transaction
from django.test import Client, override_settings

from accounts.enums import Scope
from accounts.models import User
from accounts.services import create_token
from accounts.services.accounts import set_administrator
from core import security_log
from core.security_log import network_digest
from studies.design.services.launch import pause_study
from studies.enums import Role
from studies.models import Study
from studies.monitoring.services.blinding import open_outcomes
from studies.participation.services.withdrawal import withdraw_on_behalf
from studies.recruitment.services.recruitment import set_guests, set_limits, set_panel
from studies.team.services.members import add_member
from tests.factories.accounts import UserFactory
from tests.factories.studies import completed, make_study

pytestmark = [pytest.mark.integration, pytest.mark.django_db]

Lines = Callable[[], list[dict[str, Any]]]
NETWORK = "203.0.113.7"
PASSWORD = "a password of some length"


@pytest.fixture
def lines(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lines:
    """The lines that were written since this was called before."""
    settings.VAR_DIR = tmp_path
    monkeypatch.setattr(security_log, "_written", {})

    def read() -> list[dict[str, Any]]:
        written = []
        for file in sorted((tmp_path / "logs").glob("security-*.jsonl")):
            written += [json.loads(line) for line in file.read_text().splitlines()]
            file.unlink()
        return written

    return read


@pytest.fixture
def plain_log() -> Any:
    """What standard error gets: the filters and the format of the settings."""
    written = io.StringIO()
    logs: Any = django_settings.LOGGING
    configurator = logging.config.DictConfigurator(logs)
    handler = logging.StreamHandler(written)
    handler.setFormatter(configurator.configure_formatter(dict(logs["formatters"]["plain"])))
    for name in logs["handlers"]["console"]["filters"]:
        handler.addFilter(configurator.configure_filter(dict(logs["filters"][name])))
    logging.getLogger().addHandler(handler)
    yield written
    logging.getLogger().removeHandler(handler)


def member_of(study: Study, role: str) -> tuple[User, Client]:
    account = UserFactory()
    add_member(study=study, email=account.email, role=role)
    client = Client(REMOTE_ADDR=NETWORK)
    client.force_login(account)
    return account, client


def test_a_refusal_is_one_line_with_account_role_request_and_network_and_no_traceback(
    lines: Lines, plain_log: io.StringIO
) -> None:
    study = make_study()
    account, client = member_of(study, Role.INTERVIEWER)
    lines()
    answer = client.get(f"/studies/{study.slug}/participants/")
    assert answer.status_code == 403
    [line] = lines()
    assert datetime.fromisoformat(line.pop("time")).tzinfo == UTC
    assert line == {
        "event": "access.forbidden",
        "outcome": "refused",
        "account": account.pk,
        "role": "researcher",
        "request": answer["X-Request-ID"],
        "network": network_digest(NETWORK),
        "method": "GET",
        "path": f"/studies/{study.slug}/participants/",
        "status": 403,
        "study": study.slug,
    }
    assert plain_log.getvalue() == ""


def test_what_belongs_to_others_is_logged_where_it_is_not_found(lines: Lines) -> None:
    study = make_study()
    stranger = UserFactory()
    client = Client(REMOTE_ADDR=NETWORK)
    client.force_login(stranger)
    _token, text = create_token(owner=stranger, name="a program", scope=Scope.READ)
    lines()
    assert client.get(f"/studies/{study.slug}/").status_code == 404
    program = Client(REMOTE_ADDR=NETWORK, headers={"Authorization": f"Bearer {text}"})
    assert program.get(f"/api/v1/studies/{study.slug}/").status_code == 404
    console, api = lines()
    assert (console["event"], console["account"], console["study"]) == ("access.not_found", stranger.pk, study.slug)
    assert (api["event"], api["account"], api["token"]) == ("access.not_found", stranger.pk, _token.pk)
    assert client.get("/nowhere/").status_code == 404
    assert Client().get("/s/nothing/").status_code == 404
    assert lines() == []


def test_a_bad_token_is_logged_without_the_token(lines: Lines) -> None:
    program = Client(REMOTE_ADDR=NETWORK, headers={"Authorization": "Bearer plx_guessed"})
    assert program.get("/api/v1/studies/").status_code == 401
    [line] = lines()
    assert (line["event"], line["role"], line["network"]) == ("access.bad_token", "visitor", network_digest(NETWORK))
    assert "plx_guessed" not in json.dumps(line)


def test_a_program_that_asks_for_blinded_outcomes_is_logged(lines: Lines) -> None:
    study = make_study()
    account, _client = member_of(study, Role.ANALYST)
    _token, text = create_token(owner=account, name="a program", scope="read data")
    lines()
    program = Client(REMOTE_ADDR=NETWORK, headers={"Authorization": f"Bearer {text}"})
    assert program.get(f"/api/v1/studies/{study.slug}/outcomes/").status_code == 409
    [line] = lines()
    assert (line["event"], line["account"], line["study"]) == ("access.conflict", account.pk, study.slug)


def test_a_visitor_who_guesses_ids_of_a_guest_list_is_logged_without_the_id(lines: Lines) -> None:
    study = make_study()
    set_panel(study=study, panel="generic", entrance="guest")
    set_guests(study=study, text="Ab1\n")
    lines()
    Client(REMOTE_ADDR=NETWORK).get(f"/s/{study.slug}/?participant_label=Xy9")
    [line] = lines()
    assert (line["event"], line["reason"]) == ("study.entry_refused", "study.not_a_guest")
    assert (line["study"], line["network"]) == (study.slug, network_digest(NETWORK))
    assert "Xy9" not in json.dumps(line)


@override_settings(ALLOWED_HOSTS=["parallax.example"])
def test_a_suspicious_request_is_one_line_in_each_log(lines: Lines, plain_log: io.StringIO) -> None:
    answer = Client(REMOTE_ADDR=NETWORK).get("/", headers={"Host": "elsewhere.example"})
    [line] = lines()
    assert (line["event"], line["network"]) == ("access.bad_request", network_digest(NETWORK))
    [plain] = plain_log.getvalue().splitlines()
    assert "elsewhere.example" in plain
    assert plain.endswith(f"request={answer['X-Request-ID']}")


def test_a_suspicious_operation_in_a_view_leaves_no_traceback(
    lines: Lines, plain_log: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*args: object) -> None:
        raise SuspiciousOperation("the form was changed")

    monkeypatch.setattr("parallax.shell.views.front_page", fails)
    assert Client().get("/").status_code == 400
    assert [line["event"] for line in lines()] == ["access.bad_request"]
    assert len(plain_log.getvalue().splitlines()) == 1


def test_faults_of_the_program_keep_their_traceback(plain_log: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*args: object) -> None:
        raise RuntimeError("a fault")

    monkeypatch.setattr("parallax.shell.views.front_page", fails)
    answer = Client(raise_request_exception=False).get("/")
    assert "RuntimeError: a fault" in plain_log.getvalue()
    assert answer["X-Request-ID"] in plain_log.getvalue()


def test_sign_ins_failures_and_locks_name_the_account_and_never_what_was_typed(lines: Lines, settings: Any) -> None:
    account = UserFactory()
    lines()
    client = Client(REMOTE_ADDR=NETWORK)
    form = {"username": account.email, "password": "wrong-and-secret"}
    for _ in range(settings.AXES_FAILURE_LIMIT):
        client.post("/account/sign-in/", form)
    client.post("/account/sign-in/", {"username": "typed-password@example.org", "password": "x"})
    written = lines()
    assert {line["outcome"] for line in written} == {"refused"}
    assert [line["event"] for line in written].count("sign_in") == settings.AXES_FAILURE_LIMIT + 1
    assert "sign_in.locked" in [line["event"] for line in written]
    assert {line.get("account") for line in written if line["event"].startswith("sign_in")} == {account.pk, None}
    assert {line["network"] for line in written} == {network_digest(NETWORK)}
    text = json.dumps(written)
    assert not [word for word in ("secret", "typed", account.email) if word in text]
    other = User.objects.create_user("other@example.org", PASSWORD)
    client = Client(REMOTE_ADDR="198.51.100.9")
    client.post("/account/sign-in/", {"username": other.email, "password": PASSWORD})
    client.post("/account/sign-out/")
    events = [(line["event"], line["outcome"], line.get("account")) for line in lines()]
    assert events[-2:] == [("sign_in", "done", other.pk), ("sign_out", "done", other.pk)]


def test_entry_limits_name_the_study_and_the_network(lines: Lines, settings: Any) -> None:
    study = make_study()
    set_limits(study=study, most_per_network=1, pause_at=None)
    lines()
    client = Client(REMOTE_ADDR=NETWORK)
    for _ in range(50):
        if client.get(f"/s/{study.slug}/").status_code == 429:
            break
    [line] = lines()
    assert (line["event"], line["outcome"], line["study"]) == ("access.too_often", "refused", study.slug)
    assert (line["role"], line["network"]) == ("participant", network_digest(NETWORK))


def test_changes_of_accounts_roles_and_tokens_are_logged(lines: Lines, django_capture_on_commit_callbacks: Any) -> None:
    administrator = UserFactory(is_superuser=True, is_staff=True)
    study = make_study()
    lines()
    with django_capture_on_commit_callbacks(execute=True):
        account = User.objects.create_user("new@example.org", PASSWORD)
        set_administrator(user=account, is_administrator=True, actor=administrator)
        add_member(study=study, email=account.email, role=Role.OWNER, actor=administrator)
        token, _text = create_token(owner=account, name="secret purpose", scope=Scope.READ)
        account.set_password("another password of some length")
        account.save()
    written = lines()
    assert [line["event"] for line in written] == [
        "account.created",
        "user.changed",
        "study.member_changed",
        "token.created",
        "account.password_set",
        "token.revoked",
    ]
    assert {**written[1], "time": ""} == {
        "time": "",
        "event": "user.changed",
        "outcome": "done",
        "account": administrator.pk,
        "role": "administrator",
        "object": account.pk,
        "reason": "Made an administrator.",
    }
    assert (written[2]["study"], written[2]["researcher"], written[2]["new_role"]) == (
        study.slug,
        account.pk,
        Role.OWNER,
    )
    assert written[3]["object"] == token.pk


def test_pauses_unblinding_and_withdrawals_are_logged_without_the_reasons_that_people_gave(
    lines: Lines, django_capture_on_commit_callbacks: Any
) -> None:
    owner = UserFactory()
    study = make_study()
    participant = completed(study)
    lines()
    with django_capture_on_commit_callbacks(execute=True):
        open_outcomes(study=study, reason="Anna Rossi asked", actor=owner)
        withdraw_on_behalf(participant=participant, reason="Anna Rossi asked", actor=owner)
        pause_study(study=study, actor=None, reason="Paused automatically: 100 in 10 minutes.")
    written = lines()
    unblinded, withdrawn, paused = (
        next(line for line in written if line["event"] == event)
        for event in ("study.outcomes_opened", "participant.withdrawn", "study.paused")
    )
    assert (unblinded["study"], unblinded["account"]) == (study.slug, owner.pk)
    assert (withdrawn["study"], withdrawn["participant"]) == (study.slug, participant.code)
    assert (paused["study"], paused["role"]) == (study.slug, "system")
    assert paused["reason"] == "Paused automatically: 100 in 10 minutes."
    assert "Rossi" not in json.dumps(written)


def test_what_a_transaction_took_back_is_not_logged(lines: Lines, django_capture_on_commit_callbacks: Any) -> None:
    study = make_study()
    lines()
    with django_capture_on_commit_callbacks(execute=True), transaction.atomic():
        pause_study(study=study)
        transaction.set_rollback(True)
    assert lines() == []


def test_data_that_leaves_is_logged(lines: Lines, django_capture_on_commit_callbacks: Any) -> None:
    study = make_study()
    completed(study)
    open_outcomes(study=study, reason="to test")
    account, client = member_of(study, Role.OWNER)
    _token, text = create_token(owner=account, name="analysis", scope="read data")
    lines()
    with django_capture_on_commit_callbacks(execute=True):
        export = client.get(f"/studies/{study.slug}/export/wide/")
        assert export.status_code == 200
        assert b"".join(export.streaming_content)  # which closes the file
        program = Client(REMOTE_ADDR=NETWORK, headers={"Authorization": f"Bearer {text}"})
        assert program.get(f"/api/v1/studies/{study.slug}/answers/wide/").status_code == 200
    downloads = [line for line in lines() if line["event"] == "data.downloaded"]
    assert [(line["study"], line["account"], line.get("token")) for line in downloads] == [
        (study.slug, account.pk, None),
        (study.slug, account.pk, _token.pk),
    ]


def test_changes_of_second_factors_are_logged(lines: Lines, rf: Any) -> None:
    account = UserFactory()
    lines()
    authenticator = Authenticator(user=account, type="totp", data={"secret": "do-not-log"})
    authenticator_added.send(sender=Authenticator, request=rf.get("/"), user=account, authenticator=authenticator)
    [line] = lines()
    assert (line["event"], line["account"], line["factor"]) == ("second_factor.added", account.pk, "totp")


def test_commands_are_logged_with_the_account_of_the_machine(
    tmp_path: Path, migrated_copy: Callable[[Path], None]
) -> None:
    environment = {**os.environ, "PARALLAX_VAR": str(tmp_path), "PARALLAX_SECURITY_LOG": "file"}
    for name in ("DATABASE_URL", "REDIS_URL"):
        environment.pop(name, None)

    def run(*arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=django_settings.BASE_DIR, env={**environment, **more}, capture_output=True, text=True, check=False,
        )  # fmt: skip

    backup = tmp_path / "copy.zip"
    assert run("backup", str(backup)).returncode == 1  # the database is empty
    migrated_copy(tmp_path / "parallax.sqlite3")
    assert run("create_account", "a@example.org").returncode == 0
    done = run("create_account", "b@example.org", PARALLAX_SECURITY_LOG="stdout")
    assert '"event": "account.created"' in done.stderr
    assert '"event"' not in done.stdout  # which is the command's result
    [file] = (tmp_path / "logs").glob("security-*.jsonl")
    written = [json.loads(line) for line in file.read_text().splitlines()]
    assert [(line["event"], line["outcome"]) for line in written] == [
        ("command.backup", "refused"),
        ("account.created", "done"),
        ("command.create_account", "done"),
    ]
    assert {line["role"] for line in written} == {"operator"}
    assert all(line["operator"] for line in written)
