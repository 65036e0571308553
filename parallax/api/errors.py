"""Error responses of the REST API, all with code, message and extra; and how the OpenAPI schema describes them."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404
from rest_framework import exceptions, status
from rest_framework.renderers import JSONRenderer
from rest_framework.response import Response
from rest_framework.views import set_rollback

from core.errors import ArtefactError, ParallaxError

REFUSALS = {
    "400": "The request is invalid; `extra.fields` names the parameters and fields, and what is allowed.",
    "401": "No valid token.",
    "403": "Your role in the study or the token's scope does not allow this.",
    "404": "Not found, or you have no access to it.",
    "405": "The method is not allowed.",
    "406": "The requested format is not available.",
    "409": "The current state does not allow this; the message says what to do.",
    "429": "Rate limit exceeded; `Retry-After` says when to continue.",
    "503": "A stored file is missing or damaged.",
}
REFUSAL = {
    "type": "object",
    "description": "Every error response has this form.",
    "properties": {
        "code": {
            "type": "string",
            "description": "Stable, for use in programs.",
            "examples": ["export.only_simulated"],
        },
        "message": {"type": "string", "description": "Full sentences: what is wrong, and what to do."},
        "extra": {"type": "object", "additionalProperties": {}, "description": "Facts for programs."},
    },
    "required": ["code", "message", "extra"],
}
NOT_FOUND = "Not found, or you have no access to it."


def answer(problem: Exception, context: dict[str, Any]) -> Response | None:
    """Turn an exception of a view into an error response; return None for unexpected exceptions."""
    http_status: int
    extra: dict[str, Any] = {}
    headers: dict[str, str] = {}
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
        http_status, code, message = (
            problem.status_code,
            "invalid",
            "Correct the fields named in extra.fields and try again.",
        )
        detail = problem.detail
        extra = {"fields": detail if isinstance(detail, dict) else {"": detail}}
    elif isinstance(problem, exceptions.APIException):
        http_status, message = problem.status_code, str(problem.detail)
        code = getattr(problem.detail, "code", problem.default_code)
        if challenge := getattr(problem, "auth_header", None):
            headers["WWW-Authenticate"] = challenge
        if (wait := getattr(problem, "wait", None)) is not None:
            seconds = int(wait) + 1
            headers["Retry-After"] = str(seconds)
            extra = {"seconds": seconds}
    else:
        return None
    set_rollback()
    # Errors are JSON, whatever format was requested.
    request = context.get("request")
    if request is not None:
        request.accepted_renderer, request.accepted_media_type = JSONRenderer(), JSONRenderer.media_type
    return Response({"code": code, "message": message, "extra": extra}, status=http_status, headers=headers)


def add_refusals(result: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
    """Add the error responses to every operation, and 415 to those with a request body, which has no other fields."""
    result["components"]["schemas"]["Refusal"] = REFUSAL
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/Refusal"}}}
    for operations in result["paths"].values():
        for operation in operations.values():
            refusals = dict(REFUSALS)
            if "requestBody" in operation:
                ((media_type, described),) = operation["requestBody"]["content"].items()
                refusals["415"] = f"The body is not {'JSON' if media_type == 'application/json' else media_type}."
                body = described["schema"]["$ref"].rpartition("/")[2]
                result["components"]["schemas"][body]["additionalProperties"] = False
            for code, description in sorted(refusals.items()):
                operation["responses"].setdefault(code, {"description": description, "content": content})
    return result
