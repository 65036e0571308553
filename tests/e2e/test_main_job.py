"""The main job by command, in processes of its own, as anyone would repeat it."""

from __future__ import annotations

import json
import os
import re
import shlex
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import psutil
import pytest

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [pytest.mark.e2e, pytest.mark.slow]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def environment(folder: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in {"DATABASE_URL", "REDIS_URL"}}
    return {**kept, "PARALLAX_VAR": str(folder / "var"), "PYTHONUNBUFFERED": "1"}


def manage(folder: Path, *arguments: str, timeout: int = 300) -> str:
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT, env=environment(folder), capture_output=True, text=True, timeout=timeout, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"manage.py {' '.join(arguments)}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "manage.py", "up", "--port", str(port)],
        cwd=ROOT, env=environment(folder), stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert "Parallax is ready at" in line
        yield f"http://127.0.0.1:{port}/"
    finally:
        # Asked to stop, it would wait ten seconds for its worker, which has begun the Bayesian analysis.
        children = psutil.Process(process.pid).children(recursive=True)
        process.kill()
        for child in children:
            with suppress(psutil.NoSuchProcess):
                child.kill()
        process.wait()
        process.stdout.close() if process.stdout else None


def readme_commands() -> list[list[str]]:
    """The commands of the README's example, in order, as a shell splits them."""
    section = (ROOT / "README.md").read_text().split("\n## Your own study\n")[1].split("\n## ")[0]
    blocks = re.findall(r"^```\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
    return [shlex.split(line) for line in "".join(blocks).replace("\\\n", " ").splitlines()]


@pytest.mark.core
def test_the_readme_runs_from_first_to_last_line_on_movielens(movielens_small: Path, tmp_path: Path) -> None:
    """As written, but for a folder in place of the download, three participants a condition, and a free port."""
    result, out = tmp_path / "run.json", tmp_path / "report"
    changed = {"var/downloads/ml-latest-small.zip": str(movielens_small), "30": "3", "var/first-report": str(out)}
    said: dict[str, str] = {}
    with ExitStack() as stack:
        for words in readme_commands():
            if words == ["make", "up"]:
                stack.enter_context(serving(tmp_path))
                continue
            assert words[:2] == [".venv/bin/python", "manage.py"]
            command, *arguments = [changed.get(word, word) for word in words[2:]]
            if command == "download_dataset":
                continue
            more = {"evaluate": ["--json", str(result)]}.get(command, [])
            said[command] = manage(tmp_path, command, *arguments, *more)
    assert list(said) == [
        "create_account", "import_dataset", "evaluate", "create_study", "launch_study", "simulate_participants",
        "estimate", "report",
    ]  # fmt: skip
    for command, text in said.items():
        assert not re.search(r"warning|missing|advice|advis", text, re.IGNORECASE), command
    assert re.search(r"ratings\s+100,836", said["import_dataset"])
    assert "Owner: you@example.org" in said["create_study"]
    assert "21 of 21 simulated participants completed" in said["simulate_participants"]
    run = json.loads(result.read_text())
    recall = {row["key"] + str(row["params"].get("factors", "")): row["recall"] for row in run["algorithms"]}
    assert recall["puresvd50"] > recall["toppop"] > recall["puresvd300"] > 0
    assert recall["toppop"] > next(value for key, value in recall.items() if key.startswith("lsa"))
    # What an independent implementation got on this set, three seeds: within .05.
    assert recall["toppop"] == pytest.approx(0.266, abs=0.05)
    assert recall["puresvd50"] == pytest.approx(0.417, abs=0.05)
    assert recall["puresvd300"] == pytest.approx(0.135, abs=0.05)
    page = (out / "report.html").read_text()
    assert "imulated" in page
    assert not re.search(r"\bnan\b", page, re.IGNORECASE)
    assert "http://" not in re.sub(r'xmlns(:\w+)?="[^"]*"', "", page)
    report = json.loads((out / "report.json").read_text())
    assert {row["model_hash"] for row in run["algorithms"]} <= set(re.findall(r"[0-9a-f]{64}", json.dumps(report)))


# The demo of seven algorithms does the same with more of them; the README's example above has its seven, too.
@pytest.mark.parametrize("options", [pytest.param(["--quick"], marks=pytest.mark.core), []], ids=["quick", "whole"])
def test_the_demo_reaches_its_last_line_and_repeats_nothing(options: list[str], tmp_path: Path) -> None:
    first = manage(tmp_path, "demo", *options, "--exit", "--port", str(free_port()), timeout=600)
    assert "Parallax is ready at http://127.0.0.1:" in first
    sign_in = first.rstrip("\n").splitlines()[-1]
    assert re.search(r"as demo@parallax\.example, password \S+$", sign_in)
    assert "synthetic" in first
    again = manage(tmp_path, "demo", *options, "--exit", "--port", str(free_port()))
    assert "Parallax is ready at" in again
    assert again.rstrip("\n").splitlines()[-1].split()[-1] == sign_in.split()[-1]
    assert not re.search(r"Demo catalogue|trained and measured|walk the study|Report:", again)


@pytest.mark.core
def test_a_taken_port_is_said_plainly(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = subprocess.run(
            [sys.executable, "manage.py", "up", "--port", str(port)],
            cwd=ROOT, env=environment(tmp_path), capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
    assert done.returncode != 0
    assert f"Parallax cannot use port {port} on 127.0.0.1" in done.stderr
