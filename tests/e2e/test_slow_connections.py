"""Participants walk through a study while fifty slow connections dawdle at the same web server."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [pytest.mark.e2e, pytest.mark.slow]
MOST_MS = 500


def test_participants_walk_beside_fifty_slow_connections(tmp_path: Path) -> None:
    """The server is the one of `up`; everything stays on 127.0.0.0/8 and ends with the benchmark.

    Nobody may be lost on any machine; times are judged where the processors are not busy with something else.
    """
    is_busy = os.getloadavg()[0] > (os.cpu_count() or 1)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")}
    done = subprocess.run(
        [
            sys.executable, "benchmarks/flood.py", "--connections", "0", "--slow", "50", "--walkers", "20",
            "--seconds", "40", "--var", str(tmp_path), "--port", str(port),
        ],
        cwd=ROOT, env=environment, capture_output=True, text=True, timeout=900, check=False,
    )  # fmt: skip
    sys.stdout.write(done.stdout)
    assert "honest: 20 of 20 completed" in done.stdout, done.stdout + done.stderr
    assert "lost or different 0" in done.stdout
    assert "problems: none" in done.stdout
    (p95,) = re.findall(r"p95 (\d+)", done.stdout)
    assert is_busy or int(p95) < MOST_MS
