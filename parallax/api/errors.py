"""The one shape of every refusal: code, message, extra."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404
from rest_framework import exceptions, status
from rest_framework.renderers import JSONRenderer
from rest_framework.response import Response
from rest_framework.views import set_rollback

from core.errors import ArtefactError, ParallaxError

NOT_THERE = "There is nothing at this address, or nothing that you may see."


def answer(problem: Exception, context: dict[str, Any]) -> Response | None:
    """Turn what a view raised into a refusal; what is none of ours is left to be a fault."""
    extra: dict[str, Any] = {}
    headers: dict[str, str] = {}
    if isinstance(problem, ParallaxError):
        found, code, message, extra = _status_of(problem), problem.code, problem.message, problem.extra
    elif isinstance(problem, Http404):
        found, code, message = status.HTTP_404_NOT_FOUND, "not_found", NOT_THERE
    elif isinstance(problem, PermissionDenied):
        found, code = status.HTTP_403_FORBIDDEN, "permission_denied"
        message = str(problem) or "Your role does not include this."
    elif isinstance(problem, exceptions.ValidationError):
        found, code, message = problem.status_code, "invalid", "Mend what is named in extra.fields, and ask again."
        detail = problem.detail
        extra = {"fields": detail if isinstance(detail, dict) else {"": detail}}
    elif isinstance(problem, exceptions.APIException):
        found, message = problem.status_code, str(problem.detail)
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
    # A refusal is JSON, whatever format the answer was to have.
    request = context.get("request")
    if request is not None:
        request.accepted_renderer, request.accepted_media_type = JSONRenderer(), JSONRenderer.media_type
    return Response({"code": code, "message": message, "extra": extra}, status=found, headers=headers)


def _status_of(refusal: ParallaxError) -> int:
    """What is missing on the server's side may come back; any other refusal stands in the way of the state."""
    return status.HTTP_503_SERVICE_UNAVAILABLE if isinstance(refusal, ArtefactError) else status.HTTP_409_CONFLICT
