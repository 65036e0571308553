"""Error responses of the REST API, all problem details; and how the OpenAPI schema describes them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404
from rest_framework import exceptions, status
from rest_framework.renderers import JSONRenderer
from rest_framework.response import Response
from rest_framework.settings import api_settings
from rest_framework.views import set_rollback

from core.errors import ArtefactError, ParallaxError
from core.idempotency import HEADER, LONGEST
from core.problem_details import PROBLEM_JSON, problem_details

REFUSALS = {
    "400": "The request is invalid; `errors` names the parameters and fields, and what is allowed.",
    "401": "No valid token.",
    "403": "Your role in the study or the token's scope does not allow this.",
    "404": "Not found, or you have no access to it.",
    "405": "The method is not allowed.",
    "406": "The requested format is not available.",
    "409": "The current state does not allow this; the detail says what to do.",
    "429": "Rate limit exceeded; `Retry-After` says when to continue.",
    "503": "A stored file is missing or damaged.",
}
_TEXT = {"type": "string"}
PROBLEM = {
    "type": "object",
    "description": "Every error response has this form: problem details, RFC 9457.",
    "properties": {
        "type": {**_TEXT, "format": "uri-reference", "description": "Page of the documentation about the code."},
        "title": {**_TEXT, "description": "The status in words."},
        "status": {"type": "integer", "description": "The status of the response."},
        "detail": {**_TEXT, "description": "What is wrong, in full sentences."},
        "code": {**_TEXT, "description": "Stable, for use in programs.", "examples": ["export.only_simulated"]},
        "remedy": {**_TEXT, "description": "What to send instead; empty if the detail says so."},
        "errors": {
            "type": "array",
            "description": "Every fault of the request, each with its place.",
            "items": {
                "type": "object",
                "properties": {
                    "detail": _TEXT,
                    "parameter": {**_TEXT, "description": "Name of a parameter of the address."},
                    "header": {**_TEXT, "description": "Name of a header."},
                    "pointer": {**_TEXT, "description": "JSON pointer (RFC 6901) to a field; empty: the whole body."},
                },
                "required": ["detail"],
            },
        },
        "extra": {"type": "object", "additionalProperties": {}, "description": "Facts for programs."},
    },
    "required": ["type", "title", "status", "detail", "code", "remedy", "errors", "extra"],
}
KEY = {
    "in": "header",
    "name": HEADER,
    "schema": {**_TEXT, "minLength": 1, "maxLength": LONGEST, "pattern": "^[!-~]+$"},
    "description": "Your own key of this request, such as a UUID. Within 24 hours, the same request with the same key "
    "is not done again: you get the stored answer.",
}
IF_MATCH = {
    "in": "header",
    "name": "If-Match",
    "required": True,
    "schema": _TEXT,
    "description": "The `ETag` of this address when you read it: the change is refused (412) if it has another now.",
}
JSON = "application/json"
NOT_FOUND = "Not found, or you have no access to it."
# In words of this interface; messages of the packages speak to those who use commands and the console.
REMEDIES = {
    "authentication_failed": "Send a valid token as `Authorization: Bearer plx_…`.",
    "blinding.outcomes_shut": "Wait until `status` of the study is `closed`, or ask an owner to open the outcomes.",
    "dataset.unknown": "Choose one of GET /api/v1/datasets/ that has a version with `retired_at` null.",
    "export.only_simulated": "Add include_simulated=true.",
    "invalid": "Correct what `errors` names, and send the request again.",
    "not_authenticated": "Send a token as `Authorization: Bearer plx_…`.",
    "parse_error": "Send well-formed JSON in UTF-8.",
    "study.archived": "POST to restore/ of the study first.",
    "study.cannot_launch": "Settle what `extra.problems` names; GET launch/ of the study says where each is.",
    "study.slug_not_typed": "Add ?typed= with the slug of the study.",
    "studies.not_draft": "While it runs, POST targets, words, notes or consent to amendments/ of the study; to change "
    "anything else, POST to its duplicate/.",
    "study.already_member": "Send the role with PATCH to the address of the member.",
    "withdrawal.several": "Send one of `extra.codes` as `participant`.",
}
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z`])")
_COMMAND = re.compile(r" --[a-z]|manage\.py|\b[Tt]he command ")


def answer(problem: Exception, context: dict[str, Any]) -> Response | None:
    """Turn an exception of a view into an error response; return None for unexpected exceptions."""
    http_status: int
    extra: dict[str, Any] = {}
    headers: dict[str, str] = {}
    errors: list[dict[str, str]] = []
    remedy = getattr(problem, "remedy", "")
    if isinstance(problem, ParallaxError):
        # A missing stored file may be restored; any other refusal stands.
        is_missing = isinstance(problem, ArtefactError)
        http_status = status.HTTP_503_SERVICE_UNAVAILABLE if is_missing else status.HTTP_409_CONFLICT
        code, message, extra = problem.code, problem.message, problem.extra
    elif isinstance(problem, Http404):
        http_status, code, message = status.HTTP_404_NOT_FOUND, "not_found", NOT_FOUND
    elif isinstance(problem, PermissionDenied):
        http_status, code = status.HTTP_403_FORBIDDEN, "permission_denied"
        message = str(problem) or "Your role does not include this."
    elif isinstance(problem, exceptions.ValidationError):
        errors = list(_errors(problem.detail, getattr(problem, "source", "pointer")))
        http_status, code = problem.status_code, "invalid"
        message = f"{len(errors)} faults in the request." if len(errors) > 1 else "A fault in the request."
    elif isinstance(problem, exceptions.APIException):
        http_status, message = problem.status_code, str(problem.detail)
        code = getattr(problem.detail, "code", problem.default_code)
        remedy = remedy or _allowed(problem, context.get("view"))
        if challenge := getattr(problem, "auth_header", None):
            headers["WWW-Authenticate"] = challenge
        if (wait := getattr(problem, "wait", None)) is not None:
            seconds = int(wait) + 1
            headers["Retry-After"] = str(seconds)
            extra, remedy = {"seconds": seconds}, f"Send the request again in {seconds} s."
    else:
        return None
    set_rollback()
    # Errors are JSON, whatever format was requested.
    request = context.get("request")
    if request is not None:
        request.accepted_renderer, request.accepted_media_type = JSONRenderer(), PROBLEM_JSON
    detail, advice = _in_words_of_http(message)
    body = problem_details(
        http_status, code, detail, remedy=remedy or REMEDIES.get(code, advice), errors=errors, extra=extra
    )
    return Response(body, status=http_status, headers=headers, content_type=PROBLEM_JSON)


def _errors(detail: Any, source: str, path: str = "") -> Iterator[dict[str, str]]:
    """Every fault of a validation, with its place."""
    if isinstance(detail, Mapping):
        for name, part in detail.items():
            yield from _errors(part, source, path if name == api_settings.NON_FIELD_ERRORS_KEY else f"{path}/{name}")
        return
    for number, part in enumerate(detail):
        if isinstance(part, Mapping):
            yield from _errors(part, source, f"{path}/{number}")
        else:
            place = path if source == "pointer" else path.removeprefix("/")
            yield {source: place, "detail": _in_words_of_http(str(part))[0] or str(part)}


def _allowed(problem: exceptions.APIException, view: Any) -> str:
    """What the address allows instead of a refused method, format or type of body."""
    if isinstance(problem, exceptions.MethodNotAllowed):
        return f"Use {' or '.join(view.allowed_methods)}."
    if isinstance(problem, exceptions.NotAcceptable):
        return f"Accept {' or '.join(str(renderer.media_type) for renderer in view.renderer_classes)}."
    if isinstance(problem, exceptions.UnsupportedMediaType):
        return f"Send {' or '.join(str(parser.media_type) for parser in view.parser_classes)}."
    return ""


def _in_words_of_http(message: str) -> tuple[str, str]:
    """A message without the sentences that name commands of the server, and those sentences."""
    sentences = _SENTENCE.split(message)
    detail = [sentence for sentence in sentences if not _COMMAND.search(sentence)]
    return " ".join(detail), " ".join(sentence for sentence in sentences if sentence not in detail)


def add_refusals(result: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
    """Add the error responses to every operation, and to to each kind of request the headers that it takes; a request
    body has no fields but those described.
    """
    result["components"]["schemas"]["Problem"] = PROBLEM
    content = {PROBLEM_JSON: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    for operations in result["paths"].values():
        for method, operation in operations.items():
            refusals = dict(REFUSALS)
            if method == "post":
                operation.setdefault("parameters", []).append(KEY)
                refusals["422"] = f"The {HEADER} was sent with another request."
            if method in ("put", "patch"):
                operation.setdefault("parameters", []).append(IF_MATCH)
                refusals["412"] = "What is to be changed is no longer as it was."
                refusals["428"] = "`If-Match` is missing."
            if "requestBody" in operation:
                types = operation["requestBody"]["content"]
                refusals["415"] = f"The body is not {' or '.join('JSON' if each == JSON else each for each in types)}."
                for described in types.values():
                    if name := described["schema"].get("$ref", "").rpartition("/")[2]:
                        result["components"]["schemas"][name]["additionalProperties"] = False
            for code, description in sorted(refusals.items()):
                operation["responses"].setdefault(code, {"description": description, "content": content})
    return result
