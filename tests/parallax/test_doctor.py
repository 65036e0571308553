"""The doctor finds what is wrong with an installation, and says how to fix it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone
from redis import Redis
from redis.exceptions import ResponseError

from core.models import LogEntry, Worker
from core.provenance import current_code_digest
from core.rate_limits import RateLimit, seconds_to_wait
from jobs.workers import ALIVE_SECONDS
from parallax.doctor import machine, services
from parallax.doctor.diagnosis import Diagnosis, Level
from tests.e2e.test_main_job import free_port
from tests.factories.redis_servers import redis_server

pytestmark = [pytest.mark.integration, pytest.mark.django_db]
Check = Callable[[], Iterator[Diagnosis]]


def level_of(check: Check) -> Level:
    found = list(check())
    assert all(one.what and (one.level is Level.OK or one.remedy) for one in found)
    return max((one.level for one in found), key=list(Level).index, default=Level.OK)


def test_disk_private_files_and_kernels(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.VAR_DIR = tmp_path
    tmp_path.chmod(0o755)
    assert level_of(machine.check_private_files) is Level.PROBLEM
    tmp_path.chmod(0o700)
    assert level_of(machine.check_private_files) is Level.OK
    monkeypatch.setattr(machine, "LITTLE_FREE", 1e30)
    assert level_of(machine.check_disk) is Level.ADVICE
    monkeypatch.setattr(machine, "LEAST_FREE", 1e30)
    assert level_of(machine.check_disk) is Level.PROBLEM
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    assert level_of(machine.check_kernels) is Level.ADVICE


def test_packages_that_differ_from_the_pins(settings: Any, tmp_path: Path) -> None:
    assert level_of(machine.check_versions) is Level.OK
    settings.BASE_DIR = tmp_path
    (tmp_path / "requirements.txt").write_text("Django==1.0  # old\npsycopg[binary]==1.0\nnot-there==1\n")
    (found,) = machine.check_versions()
    assert found.level is Level.PROBLEM
    assert "not-there missing" in found.what
    assert found.what.count(" instead of ") == 3


def test_unsafe_settings_of_a_public_site(settings: Any) -> None:
    settings.ALLOWED_HOSTS, settings.DEBUG = ["study.example.org"], True
    sentences = [found.what for found in services.check_settings() if found.level is Level.PROBLEM]
    assert any("DEBUG is on" in what for what in sentences)
    assert any("HTTPS is off" in what for what in sentences)


def test_a_clock_that_was_set_back() -> None:
    assert level_of(services.check_clock) is Level.OK
    entry = LogEntry.objects.create(kind="study", object_id=1)
    LogEntry.objects.filter(pk=entry.pk).update(at=timezone.now() + timedelta(hours=1))
    assert level_of(services.check_clock) is Level.PROBLEM


def test_a_broker_that_does_not_answer_or_is_full(settings: Any, tmp_path: Path) -> None:
    settings.REDIS_URL = ""
    settings.CELERY_BROKER_TRANSPORT_OPTIONS = {"data_folder_in": str(tmp_path)}
    assert level_of(services.check_broker) is Level.OK
    for number in range(services.MANY_MESSAGES + 1):
        (tmp_path / str(number)).touch()
    assert level_of(services.check_broker) is Level.ADVICE
    settings.CELERY_BROKER_TRANSPORT_OPTIONS = {"data_folder_in": str(tmp_path / "gone")}
    assert level_of(services.check_broker) is Level.PROBLEM
    settings.REDIS_URL = "redis://:a-password@127.0.0.1:1/0"
    (found,) = services.check_broker()
    assert found.level is Level.PROBLEM
    assert "a-password" not in found.what + found.remedy


def test_a_broker_on_redis(settings: Any, redis_url: str) -> None:
    settings.REDIS_URL = redis_url
    assert level_of(services.check_broker) is Level.OK


@pytest.mark.slow
def test_redis_of_the_compose_file_never_forgets_a_count(settings: Any, tmp_path: Path) -> None:
    """Its memory was full of other entries, and a network that is over its limit stays over it."""
    (tmp_path / "password").write_text("p@ss/with#odd?characters")
    with redis_server(tmp_path / "password", free_port(), memory="3mb") as url:
        url = url.replace("//", "//:p%40ss%2Fwith%23odd%3Fcharacters@")
        settings.REDIS_URL = url
        settings.CACHES = {"default": {"BACKEND": "parallax.cache.RedisOrLocalCache", "LOCATION": url}}
        assert level_of(services.check_broker) is Level.OK
        limit = RateLimit(most=3, seconds=3600)
        now = 1_800_000_000.0
        for _ in range(3):
            assert seconds_to_wait(limit, "network", now=now) == 0
        with Redis.from_url(url) as server:
            for number in range(200):
                with suppress(ResponseError):
                    server.set(f"other-{number}", "x" * 50_000, ex=600)
            assert server.info("stats")["evicted_keys"] == 0
            server.delete("other-0", "other-1")  # while it is full, each process counts on its own
            assert seconds_to_wait(limit, "network", now=now) > 0


def test_a_mail_server_that_does_not_answer(settings: Any) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT, settings.EMAIL_HOST_PASSWORD = "127.0.0.1", 1, "a-password"
    (found,) = services.check_mail()
    assert found.level is Level.PROBLEM
    assert "127.0.0.1:1" in found.what
    assert "a-password" not in found.what


def test_workers_of_other_machines_and_the_code_that_they_run() -> None:
    assert level_of(services.check_workers) is Level.ADVICE
    other = Worker.objects.create(
        host="elsewhere", pid=7, queues=["parallax"], code=current_code_digest(), task="evaluation.work",
        seen_at=timezone.now(),
    )  # fmt: skip
    (found,) = services.check_workers()
    assert found.level is Level.OK
    assert "elsewhere:7 evaluation.work" in found.what
    other.code = "0" * 64
    other.save()
    (found,) = services.check_workers()
    assert found.level is Level.PROBLEM
    assert "elsewhere:7" in found.what
    other.seen_at -= timedelta(seconds=ALIVE_SECONDS + 1)
    other.save()
    assert level_of(services.check_workers) is Level.ADVICE


def test_the_command_ends_with_status_1_where_something_must_be_fixed(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DJANGO_ALLOW_ASYNC_UNSAFE", raising=False)
    settings.ALLOWED_HOSTS = ["localhost"]
    out = StringIO()
    call_command("doctor", stdout=out)
    assert out.getvalue().splitlines()[-1] == "No problems found."
    monkeypatch.setattr(machine, "LEAST_FREE", 1e30)
    out = StringIO()
    with pytest.raises(SystemExit) as end:
        call_command("doctor", stdout=out)
    assert end.value.code == 1
    assert out.getvalue().splitlines()[-1] == "Problems to fix: 1."
    assert "Free some space" in out.getvalue()


def test_the_digest_of_the_code_is_of_the_product(tmp_path: Path) -> None:
    assert current_code_digest() == current_code_digest()
    assert len(current_code_digest()) == 64
