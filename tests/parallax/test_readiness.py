"""Readiness names what is wrong, and only then; metrics need their token."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client
from django.utils import timezone

from core.models import Worker
from parallax import readiness
from tests.factories.studies import completed, make_study

pytestmark = [pytest.mark.integration]
TOKEN = {"Authorization": "Bearer a-token-of-prometheus"}

# A process whose files cannot grow, as on a full disk.
FULL_DISK = """
import resource, signal
import django
django.setup()
from django.core.management import call_command
from django.test import Client
call_command("migrate", verbosity=0)
client = Client(headers={"host": "localhost"})
print(client.get("/ready/").status_code)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
answer = client.get("/ready/")
print(answer.status_code, *answer.json()["reasons"], client.get("/health/").status_code)
"""


@pytest.mark.django_db(transaction=True)
def test_a_sound_installation_is_ready_and_the_answer_is_not_stored(client: Client) -> None:
    answer = client.get("/ready/")
    assert (answer.status_code, answer.json()) == (200, {"status": "ready"})
    assert "no-store" in answer.headers["Cache-Control"]


@pytest.mark.django_db(transaction=True)
def test_missing_migrations_and_an_unwritable_storage_are_named(
    client: Client, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder = MigrationRecorder(connection)
    last = max(name for app, name in recorder.applied_migrations() if app == "studies")
    recorder.record_unapplied("studies", last)
    try:
        assert "lacks migrations" in client.get("/ready/").json()["reasons"][0]
    finally:
        recorder.record_applied("studies", last)
    backend = {"BACKEND": "django.core.files.storage.FileSystemStorage"}
    settings.STORAGES = {
        **settings.STORAGES, "artefacts": {**backend, "OPTIONS": {"location": tmp_path / "gone"}},
    }  # fmt: skip
    answer = client.get("/ready/")
    assert (answer.status_code, len(answer.json()["reasons"])) == (503, 1)
    assert "no-store" in answer.headers["Cache-Control"]
    monkeypatch.setattr(readiness, "LEAST_FREE", 2**62)
    assert "less than" in client.get("/ready/").json()["reasons"][0]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("redis", "words"),
    [
        ("redis://:a-secret@127.0.0.1:1/0", "Redis does not answer"),
        (None, "cannot be read"),
        (None, "cannot be written"),
    ],
)
def test_a_site_without_its_broker_is_not_ready(
    client: Client, settings: Any, tmp_path: Path, redis: str | None, words: str
) -> None:
    settings.REDIS_URL = redis
    folder = tmp_path / ("gone" if words == "cannot be read" else "messages")
    if words == "cannot be written":
        folder = Path("/proc/self/fd")  # which nobody can write, not even root
    settings.CELERY_BROKER_TRANSPORT_OPTIONS = {"data_folder_in": str(folder)}
    answer = client.get("/ready/")
    assert answer.status_code == 503
    (reason,) = answer.json()["reasons"]
    assert words in reason
    assert "a-secret" not in reason


@pytest.mark.django_db(transaction=True)
def test_a_database_from_before_the_squashed_migrations_is_ready(client: Client) -> None:
    recorder = MigrationRecorder(connection)
    squashed = [key for key in recorder.applied_migrations() if "_squashed_" in key[1]]
    assert {app for app, _ in squashed} >= {"accounts", "catalog", "evaluation", "studies", "analysis"}
    for key in squashed:
        recorder.record_unapplied(*key)
    try:
        assert client.get("/ready/").status_code == 200
    finally:
        for key in squashed:
            recorder.record_applied(*key)


@pytest.mark.slow
def test_a_full_disk_is_noticed_where_the_health_check_does_not(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK], capture_output=True, text=True, check=False, cwd=django_settings.BASE_DIR,
        env={"PARALLAX_VAR": str(tmp_path), "DJANGO_SETTINGS_MODULE": "parallax.settings"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    before, full = done.stdout.splitlines()
    assert before == "200"
    assert (full[:4], full[-4:]) == ("503 ", " 200")
    assert readiness.UNWRITABLE in full


@pytest.mark.django_db
def test_metrics_are_off_without_a_token_and_closed_with_another(client: Client, settings: Any) -> None:
    settings.METRICS_TOKEN = ""
    assert client.get("/metrics/", headers=TOKEN).status_code == 404
    settings.METRICS_TOKEN = "another-token"
    refused = client.get("/metrics/", headers=TOKEN)
    assert (refused.status_code, refused.content) == (401, b"")
    assert client.get("/metrics/").status_code == 401


@pytest.mark.django_db
def test_metrics_count_requests_by_view_and_rows_by_status(settings: Any) -> None:
    settings.METRICS_TOKEN = "a-token-of-prometheus"
    study = make_study(slug="measured")
    completed(study)
    client = Client()
    client.get("/health/")
    client.generic("BREW", "/health/")
    Worker.objects.create(host="elsewhere", pid=7, code="", task="evaluation.work", seen_at=timezone.now())
    text = client.get("/metrics/", headers=TOKEN).text
    assert 'parallax_requests_total{method="GET",status="200",view="health"}' in text
    assert 'parallax_requests_total{method="other",status="405",view="health"}' in text
    assert re.search(r'parallax_request_seconds_bucket\{le="0.5",view="health"\} \d', text)
    assert 'parallax_participants{mode="live",status="completed",study="measured"} 1.0' in text
    assert 'parallax_studies{status="live"} 1.0' in text
    assert 'parallax_runs{status="succeeded"} 1.0' in text
    assert 'parallax_run_parts{status="done"}' in text
    assert re.search(r"parallax_disk_free_bytes [1-9]", text)
    assert "parallax_workers 1.0" in text
    assert "parallax_workers_busy 1.0" in text
    assert "parallax_queue_messages" in text
    for condition in study.conditions.all():  # which metrics must not tell
        assert condition.label not in text
