"""Problem details (RFC 9457): the one form in which programs are told what is wrong."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from difflib import get_close_matches
from http import HTTPStatus
from typing import Any

from django.http import JsonResponse
from rest_framework.exceptions import ValidationError

PROBLEM_JSON = "application/problem+json"
PAGE = "/help/reference/api-errors.md"  # open to everyone; each code has a heading of its own


class BadParameters(ValidationError):
    """Parameters of the address that are unknown or not valid; bad fields of a body are a ValidationError."""

    source = "parameter"


class BadHeaders(ValidationError):
    """Headers that are not valid."""

    source = "header"


def problem_details(
    status: int,
    code: str,
    detail: str,
    *,
    remedy: str = "",
    errors: Iterable[Mapping[str, str]] = (),
    extra: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Describe an error: `detail` says what is wrong here, `remedy` what to send instead, empty if the detail does;
    `errors` are the faults by `parameter`, `header` or `pointer` (RFC 6901) to a field; `extra` holds facts.
    """
    return {
        "type": f"{PAGE}#{re.sub(r'[^a-z_]', '', code)}",
        "title": HTTPStatus(status).phrase,
        "status": int(status),
        "detail": detail,
        "code": code,
        "remedy": remedy,
        "errors": list(errors),
        "extra": dict(extra or {}),
    }


def problem_response(
    status: int, code: str, detail: str, *, remedy: str = "", headers: Mapping[str, str] | None = None
) -> JsonResponse:
    """The response of an error that no view of the API answers."""
    body = problem_details(status, code, detail, remedy=remedy)
    return JsonResponse(body, status=status, content_type=PROBLEM_JSON, headers=headers)


def unknown(names: Iterable[str], known: Collection[str], kind: str) -> dict[str, list[str]]:
    """The faults of names that are not among the known ones; `kind` says what is named."""
    problems = {}
    for name in names:
        if name in known:
            continue
        hint = f"{kind.capitalize()}s: {', '.join(known)}." if known else f"There are no {kind}s here."
        if near := get_close_matches(name.lower(), known, n=1):
            hint = f"Did you mean {near[0]}?"
        problems[name] = [f"There is no {kind} of this name. {hint}"]
    return problems
