"""The address of the site that `up` or `demo` serves, for the commands that visit its pages."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings

USUAL = "http://127.0.0.1:8000/"


def running_site() -> str:
    """Return the address that the last start noted and that no stop has removed, or else the usual one."""
    file = _file()
    return file.read_text(encoding="utf-8") if file.exists() else USUAL


def note_site(url: str) -> None:
    """Store the address of the site that is being started."""
    _file().write_text(url, encoding="utf-8")


def forget_site(url: str) -> None:
    """Remove the address of a site that has stopped, unless another site has replaced it."""
    if running_site() == url:
        _file().unlink(missing_ok=True)


def _file() -> Path:
    return Path(settings.VAR_DIR) / "site_address"
