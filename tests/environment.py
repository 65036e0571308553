"""The environment of the tests: loaded as a plugin, because it has to stand before the settings are read."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

# A folder of the run's own: tests leave an installation in the same checkout alone, and one another.
VAR = tempfile.mkdtemp(prefix="parallax-tests-")
os.environ["PARALLAX_VAR"] = VAR
os.environ.setdefault("NUMBA_CACHE_DIR", str(ROOT / "var" / "numba"))
os.environ["SECRET_KEY"] = "a secret key that is only for tests, of fifty characters"
# Containers often forbid writing bytecode. Without it every process of the tests compiles the whole project anew, and
# pytest rewrites the assertions of every file on each run: half of a worker's start.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# Playwright's synchronous interface runs an event loop in this thread; the tests' own queries are meant.
os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "1")

# A shell starts its background jobs deaf to Ctrl-C, and they pass that on: some tests press it.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure(config: pytest.Config) -> None:
    """Look static files up when they are asked for: every client of a test would list all of them first."""
    from django.conf import settings

    settings.WHITENOISE_AUTOREFRESH = True


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove the folder, unless mutmut goes on to run more tests in this process and its children."""
    if "MUTANT_UNDER_TEST" not in os.environ:
        shutil.rmtree(VAR, ignore_errors=True)
