"""The environment of the tests: loaded as a plugin, because it has to stand before the settings are read."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

# A folder of the run's own: tests leave an installation in the same checkout alone, and one another.
VAR = tempfile.mkdtemp(prefix="parallax-tests-")
os.environ["PARALLAX_VAR"] = VAR
os.environ.setdefault("NUMBA_CACHE_DIR", str(ROOT / "var" / "numba"))
# A Bayesian model takes longer to compile than to draw from: every shape of data is compiled once, for all processes.
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(ROOT / "var" / "jax"))
os.environ["SECRET_KEY"] = "a secret key that is only for tests, of fifty characters"
# Every process of the tests would start a thread of linear algebra for each core: those that wait spin, and take the
# processor from those that work. On two cores a test of small models took fifty times as long beside others.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Containers often forbid writing bytecode. Without it every process of the tests compiles the whole project anew, and
# pytest rewrites the assertions of every file on each run: half of a worker's start.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# Playwright's synchronous interface runs an event loop in this thread; the tests' own queries are meant.
os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "1")

# A shell starts its background jobs deaf to Ctrl-C, and they pass that on: some tests press it.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


class FailuresAtOnce:
    """Names each failure as it happens: a long run that is stopped has told by then what failed."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Print the name and the first line of the error."""
        terminal = self._config.pluginmanager.get_plugin("terminalreporter")
        if report.failed and terminal is not None:
            crash = getattr(report.longrepr, "reprcrash", None)
            words = crash.message if crash else report.longreprtext
            terminal.write_line(f"\nFAILED {report.nodeid} ({report.when}): {words.strip().splitlines()[0]}")


def pytest_configure(config: pytest.Config) -> None:
    """Let Django's server for tests answer at once.

    Static files are looked up when they are asked for: every client would list all of them first. And the body of an
    answer is sent without waiting for the client to acknowledge the headers, which takes 40 ms.
    """
    from django.conf import settings
    from django.core.servers.basehttp import WSGIRequestHandler

    # In a process of its own: the library that makes it takes 100 MB, and some tests look at what is loaded.
    subprocess.run([sys.executable, "-m", "charting.runtime"], cwd=ROOT, check=True)
    settings.WHITENOISE_AUTOREFRESH = True
    WSGIRequestHandler.disable_nagle_algorithm = True
    if "PYTEST_XDIST_WORKER" not in os.environ:
        config.pluginmanager.register(FailuresAtOnce(config))


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove the folder, unless mutmut goes on to run more tests in this process and its children."""
    if "MUTANT_UNDER_TEST" not in os.environ:
        shutil.rmtree(VAR, ignore_errors=True)
