"""The image's own command, run as in a new container: a trial with nothing prepared. Docker itself is not needed."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
import yaml

from tests.e2e.test_main_job import free_port

ROOT = Path(__file__).resolve().parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text()
pytestmark = [pytest.mark.e2e]


def command() -> list[str]:
    """The command of the image, as JSON states it."""
    found = re.search(r"^CMD (\[.*\])$", DOCKERFILE, re.MULTILINE)
    assert found is not None
    return list(json.loads(found[1]))


def context(folder: Path) -> Path:
    """The files that the image has, in a folder of their own: without those that `.dockerignore` names."""
    left_out = {"tests", "benchmarks"}
    assert left_out <= set((ROOT / ".dockerignore").read_text().splitlines())
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True
    )
    for name in listed.stdout.splitlines():
        if Path(name).parts[0] not in left_out and (ROOT / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, folder / name)
    return folder


def test_every_service_that_the_image_serves_has_a_command_of_its_own() -> None:
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    assert all("command" in service for service in services.values() if "build" in service)
    assert "VOLUME /var/lib/parallax\n" in DOCKERFILE
    assert "PARALLAX_VAR=/var/lib/parallax" in DOCKERFILE


@pytest.mark.slow
def test_the_images_command_serves_a_trial_from_an_empty_volume(tmp_path: Path) -> None:
    home, var, port = context(tmp_path / "srv"), tmp_path / "var", free_port()
    environment = {
        "PATH": os.environ["PATH"], "PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1", "PARALLAX_VAR": str(var),
    }  # fmt: skip
    program, *arguments = command()
    assert program == "python"
    running = subprocess.Popen(
        [sys.executable, *arguments, "--port", str(port)],
        cwd=home, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    assert running.stdout is not None
    try:
        said = ""
        for line in running.stdout:
            said += line
            if line.startswith("Sign in at"):
                break
        assert f"Parallax is ready at http://127.0.0.1:{port}/" in said, said
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/s/demo-quick/") as page:
            assert page.status == 200
        assert (var / "site_address").read_text() == f"http://127.0.0.1:{port}/"
    finally:
        running.send_signal(signal.SIGTERM)
        running.wait(timeout=60)
        running.stdout.close()
    assert not (var / "site_address").exists()
    assert {"parallax.sqlite3", "secret_key"} <= {file.name for file in var.iterdir()}
