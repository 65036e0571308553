"""A child leaves when its leader is gone, however it went."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import psutil
import pytest

from core.leader import LEADER, watch_leader

pytestmark = pytest.mark.unit

CHILD = "from core.leader import watch_leader; import time; watch_leader(); print('ready', flush=True); time.sleep(60)"
LEADING = f"""
import os, subprocess, sys
child = subprocess.Popen([sys.executable, "-c", {CHILD!r}], env={{**os.environ, {LEADER!r}: str(os.getpid())}},
                         stdout=subprocess.PIPE, start_new_session=True)
child.stdout.readline()
print(child.pid, flush=True)
child.wait()
"""


def test_child_of_a_killed_leader_stops_by_itself() -> None:
    with subprocess.Popen([sys.executable, "-c", LEADING], stdout=subprocess.PIPE) as leader:
        assert leader.stdout is not None
        child = psutil.Process(int(leader.stdout.readline()))
        assert child.is_running()
        leader.send_signal(signal.SIGKILL)
        leader.wait()
    try:
        child.wait(timeout=10)
    finally:
        if child.is_running():
            child.kill()


def test_process_without_a_leader_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(LEADER, raising=False)
    watch_leader()
    monkeypatch.setenv(LEADER, "nobody")
    watch_leader()
    assert LEADER not in os.environ  # children of this process are not watched for its leader
