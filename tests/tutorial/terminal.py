"""A checkout of Parallax with an environment of its own, in which a reader types commands and writes files.

Code and packages are those of this checkout. What a tutorial installs, stores and writes stays in a temporary folder.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import sysconfig
import threading
from pathlib import Path
from typing import Self

from tests.e2e.test_main_job import free_port
from tests.factories.project_files import project_files
from tests.tutorial.steps import Change, Commands, File, Output, Step, Stop

ROOT = Path(__file__).resolve().parents[2]
READY_SECONDS = 400  # until a site is ready, on a busy machine
PIP = '#!/bin/sh\nexec "$(dirname "$0")/python" -m pip "$@"\n'
# Of this process and its tests; a reader's terminal has none of them.
TEST_VARIABLES = {
    "PYTEST_ADDOPTS",
    *("DATABASE_URL", "REDIS_URL", "SECRET_KEY", "DJANGO_SETTINGS_MODULE", "PYTHONPATH", "MAKEFLAGS"),
    *("PYTEST_XDIST_WORKER", "PYTEST_CURRENT_TEST"),
}


class Terminal:
    """A terminal in the folder of Parallax. `substitutions` says which words a test types otherwise than the page."""

    def __init__(self, folder: Path, substitutions: dict[str, str] | None = None, **environment: str) -> None:
        self.folder = folder / "parallax"
        self.substitutions = substitutions or {}
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}/"
        self.output = ""
        self.site: subprocess.Popen[str] | None = None
        self._make_checkout()
        self._make_environment()
        inherited = {name: value for name, value in os.environ.items() if name not in TEST_VARIABLES}
        self.environment = inherited | environment | {
            "PARALLAX_VAR": str(self.folder / "var"), "PORT": str(self.port), "PYTHONUNBUFFERED": "1",
            # Packages are built and installed from what is there.
            "PIP_NO_INDEX": "1", "PIP_NO_BUILD_ISOLATION": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        }  # fmt: skip

    def _make_checkout(self) -> None:
        self.folder.mkdir()
        for name in {path.split("/")[0] for path in project_files()}:
            (self.folder / name).symlink_to(ROOT / name)

    def _make_environment(self) -> None:
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(self.folder / ".venv")], check=True)
        packages = self.folder / ".venv" / "lib" / f"python{sysconfig.get_python_version()}" / "site-packages"
        (packages / "checkout.pth").write_text(sysconfig.get_path("purelib"))
        (self.folder / ".venv" / "bin" / "pip").write_text(PIP)
        (self.folder / ".venv" / "bin" / "pip").chmod(0o755)
        listed = subprocess.run(["cksum", "requirements.txt"], cwd=ROOT, capture_output=True, text=True, check=True)
        (self.folder / ".venv" / f".installed-{listed.stdout.split()[0]}").touch()  # as `make install` leaves it

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self.stop()

    def do(self, step: Step) -> None:
        """Do what a step asks for."""
        match step:
            case Commands():
                self.output, codes = "", []
                for line in step.lines:
                    codes.append(self.type(line))
                assert any(codes) == step.fails, f"{step.lines}\n{self.output[-4000:]}"
            case Output():
                missing = [line for line in step.lines if line not in self.output]
                assert not missing, f"{missing} is not in what was printed:\n{self.output}"
            case Stop():
                self.stop()
            case File():
                path = self.folder / step.path
                assert not path.exists(), f"{step.path} is written twice"
                path.write_text(step.text, encoding="utf-8")
            case Change():
                path = self.folder / step.path
                text = path.read_text(encoding="utf-8")
                assert text.count(step.old) == 1, f"{step.path} has not one place that the change fits"
                path.write_text(text.replace(step.old, step.new), encoding="utf-8")
            case _:
                raise AssertionError(f"{step} is not for a terminal")

    def type(self, line: str) -> int:
        """Run one line and return its exit code; a line that serves the site is left running."""
        for word, other in self.substitutions.items():
            line = line.replace(word, other)
        words = shlex.split(line)
        if words[0] == "make" and words[1] in {"demo", "up"}:
            return self._serve(line)
        done = subprocess.run(
            ["bash", "-c", line], cwd=self.folder, env=self.environment, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, timeout=300, check=False,
        )  # fmt: skip
        self.output += done.stdout
        return done.returncode

    def _serve(self, command: str) -> int:
        """Start the site and read what it prints until it is ready and says how to sign in, if it does."""
        assert self.site is None, "the port is taken by the site that was started before"
        self.site = subprocess.Popen(
            ["bash", "-c", f"exec {command}"], cwd=self.folder, env=self.environment, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, start_new_session=True,
        )  # fmt: skip
        assert self.site.stdout is not None
        last = "Sign in at" if command.startswith("make demo") else "Parallax is ready at"
        patience = threading.Timer(READY_SECONDS, os.killpg, (self.site.pid, signal.SIGTERM))
        patience.start()
        try:
            for line in self.site.stdout:
                self.output += line
                if line.startswith(last):
                    return 0
            self.output += "".join(file.read_text() for file in (self.folder / "var" / "logs").glob("*.log"))
            return self.site.wait()
        finally:
            patience.cancel()

    def stop(self) -> None:
        """Press Ctrl-C where the site runs."""
        if self.site is not None:
            if self.site.poll() is None:
                os.killpg(self.site.pid, signal.SIGINT)
            self.site.wait(timeout=60)
            if self.site.stdout is not None:
                self.site.stdout.close()
            self.site = None
