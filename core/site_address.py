"""The address of the site that `up` or `demo` serves, for the commands that visit its pages."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings


def site_file() -> Path:
    """The file that holds the address while the site runs."""
    return Path(settings.VAR_DIR) / "site_address"


def running_site() -> str:
    """The address of the running site; the usual one if none is noted."""
    return site_file().read_text(encoding="utf-8") if site_file().exists() else "http://127.0.0.1:8000/"
