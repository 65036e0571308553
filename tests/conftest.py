"""Fixtures that every package's tests share: where things are, and what has to be there."""

from __future__ import annotations

import fcntl
import hashlib
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import settings as hypothesis_settings

ROOT = Path(__file__).resolve().parents[1]
# How long an example takes on a busy machine says nothing about the code under test. Every run draws the same examples,
# so that neither a result nor the coverage depends on chance; `--hypothesis-profile=search` draws new ones.
hypothesis_settings.register_profile("search", deadline=None, database=None)
hypothesis_settings.register_profile("parallax", hypothesis_settings.get_profile("search"), derandomize=True)
hypothesis_settings.load_profile("parallax")


KINDS = ("unit", "integration", "e2e", "reference")
# Each takes a minute or more: they start first, the longest before the others, so that no process waits for another at
# the end.
LONGEST_FILES = (
    "test_main_job.py", "test_restore_drill.py", "test_upgrade.py", "test_compose_processes.py", "test_worker.py",
    "test_concurrency.py", "test_every_console_page.py", "test_robust_way.py",
)  # fmt: skip


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests of no other kind as unit tests, and tests that start a browser as slow.

    The longest files come first.
    """
    for item in items:
        if not any(item.get_closest_marker(kind) for kind in KINDS):
            item.add_marker(pytest.mark.unit)
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)
    places = {name: place for place, name in enumerate(LONGEST_FILES)}
    items.sort(key=lambda item: places.get(item.path.name, len(places)))


@pytest.fixture(scope="session", autouse=True)
def loaded_tasks() -> None:
    """Celery knows every task, as in a worker."""
    from django.utils.module_loading import autodiscover_modules

    autodiscover_modules("tasks")


@pytest.fixture(scope="session", autouse=True)
def light_argon2() -> Iterator[None]:
    """Keep passwords by Argon2 with its least cost: a third of a second each, on purpose, adds up to minutes."""
    from django.contrib.auth.hashers import Argon2PasswordHasher

    with pytest.MonkeyPatch.context() as patch:
        for name, least in (("time_cost", 1), ("memory_cost", 8), ("parallelism", 1)):
            patch.setattr(Argon2PasswordHasher, name, least)
        yield


CHROMIUM_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def _is_required(switch: str) -> bool:
    return os.environ.get(switch, "") not in {"", "0"}


def _missing(what: str, switch: str) -> None:
    """Skip with a plain word, or fail where the switch makes it mandatory."""
    if _is_required(switch):
        pytest.fail(f"{what}, and {switch} makes it mandatory")
    pytest.skip(what)


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture(scope="session")
def shared_dir() -> Path:
    """The folder of shared data beside the project's root."""
    folder = ROOT.parent / "shared"
    if not folder.is_dir():
        _missing("the shared data are not beside the project", "PARALLAX_REQUIRE_DATA")
    return folder


@pytest.fixture(scope="session")
def movielens_small(shared_dir: Path) -> Path:
    """The folder of MovieLens latest-small."""
    return shared_dir / "data" / "ml-latest-small"


@pytest.fixture(scope="module")
def redis_url() -> Iterator[str]:
    """A Redis database that nothing else uses, left as it was found.

    Each of the processes that run tests side by side has its own.
    """
    if not _listens(6379):
        _missing("no Redis answers at 127.0.0.1:6379", "PARALLAX_REQUIRE_SERVERS")
    number = 13 - int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    url = f"redis://127.0.0.1:6379/{number}"
    from redis import Redis

    with Redis.from_url(url) as server:
        before = set(server.keys())
        yield url
        # A worker that was killed leaves the messages it held.
        if left := set(server.keys()) - before:
            server.delete(*left)


@pytest.fixture(scope="module")
def new_postgresql() -> Iterator[Callable[[], str]]:
    """Create an empty PostgreSQL database and return its URL; all are dropped after the tests of a file."""
    if not _listens(5432):
        _missing("no PostgreSQL answers at 127.0.0.1:5432", "PARALLAX_REQUIRE_SERVERS")
    import psycopg

    server = "postgresql://postgres@127.0.0.1:5432/"

    def execute(statement: str) -> None:
        with psycopg.connect(f"{server}postgres", autocommit=True) as connection:
            connection.execute(statement)  # type: ignore[arg-type]

    with ExitStack() as created:

        def create() -> str:
            # A random name: a run that was killed may have left a database whose process had the same number.
            name = f"parallax_tests_{secrets.token_hex(6)}"
            execute(f'CREATE DATABASE "{name}"')
            created.callback(execute, f'DROP DATABASE "{name}" WITH (FORCE)')
            return server + name

        yield create


@pytest.fixture(scope="module")
def postgresql_url(new_postgresql: Callable[[], str]) -> str:
    """An empty PostgreSQL database for the tests of a file, dropped at their end."""
    return new_postgresql()


@pytest.fixture(scope="session")
def migrated_database() -> Path:
    """An SQLite file with every migration applied, which takes seconds: made once, until a migration changes."""
    folder = ROOT / "var" / "tests"
    folder.mkdir(parents=True, exist_ok=True)
    sources = [ROOT / "requirements.txt", *sorted(ROOT.glob("*/migrations/*.py")), *ROOT.glob("*/*/migrations/*.py")]
    digest = hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()
    file = folder / f"migrated-{digest[:16]}.sqlite3"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not file.exists():
            for older in folder.glob("migrated-*"):
                older.unlink()
            part = folder / "part.sqlite3"
            part.unlink(missing_ok=True)
            environment = {**os.environ, "DATABASE_URL": f"sqlite:///{part}"}
            migrate = [sys.executable, "manage.py", "migrate", "--no-input", "--verbosity", "0"]
            subprocess.run(migrate, cwd=ROOT, env=environment, check=True)
            part.replace(file)
    return file


@pytest.fixture(scope="session")
def django_db_keepdb(django_db_modify_db_settings: None, migrated_database: Path) -> bool:
    """Begin with a copy of the migrated database, where the tests' own is SQLite."""
    from django.db import connection

    if connection.vendor != "sqlite":
        return False
    shutil.copy(migrated_database, connection.settings_dict["TEST"]["NAME"])
    return True


@pytest.fixture(scope="session")
def migrated_copy(migrated_database: Path) -> Callable[[Path], None]:
    """Copy the migrated database to the file of an installation."""

    def copy(file: Path) -> None:
        file.parent.mkdir(mode=0o700, exist_ok=True)
        shutil.copy(migrated_database, file)

    return copy


@pytest.fixture(scope="session")
def object_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """An S3 server of its own process; each test makes a bucket."""
    from tests.factories.object_servers import ObjectServer

    server = ObjectServer(tmp_path_factory.mktemp("moto") / "log")
    yield server
    server.stop()


@pytest.fixture(scope="session")
def chromium_path() -> str:
    """Debian's Chromium: the headless shell, which draws no windows and takes half the time, where there is one."""
    found = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    if found is None:
        _missing("Chromium is not installed (apt-get install chromium-headless-shell)", "PARALLAX_REQUIRE_BROWSER")
    return str(found)


@pytest.fixture(scope="session")
def rscript() -> str:
    """R, which runs scripts."""
    found = shutil.which("Rscript")
    if found is None:
        _missing("R is not installed (apt-get install r-base-core)", "PARALLAX_REQUIRE_TOOLS")
    return str(found)


@pytest.fixture(scope="session")
def poppler() -> None:
    """Poppler's programs, which read and draw PDF."""
    if shutil.which("pdftotext") is None or shutil.which("pdftoppm") is None:
        _missing("poppler is not installed (apt-get install poppler-utils)", "PARALLAX_REQUIRE_TOOLS")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 40 MB in memory."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=40m,mode=700", "tmpfs", str(folder)]
    if os.getuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        _missing("this account may not mount a file system", "PARALLAX_REQUIRE_TOOLS")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.fixture(scope="session")
def browser(chromium_path: str) -> Iterator[Any]:
    """One headless Chromium for the session: Playwright runs a single loop in a thread."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=chromium_path, args=CHROMIUM_ARGUMENTS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def module_database(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """What a file's fixtures of module scope store: all its tests see it, and nothing is left after the last."""
    from django.db import transaction

    with django_db_blocker.unblock(), transaction.atomic():
        yield
        transaction.set_rollback(True)


@pytest.fixture(autouse=True)
def empty_cache() -> None:
    """Counts of rate limits name a study by its key, which another test's study may have again."""
    from django.core.cache import cache

    cache.clear()


@pytest.fixture(autouse=True)
def one_window_of_rate_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """The middle of a window of ten minutes: a test that begins at the end of one would count in two."""
    from core import rate_limits

    middle = int(time.time()) // 600 * 600 + 300
    monkeypatch.setattr(rate_limits, "time", SimpleNamespace(time=lambda: middle))


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The jobs that messages were sent for, in order; no worker receives them."""
    jobs: list[int] = []
    monkeypatch.setattr("jobs.services.enqueue_on_commit", lambda name, *, queue, job_id: jobs.append(job_id))
    return jobs
