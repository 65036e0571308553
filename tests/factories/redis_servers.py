"""A Redis server of the tests' own, started by the command of docker-compose.yml."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import pytest
import yaml
from redis import Redis
from redis.exceptions import RedisError

BROKER = yaml.safe_load((Path(__file__).parents[2] / "docker-compose.yml").read_text())["services"]["broker"]


@contextmanager
def redis_server(password_file: Path, port: int, memory: str = "384mb") -> Iterator[str]:
    """Run the service `broker` on a port, with another limit of memory; gives its address without the password."""
    if shutil.which("redis-server") is None:
        if os.environ.get("PARALLAX_REQUIRE_SERVERS"):
            pytest.fail("redis-server is not installed, and PARALLAX_REQUIRE_SERVERS makes it mandatory")
        pytest.skip("redis-server is not installed (apt-get install redis-server)")
    shell, option, script = BROKER["command"]
    script = script.replace("$$", "$").replace("384mb", memory).replace("redis-server", f"redis-server --port {port}")
    environment = {**os.environ, "REDIS_PASSWORD_FILE": str(password_file)}
    server = subprocess.Popen([shell, option, script], env=environment, stdout=subprocess.DEVNULL)
    try:
        password = password_file.read_text().strip()
        wait_until_it_answers(f"redis://:{quote(password, safe='')}@127.0.0.1:{port}/0", server)
        assert password not in Path(f"/proc/{server.pid}/cmdline").read_text()
        (kind, check) = BROKER["healthcheck"]["test"]
        assert kind == "CMD-SHELL"
        check = check.replace("$$", "$").replace("redis-cli", f"redis-cli -p {port}")
        subprocess.run(["sh", "-c", check], env=environment, check=True, stdout=subprocess.DEVNULL)
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        server.terminate()
        server.wait()


def wait_until_it_answers(url: str, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 30
    with Redis.from_url(url) as client:
        while True:
            try:
                client.ping()
            except RedisError:
                assert server.poll() is None, f"redis-server ended with status {server.returncode}"
                assert time.monotonic() < deadline
                time.sleep(0.05)
            else:
                return
