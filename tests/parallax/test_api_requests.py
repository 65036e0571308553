"""What a program can rely on: its request is done once, it knows its limit, and other sites ask only if named."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import cache
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connections
from django.test import Client, override_settings
from django.utils import timezone

from accounts.enums import Scope
from accounts.models import User
from accounts.services import create_token
from accounts.tasks import sweep
from core.models import KeptAnswer
from evaluation.models import EvaluationRun
from jobs.models import Job
from studies.models import Study
from studies.monitoring.services.blinding import open_outcomes
from tests.factories.accounts import UserFactory
from tests.factories.studies import completed, make_study

pytestmark = [pytest.mark.integration]
ROOT = Path(__file__).resolve().parents[2]
REPORTS = "/api/v1/reports/"
KEY = {"Idempotency-Key": "8e03978e-40d5-43dd-bc93-6894a57f9324"}


def program_of(researcher: User, scope: str = Scope.REPORT) -> Client:
    return Client(
        raise_request_exception=False,
        headers={"Authorization": f"Bearer {create_token(owner=researcher, name='p', scope=scope)[1]}"},
    )


@pytest.fixture
def study(db: None) -> Study:
    study = make_study()
    completed(study)
    open_outcomes(study=study, reason="A test.")
    return study


@pytest.fixture
def owner(study: Study) -> User:
    return study.memberships.get().researcher


def build(program: Client, study: Study, headers: Any = KEY, **body: Any) -> Any:
    return program.post(REPORTS, {"study": study.slug, **body}, "application/json", headers=headers)


def test_a_request_that_is_sent_twice_is_done_once(study: Study, owner: User) -> None:
    program = program_of(owner)
    first = build(program, study)
    assert (first.status_code, Job.objects.filter(kind="report").count()) == (202, 1)
    Job.objects.filter(kind="report").update(status="cancelled")  # the next request would make another one
    again = build(program, study)
    assert (again.status_code, again.content) == (202, first.content)
    for name in ("Location", "Retry-After", "Content-Type"):
        assert again[name] == first[name]
    assert Job.objects.filter(kind="report").count() == 1
    assert "RateLimit" in again
    assert build(program, study, headers={"Idempotency-Key": "another"}).json()["id"] != first.json()["id"]
    assert build(program, study, headers={}).status_code == 202
    kept = KeptAnswer.objects.earliest("pk")
    assert first.json()["url"] not in str(KeptAnswer.objects.values_list("body"))  # encrypted under the client's key
    assert KEY["Idempotency-Key"] not in str(KeptAnswer.objects.values())
    assert timedelta(hours=23) < kept.ends_at - timezone.now() <= timedelta(hours=24)


def test_a_key_is_that_of_one_request_and_of_one_token(study: Study, owner: User) -> None:
    program = program_of(owner)
    first = build(program, study)
    other = build(program, study, mode="live")
    assert (other.status_code, other.json()["code"]) == (422, "idempotency.other_request")
    elsewhere = program.post(f"{REPORTS}?x=1", {"study": study.slug}, "application/json", headers=KEY)
    assert elsewhere.status_code == 400  # the address is checked first
    Job.objects.filter(kind="report").update(status="cancelled")
    assert build(program_of(owner), study).json()["id"] != first.json()["id"]
    program.logout()
    signed_in = Client()
    signed_in.force_login(owner)
    assert build(signed_in, study).status_code == 202
    assert KeptAnswer.objects.count() == 3


def test_a_request_under_way_is_not_begun_again(study: Study, owner: User) -> None:
    program = program_of(owner)
    build(program, study)
    KeptAnswer.objects.update(status=0, body="", ends_at=timezone.now() + timedelta(minutes=1))
    refused = build(program, study)
    assert (refused.status_code, refused.json()["code"]) == (409, "idempotency.under_way")
    assert refused.json()["remedy"] == "Send the same request again in a few seconds."
    KeptAnswer.objects.update(ends_at=timezone.now())  # its process has died
    assert build(program, study).status_code == 202
    assert KeptAnswer.objects.get().status == 202


def test_a_refused_request_may_be_sent_again(study: Study, owner: User, monkeypatch: pytest.MonkeyPatch) -> None:
    program = program_of(owner)
    assert build(program, study, mode="preview").status_code == 400
    assert build(program_of(UserFactory()), study).status_code == 404
    with monkeypatch.context() as broken:
        broken.setattr("analysis.api.request_report", lambda **_: 1 / 0)
        assert build(program, study).status_code == 500
    assert not KeptAnswer.objects.exists()
    assert build(program, study).status_code == 202


@pytest.mark.parametrize("key", ["", "x" * 256, "ä"])
def test_a_bad_key_is_named(study: Study, owner: User, key: str) -> None:
    refused = build(program_of(owner), study, headers={"Idempotency-Key": key})
    assert refused.status_code == 400
    assert refused.json()["errors"] == [{"header": "Idempotency-Key", "detail": "Write 1 to 255 characters of ASCII."}]
    assert not Job.objects.exists()


def test_a_form_is_compared_by_its_fields_and_files(study: Study, owner: User) -> None:
    EvaluationRun.objects.update(owner=owner)
    program = program_of(owner, Scope.UPLOAD)

    def upload(content: bytes) -> Any:
        fields = {"name": "Theirs", "file": SimpleUploadedFile("scores.csv", content)}
        return program.post(f"/api/v1/runs/{study.run_id}/scores/", fields, headers=KEY)

    first, again, other = upload(b"a"), upload(b"a"), upload(b"b")
    assert (first.status_code, again.content, other.status_code) == (202, first.content, 422)
    assert Job.objects.filter(kind="scores-upload").count() == 1


@pytest.mark.django_db(transaction=True)
def test_of_requests_at_the_same_time_one_is_done() -> None:
    study = make_study()
    completed(study)
    open_outcomes(study=study, reason="A test.")
    text = create_token(owner=study.memberships.get().researcher, name="p", scope=Scope.REPORT)[1]

    def send(_number: int) -> Any:
        try:
            return build(Client(headers={"Authorization": f"Bearer {text}"}), study)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(send, range(4)))
    assert {answer.status_code for answer in answers} <= {202, 409}
    assert len({answer.content for answer in answers if answer.status_code == 202}) == 1
    assert Job.objects.filter(kind="report").count() == 1


def test_answers_are_forgotten_after_their_day(study: Study, owner: User) -> None:
    build(program_of(owner), study)
    sweep()
    assert KeptAnswer.objects.count() == 1
    KeptAnswer.objects.update(ends_at=timezone.now())
    sweep()
    assert not KeptAnswer.objects.exists()


@pytest.fixture
def uncounted() -> Iterator[None]:
    cache.clear()
    yield
    cache.clear()


@pytest.mark.django_db
@pytest.mark.usefixtures("uncounted")
@override_settings(API_RATE="3/min")
def test_every_answer_tells_how_many_requests_are_left() -> None:
    program = program_of(UserFactory())
    for left, address in ((2, "me/"), (1, "runs/0/"), (0, "no/such/")):
        answer = program.get(f"/api/v1/{address}")
        assert answer["RateLimit-Policy"] == '"token";q=3;w=60'
        name, remaining, seconds = answer["RateLimit"].split(";")
        assert (name, remaining) == ('"token"', f"r={left}")
        assert 58 <= int(seconds.removeprefix("t=")) <= 60
    refused = program.get("/api/v1/me/")
    assert (refused.status_code, refused["RateLimit"].split(";")[1]) == (429, "r=0")
    assert "RateLimit" not in Client().get("/api/v1/me/")  # visitors are not counted


SITE = """
import django, json; django.setup()
from django.test import Client
asked = {"Origin": "https://notebook.example.org", "Access-Control-Request-Method": "GET"}
found = []
for path in ("/api/v1/me/", "/account/sign-in/"):
    answer = Client().options(path, headers=asked)
    found.append([answer.status_code, answer.headers.get("Access-Control-Allow-Origin"),
                  answer.headers.get("Access-Control-Allow-Credentials")])
print(json.dumps(found))
"""


@pytest.mark.slow
@pytest.mark.parametrize("origins", ["", "https://notebook.example.org"])
def test_scripts_of_other_sites_may_ask_only_if_a_setting_names_them(origins: str, tmp_path: Path) -> None:
    environment = {
        **os.environ, "DJANGO_SETTINGS_MODULE": "parallax.settings", "PARALLAX_CORS_ORIGINS": origins,
        "PARALLAX_VAR": str(tmp_path), "ALLOWED_HOSTS": "testserver",
    }  # fmt: skip
    done = subprocess.run([sys.executable, "-c", SITE], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    preflight, elsewhere = json.loads(done.stdout)
    assert preflight == ([200, origins, None] if origins else [401, None, None])
    assert elsewhere[1:] == [None, None]
