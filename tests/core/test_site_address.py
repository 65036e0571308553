"""The address of the running site, which `up` and `demo` note (tests/e2e/test_image.py)."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.conf import settings

from core.site_address import running_site, site_file

pytestmark = pytest.mark.unit


def test_the_noted_site_is_the_running_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "VAR_DIR", tmp_path)
    assert running_site() == "http://127.0.0.1:8000/"
    site_file().write_text("http://127.0.0.1:8765/")
    assert running_site() == "http://127.0.0.1:8765/"
