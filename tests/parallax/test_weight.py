"""What every process carries from its start: the large libraries come in when they are first used."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from django.template.loader import render_to_string
from django.test import Client

pytestmark = pytest.mark.unit

SCIPY = ("optimize", "special", "stats")
LARGE = ("numba", "pandas", "pyarrow", "scipy.stats", "statsmodels", "vl_convert")
SETTLED = """
import sys, django
django.setup()
from django.urls import get_resolver
get_resolver().url_patterns
import evaluation.management.commands.evaluate
from celery import current_app
current_app.loader.import_default_modules()
print(*[name for name in {large!r} if name in sys.modules])
"""


LOADED = """
import sys, django
django.setup()
print(*[name for name in {large!r} if name in sys.modules])
"""


@pytest.mark.slow
@pytest.mark.parametrize(("program", "large"), [(SETTLED, LARGE), (LOADED, ("scipy", *LARGE))], ids=["all", "help"])
def test_a_web_server_a_worker_and_a_command_start_without_the_large_libraries(
    program: str, large: tuple[str, ...]
) -> None:
    environment = {"DJANGO_SETTINGS_MODULE": "parallax.settings", "PATH": ""}
    said = subprocess.run(
        [sys.executable, "-c", program.format(large=large)],
        cwd=Path(__file__).parents[2],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert said.returncode == 0, said.stderr
    assert said.stdout.split() == []


@pytest.mark.django_db
def test_the_chart_runtime_is_a_file_that_browsers_keep(client: Client) -> None:
    (address,) = re.findall(r'data-runtime="([^"]+)"', render_to_string("console/base.html"))
    answer = client.get(address, headers={"accept-encoding": "gzip"})
    assert answer.status_code == 200
    assert answer.headers["Content-Encoding"] == "gzip"
    assert "immutable" in answer.headers["Cache-Control"]
    assert len(answer.getvalue()) < 400_000
    assert client.get("/charts/runtime.js").status_code == 404


@pytest.mark.slow
def test_no_page_imports_a_large_library_that_web_processes_do_not_share(tmp_path: Path) -> None:
    """Every address that answers GET, as the owner: a library that a page brings in is in each process by itself.

    Models of live studies are open and the REST API is described before the processes fork, and no thread that a fork
    would lose is left.
    Figures of runs and of exports are drawn in child processes: the library that draws keeps 100 MB.
    """

    def run(step: str, given: str = "") -> str:
        environment = {**os.environ, "PARALLAX_VAR": str(tmp_path)}
        command = [sys.executable, "-m", "tests.parallax.web_imports", step]
        done = subprocess.run(
            command, cwd=Path(__file__).parents[2], env=environment, input=given, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    shared, start, *pages, end = run("visit", run("make")).splitlines()
    assert shared.split() == ["shared", "3", "1", "MainThread"]
    assert pages == []
    assert set(start.split()[1:]) <= {"numba", "lxml", "typst", *(f"scipy.{x}" for x in SCIPY)}
    _visited, number, *figures = end.split()
    assert int(number) > 200
    assert figures == ["200", "200"]
