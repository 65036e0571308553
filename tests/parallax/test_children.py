"""What starts web server and workers stops them too, however it is told to."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from core.errors import ParallaxError
from jobs.broker_queues import delete_queue
from jobs.worker_lock import is_worker_running, lock_file
from parallax.children import STOPPING, Children, stop_on_signals

pytestmark = pytest.mark.integration

SLOW_TO_STOP = """
import signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: (time.sleep(0.6), sys.exit()))
print("ready", flush=True)
time.sleep(60)
"""


HOLDS_LOCK = """
import fcntl, time
file = open({file!r}, "a")
fcntl.flock(file, fcntl.LOCK_SH)
time.sleep(60)
"""


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def wait_for(port: int) -> None:
    deadline = time.monotonic() + 60
    while True:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/health/", timeout=5).close()
            return
        except (urllib.error.URLError, OSError):
            assert time.monotonic() < deadline
            time.sleep(0.2)


@pytest.fixture(autouse=True)
def kept_handlers() -> Iterator[None]:
    kept = {number: signal.getsignal(number) for number in STOPPING}
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # which a test run under nohup ignores
    yield
    for number, handler in kept.items():
        signal.signal(number, handler)


def test_queues_exist_before_the_first_process_that_uses_them(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    control = settings.VAR_DIR / "broker" / "control"
    # New names: what this process has declared before, it does not write again.
    settings.CELERY_TASK_DEFAULT_QUEUE, settings.LONG_QUEUE = "parallax-first", "parallax-second"
    existed: list[set[str]] = []
    monkeypatch.setattr(
        Children, "_start", lambda self, *command: existed.append({file.stem for file in control.iterdir()})
    )
    with Children(port=free_port(), is_awaited=False):
        pass
    for name in ("parallax-first", "parallax-second"):
        delete_queue(name)
    assert len(existed) == 3
    assert existed[0] >= {"parallax-first", "parallax-second"}


@pytest.mark.parametrize("number", STOPPING)
def test_every_way_of_asking_to_stop_raises_what_ctrl_c_does(number: int) -> None:
    stop_on_signals()
    with pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), number)


def test_under_nohup_the_end_of_the_terminal_is_no_reason_to_stop() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    stop_on_signals()
    assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN


@pytest.mark.parametrize("number", STOPPING)
def test_asking_again_while_children_stop_leaves_none_behind(number: int) -> None:
    stop_on_signals()
    child = subprocess.Popen([sys.executable, "-c", SLOW_TO_STOP], stdout=subprocess.PIPE, start_new_session=True)
    try:
        assert child.stdout is not None
        child.stdout.readline()
        children = Children()
        children._running.append(("worker-1", child))
        again = threading.Timer(0.2, os.kill, (os.getpid(), number))
        again.start()
        children.stop()
        again.join()
        assert child.poll() == 0
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), number)
    finally:
        child.kill()
        child.wait()
        child.stdout.close()


def test_a_site_that_is_not_awaited_starts_beside_other_work(settings: Any, tmp_path: Path) -> None:
    settings.VAR_DIR = tmp_path
    children = Children(port=free_port(), is_awaited=False)
    children._web_command = lambda: [sys.executable, "-c", "import time; time.sleep(60)"]  # type: ignore[method-assign]
    children._worker_command = lambda *_: [sys.executable, "-c", HOLDS_LOCK.format(file=str(lock_file()))]  # type: ignore[method-assign]
    with children:
        children.wait_for_worker()
        assert is_worker_running()


def test_waiting_for_a_worker_ends_with_the_worker(settings: Any, tmp_path: Path) -> None:
    settings.VAR_DIR = tmp_path
    children = Children(port=free_port(), is_awaited=False)
    children._web_command = lambda: [sys.executable, "-c", "import time; time.sleep(60)"]  # type: ignore[method-assign]
    children._worker_command = lambda *_: [sys.executable, "-c", "raise SystemExit(3)"]  # type: ignore[method-assign]
    with children, pytest.raises(ParallaxError, match=r"worker-(1|short) ended with status 3"):
        children.wait_for_worker()


def test_a_worker_that_dies_while_its_command_works_is_started_again(settings: Any, tmp_path: Path) -> None:
    settings.VAR_DIR = tmp_path
    children = Children()
    children._start("worker-1", [sys.executable, "-c", "import time; time.sleep(60)"])
    first = children._running[0][1]
    try:
        with children.supervised():
            first.kill()
            deadline = time.monotonic() + 20
            while children._running[0][1] is first and time.monotonic() < deadline:
                time.sleep(0.05)
        assert children._running[0][1].poll() is None
    finally:
        children.stop()


def test_workers_that_keep_ending_interrupt_the_command_and_say_where_to_look(settings: Any, tmp_path: Path) -> None:
    settings.VAR_DIR = tmp_path
    children = Children()
    children._start("worker-1", [sys.executable, "-c", "raise SystemExit(3)"])
    try:
        said = r"worker-1 ended with status 3; see .*worker-1\.log"
        with pytest.raises(ParallaxError, match=said), children.supervised():
            time.sleep(60)
    finally:
        children.stop()


@pytest.mark.slow
def test_web_processes_share_what_was_imported_before_they_forked(tmp_path: Path) -> None:
    """Imports are most of a process's start: each is made once, and not by every process again."""
    port = free_port()
    environment = {**os.environ, "PARALLAX_VAR": str(tmp_path)}
    environment.pop("DATABASE_URL", None)
    root = Path(__file__).parents[2]
    command = [sys.executable, "-m", "parallax.web", "--port", str(port), "--workers", "2"]
    web = subprocess.Popen(command, cwd=root, env=environment)
    try:
        wait_for(port)
        parent = psutil.Process(web.pid)
        deadline = time.monotonic() + 60
        while len(parent.children()) < 2 and time.monotonic() < deadline:
            time.sleep(0.1)
        seconds = [sum(process.cpu_times()[:2]) for process in parent.children()]
        assert len(seconds) == 2
        assert max(seconds) < sum(parent.cpu_times()[:2]) / 2
    finally:
        web.terminate()
        web.wait(20)


@pytest.mark.slow
@pytest.mark.core
def test_killing_up_leaves_neither_web_server_nor_worker(tmp_path: Path, migrated_copy: Callable[[Path], None]) -> None:
    port = free_port()
    environment = {**os.environ, "PARALLAX_VAR": str(tmp_path)}
    environment.pop("DATABASE_URL", None)
    root = Path(__file__).parents[2]
    migrated_copy(tmp_path / "parallax.sqlite3")
    up = subprocess.Popen([sys.executable, "manage.py", "up", "--port", str(port)], cwd=root, env=environment)
    family: list[psutil.Process] = []
    try:
        wait_for(port)
        family = psutil.Process(up.pid).children(recursive=True)
        assert len(family) >= 3  # the web server, its processes, a worker
        up.kill()
        up.wait()
        _, alive = psutil.wait_procs(family, timeout=40)
        assert alive == []
    finally:
        for process in [*family, up]:
            if isinstance(process, psutil.Process) and process.is_running():
                process.kill()
        up.kill()
        up.wait()
