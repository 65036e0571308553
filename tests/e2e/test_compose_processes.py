"""The processes of docker-compose.yml, started by hand on PostgreSQL and Redis.

Each service's command and environment is read from the file; only addresses, ports and folders are changed. Visitors go
through Caddy, with the project's Caddyfile and TLS.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from tests.e2e.test_main_job import free_port
from tests.factories.redis_servers import redis_server

ROOT = Path(__file__).resolve().parents[2]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SECRETS = {
    "secret_key": "k7Vw2xQ9pLs4Tn8RbY3mZc6HdF1gJ5aEuXoWiSqKtNvBhCyP",
    "database_password": "p@ss/with#odd?characters",
    "redis_password": "another p@ss/with#odd?characters",
    "email_password": "",
    "metrics_token": "a-long-token-for-prometheus",
}
WORKERS = ("worker", "short-worker", "beat")
pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.core]


@dataclass
class Deployment:
    """The running processes: `url` is the proxy's, `authority` the file that its certificate is checked with."""

    folder: Path
    addresses: dict[str, str]  # what stands in the compose file, and what takes its place here
    url: str
    authority: Path

    def environment(self, service: str) -> dict[str, str]:
        """The service's environment, without anything of this process's that Parallax reads."""
        own = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "COVERAGE_FILE") if name in os.environ}
        values = COMPOSE["services"][service].get("environment", {})
        given = {name: self.here(str(value)) for name, value in values.items() if value is not None}
        numba = os.environ.get("NUMBA_CACHE_DIR", "var/numba")
        return {**own, **given, "PARALLAX_VAR": str(self.folder / "var"), "NUMBA_CACHE_DIR": numba}

    def here(self, text: str) -> str:
        """The text with the addresses and folders of this machine."""
        text = re.sub("|".join(map(re.escape, self.addresses)), lambda found: self.addresses[found[0]], text)
        assert "${" not in text, text
        return text

    def command(self, service: str) -> list[str]:
        words: list[str] = COMPOSE["services"][service]["command"]
        words = shlex.split(words) if isinstance(words, str) else words
        programs = {"celery": [sys.executable, "-m", "celery"], ".venv/bin/python": [sys.executable]}
        return [*programs.get(words[0], words[:1]), *(self.here(word.replace("$$", "$")) for word in words[1:])]

    def is_healthy(self, service: str) -> bool:
        """What the service's health check says."""
        kind, test = COMPOSE["services"][service]["healthcheck"]["test"]
        assert kind == "CMD-SHELL"
        alive = self.here(test).replace(str(self.folder / "alive"), str(self.folder / f"alive-{service}"))
        return subprocess.run(["sh", "-c", alive], check=False, capture_output=True).returncode == 0


@contextmanager
def process(words: list[str], environment: dict[str, str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("wb") as out:
        started = subprocess.Popen(words, cwd=ROOT, env=environment, stdout=out, stderr=subprocess.STDOUT)
    try:
        yield started
    finally:
        started.terminate()
        try:
            started.wait(timeout=30)
        except subprocess.TimeoutExpired:
            started.kill()
            started.wait()


def wait_until(what: str, is_so: Any, seconds: float = 120) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if is_so():
            return
        time.sleep(0.5)
    pytest.fail(f"not within {seconds:.0f} s: {what}")


@pytest.fixture(scope="module")
def caddy() -> str:
    """Debian's Caddy."""
    found = shutil.which("caddy")
    if found is None and os.environ.get("PARALLAX_REQUIRE_TOOLS"):
        pytest.fail("Caddy is not installed, and PARALLAX_REQUIRE_TOOLS makes it mandatory")
    if found is None:
        pytest.skip("Caddy is not installed (apt-get install caddy)")
    return found


@pytest.fixture(scope="module")
def deployment(caddy: str, postgresql_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    folder = tmp_path_factory.mktemp("compose")
    (folder / "secrets").mkdir(mode=0o700)
    for name, text in SECRETS.items():
        (folder / "secrets" / name).write_text(text)
    (folder / "backups").mkdir()
    web, http, https, broker = free_port(), free_port(), free_port(), free_port()
    url = f"https://localhost:{https}"
    addresses = {
        "postgresql://parallax@database:5432/parallax": postgresql_url,
        "redis://broker:6379/0": f"redis://127.0.0.1:{broker}/0",
        "/run/secrets/": f"{folder}/secrets/",
        "https://${DOMAIN}": url,
        "${DOMAIN:?set DOMAIN}": "localhost",
        "${DEFAULT_FROM_EMAIL:-Parallax <parallax@${DOMAIN}>}": "Parallax <parallax@localhost>",
        "${DOMAIN}": "localhost",
        "${TLS:-}": "",
        "${PARALLAX_SECOND_FACTOR:-administrators}": "administrators",
        "/tmp/": f"{folder}/",  # noqa: S108 -- the containers' own
        "/backups": f"{folder}/backups",
        "while true": "for once in 1",
        "sleep 86400": "true",
    }
    made = Deployment(folder, addresses, url, folder / "caddy/caddy/pki/authorities/local/root.crt")
    (migrated,) = [subprocess.run(made.command("migrate"), cwd=ROOT, env=made.environment("migrate"), check=False)]
    assert migrated.returncode == 0
    _python, *serve = [word.replace("0.0.0.0", "127.0.0.1") for word in made.command("web")]  # noqa: S104
    proxy = {
        **made.environment("proxy"),
        "XDG_DATA_HOME": str(folder / "caddy"), "XDG_CONFIG_HOME": str(folder / "caddy"),
        "HTTP_PORT": str(http), "HTTPS_PORT": str(https), "WEB": f"127.0.0.1:{web}",
    }  # fmt: skip
    with ExitStack() as stack:
        stack.enter_context(redis_server(folder / "secrets/redis_password", broker))
        words = [sys.executable, *serve, "--port", str(web)]
        stack.enter_context(process(words, made.environment("web"), folder / "web.log"))
        for name in WORKERS:
            environment = {**made.environment(name), "PARALLAX_ALIVE_FILE": str(folder / f"alive-{name}")}
            stack.enter_context(process(made.command(name), environment, folder / f"{name}.log"))
        run_caddy = [caddy, "run", "--config", "Caddyfile", "--adapter", "caddyfile"]
        stack.enter_context(process(run_caddy, proxy, folder / "proxy.log"))
        wait_until("the proxy's own authority", made.authority.exists)
        wait_until("the site behind the proxy", lambda: is_up(made))
        yield made


def client_of(deployment: Deployment) -> httpx.Client:
    return httpx.Client(
        base_url=deployment.url, verify=ssl.create_default_context(cafile=str(deployment.authority)), timeout=60
    )


def is_up(deployment: Deployment) -> bool:
    try:
        with client_of(deployment) as client:
            return client.get("/health/").status_code == 200
    except httpx.HTTPError:
        return False


def test_a_health_check_sees_a_process_that_works(deployment: Deployment) -> None:
    """All at once, as each touches its file only every so often."""
    for service in WORKERS:
        wait_until(f"{service} is healthy", lambda service=service: deployment.is_healthy(service))
    for service in WORKERS:
        alive = deployment.folder / f"alive-{service}"
        os.utime(alive, (time.time() - 180, time.time() - 180))
        assert not deployment.is_healthy(service)
    for service in WORKERS:
        wait_until(f"{service} has touched its file again", lambda service=service: deployment.is_healthy(service), 60)


def test_the_backup_service_writes_one_that_restores(deployment: Deployment) -> None:
    done = subprocess.run(
        deployment.command("backup"), cwd=ROOT, capture_output=True, text=True, timeout=300, check=False,
        env={**deployment.environment("backup"), "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
    )  # fmt: skip
    assert "The backup is not encrypted" in done.stderr
    (backup,) = (deployment.folder / "backups").glob("parallax-*.zip")
    assert backup.stat().st_size > 10_000, done.stdout + done.stderr
    assert done.returncode == 0, done.stdout + done.stderr


def test_participants_walk_behind_the_proxy(deployment: Deployment) -> None:
    """The worker trains and measures, the participants come through Caddy and TLS, and nothing is left half done."""
    loading = (
        "from accounts.models import User; from catalog.services import load_demo_dataset; "
        "load_demo_dataset(seed=1, owner=User.objects.get())"
    )
    manage(deployment, "create_account", "owner@example.org")
    manage(deployment, "shell", "-c", loading)
    manage(deployment, "evaluate", "demo-films", "--algorithms", "toppop,puresvd:factors=10", "--reserve", "0.15")
    manage(deployment, "create_study", "proxied", "--dataset", "demo-films", "--per-condition", "10")
    manage(deployment, "launch_study", "proxied")
    printed = manage(
        deployment, "simulate_participants", "proxied", "--per-condition", "10", "--base-url", deployment.url
    )
    assert "20 of 20 simulated participants completed" in printed
    manage(deployment, "check_integrity")


def manage(deployment: Deployment, *words: str) -> str:
    """Run a command in the web service's environment, which has to succeed; returns what it printed."""
    done = subprocess.run(
        [sys.executable, "manage.py", *words], cwd=ROOT, capture_output=True, text=True, timeout=300, check=False,
        env={**deployment.environment("web"), "SSL_CERT_FILE": str(deployment.authority)},
    )  # fmt: skip
    assert done.returncode == 0, f"{words}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout


def test_the_proxy_adds_tls_and_refuses_large_bodies_before_they_reach_the_web_server(deployment: Deployment) -> None:
    with client_of(deployment) as client:
        page = client.get("/account/sign-in/")
        assert page.status_code == 200
        assert page.headers["Strict-Transport-Security"].startswith("max-age=")
        assert "Secure" in page.headers["Set-Cookie"]
        assert client.post("/account/sign-in/", content=b"x" * 1_100_000).status_code == 413
        in_chunks = client.post("/account/sign-in/", content=(b"x" * 65_536 for _ in range(20)))
        assert in_chunks.status_code in (413, 502)  # the web server's own limit is met first
        style = client.get("/static/css/participant.css", headers={"Accept-Encoding": "gzip"})
        assert style.headers["Content-Encoding"] == "gzip"
        assert "200" in str(client.get("/metrics/", headers={"Authorization": "Bearer a-long-token-for-prometheus"}))


def test_visitors_are_counted_by_the_address_that_the_proxy_saw(deployment: Deployment) -> None:
    """An address that a visitor claims does not open a new count."""
    with client_of(deployment) as client:
        for attempt in range(30):
            form = {"username": f"nobody{attempt}@example.org", "password": "wrong"}
            page = client.get("/account/sign-in/")
            token = re.findall(r'name="csrfmiddlewaretoken" value="([^"]+)"', page.text)
            if not token:
                break
            answer = client.post(
                "/account/sign-in/", data={**form, "csrfmiddlewaretoken": token[0]},
                headers={"X-Forwarded-For": f"203.0.113.{attempt}", "Referer": f"{deployment.url}/account/sign-in/"},
            )  # fmt: skip
            if answer.status_code in (403, 429):
                break
        else:
            pytest.fail("thirty wrong passwords by claimed addresses met no limit")


def test_connections_that_dawdle_are_closed_by_the_proxy_and_others_are_served(deployment: Deployment) -> None:
    port = int(deployment.url.rsplit(":", 1)[1])
    context = ssl.create_default_context(cafile=str(deployment.authority))
    dawdlers = []
    for _ in range(50):
        connection = context.wrap_socket(socket.create_connection(("127.0.0.1", port)), server_hostname="localhost")
        connection.sendall(b"GET /health/ HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
        dawdlers.append(connection)
    with client_of(deployment) as client:
        assert {client.get("/health/").status_code for _ in range(20)} == {200}
    closed = threading.Event()

    def wait_for_the_end() -> None:
        dawdlers[0].settimeout(40)
        while dawdlers[0].recv(1024):
            pass
        closed.set()

    waiting = threading.Thread(target=wait_for_the_end, daemon=True)
    waiting.start()
    assert closed.wait(45)
    for connection in dawdlers:
        connection.close()
