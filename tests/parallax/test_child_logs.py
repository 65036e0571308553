"""Logs of the children of `up`: rotated by size, whole lines, safe when the parent dies and when the disk is full."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from parallax import children as children_module
from parallax.children import Children
from tests.parallax.full_disk_filling import fill

pytestmark = pytest.mark.integration

ROOT = Path(__file__).resolve().parents[2]
# Four processes of one child write records and lines that are longer than a pipe takes at once.
WRITERS = """
import os
from core.log_files import write_whole
pids = [os.fork() for _ in range(2)]
letter = "abcd"[2 * bool(pids[0]) + bool(pids[1])].encode()
for number in range(50):
    write_whole(2, (letter * 99 + b"\\n") * 100 + letter * 6000 + b"\\n")
"""
NUMBERS = """
import os
for number in range(20_000):
    os.write(number % 2 + 1, b"%06d\\n" % number)
"""
PARENT = """
import sys, time
import django
django.setup()
from parallax.children import Children
from tests.parallax.full_disk_filling import fill
children = Children()
children._start("worker-1", [sys.executable, "-c", sys.argv[1]])
print(children._running[0][1].pid, flush=True)
time.sleep(60)
"""
# Writes on after its parent's death, as a worker does that ends what it has in hand.
SURVIVOR = """
import logging, os, sys, time
from core.log_files import StandardError
logging.getLogger().addHandler(StandardError())
while os.getppid() == int(os.environ["PARALLAX_PARENT"]):
    time.sleep(0.05)
for _ in range(100):
    logging.warning("a line that nobody reads")
open({file!r}, "w").close()
"""


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def run_child(children: Children, script: str) -> None:
    children._start("web", [sys.executable, "-c", script])
    children._running[0][1].wait()
    children.stop()


def test_logs_are_rotated_by_size_and_lose_no_line(
    settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.VAR_DIR = tmp_path
    monkeypatch.setattr(children_module, "LOG_BYTES", 40_000)
    run_child(Children(), NUMBERS)
    files = sorted((tmp_path / "logs").iterdir(), reverse=True)
    assert [file.name for file in files] == ["web.log.3", "web.log.2", "web.log.1", "web.log"]
    assert all(file.stat().st_size <= 40_007 for file in files)
    assert [line for file in files for line in file.read_text().splitlines()] == [f"{n:06d}" for n in range(20_000)]


def test_only_a_number_of_files_is_kept(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.VAR_DIR = tmp_path
    monkeypatch.setattr(children_module, "LOG_BYTES", 10_000)
    run_child(Children(), NUMBERS)
    names = {file.name for file in (tmp_path / "logs").iterdir()}
    assert names == {"web.log", *(f"web.log.{n}" for n in range(1, children_module.LOG_FILES + 1))}


def test_processes_of_one_child_do_not_write_into_each_others_lines(settings: Any, tmp_path: Path) -> None:
    settings.VAR_DIR = tmp_path
    run_child(Children(), WRITERS)
    lines = (tmp_path / "logs" / "web.log").read_text().splitlines()
    assert all(len(set(line)) == 1 for line in lines)
    assert Counter("".join(lines)) == dict.fromkeys("abcd", 50 * (99 * 100 + 6000))


def test_a_child_outlives_its_killed_parent_without_a_reader_of_its_log(tmp_path: Path) -> None:
    done = tmp_path / "done"
    environment = {**os.environ, "PARALLAX_VAR": str(tmp_path), "DJANGO_SETTINGS_MODULE": "parallax.settings"}
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, SURVIVOR.format(file=str(done))],
        cwd=ROOT, env=environment, stdout=subprocess.PIPE,
    )  # fmt: skip
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    try:
        parent.kill()
        parent.wait()
        until(done.exists)
    finally:
        parent.stdout.close()
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)


def test_a_full_disk_stops_no_child_and_is_named_once(
    settings: Any, small_disk: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    settings.VAR_DIR = small_disk
    filling = small_disk / "filling"
    (small_disk / "logs").mkdir()
    fill(small_disk)
    children = Children()
    run_child(children, NUMBERS)
    error = capfd.readouterr().err
    assert error.count("No space left on device") == 1
    assert str(small_disk / "logs" / "web.log") in error
    assert "Traceback" not in error
    filling.unlink()
    run_child(children, NUMBERS)
    assert (small_disk / "logs" / "web.log").read_text().splitlines()[-1] == "019999"
