"""A child leaves when its parent is gone, however it went."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import psutil
import pytest

from jobs.parent_process import PARENT_VARIABLE, watch_parent

pytestmark = pytest.mark.integration

CHILD = """
import time
from jobs.parent_process import watch_parent
watch_parent()
print("ready", flush=True)
time.sleep(60)
"""
PARENT = f"""
import os, subprocess, sys
child = subprocess.Popen([sys.executable, "-c", {CHILD!r}], env={{**os.environ, {PARENT_VARIABLE!r}: str(os.getpid())}},
                         stdout=subprocess.PIPE, start_new_session=True)
child.stdout.readline()
print(child.pid, flush=True)
child.wait()
"""


def test_child_of_a_killed_parent_stops_by_itself() -> None:
    with subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        child = psutil.Process(int(parent.stdout.readline()))
        assert child.is_running()
        parent.send_signal(signal.SIGKILL)
        parent.wait()
    try:
        child.wait(timeout=10)
    finally:
        if child.is_running():
            child.kill()


def test_process_without_a_parent_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(PARENT_VARIABLE, raising=False)
    watch_parent()
    monkeypatch.setenv(PARENT_VARIABLE, "nobody")
    watch_parent()
    assert PARENT_VARIABLE not in os.environ  # children of this process are not watched for its parent
