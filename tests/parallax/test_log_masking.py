"""No line of a log holds the secret part of a participant's link."""

from __future__ import annotations

import io
import logging
import logging.config
from typing import Any

import pytest
from django.conf import settings
from django.test import Client


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """What the handler of the settings writes, with its filters and its format."""
    written = io.StringIO()
    logs: Any = settings.LOGGING
    made = logging.config.DictConfigurator(logs)
    handler = logging.StreamHandler(written)
    for name in logs["handlers"]["console"]["filters"]:
        handler.addFilter(made.configure_filter(dict(logs["filters"][name])))
    monkeypatch.setattr(logging.getLogger("django.request"), "handlers", [handler])
    return written


@pytest.mark.integration
@pytest.mark.django_db
@pytest.mark.parametrize(
    ("path", "kept"),
    [("/s/p/SECRET_to-ken/films/1/", "/s/p/…/films/1/"), ("/s/films/link/SECRET_to-ken/?a=1", "/s/films/link/…/")],
)
def test_an_address_that_is_not_found_is_logged_without_its_secret(lines: io.StringIO, path: str, kept: str) -> None:
    assert Client().get(path).status_code == 404
    assert kept in lines.getvalue()
    assert "SECRET" not in lines.getvalue()
    logging.getLogger("django.request").warning("Nothing to mask in %s", "/s/films/")
    assert " in /s/films/\n" in lines.getvalue()
