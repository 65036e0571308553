"""Views of no app: health, readiness and metrics, and the pages of errors."""

from __future__ import annotations

import sys
from http import HTTPStatus

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.db import connection
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBadRequest, JsonResponse
from django.http.multipartparser import MultiPartParserError
from django.utils.crypto import constant_time_compare
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST

from parallax.error_pages import OF_PARTICIPANTS, error_page
from parallax.metrics import exposition
from parallax.outages import is_outage, note_outage
from parallax.readiness import reasons_against
from studies.participation.views import entry


@login_not_required
@require_safe
def health(request: HttpRequest) -> JsonResponse:
    """Answer that the process lives and reaches its database."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
        cursor.fetchone()
    return JsonResponse({"status": "ok"})


@login_not_required
@require_safe
@never_cache
def ready(request: HttpRequest) -> JsonResponse:
    """Answer whether requests can be served, with status 503 and the reasons where not."""
    reasons = reasons_against()
    if reasons:
        return JsonResponse({"status": "not ready", "reasons": reasons}, status=503)
    return JsonResponse({"status": "ready"})


@login_not_required
@require_safe
@never_cache
def metrics(request: HttpRequest) -> HttpResponse:
    """Serve metrics in the text format of Prometheus to clients with the token; without a token there are none."""
    if not settings.METRICS_TOKEN:
        raise Http404
    expected = f"Bearer {settings.METRICS_TOKEN}"
    if not constant_time_compare(request.headers.get("Authorization", ""), expected):
        return HttpResponse(status=401, headers={"WWW-Authenticate": "Bearer"})
    return HttpResponse(exposition(), content_type=CONTENT_TYPE_LATEST)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer a request that Django refuses to read."""
    return error_page(request, HTTPStatus.BAD_REQUEST)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer a request for what the account may not do; the exception may say why."""
    return error_page(request, HTTPStatus.FORBIDDEN, reason=str(exception))


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer an address that does not exist, also where the body cannot be parsed.

    The page may hold a form, whose CSRF token is compared with the one in the body: that fails on a malformed one.
    """
    try:
        request.POST  # noqa: B018 -- parses the body
    except MultiPartParserError:
        return HttpResponseBadRequest("The body of this request is malformed.", content_type="text/plain")
    return error_page(request, HTTPStatus.NOT_FOUND)


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer a request whose view failed; the database may be what failed.

    Django calls this while it handles the exception.
    """
    problem = sys.exc_info()[1]
    note_outage(request, problem)
    away = is_outage(problem)
    return error_page(request, HTTPStatus.SERVICE_UNAVAILABLE if away else HTTPStatus.INTERNAL_SERVER_ERROR)


def csrf_refused(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Answer a form that was sent without its cookie."""
    if request.path.startswith(OF_PARTICIPANTS):
        return entry.csrf_refused(request, reason)
    text = "This page was open for a long time, or your browser did not accept our cookie. Nothing was changed."
    return error_page(request, HTTPStatus.FORBIDDEN, reason=text, again_url=request.get_full_path())
