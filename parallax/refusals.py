"""Pages of requests that are refused before they are read: too large, unexpected files, too slow, too many at once."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from typing import Any

from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils import translation
from django.utils.translation import gettext_lazy

from studies.participation.views.language import browser_language

RETRY_SECONDS = 10
MAY_HELP = (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.SERVICE_UNAVAILABLE)  # to send the same again
# Code, heading and text of each status.
WORDS = {
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: (
        "web.too_large",
        gettext_lazy("Text or file too large"),
        gettext_lazy(
            "This page cannot accept that much data. Nothing was saved this time; your earlier answers are saved. "
            "Go back, shorten what you entered and send it again."
        ),
    ),
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE: (
        "web.no_files",
        gettext_lazy("No files are accepted here"),
        gettext_lazy("This page accepts text only. Nothing was saved this time; your earlier answers are saved."),
    ),
    HTTPStatus.REQUEST_TIMEOUT: (
        "web.too_slow",
        gettext_lazy("The connection is too slow"),
        gettext_lazy(
            "What you sent did not arrive in time. Your earlier answers are saved. Check your connection, go back and "
            "send it again."
        ),
    ),
    HTTPStatus.SERVICE_UNAVAILABLE: (
        "web.overloaded",
        gettext_lazy("Too many requests at the moment"),
        gettext_lazy(
            "Many requests from your network are waiting. Your earlier answers are saved. Wait ten seconds, then load "
            "this page again."
        ),
    ),
}


@dataclass(frozen=True)
class RefusalPage:
    """The body of a refusal."""

    body: bytes
    content_type: str
    retry_after: int  # seconds; 0: trying again as it is helps nothing


def refusal_page(status: HTTPStatus, environ: dict[str, Any]) -> RefusalPage:
    """Return the page in the browser's language; JSON for programs and scripts."""
    retry_after = RETRY_SECONDS if status in MAY_HELP else 0
    path = environ["PATH_INFO"]
    if path.startswith("/api/") or path.endswith("/events/"):
        code, _heading, text = WORDS[status]
        with translation.override("en"):
            body = json.dumps({"code": code, "message": str(text), "extra": {}}).encode()
        return RefusalPage(body, "application/json", retry_after)
    request = HttpRequest()
    request.META = environ
    return RefusalPage(_html(status, browser_language(request)), "text/html; charset=utf-8", retry_after)


@cache
def _html(status: HTTPStatus, language: str) -> bytes:
    _code, heading, text = WORDS[status]
    with translation.override(language):
        return render_to_string("refusal.html", {"heading": heading, "text": text}).encode()
