"""What belongs to no app: health, the chart runtime, the way home."""

from __future__ import annotations

from django.contrib.auth.decorators import login_not_required
from django.db import connection
from django.http import HttpRequest, HttpResponse, JsonResponse
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
