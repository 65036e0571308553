"""What every process carries from its start: the large libraries come in when they are first used."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from django.template.loader import render_to_string
from django.test import Client

pytestmark = pytest.mark.unit

LARGE = ("altair", "numba", "pandas", "pyarrow", "scipy.stats", "statsmodels", "vl_convert")
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


@pytest.mark.slow
def test_a_web_server_a_worker_and_a_command_start_without_the_large_libraries() -> None:
    program = SETTLED.format(large=LARGE)
    environment = {"DJANGO_SETTINGS_MODULE": "parallax.settings", "PATH": ""}
    said = subprocess.run(
        [sys.executable, "-c", program], cwd=Path(__file__).parents[2], env=environment, capture_output=True, text=True
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
