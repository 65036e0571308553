"""Outages of the database, Redis and the disk: pages say so, and what can be answered is answered."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from celery import current_app
from django.conf import settings as django_settings
from django.core.cache import caches
from django.db import OperationalError
from django.http import HttpRequest, HttpResponse
from django.test import Client
from kombu.exceptions import OperationalError as NoBroker

from core.errors import ParallaxError
from jobs.kinds import KINDS
from jobs.parent_process import PARENT_VARIABLE
from jobs.queue import enqueue_on_commit
from parallax import children as children_module
from parallax.celery import check_database
from parallax.children import Children
from parallax.outages import LOST, RetryLostConnection, is_outage
from studies.models import StudyMembership
from tests.factories.accounts import UserFactory
from tests.factories.studies import make_study

pytestmark = pytest.mark.integration
NO_REDIS = "redis://127.0.0.1:1/0"  # nothing listens there

# A process whose connection to PostgreSQL is cut between two requests, as by a restart of the server.
RESTART = """
import django
django.setup()
from django.core.management import call_command
from django.db import connection
from django.test import Client
import psycopg
call_command("migrate", verbosity=0)
client = Client(headers={"host": "localhost"}, raise_request_exception=False)
print(client.get("/health/").status_code)
def cut():
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        (pid,) = cursor.fetchone()
    import os
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s)", (pid,))
cut()
print(client.get("/health/").status_code)
cut()
answer = client.post("/account/password/reset/", {"email": "a@example.org"})
print(answer.status_code, "cannot store or read data" in answer.text)
"""


@pytest.mark.slow
@pytest.mark.core
def test_a_restart_of_postgresql_is_not_seen_by_who_reads(postgresql_url: str, tmp_path: Path) -> None:
    environment = {
        **os.environ, "DATABASE_URL": postgresql_url, "PARALLAX_VAR": str(tmp_path),
        "DJANGO_SETTINGS_MODULE": "parallax.settings",
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", RESTART], capture_output=True, text=True, check=False, env=environment,
        cwd=django_settings.BASE_DIR,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["200", "200", "503 True"]


@pytest.mark.unit
@pytest.mark.parametrize(("method", "n_calls"), [("GET", 2), ("HEAD", 2), ("POST", 1)])
def test_only_requests_that_change_nothing_are_tried_again_and_once(
    method: str, n_calls: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("parallax.outages.connections", SimpleNamespace(close_all=lambda: None))
    statuses = []

    def site(request: HttpRequest) -> HttpResponse:
        request.META[LOST] = True
        statuses.append(503)
        return HttpResponse(status=503)

    request = HttpRequest()
    request.method = method
    assert RetryLostConnection(site)(request).status_code == 503
    assert len(statuses) == n_calls


@pytest.mark.unit
def test_faults_of_the_code_are_no_outages() -> None:
    assert is_outage(OperationalError())
    assert is_outage(NoBroker())
    assert is_outage(OSError(28, "No space left on device"))
    assert not is_outage(FileNotFoundError())
    assert not is_outage(ValueError())
    assert not is_outage(None)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("path", "language", "words"),
    [
        ("/", "en", "cannot store or read data"),
        ("/s/films/", "it", "non può salvare o leggere dati"),
        ("/s/films/", "de", "keine Daten speichern"),
        ("/api/v1/studies/", "en", '"code": "web.unavailable"'),
    ],
)
def test_an_outage_is_a_page_in_words_for_participants_in_their_language(
    path: str, language: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*args: Any, **kwargs: Any) -> None:
        raise OperationalError("could not connect to server")

    monkeypatch.setattr("django.contrib.sessions.middleware.SessionMiddleware.process_request", away)
    client = Client(raise_request_exception=False, headers={"Accept-Language": language})
    answer = client.get(path)
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "60")
    assert words in answer.text
    assert "could not connect" not in answer.text


@pytest.mark.django_db
def test_without_redis_pages_limits_and_the_api_go_on(settings: Any) -> None:
    backend = {"BACKEND": "parallax.cache.RedisOrLocalCache", "LOCATION": NO_REDIS, "KEY_PREFIX": "parallax"}
    settings.CACHES = {"default": backend}
    settings.REDIS_URL = NO_REDIS
    cache = caches["default"]
    assert (cache.add("n", 1), cache.add("n", 5), cache.incr("n"), cache.get("n")) == (True, False, 2, 2)
    cache.set("m", "x")
    assert (cache.get("m"), cache.delete("m"), cache.get("m", "gone")) == ("x", True, "gone")
    cache.clear()
    assert cache.get("n") is None
    study = make_study()
    client = Client()
    assert client.get(f"/s/{study.slug}/").status_code == 200
    owner = UserFactory()
    StudyMembership.objects.create(study=study, researcher=owner, role="owner")
    client.force_login(owner)
    for path in ("/", f"/studies/{study.slug}/", "/studies/", "/runs/", "/reports/", "/api/v1/studies/"):
        assert client.get(path).status_code == 200, path


@pytest.mark.unit
def test_a_broker_that_is_away_fails_no_page(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    def away(*args: Any, **options: Any) -> None:
        raise NoBroker("Connection refused")

    monkeypatch.setattr(current_app.tasks["studies.sweep"], "apply_async", away)
    monkeypatch.setattr("django.db.transaction.on_commit", lambda send: send())
    enqueue_on_commit("studies.sweep")
    assert "message not sent task=studies.sweep" in caplog.text


# Queues


@pytest.mark.unit
def test_fits_have_a_queue_of_their_own_and_everything_else_is_short() -> None:
    queues = dict(current_app.amqp.queues.items())
    short, long = django_settings.CELERY_TASK_DEFAULT_QUEUE, django_settings.LONG_QUEUE
    assert {queues[short].routing_key, queues[long].routing_key} == {short, long}
    assert queues[short].exchange != queues[long].exchange

    def queue_of(task: str) -> str:
        return str(current_app.amqp.router.route({}, task)["queue"].name)

    assert queue_of("evaluation.work") == long
    assert {queue_of(task) for task in ("analysis.draw_pages", "studies.sweep", "evaluation.sweep", "jobs.sweep")} == {
        short
    }
    assert {key for key, kind in KINDS.items() if kind.queue == long} == {"bayesian", "lists-collection"}


@pytest.mark.unit
def test_messages_of_beat_expire_with_their_pace() -> None:
    for entry in django_settings.CELERY_BEAT_SCHEDULE.values():
        assert entry["options"]["expires"] <= entry["schedule"]


@pytest.mark.unit
def test_up_starts_a_worker_that_takes_short_jobs_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: dict[str, list[str]] = {}
    monkeypatch.setattr(Children, "_start", lambda self, name, command: started.update({name: command}))
    monkeypatch.setattr(Children, "wait_until_ready", lambda self: None)
    with Children(port=8379, workers=2):
        pass
    assert set(started) == {"web", "worker-1", "worker-2", "worker-short"}
    short = started["worker-short"]
    assert short[short.index("-Q") + 1] == django_settings.CELERY_TASK_DEFAULT_QUEUE
    assert "-Q" not in started["worker-1"]  # takes both


@pytest.mark.unit
def test_a_worker_of_a_command_waits_for_the_database_as_any_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """`demo` starts its processes before it applies the migrations."""
    prepared: list[bool] = []
    monkeypatch.setenv(PARENT_VARIABLE, "1")
    monkeypatch.setattr("parallax.celery.prepare_database", lambda: prepared.append(True))
    check_database()
    assert prepared == [True]


# The web server of `up`


@pytest.mark.unit
def test_up_restarts_its_web_server_and_gives_up_on_one_that_keeps_ending(
    settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.VAR_DIR = tmp_path
    monkeypatch.setattr(children_module, "STOP_SECONDS", 2.0)
    children = Children()
    sleeps = [sys.executable, "-c", "import time; time.sleep(60)"]
    children._start("web", sleeps)
    first = children._running[0][1]
    waiting = threading.Thread(target=_wait, args=(children,), daemon=True)
    try:
        waiting.start()
        os.kill(first.pid, signal.SIGKILL)
        deadline = time.monotonic() + 20
        while children._running[0][1] is first and time.monotonic() < deadline:
            time.sleep(0.05)
        second = children._running[0][1]
        assert second.pid != first.pid
        assert second.poll() is None
    finally:
        children._running[0] = ("web", _ended(children))  # what keeps ending stops the wait
        waiting.join(60)
        children.stop()
    assert not waiting.is_alive()


def _wait(children: Children) -> None:
    with pytest.raises(ParallaxError, match="The process web ended"):
        children.wait()


def _ended(children: Children) -> subprocess.Popen[bytes]:
    """A process that has ended, and whose command ends at once whenever it is started again."""
    running = children._running[0][1]
    running.kill()
    running.wait()
    process = subprocess.Popen([sys.executable, "-c", "raise SystemExit(3)"])
    process.wait()
    return process
