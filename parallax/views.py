"""Views of no app: health check, chart runtime, and the page for unknown addresses."""

from __future__ import annotations

from django.contrib.auth.decorators import login_not_required
from django.db import connection
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest, JsonResponse
from django.http.multipartparser import MultiPartParserError
from django.views import defaults
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe

from charting.render import page_runtime


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
@cache_control(public=True, max_age=86400)
def chart_runtime(request: HttpRequest) -> HttpResponse:
    """Serve the JavaScript that draws charts, as the chart library bundles it."""
    return HttpResponse(page_runtime(), content_type="text/javascript; charset=utf-8")


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer an address that does not exist as Django does, also where the body cannot be parsed.

    Django's own view parses the body to look for a CSRF token, and fails with status 500 where it is malformed.
    """
    try:
        request.POST  # noqa: B018 -- parses the body
    except MultiPartParserError:
        return HttpResponseBadRequest("The body of this request is malformed.", content_type="text/plain")
    return defaults.page_not_found(request, exception)
